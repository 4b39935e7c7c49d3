//! Tests of the digits demo in the window: run, pause, step, inspect, save and reopen.

use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::Source;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{RunOptions, Stage, Summary};

use crate::fixture::{Window, wait};

#[test]
fn the_recorded_digits_demo_reads_back_as_the_same_run() {
    let mut window = Window::new().open();
    window.get_by_label("Run the digits demo").click();
    window.run_steps(2);
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
    window.run();
    let summary = Summary::of(&window.state().state.session.run);
    assert_eq!((summary.batches, summary.samples), (57, 1797));
    assert_eq!((summary.dropped, summary.errors), (0, 0));
    assert_eq!(window.state().state.session.run.anomalies(), (0, 0));
    assert_eq!(window.state().state.session.run.workers().len(), 4);
    // The contents of every batch are recorded, with the labels of the digits.
    let run = &window.state().state.session.run;
    assert!((0..57).all(|row| run.content(row).is_some()));

    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.prefs.recent.contains(&path));
    let live = format!("{:?}", window.state().state.session.run);

    let again = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    assert!(matches!(
        again.state().state.session.source,
        Source::Recording { cut: false, .. }
    ));
    assert_eq!(format!("{:?}", again.state().state.session.run), live);
}

#[test]
fn a_live_run_is_paused_stepped_resumed_and_stopped_by_key() {
    let mut window = Window::new().open();
    let options = RunOptions {
        dataset: "synthetic:len=400,cost_ms=2".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 1.0,
        ..RunOptions::default()
    };
    window.state_mut().state.set_up().prefs.options = options;
    window.key_press_modifiers(Modifiers::COMMAND, Key::R);
    window.run_steps(2);
    wait(&mut window, |app| app.state.session.run.batches().len() > 8);
    window.key_press(Key::Space);
    wait(&mut window, |app| {
        app.state.session.source == Source::Live { paused: true }
    });
    // Operations in progress reach the pause point. After that, nothing moves.
    let settle = |window: &mut _| {
        std::thread::sleep(std::time::Duration::from_millis(60));
        wait(window, |_| true);
        egui_kittest::Harness::run_steps(window, 2);
    };
    settle(&mut window);
    let before = window.state().state.session.run.transitions().len();
    settle(&mut window);
    assert_eq!(window.state().state.session.run.transitions().len(), before);
    for n in 1..=5 {
        window.key_press(Key::ArrowRight);
        window.run_steps(1);
        wait(&mut window, |app| {
            app.state.session.run.transitions().len() >= before + n
        });
        settle(&mut window);
        assert_eq!(
            window.state().state.session.run.transitions().len(),
            before + n
        );
    }
    window.key_press(Key::Space);
    window.run_steps(1);
    wait(&mut window, |app| {
        app.state.session.run.transitions().len() > before + 40
    });
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Stop.into());
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
    let run = &window.state().state.session.run;
    assert!(run.batches().iter().all(|b| b.stage.is_final()));
    assert!(run.batches().iter().any(|b| b.stage == Stage::Discarded));
    assert_eq!(run.anomalies(), (0, 0));
}

#[test]
fn selecting_a_batch_shows_its_contents() {
    let mut window = Window::new().open();
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::RunDemo.into());
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
    window
        .state_mut()
        .run(&ctx, Command::Select(Some(Item::Batch(12))));
    window.run();
    assert!(
        window
            .query_all_by_label_contains("torch.float32")
            .next()
            .is_some()
    );
    assert!(
        window
            .query_all_by_label_contains("torch.int64")
            .next()
            .is_some()
    );
}

#[test]
fn an_idle_window_requests_no_repaint() {
    let mut window = Window::new().open();
    assert!(window.run() <= 2, "the welcome screen comes to rest");
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::RunDemo.into());
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
    window.run();
    let at_rest = window
        .output()
        .viewport_output
        .values()
        .map(|v| v.repaint_delay)
        .min();
    assert_eq!(at_rest, Some(std::time::Duration::MAX));
    assert_eq!(window.state().state.session.cursor, Cursor::Live);
}
