//! Tests of a run's pace: paused start, slow motion, initial cursor, replay and animation.

use std::time::Duration;

use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::SnapshotResults;
use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::Action;
use loadscope_model::state::Source;
use loadscope_model::view::{Cursor, Workspace};
use loadscope_trace::{Level, Nanos, RunOptions};

use crate::fixture::{Window, control_recording, failed_sequence, wait, write_log};
use crate::texts::Picture as _;

fn options() -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=8,cost_ms=5".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 5.0,
        ..RunOptions::default()
    }
}

#[test]
fn a_recording_opens_in_its_longest_wait_or_at_its_error() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        as_opened: true,
        ..Window::new()
    }
    .open();
    let state = &window.state().state;
    let waits = state.session.run.waits().iter();
    let longest = waits.max_by_key(|w| w.end - w.start).expect("it waited");
    let now = state.now();
    assert!(longest.start < now && now < longest.end, "{now}");
    // The whole run is on the screen.
    assert_eq!(state.session.view, None);
    window.key_press(Key::L);
    window.run();
    assert_eq!(window.state().state.session.cursor, Cursor::Live);
    window.key_press_modifiers(Modifiers::SHIFT, Key::N);
    window.run();
    assert_eq!(window.state().state.now(), now);

    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("failed.jsonl.zst");
    write_log(&path, &failed_sequence());
    let window = Window {
        files: vec![path],
        as_opened: true,
        ..Window::new()
    }
    .open();
    let state = &window.state().state;
    let failed = state.session.run.failure().map(|(at, _)| at);
    assert_eq!(Some(state.now()), failed);
}

#[test]
fn an_ended_run_shows_its_outcome_and_can_be_replayed() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, Vec2::new(1100.0, 700.0), "pace_end_dark"),
        (Theme::Light, Vec2::new(1920.0, 1080.0), "pace_end_light"),
        (Theme::Light, Vec2::new(760.0, 480.0), "pace_end_small"),
    ] {
        let (_dir, path) = control_recording();
        let mut window = Window {
            theme,
            size,
            files: vec![path],
            ..Window::new()
        }
        .open();
        window.run();
        window.picture(name);
        results.extend_harness(&mut window);
    }
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.get_by_label("Longest wait").click();
    window.run();
    assert!(matches!(window.state().state.session.cursor, Cursor::At(_)));
    assert!(
        window.query_by_label("Replay").is_none(),
        "it is not over there"
    );
    window.key_press(Key::L);
    window.run();
    window.get_by_label("Why?").click();
    window.run();
    assert_eq!(window.state().state.prefs.workspace, Workspace::Diagnose);
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::ShowDebug.into());
    window.run();
    window.get_by_label("Replay").click();
    window.run_steps(1);
    assert!(window.state().state.session.playing);
    assert!(window.state().state.now() < window.state().state.session.run.end());
}

#[test]
fn a_run_can_start_paused_and_be_stepped() {
    let mut window = Window::new().open();
    window.state_mut().state.set_up().prefs.options = options();
    window.key_press_modifiers(Modifiers::ALT, Key::R);
    window.run_steps(1);
    let paused = Source::Live { paused: true };
    wait(&mut window, |app| app.state.session.run.events() > 0);
    assert_eq!(window.state().state.session.source, paused);
    std::thread::sleep(Duration::from_millis(80));
    window.run_steps(3);
    let steps = |app: &loadscope::window::App| app.state.session.run.transitions().len();
    assert_eq!(steps(window.state()), 0, "nothing has happened");
    for step in 1..=4 {
        window.key_press(Key::ArrowRight);
        window.run_steps(1);
        wait(&mut window, |app| steps(app) >= step);
        std::thread::sleep(Duration::from_millis(20));
        window.run_steps(1);
        assert_eq!(steps(window.state()), step);
    }
    assert!(
        window
            .query_by_label_contains("paused before batch")
            .is_some()
            || steps(window.state()) == 4
    );
    window.key_press(Key::Space);
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
    assert!(window.state().state.session.run.has_ended());
}

#[test]
fn a_slow_motion_run_takes_ten_times_as_long() {
    let took = |action: Action| {
        let mut window = Window::new().open();
        window.state_mut().state.set_up().prefs.options = options();
        let ctx = window.ctx.clone();
        window.state_mut().run(&ctx, action.into());
        wait(&mut window, |app| {
            app.state.session.source == Source::Finished
        });
        let run = &window.state().state.session.run;
        let all = (0..run.batches().len()).flat_map(|row| run.samples(row));
        let shortest = all.map(|s| s.wall).min().expect("samples were timed");
        let notes = run
            .messages()
            .iter()
            .filter(|(_, m)| m.level == Level::Info);
        let says = notes
            .filter(|(_, m)| m.text.contains("slow motion"))
            .count();
        (shortest, says)
    };
    let (fast, silent) = took(Action::Run);
    let (slow, says) = took(Action::RunSlowly);
    assert!(
        fast >= Nanos::from_millis(5) && slow >= Nanos::from_millis(50),
        "{fast} {slow}"
    );
    assert_eq!((silent, says), (0, 1));
}

#[test]
fn chips_glide_briefly_and_then_repaints_stop() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        moves: true,
        as_opened: true,
        ..Window::new()
    }
    .open();
    window.run_steps(40);
    let asks = |window: &egui_kittest::Harness<'static, loadscope::window::App>| {
        let output = window.output();
        let root = output.viewport_output.get(&eframe::egui::ViewportId::ROOT);
        root.is_some_and(|v| v.repaint_delay < Duration::from_millis(100))
    };
    assert!(!asks(&window), "nothing moves");
    window.key_press(Key::ArrowRight);
    window.run_steps(2);
    assert!(asks(&window), "a chip is on its way");
    window.run_steps(40);
    assert!(!asks(&window), "it has arrived");
    // Without animation, the chip arrives immediately.
    window.state_mut().state.set_up().look.still = true;
    window.key_press(Key::ArrowRight);
    window.run_steps(3);
    assert!(!asks(&window), "nothing is to move");
}
