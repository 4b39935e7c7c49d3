//! Time travel, search, palette, undo and the question, as a user does them: by label and by key.

use eframe::egui::{Event, Key, Modifiers, PointerButton, Role, Theme, Vec2, pos2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use loadscope::app::App;
use loadscope::command::{Action, Command};
use loadscope::landmarks::Goal;
use loadscope::prefs::Motion;
use loadscope::state::Source;
use loadscope::view::{Cursor, Item, Workspace};
use loadscope_trace::{Nanos, Origin, RunOptions, Stage};

use crate::fixture::{Window, control_recording, failed_sequence, wait, write_log};

type Harnessed = Harness<'static, App>;

fn control() -> Harnessed {
    let (_dir, path) = control_recording();
    Window {
        files: vec![path],
        ..Window::new()
    }
    .open()
}

fn press(window: &mut Harnessed, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    window.run();
}

fn tap(window: &mut Harnessed, key: Key) {
    press(window, Modifiers::NONE, key);
}

fn type_text(window: &mut Harnessed, text: &str) {
    window.event(Event::Text(text.to_owned()));
    window.run();
}

fn hint(window: &Harnessed) -> String {
    window.state().state.hint.clone().unwrap_or_default()
}

#[test]
fn workspaces_are_changed_by_key_and_by_click() {
    let mut window = control();
    tap(&mut window, Key::Num2);
    assert_eq!(window.state().state.workspace, Workspace::Sampling);
    window.get_by_role_and_label(Role::Button, "Debug").click();
    window.run();
    assert_eq!(window.state().state.workspace, Workspace::Debug);
}

/// What somebody does who wants to know why batch 3 came late: from the start to the first arrival out of order, then to what
/// was missing.
#[test]
fn the_first_arrival_out_of_order_is_found_by_key() {
    let mut window = control();
    window.state_mut().state.cursor = Cursor::Step(0);
    tap(&mut window, Key::O);
    let state = &window.state().state;
    let moved = state.last_transition().expect("something happened");
    assert_eq!((moved.batch, moved.stage), (4, Stage::Held));
    assert_eq!(state.machine().rcvd_idx, 3);
    press(&mut window, Modifiers::SHIFT, Key::O);
    assert!(hint(&window).starts_with("No batch arrived out of order"));
    // The sentence is on the screen.
    assert!(
        window
            .query_by_label_contains("No batch arrived out of order")
            .is_some()
    );
    tap(&mut window, Key::ArrowRight);
    assert_eq!(hint(&window), "");
}

#[test]
fn the_jump_buttons_go_to_what_was_chosen() {
    let mut window = control();
    window.state_mut().state.cursor = Cursor::Step(0);
    window.run();
    window.get_by_label("Jump to: Stalls").click();
    window.run();
    window.get_by_label("Out of order").click();
    window.run();
    assert_eq!(window.state().state.goal, Goal::OutOfOrder);
    window.get_by_label("Next arrival out of order").click();
    window.run();
    assert_eq!(
        window.state().state.last_transition().map(|t| t.stage),
        Some(Stage::Held)
    );
}

#[test]
fn errors_are_found_and_listed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("failed.jsonl.zst");
    write_log(&path, &failed_sequence());
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.state_mut().state.cursor = Cursor::Step(0);
    tap(&mut window, Key::E);
    let at = window.state().state.now();
    assert_eq!(at, window.state().state.landmarks.trouble()[0]);
    tap(&mut window, Key::L);
    window.get_by_label("1 error").click();
    window.run();
    assert!(window.state().state.messages_open);
    let said = |n: &egui_kittest::Node<'_>| {
        let label = n.accesskit_node().label();
        label.is_some_and(|l| l.contains("UnidentifiedImageError"))
    };
    let line = window.query_all_by_role(Role::Button).find(said);
    line.expect("it is listed").click();
    window.run();
    let state = &window.state().state;
    assert_eq!(
        (state.cursor, state.selection),
        (Cursor::At(at), Some(Item::Batch(5)))
    );
    tap(&mut window, Key::Escape);
    assert!(!window.state().state.messages_open);
}

#[test]
fn markers_are_placed_gone_to_and_removed() {
    let mut window = control();
    window.state_mut().state.cursor = Cursor::At(Nanos::from_millis(300));
    tap(&mut window, Key::M);
    tap(&mut window, Key::L);
    press(&mut window, Modifiers::SHIFT, Key::J);
    assert_eq!(window.state().state.now(), Nanos::from_millis(300));
    tap(&mut window, Key::J);
    assert!(hint(&window).starts_with("No marker after"));
    tap(&mut window, Key::M);
    assert!(window.state().state.markers.all().is_empty());
}

/// The machine at an instant, the lane, the batch and its stages, without a mouse.
#[test]
fn a_batch_is_followed_with_the_keyboard_alone() {
    let mut window = control();
    window.state_mut().state.cursor = Cursor::Step(0);
    tap(&mut window, Key::Slash);
    assert!(window.state().state.search.open);
    type_text(&mut window, "batch 3");
    tap(&mut window, Key::Enter);
    let state = &window.state().state;
    assert_eq!(state.selection, Some(Item::Batch(3)));
    assert!(state.view.is_some());
    // The field still has the keyboard, so this is text, and this closes it.
    type_text(&mut window, "m");
    assert!(window.state().state.markers.all().is_empty());
    tap(&mut window, Key::Escape);
    assert!(!window.state().state.search.open);
    let mut stages = Vec::new();
    for _ in 0..3 {
        tap(&mut window, Key::CloseBracket);
        stages.push(
            window
                .state()
                .state
                .last_transition()
                .map(|t| (t.batch, t.stage)),
        );
    }
    assert_eq!(
        stages,
        [
            Some((3, Stage::Collating)),
            Some((3, Stage::Returning)),
            Some((3, Stage::Ready))
        ]
    );
    tap(&mut window, Key::Period);
    assert_eq!(window.state().state.selection, Some(Item::Batch(6)));
    tap(&mut window, Key::ArrowDown);
    assert!(matches!(
        window.state().state.selection,
        Some(Item::Lane(_))
    ));
}

#[test]
fn the_search_counts_what_it_finds_and_goes_through_it() {
    let mut window = control();
    tap(&mut window, Key::Slash);
    type_text(&mut window, "slower than 50 ms");
    assert!(window.query_by_label("12 found").is_some());
    tap(&mut window, Key::Enter);
    tap(&mut window, Key::Enter);
    assert!(window.query_by_label("2 of 12").is_some());
    press(&mut window, Modifiers::SHIFT, Key::Enter);
    assert!(window.query_by_label("1 of 12").is_some());
    tap(&mut window, Key::Escape);
    tap(&mut window, Key::F3);
    assert_eq!(window.state().state.search.current, Some(1));
    assert!(hint(&window).starts_with("2 of 12: Sample"));
    assert_eq!(window.state().state.selection, Some(Item::Batch(1)));
}

#[test]
fn the_palette_finds_actions_and_batches() {
    let mut window = control();
    press(&mut window, Modifiers::COMMAND, Key::K);
    type_text(&mut window, "plots");
    tap(&mut window, Key::Enter);
    assert_eq!(window.state().state.palette, None);
    assert_eq!(window.state().state.lower, loadscope::state::Lower::Plots);
    press(&mut window, Modifiers::COMMAND, Key::K);
    type_text(&mut window, "sample 3");
    tap(&mut window, Key::Enter);
    assert!(window.state().state.search.open);
    assert!(window.query_by_label("1 found").is_some());
    tap(&mut window, Key::Enter);
    assert_eq!(window.state().state.selection, Some(Item::Batch(3)));
    tap(&mut window, Key::Escape);
    // What is impossible says why.
    press(&mut window, Modifiers::COMMAND, Key::K);
    type_text(&mut window, "redo");
    tap(&mut window, Key::Enter);
    assert_eq!(hint(&window), "No change was taken back");
    tap(&mut window, Key::Escape);
    assert_eq!(window.state().state.palette, None);
}

#[test]
fn a_change_of_the_form_is_taken_back() {
    let mut window = Window {
        size: Vec2::new(1100.0, 1100.0),
        ..Window::new()
    }
    .open();
    window
        .get_by_role_and_label(Role::CheckBox, "drop_last")
        .click();
    window.run();
    window
        .get_by_role_and_label(Role::CheckBox, "shuffle")
        .click();
    window.run();
    let options = |window: &Harnessed| {
        let o = &window.state().state.options;
        (o.drop_last, o.shuffle)
    };
    assert_eq!(options(&window), (true, false));
    press(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(options(&window), (true, true));
    press(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(options(&window), (false, true));
    press(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert_eq!(options(&window), (true, true));
}

#[test]
fn the_same_run_is_simulated_every_time_and_can_be_saved() {
    let mut window = Window::new().open();
    let simulate = |window: &mut Harnessed| {
        press(window, Modifiers::COMMAND | Modifiers::SHIFT, Key::R);
        wait(window, |app| app.state.source == Source::Finished);
        window.run();
        format!("{:?}", window.state().state.run)
    };
    let first = simulate(&mut window);
    assert_eq!(window.state().state.run.info.origin, Origin::Simulation);
    assert_eq!(window.state().state.cursor, Cursor::Step(0));
    assert_eq!(window.state().state.run.batches().len(), 57);
    // Nothing would be lost, so nothing is asked.
    assert_eq!(simulate(&mut window), first);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("simulated.jsonl");
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.recent.contains(&path));
    window.state_mut().run(&ctx, Command::Open(path));
    wait(&mut window, |app| {
        matches!(app.state.source, Source::Recording { .. })
    });
    assert_eq!(format!("{:?}", window.state().state.run), first);
}

fn small_run(window: &mut Harnessed) {
    window.state_mut().state.options = RunOptions {
        dataset: "synthetic:len=40,cost_ms=1".to_owned(),
        batch_size: Some(4),
        num_workers: 2,
        step_ms: 1.0,
        ..RunOptions::default()
    };
    press_live(window, Modifiers::COMMAND, Key::R);
    wait(window, |app| app.state.source == Source::Finished);
    window.run();
}

/// While the engine runs, the window never comes to rest.
fn press_live(window: &mut Harnessed, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(2);
}

#[test]
fn an_unsaved_run_is_asked_about_and_saved_before_it_is_replaced() {
    let mut window = Window::new().open();
    small_run(&mut window);
    let before = window.state().state.run.events();
    press(&mut window, Modifiers::COMMAND, Key::R);
    assert!(window.query_by_label("This run was not saved").is_some());
    tap(&mut window, Key::Escape);
    assert!(window.query_by_label("This run was not saved").is_none());
    assert_eq!(window.state().state.run.events(), before);
    // Closing asks as well.
    press(&mut window, Modifiers::COMMAND, Key::W);
    window.get_by_label("Discard").click();
    window.run();
    assert_eq!(window.state().state.source, Source::None);

    small_run(&mut window);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("kept.jsonl");
    press(&mut window, Modifiers::COMMAND, Key::W);
    // The dialog of the system is not there in a test; its answer is.
    let ctx = window.ctx.clone();
    if let Some(question) = &mut window.state_mut().state.question {
        question.saving = true;
    }
    window.state_mut().run(&ctx, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.source == Source::None);
    assert!(path.exists());

    small_run(&mut window);
    window.state_mut().run(&ctx, Action::ToggleAsking.into());
    press(&mut window, Modifiers::COMMAND, Key::W);
    assert_eq!(window.state().state.source, Source::None);
}

#[test]
fn a_held_run_is_let_go_on_to_the_next_batch() {
    let mut window = Window::new().open();
    window.state_mut().state.options = RunOptions {
        dataset: "synthetic:len=400,cost_ms=2".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 1.0,
        ..RunOptions::default()
    };
    press_live(&mut window, Modifiers::COMMAND, Key::R);
    wait(&mut window, |app| app.state.run.batches().len() > 8);
    press_live(&mut window, Modifiers::NONE, Key::Space);
    std::thread::sleep(std::time::Duration::from_millis(60));
    window.run_steps(2);
    let before = window.state().state.run.transitions().len();
    press_live(&mut window, Modifiers::SHIFT, Key::ArrowRight);
    assert!(window.state().state.seeking.is_some());
    wait(&mut window, |app| app.state.seeking.is_none());
    let run = &window.state().state.run;
    let got = run.transitions()[before..]
        .iter()
        .filter(|t| t.stage == Stage::Training);
    assert_eq!(got.count(), 1, "it stops at the first one");
    assert_eq!(
        window.state().state.last_transition().map(|t| t.stage),
        Some(Stage::Training)
    );
    assert_eq!(window.state().state.source, Source::Live { paused: true });
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Stop.into());
    wait(&mut window, |app| app.state.source == Source::Finished);
}

#[test]
fn the_buttons_at_the_side_of_the_mouse_go_through_the_views() {
    let mut window = control();
    tap(&mut window, Key::W);
    let closer = window.state().state.view;
    let at = pos2(500.0, 120.0);
    let mut click = |button| {
        for pressed in [true, false] {
            window.event(Event::PointerMoved(at));
            window.event(Event::PointerButton {
                pos: at,
                button,
                pressed,
                modifiers: Modifiers::NONE,
            });
            window.run();
        }
        window.state().state.view
    };
    assert_eq!(click(PointerButton::Extra1), None);
    assert_eq!(click(PointerButton::Extra2), closer);
}

#[test]
fn keys_that_are_held_go_on_and_stop() {
    let mut window = control();
    window.key_down(Key::W);
    window.run_steps(40);
    window.key_up(Key::W);
    window.run_steps(2);
    let held = window.state().state.shown().len();
    let mut other = control();
    tap(&mut other, Key::W);
    assert!(held < other.state().state.shown().len());
    window.run();
    assert_eq!(window.state().state.shown().len(), held);
    // All of it is one step back.
    press(&mut window, Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(window.state().state.view, None);
}

#[test]
fn what_the_user_prefers_is_remembered() {
    let mut window = control();
    tap(&mut window, Key::Num2);
    let ctx = window.ctx.clone();
    assert!(window.state().state.still, "this start only");
    for _ in 0..2 {
        window.state_mut().run(&ctx, Action::ToggleMotion.into());
    }
    window.state_mut().run(&ctx, Action::ToggleAsking.into());
    let prefs = window.state().prefs();
    assert_eq!(prefs.workspace, Workspace::Sampling);
    assert_eq!(prefs.motion, Motion::Reduced);
    assert!(!prefs.asks);
    assert!(
        (prefs.splits.options - 268.0).abs() < 2.0,
        "{}",
        prefs.splits.options
    );
}

#[test]
fn every_button_of_the_toolbar_has_a_name_and_can_be_reached_with_tab() {
    let mut window = control();
    window.state_mut().state.cursor = Cursor::At(Nanos::from_millis(300));
    window.run();
    let mut names = Vec::new();
    for _ in 0..24 {
        window.key_press(Key::Tab);
        window.run();
        let focused = window
            .query_all_by_role(Role::Button)
            .find(|n| n.is_focused());
        names.extend(focused.and_then(|n| n.accesskit_node().label()));
    }
    for name in ["File", "Debug", "Run", "Step forward", "Next stall", "End"] {
        assert!(
            names.iter().any(|n| n == name),
            "{name} is not among {names:?}"
        );
    }
    assert!(names.iter().all(|n| !n.is_empty()));
}

#[test]
fn pictures_of_the_search_the_palette_and_the_question() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, Vec2::new(1100.0, 700.0), "dark"),
        (Theme::Light, Vec2::new(1920.0, 1080.0), "light"),
    ] {
        let (_dir, path) = control_recording();
        let mut window = Window {
            theme,
            size,
            files: vec![path],
            ..Window::new()
        }
        .open();
        tap(&mut window, Key::Slash);
        window.snapshot(format!("travel_search-empty_{name}"));
        type_text(&mut window, "slower than 50 ms");
        tap(&mut window, Key::Enter);
        tap(&mut window, Key::Enter);
        window.snapshot(format!("travel_search_{name}"));
        press(&mut window, Modifiers::COMMAND, Key::K);
        type_text(&mut window, "next");
        tap(&mut window, Key::ArrowDown);
        window.snapshot(format!("travel_palette_{name}"));
        tap(&mut window, Key::Escape);
        tap(&mut window, Key::Escape);
        window.get_by_label("Go").click();
        window.run();
        window.snapshot(format!("travel_menu_{name}"));
        results.extend_harness(&mut window);
    }
    for (theme, name) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("failed.jsonl.zst");
        write_log(&path, &failed_sequence());
        let mut window = Window {
            theme,
            files: vec![path],
            ..Window::new()
        }
        .open();
        let ctx = window.ctx.clone();
        window.state_mut().run(&ctx, Action::ShowMessages.into());
        window.run();
        window.snapshot(format!("travel_messages_{name}"));
        tap(&mut window, Key::Escape);
        // As if the engine had made it, and a folder could not be opened.
        let state = &mut window.state_mut().state;
        state.source = Source::Finished;
        state.run.info.origin = Origin::Engine;
        let missing = Command::Open("/no/such/recording.jsonl".into());
        window.state_mut().run(&ctx, missing);
        window.state_mut().run(&ctx, Action::Run.into());
        window.run();
        window.snapshot(format!("travel_question_{name}"));
        results.extend_harness(&mut window);
    }
}
