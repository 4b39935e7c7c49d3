//! Tests of journaled runs, and of existing files.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::desktop::PLATFORM;
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Output;
use loadscope_model::state::Source;
use loadscope_session::{Journal, UnsavedRun, read_run};
use loadscope_trace::RunOptions;
use tempfile::TempDir;

use crate::fixture::{Window, control_recording, until, wait};
use crate::texts::Picture as _;

/// Opens a window that journals its runs in `folder`.
fn open(folder: &Path) -> Harness<'static, App> {
    let window = Window {
        journal: Some(Journal::at(folder)),
        ..Window::new()
    };
    window.open()
}

fn run(window: &mut Harness<'static, App>) {
    window.state_mut().state.set_up().prefs.options = RunOptions {
        dataset: "synthetic:len=40,cost_ms=1".to_owned(),
        batch_size: Some(4),
        num_workers: 2,
        step_ms: 1.0,
        ..RunOptions::default()
    };
    window.key_press_modifiers(Modifiers::COMMAND, Key::R);
    window.run_steps(2);
    wait(window, |app| app.state.session.source == Source::Finished);
    window.run();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|e| e.expect("an entry").path()).collect()
}

/// Returns a folder with the journal of a killed window, which contains a finished, unsaved run.
fn killed() -> (TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut window = open(dir.path());
    run(&mut window);
    let shown = format!("{:?}", window.state().state.session.run);
    assert_eq!(files(dir.path()).len(), 1);
    // A killed process runs no destructors.
    std::mem::forget(window);
    (dir, shown)
}

#[test]
fn the_run_of_a_killed_window_is_offered_and_can_be_saved() {
    let (dir, shown) = killed();
    let mut window = open(dir.path());
    assert!(
        window
            .query_by_label("Unsaved runs of earlier sessions")
            .is_some()
    );
    window
        .get_by_label("40 synthetic samples, 2 workers")
        .click();
    window.run_steps(2);
    wait(&mut window, |app| {
        matches!(
            app.state.session.source,
            Source::Recording { cut: false, .. }
        )
    });
    assert_eq!(format!("{:?}", window.state().state.session.run), shown);
    // The run is not a recent file, because its journal will be deleted.
    assert!(window.state().state.prefs.recent.is_empty());
    let saved = tempfile::tempdir().expect("a temporary folder");
    let path = saved.path().join("saved.jsonl.zst");
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.prefs.recent.contains(&path));
    window.state_mut().run(&ctx, Action::Close.into());
    window.run();
    assert!(files(dir.path()).is_empty(), "it is saved");
    assert!(
        window
            .query_by_label("Unsaved runs of earlier sessions")
            .is_none()
    );
}

/// The journal file appears and is written during the run, not at its end.
#[test]
fn a_running_run_is_journaled_and_offered_after_a_kill() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut window = open(dir.path());
    window.state_mut().state.set_up().prefs.options = RunOptions {
        dataset: "synthetic:len=100000,cost_ms=2".to_owned(),
        batch_size: Some(4),
        num_workers: 2,
        ..RunOptions::default()
    };
    window.key_press_modifiers(Modifiers::COMMAND, Key::R);
    window.run_steps(2);
    wait(&mut window, |app| {
        app.state.session.run.batches().len() >= 20
    });
    let shown = window.state().state.session.run.batches().len();
    // A kill at this moment would leave these bytes, without the lock of the process.
    let left = tempfile::tempdir().expect("a temporary folder");
    let journals = files(dir.path());
    let [journal] = &journals[..] else {
        panic!("one run, not {journals:?}");
    };
    let copy = left.path().join(journal.file_name().expect("a name"));
    let until = Instant::now() + Duration::from_secs(20);
    let in_copy = || {
        std::fs::copy(journal, &copy).expect("room");
        let read = read_run(&copy, |_| true);
        read.map_or(0, |(run, _)| run.batches().len())
    };
    while in_copy() < shown {
        assert!(Instant::now() < until, "it is not written as it comes");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(
        window.state().state.session.source,
        Source::Live { paused: false }
    );
    // The file has an owner, so it is not offered to another process.
    assert_eq!(Journal::at(dir.path()).unsaved_runs(), []);
    let mut next = open(left.path());
    assert!(
        next.query_by_label("Unsaved runs of earlier sessions")
            .is_some()
    );
    next.get_by_label("100000 synthetic samples, 2 workers")
        .click();
    next.run_steps(2);
    wait(&mut next, |app| {
        matches!(app.state.session.source, Source::Recording { .. })
    });
    assert!(next.state().state.session.run.batches().len() >= shown);
    assert!(copy.exists(), "it was not saved yet");
}

/// A damaged journal has a name that says so. A click suggests a repair.
#[test]
fn a_damaged_journal_is_offered_and_kept() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("000000000000001-000.jsonl.zst");
    std::fs::write(&path, "{\"loadscope\":1}\n?\n{}\n").expect("room");
    let mut window = open(dir.path());
    window.get_by_label("A damaged run").click();
    window.run();
    until(&mut window, "loadscope repair");
    assert_eq!(window.state().state.session.source, Source::None);
    assert!(path.exists());
}

#[test]
fn an_offered_run_can_be_discarded() {
    let (dir, _) = killed();
    let mut window = open(dir.path());
    window.get_by_label("Discard").click();
    window.run();
    assert!(files(dir.path()).is_empty());
    assert!(window.state().state.session.notices.is_empty());
}

/// Runs the exit handler of the window.
fn exit(mut window: Harness<'static, App>) {
    eframe::App::on_exit(window.state_mut(), None);
}

#[test]
fn a_saved_or_discarded_run_leaves_no_journal() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut window = open(dir.path());
    let ctx = window.ctx.clone();
    run(&mut window);
    let path = dir.path().join("saved.json");
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.prefs.recent.contains(&path));
    // The second run replaces it in the window. The third is discarded while it is shown.
    run(&mut window);
    run(&mut window);
    assert_eq!(files(dir.path()).len(), 4);
    window.get_by_label("Discard run 3").click();
    window.run();
    assert_eq!(window.state().state.session.number, 2);
    assert_eq!(files(dir.path()).len(), 3);
    window.get_by_label("Discard run 2").click();
    window.run();
    assert_eq!(window.state().state.session.number, 1);
    exit(window);
    assert_eq!(files(dir.path()), [path], "what was saved needs no journal");
}

#[test]
fn runs_kept_for_next_time_are_offered_at_the_next_start() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut window = open(dir.path());
    let ctx = window.ctx.clone();
    run(&mut window);
    run(&mut window);
    // A demo run next to other runs counts as unsaved, because the user may have compared it with them.
    window.state_mut().run(&ctx, Action::RunDemo.into());
    wait(&mut window, |app| {
        !app.state.session.run.batches().is_empty()
    });
    window.state_mut().run(&ctx, Action::Close.into());
    window.run_steps(1);
    assert_eq!(window.state().state.runs.all().len(), 3);
    window.state_mut().run(&ctx, Action::Quit.into());
    window.run_steps(2);
    assert!(window.query_by_label("3 unsaved runs").is_some());
    window.get_by_label("Keep for next time").click();
    window.run_steps(2);
    exit(window);
    assert_eq!(files(dir.path()).len(), 3);
    let next = open(dir.path());
    let offered = next.query_all_by_label("40 synthetic samples, 2 workers");
    assert_eq!(offered.count(), 2);
}

#[test]
fn runs_discarded_at_quit_leave_no_journal() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut window = open(dir.path());
    let ctx = window.ctx.clone();
    run(&mut window);
    run(&mut window);
    window.state_mut().run(&ctx, Action::Quit.into());
    window.run_steps(2);
    window.get_by_label("Discard").click();
    window.run_steps(2);
    exit(window);
    assert_eq!(files(dir.path()), <[PathBuf; 0]>::default());
}

#[test]
fn an_existing_file_is_replaced_only_after_a_question() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut window = Window::new().open();
    let ctx = window.ctx.clone();
    run(&mut window);
    let path = dir.path().join("mine.jsonl");
    std::fs::write(&path, "mine").expect("room");
    let table = dir.path().join("mine.samples.csv");
    std::fs::write(&table, "mine").expect("room");
    for (command, kept) in [
        (Command::SaveTo(path.clone()), &path),
        (Command::ExportTo(dir.path().join("mine.csv")), &table),
    ] {
        for answer in ["Cancel", "Replace"] {
            window.state_mut().run(&ctx, command.clone());
            wait(&mut window, |app| app.state.session.replacing.is_some());
            window.run();
            let name = kept.file_name().expect("a name").to_string_lossy();
            assert!(
                window
                    .query_by_label(&format!("{name} already exists"))
                    .is_some()
            );
            assert_eq!(std::fs::read(kept).expect("it is there"), b"mine");
            window.get_by_label(answer).click();
            window.run_steps(2);
        }
        wait(&mut window, |app| {
            app.state.session.saving.is_none() && app.state.session.exporting.is_none()
        });
        assert_ne!(std::fs::read(kept).expect("it is there"), b"mine");
    }
    assert!(window.state().state.session.notices.is_empty());
}

#[test]
fn offered_runs_and_questions_match_their_images() {
    let mut pictures = SnapshotResults::new();
    for theme in [Theme::Dark, Theme::Light] {
        let name = format!("{theme:?}").to_lowercase();
        let mut window = Window {
            theme,
            ..Window::new()
        }
        .open();
        let left = |dataset: &str, workers, hours: u64, bytes| UnsavedRun {
            path: format!("/journal/{dataset}").into(),
            until: PLATFORM.clock.since_1970() - Duration::from_secs(hours * 3600 + 60),
            bytes,
            dataset: dataset.to_owned(),
            workers,
        };
        window.state_mut().state.set_up().place.unsaved_runs = vec![
            left("1,797 handwritten digits", 4, 3, 1_240_000),
            left("train.py", 0, 50, 312_000_000),
        ];
        window.run();
        for label in [
            "1,797 handwritten digits, 4 workers",
            "3 hours ago, 1.24\u{2009}MB",
            "2 days ago, 312\u{2009}MB",
        ] {
            assert!(window.query_by_label(label).is_some(), "{label}");
        }
        window.picture(format!("journal_offered-{name}"));
        pictures.extend_harness(&mut window);

        let (_dir, path) = control_recording();
        let mut window = Window {
            theme,
            files: vec![path],
            ..Window::new()
        }
        .open();
        let output = Output::Recording("/data/runs/run.jsonl.zst".into());
        window.state_mut().state.set_up().session.replacing = Some(output);
        window.run();
        window.picture(format!("journal_replacing-{name}"));
        pictures.extend_harness(&mut window);
    }
}
