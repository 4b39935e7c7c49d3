//! Tests of files dragged over the window and dropped on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::{DroppedFile, HoveredFile, Theme};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::state::Source;
use loadscope_trace::{BatchId, Event, EventKind, RunId};

use crate::fixture::{Window, control_recording, photographs, wait};
use crate::texts::Picture as _;

/// A dropped file, as the system provides it.
#[derive(Debug)]
struct Dropped(PathBuf);

impl DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

fn hold(window: &mut Harness<'static, App>, paths: &[PathBuf]) {
    let file = |path: &PathBuf| HoveredFile {
        path: Some(path.clone()),
        ..HoveredFile::default()
    };
    window.input_mut().hovered_files = paths.iter().map(file).collect();
    // During a drag, egui draws frames continuously.
    window.run_steps(4);
}

fn drop_on(window: &mut Harness<'static, App>, paths: &[PathBuf]) {
    let input = window.input_mut();
    input.hovered_files.clear();
    for path in paths {
        input.dropped_files.push(Arc::new(Dropped(path.clone())));
    }
    window.run_steps(1);
    let loading = |app: &App| {
        app.state.overlay.checking_file.is_some()
            || matches!(app.state.session.source, Source::Loading { .. })
    };
    wait(window, |app| !loading(app));
    window.run();
}

#[test]
fn a_dragged_file_is_named_and_opens_when_dropped() {
    let (dir, path) = control_recording();
    let mut window = Window::new().open();
    hold(&mut window, std::slice::from_ref(&path));
    let name = path.file_name().expect("a file").to_string_lossy();
    window.get_by_label(&format!("Drop to open {name}"));
    drop_on(&mut window, std::slice::from_ref(&path));
    assert!(window.query_by_label_contains("Drop to").is_none());
    assert!(window.state().state.has_run());
    // The folder of the file is a session, too.
    let mut window = Window::new().open();
    drop_on(&mut window, &[dir.path().to_owned()]);
    assert!(window.state().state.has_run());
}

#[test]
fn two_dropped_files_are_shown_and_compared() {
    let (_dir, first) = control_recording();
    let (_other, second) = control_recording();
    let mut window = Window::new().open();
    let two = [first, second.clone()];
    hold(&mut window, &two);
    assert!(window.query_by_label_contains("Drop to compare").is_some());
    drop_on(&mut window, &two);
    let state = &window.state().state;
    assert!(state.has_run() && state.prefs.recent.contains(&second));
}

#[test]
fn a_dropped_image_folder_becomes_the_dataset() {
    let pictures = photographs(3);
    let mut window = Window::new().open();
    drop_on(&mut window, &[pictures.path().to_owned()]);
    let dataset = &window.state().state.prefs.options.dataset;
    assert!(dataset.starts_with("folder:"), "{dataset}");
}

#[test]
fn files_dragged_over_the_window_match_their_images() {
    let mut results = SnapshotResults::new();
    let (_dir, path) = control_recording();
    for (theme, end) in [(Theme::Dark, ""), (Theme::Light, "-light")] {
        let mut window = Window {
            theme,
            files: vec![path.clone()],
            ..Window::new()
        }
        .open();
        let held = ["rank0", "rank1", "rank2", "rank3"];
        let held = held.map(|rank| PathBuf::from(format!("/runs/{rank}.jsonl.zst")));
        hold(
            &mut window,
            &held[..if theme == Theme::Dark { 1 } else { 4 }],
        );
        window.picture(format!("dropping{end}"));
        results.extend_harness(&mut window);
    }
}

/// A folder may contain very many files or be on another host, so a thread reads it.
#[test]
fn opened_files_are_inspected_by_a_thread() {
    let (dir, path) = control_recording();
    let mut window = Window::new().open();
    let ctx = window.ctx.clone();
    for asked in [dir.path().to_owned(), path] {
        let command = loadscope_model::command::Command::Perform(
            loadscope_model::effect::Effect::Open(asked.clone()),
        );
        window.state_mut().run(&ctx, command);
        let checking = window.state().state.overlay.checking_file.clone();
        assert_eq!(checking.as_deref(), Some(asked.as_path()));
        wait(&mut window, |app| {
            app.state.overlay.checking_file.is_none()
                && matches!(app.state.session.source, Source::Recording { .. })
        });
    }
}

/// A large run has many allocations, so a thread frees it soon after.
#[test]
fn a_discarded_run_is_freed() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    let run = &mut window.state_mut().state.set_up().session.run;
    for epoch in 0..2000 {
        let kind = EventKind::EpochStarted { epoch };
        let (at, id) = (run.end(), RunId(0));
        run.apply(&Event { at, run: id, kind });
        let batch = BatchId { epoch, idx: 0 };
        let kind = EventKind::dispatched(batch, Some(0), [1]);
        run.apply(&Event { at, run: id, kind });
    }
    let run = run.snapshot();
    assert!(run.is_shared());
    let ctx = window.ctx.clone();
    window.state_mut().run(
        &ctx,
        loadscope_model::command::Command::Perform(loadscope_model::effect::Effect::DropRun(1)),
    );
    wait(&mut window, |_| !run.is_shared());
}
