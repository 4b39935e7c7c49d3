//! Tests of presentations: the pipeline alone, zoom, and hidden internal numbers.

use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::Action;

use crate::fixture::{open_control as open, run};
use crate::texts::{Picture as _, cut, overlapping, texts};

#[test]
fn a_presentation_shows_only_the_pipeline() {
    let (_dir, mut window) = open(Vec2::new(1100.0, 700.0), Theme::Dark);
    window.get_by_label("trainer lane");
    let before = window.get_by_label("worker 0").rect();
    window.key_press(Key::F5);
    window.run();
    for beside in ["trainer lane", "Timeline", "File", "Diagnose"] {
        assert!(window.query_by_label(beside).is_none(), "{beside}");
    }
    let during = window.get_by_label("worker 0").rect();
    assert!(during.area() > 2.0 * before.area(), "{before:?} {during:?}");
    window.get_by_label("The trainer waits for batch 3 · Fetching in worker 0");
    // Stepping still works.
    let step = window.state().state.step();
    window.key_press(Key::ArrowRight);
    window.run();
    assert_eq!(window.state().state.step(), step + 1);
    window.key_press(Key::Escape);
    window.run();
    window.get_by_label("trainer lane");
}

#[test]
fn a_presentation_is_enlarged_on_a_large_screen() {
    let mut results = SnapshotResults::new();
    for (name, size, theme, zoom) in [
        ("large", Vec2::new(2560.0, 1440.0), Theme::Light, 2.2),
        ("dark", Vec2::new(1100.0, 700.0), Theme::Dark, 1.0),
        ("small", Vec2::new(760.0, 480.0), Theme::Dark, 1.0),
    ] {
        let (_dir, mut window) = open(size, theme);
        run(&mut window, Action::Present);
        window.run_steps(4);
        let factor = window.ctx.zoom_factor();
        assert!((factor - zoom).abs() < 0.1, "{name}: {factor}");
        assert!(cut(&window).is_empty(), "{name}: {:?}", cut(&window));
        let pairs = overlapping(&window);
        assert!(pairs.is_empty(), "{name}: {pairs:?}");
        window.picture(format!("presentation_{name}"));
        run(&mut window, Action::Present);
        window.run_steps(4);
        assert!((window.ctx.zoom_factor() - 1.0).abs() < 0.01, "{name}");
        results.extend_harness(&mut window);
    }
}

#[test]
fn keys_zoom_the_whole_window() {
    let (_dir, mut window) = open(Vec2::new(1100.0, 700.0), Theme::Dark);
    let press = |window: &mut Harness<'static, App>, key| {
        window.key_press_modifiers(Modifiers::COMMAND, key);
        window.run_steps(4);
        window.ctx.zoom_factor()
    };
    assert!((press(&mut window, Key::Plus) - 1.1).abs() < 0.01);
    assert!((press(&mut window, Key::Equals) - 1.25).abs() < 0.01);
    assert!((press(&mut window, Key::Minus) - 1.1).abs() < 0.01);
    assert!((press(&mut window, Key::Num0) - 1.0).abs() < 0.01);
    assert!((press(&mut window, Key::Minus) - 0.9).abs() < 0.01);
    // The zoom is stored.
    assert!((window.state().state.prefs_to_keep().zoom - 0.9).abs() < 0.01);
}

#[test]
fn event_and_frame_counts_are_shown_on_request() {
    let (_dir, mut window) = open(Vec2::new(1100.0, 700.0), Theme::Dark);
    let has = |window: &Harness<'static, App>, part: &str| {
        texts(window).iter().any(|text| text.contains(part))
    };
    assert!(!has(&window, " events") && !has(&window, "frame "));
    run(&mut window, Action::ToggleNumbers);
    assert!(has(&window, "132 events") && has(&window, "frame "));
}

#[test]
fn menus_have_the_usual_order() {
    let (_dir, window) = open(Vec2::new(1100.0, 700.0), Theme::Dark);
    let names = ["File", "Edit", "Run", "Navigate", "View", "Help"];
    let left = |name: &str| {
        let all = window.query_all_by_label(name);
        let lefts = all.map(|node| node.rect().left());
        lefts.fold(f32::INFINITY, f32::min)
    };
    let places: Vec<f32> = names.map(left).to_vec();
    assert!(places.is_sorted() && places[5] < 400.0, "{places:?}");
}
