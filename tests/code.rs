//! Tests of the code panel and of the stacks on the timeline, with the recording of an imagined training.

use eframe::egui::{Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::code::place;
use loadscope_model::command::{Action, Command};
use loadscope_model::view::{Cursor, Item, TimeView};
use loadscope_trace::{Lane, Nanos};

use crate::fixture::{Window, repository, run, until};
use crate::texts::Picture as _;

fn open(size: Vec2, theme: Theme) -> Harness<'static, App> {
    Window {
        size,
        theme,
        files: vec![repository("tests/data/stacks/photos.jsonl.zst")],
        ..Window::new()
    }
    .open()
}

/// Opens the panel and waits for its contents.
fn show(window: &mut Harness<'static, App>, item: Option<Item>, title: &str) {
    run(window, Command::Select(item));
    run(window, Action::ShowCode);
    until(window, title);
    until(window, "Flame graph: ");
}

#[test]
fn a_click_on_a_hot_line_shows_it_in_the_source() {
    let mut window = open(vec2(1600.0, 1000.0), Theme::Dark);
    show(&mut window, None, "Whole run");
    let line = |window: &Harness<'static, App>| place(&window.state().state).map(|at| at.short());
    assert_eq!(line(&window).as_deref(), Some("dataset.py:36"));
    window.get_by_label_contains("dataset.py:30 ").click();
    window.run();
    assert_eq!(line(&window).as_deref(), Some("dataset.py:30"));
    window.get_by_label("Training").click();
    until(&mut window, "train.py:20");
    assert!(window.query_by_label_contains("Forward 3").is_some());
    assert_eq!(line(&window).as_deref(), Some("train.py:20"));
}

#[test]
fn the_code_panel_matches_its_images() {
    let mut results = SnapshotResults::new();
    let large = vec2(1600.0, 1000.0);
    for (size, theme, item, title, name) in [
        (large, Theme::Dark, None, "Whole run", "code_run"),
        (
            large,
            Theme::Light,
            Some(Item::Batch(5)),
            "Batch 5",
            "code_batch",
        ),
        (
            vec2(1000.0, 640.0),
            Theme::Dark,
            Some(Item::Lane(Lane::Trainer)),
            "Main process",
            "code_narrow",
        ),
    ] {
        let mut window = open(size, theme);
        show(&mut window, item, title);
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn a_zoomed_timeline_shows_the_stacks() {
    let mut window = open(vec2(1600.0, 1000.0), Theme::Dark);
    let view = TimeView::new(Nanos::from_millis(400), Nanos::from_millis(1_200));
    run(
        &mut window,
        Command::Cursor(Cursor::At(Nanos::from_millis(800))),
    );
    run(&mut window, Command::View(Some(view)));
    window.picture("code_timeline");
}
