//! Tests of pipeline and inspector keys in the whole window.

use eframe::egui::{Event, Key, Modifiers, OutputCommand};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use loadscope::window::App;
use loadscope_model::view::{Cursor, Item};

use crate::fixture::{Window, control_recording};

/// Returns the text copied in the last frame.
fn copied(window: &Harness<'_, App>) -> Option<String> {
    let commands = &window.output().platform_output.commands;
    commands.iter().find_map(|c| match c {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    })
}

/// Returns the text that the key C copies. Each event has its own frame, and only the frame of the key has the text.
fn copied_by(window: &mut Harness<'_, App>, modifiers: Modifiers) -> Option<String> {
    let key = |pressed| Event::Key {
        key: Key::C,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers,
    };
    window.event(Event::ModifiersChanged(modifiers));
    window.step();
    window.event(key(true));
    window.step();
    let text = copied(window);
    window.event(key(false));
    window.event(Event::ModifiersChanged(Modifiers::NONE));
    window.run();
    text
}

#[test]
fn keys_open_variables_copy_values_and_enlarge_images() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        size: eframe::egui::vec2(1_600.0, 900.0),
        ..Window::new()
    }
    .open();
    assert!(window.query_by_label("rcvd_idx 0").is_none());
    window.state_mut().state.set_up().session.cursor = Cursor::Step(6);
    window.key_press(Key::V);
    window.run();
    window.get_by_label("rcvd_idx 0");
    let sent = window.state().state.pipeline().send_idx;
    window.get_by_label(&format!("send_idx {sent}"));
    assert!(window.state().prefs().variables_open);
    window.get_by_label("Copy: Copy the variables").click();
    window.step();
    let text = copied(&window).expect("the variables were copied");
    let expected = format!("_send_idx = {sent}\n_rcvd_idx = 0\n");
    assert!(text.starts_with(&expected), "{text}");
    window.run();
    // Without a batch there is nothing to copy.
    assert_eq!(copied_by(&mut window, Modifiers::NONE), None);
    window.state_mut().state.set_up().session.cursor = Cursor::Live;
    window.state_mut().state.set_up().session.selection = Some(Item::Batch(3));
    window.run();
    let values = copied_by(&mut window, Modifiers::NONE);
    assert_eq!(values.as_deref(), Some("index\t[1]\n3\t3\n"));
    let json = copied_by(&mut window, Modifiers::SHIFT).expect("the content was copied");
    assert!(json.contains("\"dtype\": \"torch.uint8\""), "{json}");
    // Escape closes the enlarged image before it clears the selection.
    window.run();
    window.get_by_label("image of sample 3, class 3").click();
    window.run();
    assert_eq!(window.state().state.session.enlarged, Some((0, 0)));
    window.key_press(Key::Escape);
    window.run();
    let state = &window.state().state;
    assert_eq!(
        (state.session.enlarged, state.session.selection),
        (None, Some(Item::Batch(3)))
    );
    window.key_press(Key::Escape);
    window.run();
    assert_eq!(window.state().state.session.selection, None);
}
