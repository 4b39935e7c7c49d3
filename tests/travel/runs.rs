//! Tests of engine and simulated runs: replacing, saving, the closing question, and stepping.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::Source;
use loadscope_model::view::Cursor;
use loadscope_trace::{Origin, RunOptions, Stage};

use super::{Harnessed, press, tap};
use crate::fixture::{Window, wait};

#[test]
fn a_simulation_is_repeatable_and_can_be_saved() {
    let mut window = Window::new().open();
    let simulate = |window: &mut Harnessed| {
        press(window, Modifiers::COMMAND | Modifiers::SHIFT, Key::R);
        wait(window, |app| app.state.session.source == Source::Finished);
        window.run();
        format!("{:?}", window.state().state.session.run)
    };
    let first = simulate(&mut window);
    assert_eq!(
        window.state().state.session.run.info.origin,
        Origin::Simulation
    );
    assert_eq!(window.state().state.session.cursor, Cursor::Step(0));
    assert_eq!(window.state().state.session.run.batches().len(), 57);
    // Nothing would be lost, so there is no question.
    assert_eq!(simulate(&mut window), first);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("simulated.jsonl");
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.prefs.recent.contains(&path));
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::Open(path)));
    wait(&mut window, |app| {
        matches!(app.state.session.source, Source::Recording { .. })
    });
    assert_eq!(format!("{:?}", window.state().state.session.run), first);
}

fn small_run(window: &mut Harnessed) {
    window.state_mut().state.set_up().prefs.options = RunOptions {
        dataset: "synthetic:len=40,cost_ms=1".to_owned(),
        batch_size: Some(4),
        num_workers: 2,
        step_ms: 1.0,
        ..RunOptions::default()
    };
    press_live(window, Modifiers::COMMAND, Key::R);
    wait(window, |app| app.state.session.source == Source::Finished);
    window.run();
}

/// Presses a key. While the engine runs, the window redraws continuously.
fn press_live(window: &mut Harnessed, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(2);
}

#[test]
fn quitting_asks_about_unsaved_runs_and_can_save_them() {
    let mut window = Window::new().open();
    small_run(&mut window);
    let before = window.state().state.session.run.events();
    // Closing a run asks nothing, because the run stays in the list.
    press(&mut window, Modifiers::COMMAND, Key::W);
    assert_eq!(window.state().state.session.source, Source::None);
    assert_eq!(window.state().state.runs.all().len(), 1);
    let ctx = window.ctx.clone();
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::ShowRun(1)));
    window.run();
    assert_eq!(window.state().state.session.run.events(), before);

    press(&mut window, Modifiers::COMMAND, Key::Q);
    assert!(window.query_by_label("1 unsaved run").is_some());
    tap(&mut window, Key::Escape);
    assert!(window.query_by_label("1 unsaved run").is_none());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("kept.jsonl");
    press(&mut window, Modifiers::COMMAND, Key::Q);
    // A test has no system dialog, so this simulates its answer.
    if let Some(question) = &mut window.state_mut().state.set_up().overlay.question {
        question.saving = true;
    }
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.overlay.question.is_none());
    assert!(path.exists());
    assert_eq!(window.state().state.unsaved(), 0);
}

#[test]
fn a_paused_run_continues_to_the_next_batch() {
    let mut window = Window::new().open();
    window.state_mut().state.set_up().prefs.options = RunOptions {
        dataset: "synthetic:len=400,cost_ms=2".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 1.0,
        ..RunOptions::default()
    };
    press_live(&mut window, Modifiers::COMMAND, Key::R);
    wait(&mut window, |app| app.state.session.run.batches().len() > 8);
    press_live(&mut window, Modifiers::NONE, Key::Space);
    std::thread::sleep(std::time::Duration::from_millis(60));
    window.run_steps(2);
    let before = window.state().state.session.run.transitions().len();
    press_live(&mut window, Modifiers::SHIFT, Key::ArrowRight);
    assert!(window.state().state.session.seeking.is_some());
    wait(&mut window, |app| app.state.session.seeking.is_none());
    let run = &window.state().state.session.run;
    let got = run
        .transitions()
        .range(before..)
        .iter()
        .filter(|t| t.stage == Stage::Training);
    assert_eq!(got.count(), 1, "it stops at the first one");
    assert_eq!(
        window.state().state.last_transition().map(|t| t.stage),
        Some(Stage::Training)
    );
    assert_eq!(
        window.state().state.session.source,
        Source::Live { paused: true }
    );
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Stop.into());
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
}

#[test]
fn a_typed_path_saves_without_a_dialog() {
    use loadscope_model::typing::{PathFor, TypedPath};

    let mut window = Window::new().open();
    small_run(&mut window);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("typed.jsonl");
    let ctx = window.ctx.clone();
    let typed = TypedPath {
        what: PathFor::Save,
        text: String::new(),
    };
    let command = Command::TypePath(Some(typed));
    window.state_mut().run(&ctx, command);
    window.run();
    let name = "Save as";
    window
        .get_by_role_and_label(Role::TextInput, name)
        .type_text(&path.display().to_string());
    window.run();
    window.key_press(Key::Enter);
    wait(&mut window, |_| path.exists());
    window.run();
    assert_eq!(window.state().state.overlay.typing, None);
    assert!(
        window
            .query_by_role_and_label(Role::TextInput, name)
            .is_none()
    );
}
