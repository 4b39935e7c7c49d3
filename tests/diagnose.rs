//! Tests of the Diagnose workspace: verdict, forecast and outcome.

use std::path::Path;

use eframe::egui::{Key, Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotOptions, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::view::{Item, Workspace};
use loadscope_trace::{Origin, RunOptions};

use crate::fixture::{Window, control_sequence, until, wait, write_log};
use crate::texts::Picture as _;

const SMALL: Vec2 = vec2(1100.0, 700.0);
const LARGE: Vec2 = vec2(1920.0, 1080.0);

/// Returns options for two workers. One of 24 samples takes twenty times as long as the others.
fn proof() -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
        batch_size: Some(1),
        num_workers: 2,
        step_ms: 20.0,
        ..RunOptions::default()
    }
}

/// Opens a window that has simulated these options and shows the diagnosis.
fn simulated(options: RunOptions, theme: Theme, size: Vec2) -> Harness<'static, App> {
    let mut window = Window {
        theme,
        size,
        ..Window::new()
    }
    .open();
    ask(&mut window, Command::Edit(Box::new(options)));
    ask(&mut window, Action::Simulate.into());
    wait(&mut window, |app| app.state.session.run.has_ended());
    window.key_press(Key::Num3);
    until(&mut window, "Forecast accuracy");
    window
}

fn ask(window: &mut Harness<'static, App>, command: Command) {
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, command);
    window.run();
}

/// The tooltip of a disabled button gives the reason.
#[test]
fn an_uncheckable_forecast_shows_the_reason() {
    let mut window = simulated(proof(), Theme::Dark, LARGE);
    let state = window.state_mut().state.set_up();
    state.session.run.info.origin = Origin::Import("a profiler".to_owned());
    window.run();
    let why = "Recordings of other tools cannot be run from here";
    assert!(window.query_by_label(why).is_none());
    window.get_by_label("Apply and check").hover();
    window.run();
    window.get_by_label(why);
}

#[test]
fn the_diagnosis_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, LARGE, "diagnose_proof"),
        (Theme::Light, SMALL, "diagnose_proof-small"),
        (Theme::Light, LARGE, "diagnose_proof-light"),
        (Theme::Dark, vec2(1440.0, 900.0), "diagnose_proof-middle"),
    ] {
        let mut window = simulated(proof(), theme, size);
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

/// Screenshot of the recording whose report is in the README.
#[test]
fn the_readme_diagnosis_matches_its_image() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/lessons/cases");
    let mut window = Window {
        theme: Theme::Dark,
        size: vec2(1440.0, 900.0),
        files: vec![cases.join("no_workers_0.jsonl.zst")],
        ..Window::new()
    }
    .open();
    window.key_press(Key::Num3);
    wait(&mut window, |app| {
        app.state.session.results.diagnosis.what_if.is_some()
    });
    window.run();
    let options = SnapshotOptions::new().output_path("../screenshots");
    window.picture_with("diagnose", &options);
}

#[test]
fn the_verdict_is_exact_and_links_to_its_evidence() {
    let mut window = simulated(proof(), Theme::Dark, LARGE);
    assert_eq!(window.state().state.prefs.workspace, Workspace::Diagnose);
    for text in [
        "The trainer waited 1.11\u{2009}s of 1.59\u{2009}s (70\u{2009}%)",
        "0.96\u{2009}s of it for batch 4",
        "in_order=False would take 1.17\u{2009}s, and num_workers=3 would take 1.45\u{2009}s",
    ] {
        assert!(
            window.query_all_by_label_contains(text).next().is_some(),
            "{text}"
        );
    }
    let cause = window.get_by_label_contains("0.96\u{2009}s of it for batch 4");
    cause.click();
    window.run();
    let state = &window.state().state;
    assert_eq!(state.prefs.workspace, Workspace::Debug);
    assert_eq!(state.session.selection, Some(Item::Batch(4)));
    assert!(state.session.view.is_some());
}

#[test]
fn an_applied_forecast_is_confirmed_by_the_run() {
    let mut window = simulated(proof(), Theme::Dark, LARGE);
    let place = "num_workers=3, prefetch_factor=2";
    window.get_by_label_contains(place).click();
    window.run();
    assert_eq!(window.state().state.session.diagnose.picked, Some((3, 2)));
    window.get_by_label("Apply and check").click();
    window.run();
    wait(&mut window, |app| {
        app.state.session.diagnose.check.is_some() && app.state.session.run.has_ended()
    });
    until(&mut window, "The forecast was exact");
    assert_eq!(window.state().state.prefs.options.num_workers, 3);
    // The comparison shows the previous run.
    until(&mut window, "samples/s");
    until(&mut window, "Forecast accuracy");
    window.picture("diagnose_checked");
    // The change of the options can be undone.
    ask(&mut window, Action::Undo.into());
    assert_eq!(window.state().state.prefs.options.num_workers, 2);
}

/// Regression test: the title was the text of a button: "Reset to recorded".
#[test]
fn the_recorded_settings_have_their_own_forecast_title() {
    let mut window = simulated(proof(), Theme::Dark, LARGE);
    ask(&mut window, Command::Pick(Some((2, 2))));
    window.get_by_label("The recorded settings");
    assert!(window.query_by_label("Reset to recorded").is_none());
}

#[test]
fn a_changed_in_order_updates_forecasts_and_can_be_reset() {
    let mut window = simulated(proof(), Theme::Dark, LARGE);
    window.get_by_label("what if in_order").click();
    window.run();
    let base = window.state().state.session.diagnose.base.as_ref();
    assert!(base.is_some_and(|b| !b.in_order));
    until(&mut window, "Forecast accuracy");
    window.get_by_label("Reset to recorded").click();
    window.run();
    assert_eq!(window.state().state.session.diagnose.base, None);
}

#[test]
fn a_second_recording_can_be_compared_and_removed() {
    let mut window = simulated(proof(), Theme::Light, vec2(1440.0, 900.0));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("other.jsonl");
    write_log(&path, &control_sequence());
    ask(&mut window, Command::Perform(Effect::Compare(path)));
    until(&mut window, "other.jsonl");
    until(&mut window, "samples/s");
    window.get_by_label("Stop comparing").scroll_to_me();
    window.run();
    window.picture("diagnose_compared");
    window.get_by_label("Stop comparing").click();
    window.run();
    assert!(window.state().state.session.diagnose.other.is_none());
    // A file that is not a recording is refused with a message, and nothing else changes.
    let wrong = dir.path().join("wrong.jsonl");
    std::fs::write(&wrong, "nonsense\n").expect("there is room");
    ask(&mut window, Command::Perform(Effect::Compare(wrong)));
    wait(&mut window, |app| !app.state.session.notices.is_empty());
    assert!(window.state().state.session.diagnose.other.is_none());
}

#[test]
fn diagnose_without_a_run_says_how_to_start() {
    let mut results = SnapshotResults::new();
    let mut window = Window {
        theme: Theme::Dark,
        size: SMALL,
        ..Window::new()
    }
    .open();
    window.key_press(Key::Num3);
    window.run();
    assert!(window.query_by_label("Nothing to diagnose yet").is_some());
    let remedy = "or open a recording to see why training waits";
    assert!(window.query_by_label_contains(remedy).is_some());
    window.picture("diagnose_empty");
    results.extend_harness(&mut window);
}
