//! Screenshots of the whole window. `cargo xtask screenshots` updates them. Look at each one before you commit it.

use eframe::egui::{Theme, Vec2};
use egui_kittest::{Harness, SnapshotOptions, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::Nanos;

use crate::fixture::{Window, control_recording, failed_sequence, wait, write_log};
use crate::texts::Picture as _;

fn do_all(window: &mut Harness<'static, App>, commands: impl IntoIterator<Item = Command>) {
    let ctx = window.ctx.clone();
    for command in commands {
        window.state_mut().run(&ctx, command);
        window.run();
    }
    window.run();
}

/// Saves a screenshot for the README.
fn screenshot(window: &mut Harness<'static, App>, name: &str) {
    let options = SnapshotOptions::new().output_path("../screenshots");
    window.picture_with(name, &options);
}

#[test]
fn the_start_page_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (theme, name) in [
        (Theme::Dark, "welcome_dark"),
        (Theme::Light, "welcome_light"),
    ] {
        let mut window = Window {
            theme,
            ..Window::new()
        };
        window.prefs.recent = vec![
            "/data/runs/monday.jsonl.zst".into(),
            "/data/runs/tuesday.jsonl".into(),
        ];
        let mut window = window.open();
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

/// Returns a time and a selection: batch 3 is missing, later batches are held and the trainer waits.
fn held() -> [Command; 2] {
    [
        Command::Cursor(Cursor::At(Nanos::from_millis(480))),
        Command::Select(Some(Item::Batch(3))),
    ]
}

#[test]
fn the_debug_workspace_matches_its_image() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        theme: Theme::Light,
        size: Vec2::new(1440.0, 900.0),
        files: vec![path],
        ..Window::new()
    }
    .open();
    do_all(&mut window, held());
    screenshot(&mut window, "debug_light");
}

#[test]
fn small_and_large_windows_match_their_images() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, Vec2::new(1100.0, 700.0), "debug_small"),
        (Theme::Light, Vec2::new(1920.0, 1080.0), "debug_large"),
    ] {
        let (_dir, path) = control_recording();
        let mut window = Window {
            theme,
            size,
            files: vec![path],
            ..Window::new()
        }
        .open();
        do_all(
            &mut window,
            [Command::Cursor(Cursor::At(Nanos::from_millis(480)))],
        );
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn table_and_help_match_their_images() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    do_all(
        &mut window,
        [
            Action::ShowBatches.into(),
            Command::Select(Some(Item::Batch(3))),
        ],
    );
    window.picture("table");
    do_all(&mut window, [Action::Help.into()]);
    window.picture("help");
}

#[test]
fn the_plots_workspace_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (theme, name) in [(Theme::Dark, "plots_dark"), (Theme::Light, "plots_light")] {
        let (_dir, path) = control_recording();
        let mut window = Window {
            theme,
            size: Vec2::new(1440.0, 900.0),
            files: vec![path],
            ..Window::new()
        }
        .open();
        do_all(
            &mut window,
            [
                Action::ShowPlots.into(),
                Command::Cursor(Cursor::At(Nanos::from_millis(480))),
            ],
        );
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn failed_and_empty_runs_match_their_images() {
    let mut window = Window::new().open();
    do_all(
        &mut window,
        [
            Command::UseFolder("/no/such/folder".into()),
            Action::Run.into(),
        ],
    );
    wait(&mut window, |app| !app.state.session.notices.is_empty());
    window.run();
    window.picture("failed_start");
    let mut results = window.take_snapshot_results();

    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("failed.jsonl.zst");
    write_log(&path, &failed_sequence());
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    do_all(&mut window, [Command::Select(Some(Item::Batch(5)))]);
    window.picture("failed_run");
    results.extend_harness(&mut window);

    let path = dir.path().join("empty.jsonl");
    std::fs::write(&path, "{\"loadscope\":1}\n").expect("there is room");
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    wait(&mut window, |app| app.state.has_run());
    window.run();
    window.picture("empty_run");
    results.extend_harness(&mut window);
}
