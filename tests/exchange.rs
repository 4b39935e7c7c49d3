//! Tests of files from other tools in the window, and of exports.

use std::path::PathBuf;

use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::effect::Output;
use loadscope_model::state::Source;

use crate::fixture::{Window, control_recording, repository, until, wait};
use crate::texts::Picture as _;

fn open(name: &str, size: Vec2, theme: Theme) -> Harness<'static, App> {
    let files = vec![repository("tests/data").join(name)];
    Window {
        files,
        size,
        theme,
        ..Window::new()
    }
    .open()
}

const SMALL: Vec2 = Vec2::new(1100.0, 700.0);
const LARGE: Vec2 = Vec2::new(1920.0, 1080.0);

#[test]
fn a_profiler_trace_opens_without_changing_the_options() {
    let mut window = open("profiler/workers.json.gz", SMALL, Theme::Dark);
    let state = &window.state().state;
    assert!(matches!(
        state.session.source,
        Source::Recording { cut: false, .. }
    ));
    assert_eq!(state.prefs.options, loadscope_model::prefs::demo());
    assert!(
        state.session.notices.is_empty(),
        "{:?}",
        state.session.notices
    );
    assert!(
        window
            .query_by_label_contains("The trainer waited")
            .is_some()
    );
    window.picture("exchange_profiler_dark");
}

#[test]
fn a_folder_of_lotus_logs_opens_with_its_workers() {
    let mut window = open("lotus/newer", LARGE, Theme::Light);
    assert_eq!(window.state().state.session.run.batches().len(), 20);
    assert!(window.query_by_label("worker 1 lane").is_some());
    window.picture("exchange_lotus");
}

#[test]
fn spdl_statistics_are_shown_as_zoomable_charts() {
    let mut pictures = SnapshotResults::new();
    for (size, theme, name) in [
        (SMALL, Theme::Dark, "exchange_spdl_dark"),
        (LARGE, Theme::Light, "exchange_spdl_light"),
    ] {
        let mut window = open("spdl/pipeline.sqlite", size, theme);
        assert!(
            window
                .query_by_label_contains("the training loop waited")
                .is_some()
        );
        let label = "waiting for items of 0:3:sink queue chart";
        assert!(window.query_by_label(label).is_some());
        window.picture(name);
        let all = window.state().state.shown();
        window.key_press(Key::W);
        window.run();
        assert!(window.state().state.shown().len() < all.len());
        pictures.extend_harness(&mut window);
    }
}

#[test]
fn a_run_is_exported_in_the_background() {
    let (dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    let ctx = window.ctx.clone();
    for name in ["run.json.gz", "run.csv", "tables.parquet"] {
        let out = dir.path().join(name);
        window.state_mut().run(&ctx, Command::ExportTo(out));
        wait(&mut window, |app| app.state.session.exporting.is_none());
        window.run();
        assert!(window.query_by_label_contains("Exported to").is_some());
    }
    let names = std::fs::read_dir(dir.path()).expect("there");
    let mut names: Vec<PathBuf> = names
        .map(|e| e.expect("there").file_name().into())
        .collect();
    names.sort();
    let expected = [
        "control.jsonl.zst",
        "run.batches.csv",
        "run.errors.csv",
        "run.gauges.csv",
        "run.json.gz",
        "run.loaders.csv",
        "run.samples.csv",
        "run.stacks.csv",
        "run.waits.csv",
        "tables.batches.parquet",
        "tables.errors.parquet",
        "tables.gauges.parquet",
        "tables.loaders.parquet",
        "tables.samples.parquet",
        "tables.stacks.parquet",
        "tables.waits.parquet",
    ];
    assert_eq!(names, expected.map(PathBuf::from));
    // A write error is reported.
    let nowhere = Command::ExportTo("/no/such/folder/run.json".into());
    window.state_mut().run(&ctx, nowhere);
    wait(&mut window, |app| app.state.session.exporting.is_none());
    window.run();
    assert!(
        window
            .query_by_label_contains("/no/such/folder/run.json")
            .is_some()
    );
}

#[test]
fn the_shown_recording_is_never_overwritten() {
    let (dir, path) = control_recording();
    // The exported table would have this name.
    let table = dir.path().join("run.samples.csv");
    std::fs::copy(&path, &table).expect("room");
    let before = std::fs::read(&path).expect("it is there");
    let tables = dir.path().join("run.csv");
    for (shown, command) in [
        (&path, Command::ExportTo(path.clone())),
        (
            &path,
            Command::Overwrite(Output::Export(path.clone(), None)),
        ),
        (&path, Command::SaveTo(path.clone())),
        (&path, Command::Overwrite(Output::Recording(path.clone()))),
        (&table, Command::ExportTo(tables.clone())),
        (
            &table,
            Command::Overwrite(Output::Export(tables.clone(), Some(table.clone()))),
        ),
    ] {
        let mut window = Window {
            files: vec![shown.clone()],
            ..Window::new()
        }
        .open();
        let ctx = window.ctx.clone();
        window.state_mut().run(&ctx, command);
        wait(&mut window, |app| {
            app.state.session.exporting.is_none() && app.state.session.saving.is_none()
        });
        window.run();
        let mut said = window.query_all_by_label_contains("is the input");
        assert!(said.next().is_some());
        assert_eq!(std::fs::read(shown).expect("it is there"), before);
        let entries = std::fs::read_dir(dir.path()).expect("a folder");
        assert_eq!(entries.count(), 2, "nothing else was written");
    }
}

#[test]
fn export_without_a_run_is_refused() {
    let mut window = Window::new().open();
    window.key_press_modifiers(Modifiers::COMMAND, Key::E);
    window.run();
    assert!(window.query_by_label("No run yet").is_some());
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::CancelExport.into());
    window.run();
    assert!(window.query_by_label("No export is running").is_some());
}

#[test]
fn an_import_is_saved_as_a_recording() {
    let mut window = open("lotus/older", SMALL, Theme::Dark);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("saved.jsonl.zst");
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.session.saving.is_none());
    let before = window.state().state.session.run.transitions().clone();
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::Open(path)));
    wait(
        &mut window,
        |app| matches!(&app.state.session.source, Source::Recording { path, .. } if path.ends_with("saved.jsonl.zst")),
    );
    assert_eq!(*window.state().state.session.run.transitions(), before);
}

#[test]
fn opening_a_foreign_file_names_it_and_keeps_the_run() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    let ctx = window.ctx.clone();
    let photo = repository("assets/pictures/china.jpg");
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::Open(photo)));
    until(&mut window, "is a JPEG image");
    assert!(window.query_by_label_contains("is a JPEG image").is_some());
    assert!(window.state().state.has_run());
}
