//! Tests of extra mouse buttons, held keys, Tab and panel edges, and of the stored preferences.

use eframe::egui::{Event, Key, Modifiers, PointerButton, Role, pos2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use loadscope_model::command::Action;
use loadscope_model::prefs::Motion;
use loadscope_model::prefs::Splits;
use loadscope_model::view::{Cursor, Workspace};
use loadscope_trace::Nanos;

use super::{control, press, tap};
use crate::fixture::Window;

#[test]
fn mouse_side_buttons_go_through_the_view_history() {
    let mut window = control();
    tap(&mut window, Key::W);
    let closer = window.state().state.session.view;
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
        window.state().state.session.view
    };
    assert_eq!(click(PointerButton::Extra1), None);
    assert_eq!(click(PointerButton::Extra2), closer);
}

#[test]
fn a_held_key_zooms_until_it_is_released() {
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
    // All of it is one step back in the view history.
    press(&mut window, Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(window.state().state.session.view, None);
}

#[test]
fn changed_preferences_are_stored() {
    let mut window = control();
    tap(&mut window, Key::Num2);
    let ctx = window.ctx.clone();
    assert!(window.state().state.look.still, "this start only");
    for _ in 0..2 {
        window.state_mut().run(&ctx, Action::ToggleMotion.into());
    }
    window.state_mut().run(&ctx, Action::ToggleAsking.into());
    let prefs = window.state().prefs();
    assert_eq!(prefs.workspace, Workspace::Sampling);
    assert_eq!(prefs.motion, Motion::Reduced);
    assert!(!prefs.asks);
    assert_eq!(prefs.splits, Splits::default(), "nothing was dragged");
}

#[test]
fn a_dragged_panel_width_is_stored() {
    let mut window = control();
    let edge = pos2(268.0, 400.0);
    let mut pointer = |at, pressed: Option<bool>| {
        window.event(Event::PointerMoved(at));
        window.run();
        if let Some(pressed) = pressed {
            window.event(Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            });
            window.run();
        }
    };
    pointer(edge, None);
    pointer(edge, Some(true));
    pointer(edge + vec2(30.0, 0.0), None);
    pointer(edge + vec2(60.0, 0.0), Some(false));
    let splits = window.state().prefs().splits;
    assert!((splits.options - 328.0).abs() < 3.0, "{splits:?}");
    assert_eq!((splits.inspector, splits.pipeline), (0.0, 0.0));
    let other = Window {
        prefs: window.state().prefs(),
        ..Window::new()
    }
    .open();
    let width = other.get_by_label("Copy").rect().right();
    assert!((width - 312.0).abs() < 8.0, "{width}");
}

#[test]
fn toolbar_buttons_have_names_and_are_reached_by_tab() {
    let mut window = control();
    window.state_mut().state.set_up().session.cursor = Cursor::At(Nanos::from_millis(300));
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
    for name in ["File", "Debug", "Run", "Step forward", "Next wait", "End"] {
        assert!(
            names.iter().any(|n| n == name),
            "{name} is not among {names:?}"
        );
    }
    assert!(names.iter().all(|n| !n.is_empty()));
}
