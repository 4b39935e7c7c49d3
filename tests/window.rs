//! Tests of typical use of a recording, by label and by keyboard.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use loadscope_model::view::LowerPanel;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::Stage;

use crate::fixture::{Window, control_recording};

#[test]
fn stepping_forwards_and_backwards_moves_the_pipeline() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    assert_eq!(window.state().state.session.cursor, Cursor::Live);
    window.key_press_modifiers(Modifiers::SHIFT, Key::ArrowLeft);
    window.run();
    let step = window.state().state.pipeline().step;
    let run = &window.state().state.session.run;
    assert_eq!(run.transitions()[step - 1].stage, Stage::Training);
    window.key_press(Key::ArrowLeft);
    window.run();
    assert_eq!(window.state().state.session.cursor, Cursor::Step(step - 1));
    window.key_press(Key::ArrowRight);
    window.run();
    assert_eq!(window.state().state.session.cursor, Cursor::Step(step));
    window.key_press(Key::L);
    window.run();
    assert_eq!(window.state().state.session.cursor, Cursor::Live);
}

#[test]
fn keys_jump_to_waits_zoom_and_return() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.key_press(Key::P);
    window.run();
    let Cursor::At(at) = window.state().state.session.cursor else {
        panic!("the cursor is at a stall");
    };
    assert!(
        window
            .state()
            .state
            .session
            .run
            .waits()
            .iter()
            .any(|w| w.start == at)
    );
    let all = window.state().state.shown();
    window.key_press(Key::W);
    window.run();
    let closer = window.state().state.shown();
    assert!(closer.len() < all.len());
    window.key_press_modifiers(Modifiers::ALT, Key::ArrowLeft);
    window.run();
    assert_eq!(window.state().state.shown(), all);
    window.key_press_modifiers(Modifiers::ALT, Key::ArrowRight);
    window.run();
    assert_eq!(window.state().state.shown(), closer);
    // Escape never moves the cursor.
    let cursor = window.state().state.session.cursor;
    window.key_press(Key::Escape);
    window.key_press(Key::Escape);
    window.run();
    assert_eq!(window.state().state.session.cursor, cursor);
    assert_eq!(window.state().state.shown(), closer);
    window.key_press_modifiers(Modifiers::COMMAND, Key::Home);
    window.run();
    assert_eq!(window.state().state.session.cursor, Cursor::Step(0));
}

#[test]
fn letter_keys_in_a_text_field_trigger_no_action() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.state_mut().state.set_up().prefs.options.dataset = "folder:/data".to_owned();
    window.get_by_label("Next run").click();
    window.run();
    window.get_by_label("folder").click();
    window.run();
    let view = window.state().state.session.view;
    window.key_press(Key::W);
    window.key_press(Key::B);
    window.run();
    assert_eq!(window.state().state.session.view, view);
    assert_eq!(window.state().state.look.lower, LowerPanel::Timeline);
}

#[test]
fn a_click_on_the_verdict_selects_the_awaited_batch() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.get_by_label_contains("of it for batch 3").click();
    window.run();
    assert_eq!(window.state().state.session.selection, Some(Item::Batch(3)));
    assert!(window.state().state.session.view.is_some());
}

#[test]
fn keys_open_the_table_and_the_help() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.key_press(Key::B);
    window.run();
    assert_eq!(window.state().state.look.lower, LowerPanel::Batches);
    window.key_press(Key::Questionmark);
    window.run();
    assert!(
        window
            .query_by_label_contains("drag on the ruler")
            .is_some()
    );
    window.key_press(Key::Escape);
    window.run();
    assert!(!window.state().state.overlay.help_open);
}

#[test]
fn editing_an_option_updates_the_python_line() {
    let mut window = Window {
        size: eframe::egui::vec2(1100.0, 1100.0),
        ..Window::new()
    }
    .open();
    window
        .get_by_role_and_label(Role::CheckBox, "drop_last")
        .click();
    window.run();
    assert!(window.state().state.prefs.options.drop_last);
    assert!(window.query_by_label_contains("drop_last=True").is_some());
}
