//! User input: keys, held keys, side buttons of the mouse.

use egui::{Context, Event, Key, Modifiers, PointerButton};

use crate::Host;
use crate::{HeldKeys, InputFocus};
use loadscope_model::command::{Action, Command};
use loadscope_model::message::Message;
use loadscope_model::update::{by_digit, drive, takes_digits};

/// Actions whose keys are active during text input, because text fields do not use them.
const TYPING_ACTIONS: [Action; 7] = [
    Action::Palette,
    Action::Run,
    Action::Simulate,
    Action::Open,
    Action::Save,
    Action::NextMatch,
    Action::PreviousMatch,
];

/// Keys that act continuously while they are held.
const HELD_KEYS: [Key; 4] = [Key::W, Key::S, Key::A, Key::D];

/// Keys that move or press the focused widget.
const WIDGET_KEYS: [Key; 7] = [
    Key::Space,
    Key::Enter,
    Key::Tab,
    Key::ArrowUp,
    Key::ArrowDown,
    Key::ArrowLeft,
    Key::ArrowRight,
];

/// Returns the digit of a key.
fn digit(key: Key) -> Option<usize> {
    const DIGITS: [Key; 10] = [
        Key::Num0,
        Key::Num1,
        Key::Num2,
        Key::Num3,
        Key::Num4,
        Key::Num5,
        Key::Num6,
        Key::Num7,
        Key::Num8,
        Key::Num9,
    ];
    DIGITS.iter().position(|one| *one == key)
}

/// Handles user input.
pub(crate) fn handle_input(host: &mut impl Host, ctx: &Context) {
    end_edit_group(host, ctx);
    // An open menu handles its own keys, for example Escape.
    if egui::Popup::is_any_open(ctx) {
        host.window().held_keys = HeldKeys::default();
        return;
    }
    let typing = ctx.text_edit_focused();
    if typing {
        host.window().held_keys = HeldKeys::default();
    } else {
        mouse_buttons(host, ctx);
        held_keys(host, ctx);
    }
    if !typing {
        digits(host, ctx);
    }
    let on_widget = !typing && ctx.memory(|m| m.focused().is_some());
    for (shortcut, action) in Action::shortcuts() {
        let state = host.state();
        let answers = state.learn.question().is_some() && !state.look.search.open;
        let skips = action == Action::SkipStep && answers;
        if typing && !TYPING_ACTIONS.contains(&action) && !skips {
            continue;
        }
        let plain = shortcut.modifiers == Modifiers::NONE;
        if on_widget && plain && WIDGET_KEYS.contains(&shortcut.logical_key) {
            continue;
        }
        // With slow frames, a key can be pressed several times per frame.
        let (modifiers, key) = (shortcut.modifiers, shortcut.logical_key);
        let presses = ctx.input_mut(|i| i.count_and_consume_key(modifiers, key));
        for _ in 0..presses {
            let command = zoom_at_pointer(host, action);
            host.run(ctx, command);
        }
    }
}

/// Sends all digits to the open question of a lesson, in the order of the key presses.
fn digits(host: &mut impl Host, ctx: &Context) {
    if !takes_digits(host.state()) {
        return;
    }
    let mut pressed = Vec::new();
    ctx.input_mut(|i| {
        i.events.retain(|event| {
            let Event::Key { key, modifiers, .. } = event else {
                return true;
            };
            let Some(digit) = digit(*key).filter(|_| modifiers.is_none()) else {
                return true;
            };
            if matches!(event, Event::Key { pressed: true, .. }) {
                pressed.push(digit);
            }
            false
        });
    });
    for digit in pressed {
        if let Some(command) = by_digit(host.state(), digit) {
            host.run(ctx, command);
        }
    }
}

fn end_edit_group(host: &mut impl Host, ctx: &Context) {
    let focus = InputFocus {
        pressed: ctx.input(|i| i.pointer.any_down()),
        focused: ctx.memory(|m| m.focused()),
    };
    if focus != host.window().input_focus {
        host.window().input_focus = focus;
        host.dispatch(ctx, Message::EditEnded);
    }
}

/// Zooms around the pointer.
fn zoom_at_pointer(host: &mut impl Host, action: Action) -> Command {
    let doublings = match action {
        Action::ZoomIn => 0.5,
        Action::ZoomOut if host.state().session.view.is_some() => -0.5,
        _ => return action.into(),
    };
    match host.window().timeline.zoom_pivot() {
        Some(pivot) => Command::View(Some(drive(host.state(), Some(pivot), doublings, 0.0))),
        None => action.into(),
    }
}

/// Handles the side buttons of the mouse, which go through the views as in a browser.
fn mouse_buttons(host: &mut impl Host, ctx: &Context) {
    for (button, action) in [
        (PointerButton::Extra1, Action::ViewBack),
        (PointerButton::Extra2, Action::ViewForward),
    ] {
        if ctx.input(|i| i.pointer.button_pressed(button)) {
            host.run(ctx, action.into());
        }
    }
}

/// Moves the view while W, A, S or D is held, with increasing speed. The first press is a normal action.
fn held_keys(host: &mut impl Host, ctx: &Context) {
    ctx.input_mut(|i| {
        i.events.retain(|event| {
            let again =
                matches!(event, Event::Key { key, repeat: true, .. } if HELD_KEYS.contains(key));
            !again
        });
    });
    let (down, now, elapsed) = ctx.input(|i| {
        let free = i.modifiers.is_none();
        let down = HELD_KEYS.map(|key| free && i.key_down(key));
        (down, i.time, f64::from(i.stable_dt.min(0.1)))
    });
    let way = |more: usize, less: usize| f64::from(i8::from(down[more]) - i8::from(down[less]));
    let (zoom, pan) = (way(0, 1), way(3, 2));
    if (zoom == 0.0 && pan == 0.0) || host.state().session.run.batches().is_empty() {
        host.window().held_keys = HeldKeys::default();
        return;
    }
    ctx.request_repaint();
    let held = &mut host.window().held_keys;
    let zoom = zoom * held.distance(now, elapsed, HeldKeys::ZOOM);
    let pan = pan * held.distance(now, elapsed, HeldKeys::PAN);
    if zoom == 0.0 && pan == 0.0 {
        return;
    }
    let pivot = host.window().timeline.zoom_pivot();
    let view = drive(host.state(), pivot, zoom, pan);
    host.window().timeline.skip_animation_for(view);
    host.dispatch(ctx, Message::Driven(view));
}

#[cfg(test)]
mod tests {
    use egui::RawInput;
    use loadscope_model::Model;
    use loadscope_model::effect::Effect;
    use loadscope_model::state::State;

    use super::*;
    use crate::Window;

    #[test]
    fn a_tap_does_not_move_and_a_held_key_accelerates() {
        let mut keys = HeldKeys::default();
        assert_eq!(keys.distance(10.0, 0.016, HeldKeys::PAN), 0.0);
        assert_eq!(keys.distance(10.1, 0.016, HeldKeys::PAN), 0.0);
        let early = keys.distance(10.3, 0.016, HeldKeys::PAN);
        let later = keys.distance(11.0, 0.016, HeldKeys::PAN);
        let last = keys.distance(13.0, 0.016, HeldKeys::PAN);
        assert!(early > 0.0 && early < later && later < last);
        assert_eq!(last, keys.distance(20.0, 0.016, HeldKeys::PAN));
    }

    #[test]
    fn text_editing_keys_trigger_no_action_while_typing() {
        for action in TYPING_ACTIONS {
            let keys = Action::shortcuts()
                .into_iter()
                .filter(|(_, a)| *a == action);
            for (shortcut, _) in keys {
                let edits = [
                    Key::A,
                    Key::C,
                    Key::V,
                    Key::X,
                    Key::Z,
                    Key::Y,
                    Key::Backspace,
                ];
                assert!(!edits.contains(&shortcut.logical_key), "{action:?}");
                let function = shortcut.logical_key == Key::F3;
                assert!(function || shortcut.modifiers.command, "{action:?}");
            }
        }
    }

    /// A host that records commands.
    #[derive(Default)]
    struct RecordingHost {
        model: Model,
        window: Window,
        asked: Vec<Command>,
    }

    impl Host for RecordingHost {
        fn model_and_window(&mut self) -> (&mut Model, &mut Window) {
            (&mut self.model, &mut self.window)
        }

        fn state(&self) -> &State {
            &self.model
        }

        fn run(&mut self, _: &Context, command: Command) {
            self.asked.push(command);
        }

        fn perform_outside(&mut self, _: &Context, _: Effect) {}

        fn start_run(&mut self, _: &Context, _: bool) {}

        fn retain_shown_run(&mut self) {}

        fn resume_run(&mut self, _: u32) {}

        fn release_run(&mut self, _: u32, _: bool) {}
    }

    /// Regression test: quick presses within a slow frame counted as one.
    #[test]
    fn every_press_between_two_frames_counts() {
        let ctx = Context::default();
        let press = |pressed| Event::Key {
            key: Key::ArrowRight,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        let mut host = RecordingHost::default();
        let input = RawInput {
            events: [true, false, true, false, true].map(press).to_vec(),
            ..RawInput::default()
        };
        let mut shown = ctx.run_ui(input, |ui| handle_input(&mut host, ui.ctx()));
        shown.textures_delta.clear();
        let steps = vec![Command::from(Action::StepForward); 3];
        assert_eq!(host.asked, steps);
    }
}
