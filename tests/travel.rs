//! Tests of time travel, search, palette and undo, by label and by keyboard.

use eframe::egui::{Event, Key, Modifiers, Role, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use loadscope::window::App;
use loadscope_insight::landmarks::Goal;
use loadscope_model::view::{Cursor, Item, Workspace};
use loadscope_trace::{Nanos, Stage};

use crate::fixture::{Window, control_recording, failed_sequence, write_log};

mod hands;
mod pictures;
mod runs;

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
    window
        .state()
        .state
        .overlay
        .hint
        .clone()
        .unwrap_or_default()
}

#[test]
fn workspaces_are_changed_by_key_and_by_click() {
    let mut window = control();
    tap(&mut window, Key::Num2);
    assert_eq!(window.state().state.prefs.workspace, Workspace::Sampling);
    window.get_by_role_and_label(Role::Button, "Debug").click();
    window.run();
    assert_eq!(window.state().state.prefs.workspace, Workspace::Debug);
}

/// Finds the first arrival out of order, which shows that batch 3 is missing.
#[test]
fn the_first_arrival_out_of_order_is_found_by_key() {
    let mut window = control();
    window.state_mut().state.set_up().session.cursor = Cursor::Step(0);
    tap(&mut window, Key::O);
    let state = &window.state().state;
    let moved = state.last_transition().expect("something happened");
    assert_eq!((moved.batch, moved.stage), (4, Stage::Held));
    assert_eq!(state.pipeline().rcvd_idx, 3);
    press(&mut window, Modifiers::SHIFT, Key::O);
    assert!(hint(&window).starts_with("No earlier batch arrived out of order"));
    // The hint is visible.
    assert!(
        window
            .query_by_label_contains("No earlier batch arrived out of order")
            .is_some()
    );
    tap(&mut window, Key::ArrowRight);
    assert_eq!(hint(&window), "");
}

#[test]
fn jump_buttons_go_to_the_chosen_kind_of_moment() {
    let mut window = control();
    window.state_mut().state.set_up().session.cursor = Cursor::Step(0);
    window.run();
    window.get_by_label("Jump to: Waits").click();
    window.run();
    window.get_by_label("Out of order").click();
    window.run();
    assert_eq!(window.state().state.look.goal, Goal::OutOfOrder);
    window.get_by_label("Next arrival out of order").click();
    window.run();
    assert_eq!(
        window.state().state.last_transition().map(|t| t.stage),
        Some(Stage::Held)
    );
}

#[test]
fn a_key_jumps_to_errors_and_a_list_shows_them() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("failed.jsonl.zst");
    write_log(&path, &failed_sequence());
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.state_mut().state.set_up().session.cursor = Cursor::Step(0);
    tap(&mut window, Key::E);
    let at = window.state().state.now();
    assert_eq!(at, window.state().state.session.landmarks.trouble()[0]);
    tap(&mut window, Key::L);
    window.get_by_label("1 error").click();
    window.run();
    assert!(window.state().state.overlay.messages_open);
    let said = |n: &egui_kittest::Node<'_>| {
        let label = n.accesskit_node().label();
        label.is_some_and(|l| l.contains("UnidentifiedImageError"))
    };
    let line = window.query_all_by_role(Role::Button).find(said);
    line.expect("it is listed").click();
    window.run();
    let state = &window.state().state;
    assert_eq!(
        (state.session.cursor, state.session.selection),
        (Cursor::At(at), Some(Item::Batch(5)))
    );
    tap(&mut window, Key::Escape);
    assert!(!window.state().state.overlay.messages_open);
}

#[test]
fn keys_place_visit_and_remove_markers() {
    let mut window = control();
    window.state_mut().state.set_up().session.cursor = Cursor::At(Nanos::from_millis(300));
    tap(&mut window, Key::M);
    tap(&mut window, Key::L);
    press(&mut window, Modifiers::SHIFT, Key::J);
    assert_eq!(window.state().state.now(), Nanos::from_millis(300));
    tap(&mut window, Key::J);
    assert!(hint(&window).starts_with("No later marker"));
    tap(&mut window, Key::M);
    assert!(window.state().state.session.markers.all().is_empty());
}

/// Follows the pipeline, the lane, the batch and its stages without a mouse.
#[test]
fn a_batch_can_be_followed_by_keyboard_alone() {
    let mut window = control();
    window.state_mut().state.set_up().session.cursor = Cursor::Step(0);
    tap(&mut window, Key::Slash);
    assert!(window.state().state.look.search.open);
    type_text(&mut window, "batch 3");
    tap(&mut window, Key::Enter);
    let state = &window.state().state;
    assert_eq!(state.session.selection, Some(Item::Batch(3)));
    assert!(state.session.view.is_some());
    // The field still has the focus, so the key is text. Escape closes the field.
    type_text(&mut window, "m");
    assert!(window.state().state.session.markers.all().is_empty());
    tap(&mut window, Key::Escape);
    assert!(!window.state().state.look.search.open);
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
    assert_eq!(window.state().state.session.selection, Some(Item::Batch(6)));
    tap(&mut window, Key::ArrowDown);
    assert!(matches!(
        window.state().state.session.selection,
        Some(Item::Lane(_))
    ));
}

#[test]
fn the_search_counts_hits_and_steps_through_them() {
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
    assert_eq!(window.state().state.look.search.current, Some(1));
    assert!(hint(&window).starts_with("2 of 12: Sample"));
    assert_eq!(window.state().state.session.selection, Some(Item::Batch(1)));
}

#[test]
fn the_palette_finds_actions_and_batches() {
    let mut window = control();
    press(&mut window, Modifiers::COMMAND, Key::K);
    type_text(&mut window, "plots");
    tap(&mut window, Key::Enter);
    assert_eq!(window.state().state.overlay.palette, None);
    assert_eq!(
        window.state().state.look.lower,
        loadscope_model::view::LowerPanel::Plots
    );
    press(&mut window, Modifiers::COMMAND, Key::K);
    type_text(&mut window, "sample 3");
    tap(&mut window, Key::Enter);
    assert!(window.state().state.look.search.open);
    assert!(window.query_by_label("1 found").is_some());
    tap(&mut window, Key::Enter);
    assert_eq!(window.state().state.session.selection, Some(Item::Batch(3)));
    tap(&mut window, Key::Escape);
    // An unavailable action reports its reason.
    press(&mut window, Modifiers::COMMAND, Key::K);
    type_text(&mut window, "redo");
    tap(&mut window, Key::Enter);
    assert_eq!(hint(&window), "Nothing to redo");
    tap(&mut window, Key::Escape);
    assert_eq!(window.state().state.overlay.palette, None);
}

#[test]
fn option_changes_can_be_undone_and_redone() {
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
        let o = &window.state().state.prefs.options;
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
