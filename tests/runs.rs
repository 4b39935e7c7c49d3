//! Tests of the window's runs: a new run does not replace older ones.

use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::Source;
use loadscope_model::view::{Cursor, Workspace};
use loadscope_trace::RunOptions;

use crate::fixture::{Window, control_recording, until, wait};
use crate::texts::Picture as _;

/// Simulates a run. The result is always identical to the nanosecond.
fn simulate(window: &mut Harness<'static, App>, dataset: &str, workers: usize) {
    window.state_mut().state.set_up().prefs.options = RunOptions {
        dataset: dataset.to_owned(),
        batch_size: Some(2),
        num_workers: workers,
        step_ms: 10.0,
        ..RunOptions::default()
    };
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Simulate.into());
    window.run_steps(2);
    wait(window, |app| app.state.session.source == Source::Finished);
    window.run();
}

fn shown(window: &Harness<'static, App>) -> (u32, usize) {
    let session = &window.state().state.session;
    (session.number, session.run.info.options.num_workers)
}

fn events(window: &Harness<'static, App>) -> u64 {
    window.state().state.session.run.events()
}

#[test]
fn a_click_shows_a_run_and_shift_click_compares_it() {
    let mut window = Window::new().open();
    simulate(&mut window, "synthetic:len=40,cost_ms=20", 1);
    assert!(
        window.query_by_label_contains("Run 1").is_none(),
        "one alone needs no list"
    );
    simulate(&mut window, "synthetic:len=40,cost_ms=20", 4);
    assert_eq!(shown(&window), (2, 4));
    window
        .get_by_label_contains("Run 1: synthetic, 1 worker")
        .click();
    window.run();
    assert_eq!(shown(&window), (1, 1));
    window
        .get_by_label_contains("Run 2: synthetic, 4 workers")
        .click_modifiers(Modifiers::SHIFT);
    window.run_steps(2);
    until(&mut window, "#2 synthetic, 4 workers");
    assert_eq!(
        shown(&window),
        (1, 1),
        "it stands beside the one that is shown"
    );
    assert_eq!(window.state().state.prefs.workspace, Workspace::Diagnose);
    window.get_by_label("Discard run 2").click();
    window.run();
    assert!(window.query_by_label_contains("Run 1").is_none());
    assert_eq!(shown(&window), (1, 1));
}

/// Regression test: a right click on the shown run did nothing.
#[test]
fn a_right_click_opens_the_menu_of_a_run() {
    let mut window = Window::new().open();
    simulate(&mut window, "synthetic:len=40,cost_ms=20", 1);
    simulate(&mut window, "synthetic:len=40,cost_ms=20", 4);
    let starred = |window: &Harness<'static, App>| window.state().state.session.starred;
    window
        .get_by_label_contains("Run 2: synthetic, 4 workers")
        .click_secondary();
    window.run();
    for action in [Action::Save, Action::Export, Action::Compare] {
        window.get_by_label(action.info().name);
    }
    assert!(window.query_by_label("Show this run").is_none());
    window.get_by_label("Keep this run").click();
    window.run();
    assert!(starred(&window));
    window
        .get_by_label_contains("Run 1: synthetic, 1 worker")
        .click_secondary();
    window.run();
    window.get_by_label("Show this run");
    window.get_by_label("Discard this run").click();
    window.run();
    assert!(window.state().state.runs.all().is_empty());
    assert_eq!(shown(&window), (2, 4));
}

/// A missing dataset is detected only after the run has started.
#[test]
fn a_refused_run_leaves_the_shown_run_in_place() {
    let mut window = Window::new().open();
    let ctx = window.ctx.clone();
    simulate(&mut window, "synthetic:len=40,cost_ms=20", 2);
    let before = events(&window);
    for (dataset, extra_cost, why) in [
        (
            "digits",
            "len=24,fail=5",
            "len cannot be set here: the dataset fixes it",
        ),
        ("folder:/no/such/folder", "", "/no/such/folder"),
    ] {
        window.state_mut().state.set_up().prefs.options = RunOptions {
            dataset: dataset.to_owned(),
            extra_cost: extra_cost.to_owned(),
            num_workers: 2,
            ..RunOptions::default()
        };
        window.key_press_modifiers(Modifiers::COMMAND, Key::R);
        window.run_steps(2);
        wait(&mut window, |app| {
            let notices = &app.state.session.notices;
            notices.iter().any(|notice| notice.text.contains(why))
        });
        window.run();
        assert_eq!(
            (shown(&window), events(&window)),
            ((1, 2), before),
            "{dataset}"
        );
        window.state_mut().run(&ctx, Action::Escape.into());
    }
    // Opening a recording keeps the run, too.
    let (_dir, path) = control_recording();
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::Open(path.clone())));
    wait(&mut window, |app| {
        app.state.session.source
            == Source::Recording {
                path: path.clone(),
                cut: false,
            }
    });
    assert_eq!(window.state().state.runs.all().len(), 1);
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::ShowRun(1)));
    assert_eq!(events(&window), before);
}

/// Events of a run are not lost while another run is shown.
#[test]
fn a_run_continues_while_another_run_is_shown() {
    let mut window = Window::new().open();
    let ctx = window.ctx.clone();
    simulate(&mut window, "synthetic:len=40,cost_ms=20", 2);
    window.state_mut().state.set_up().prefs.options = RunOptions {
        dataset: "synthetic:len=60,cost_ms=5".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        ..RunOptions::default()
    };
    window.key_press_modifiers(Modifiers::COMMAND, Key::R);
    window.run_steps(2);
    wait(&mut window, |app| app.state.session.run.batches().len() > 4);
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::ShowRun(1)));
    assert_eq!(shown(&window).0, 1);
    wait(&mut window, |app| {
        let kept = app.state.runs.get(2);
        kept.is_some_and(|kept| kept.session.source == Source::Finished)
    });
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::ShowRun(2)));
    window.run();
    let run = &window.state().state.session.run;
    assert_eq!(run.batches().len(), 30);
    assert_eq!((run.dropped(), run.anomalies()), (0, (0, 0)));
    // The complete run can still be saved.
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("second.jsonl.zst");
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.prefs.recent.contains(&path));
    let (read, _) = loadscope_session::read_run(&path, |_| true).expect("it was written");
    assert_eq!(read.batches().len(), 30);
}

#[test]
fn the_list_of_runs_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (theme, width, height) in [
        (Theme::Dark, 760.0, 480.0),
        (Theme::Dark, 1100.0, 700.0),
        (Theme::Light, 1100.0, 700.0),
        (Theme::Light, 1920.0, 1080.0),
    ] {
        let mut window = Window {
            theme,
            size: Vec2::new(width, height),
            ..Window::new()
        }
        .open();
        simulate(&mut window, "synthetic:len=40,cost_ms=20", 1);
        simulate(&mut window, "synthetic:len=40,cost_ms=20,fail=12", 4);
        simulate(&mut window, "stream:len=40,cost_ms=10,shard=true", 2);
        let ctx = window.ctx.clone();
        for command in [
            Command::StarRun(1),
            Command::Perform(Effect::ShowRun(2)),
            Command::Cursor(Cursor::Live),
        ] {
            window.state_mut().run(&ctx, command);
            window.run();
        }
        let name = format!("{theme:?}").to_lowercase();
        window.picture(format!("runs_{name}-{width:.0}"));
        results.extend_harness(&mut window);
    }
}

/// Regression test: the context menu and the palette had no comparison of runs, only of files.
#[test]
fn menu_and_palette_compare_runs_of_the_window() {
    let compared = |window: &Harness<'static, App>| {
        let other = window.state().state.session.diagnose.other.as_ref();
        other.map(|other| other.name.clone())
    };
    let mut window = Window::new().open();
    simulate(&mut window, "synthetic:len=40,cost_ms=20", 1);
    simulate(&mut window, "synthetic:len=40,cost_ms=20", 4);
    window
        .get_by_label_contains("Run 1: synthetic, 1 worker")
        .click_secondary();
    window.run();
    window.get_by_label("Compare with the shown run").click();
    window.run_steps(2);
    until(&mut window, "Options that differ: num_workers 1 → 4");
    let name = compared(&window).expect("it is compared");
    assert!(name.starts_with("#1 "), "{name}");
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Command::StopComparing);
    window.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.run();
    window.event(eframe::egui::Event::Text("compare".to_owned()));
    window.run();
    window
        .get_by_label_contains("Compare with run #1, synthetic, 1 worker")
        .click();
    window.run_steps(2);
    assert_eq!(compared(&window), Some(name));
}
