//! Hands: keys, keys that are held, the buttons at the side of the mouse.

use eframe::egui::{self, Context, Event, Key, Modifiers, PointerButton};

use super::App;
use super::grip::{Drive, Grip};
use loadscope_model::command::{Action, Command};
use loadscope_model::message::Message;
use loadscope_model::update::drive;

/// What may be pressed while text is typed: nothing that a text field has a use for.
const WHILE_TYPING: [Action; 7] = [
    Action::Palette,
    Action::Run,
    Action::Simulate,
    Action::Open,
    Action::Save,
    Action::NextMatch,
    Action::PreviousMatch,
];

/// Keys that go on while they are held.
const HELD: [Key; 4] = [Key::W, Key::S, Key::A, Key::D];

/// Keys that move or press what has the keyboard.
const OF_WIDGETS: [Key; 7] = [
    Key::Space,
    Key::Enter,
    Key::Tab,
    Key::ArrowUp,
    Key::ArrowDown,
    Key::ArrowLeft,
    Key::ArrowRight,
];

impl App {
    pub(super) fn keys(&mut self, ctx: &Context) {
        self.let_go_of_the_options(ctx);
        // A menu has its own keys, Escape above all.
        if egui::Popup::is_any_open(ctx) {
            self.drive = Drive::default();
            return;
        }
        let typing = ctx.text_edit_focused();
        if typing {
            self.drive = Drive::default();
        } else {
            self.mouse_buttons(ctx);
            self.held_keys(ctx);
        }
        let on_widget = !typing && ctx.memory(|m| m.focused().is_some());
        for (shortcut, action) in Action::shortcuts() {
            if typing && !WHILE_TYPING.contains(&action) {
                continue;
            }
            let plain = shortcut.modifiers == Modifiers::NONE;
            if on_widget && plain && OF_WIDGETS.contains(&shortcut.logical_key) {
                continue;
            }
            while ctx.input_mut(|i| i.consume_shortcut(&shortcut)) {
                let command = self.at_pointer(action);
                self.run(ctx, command);
            }
        }
    }

    fn let_go_of_the_options(&mut self, ctx: &Context) {
        let grip = Grip {
            pressed: ctx.input(|i| i.pointer.any_down()),
            focused: ctx.memory(|m| m.focused()),
        };
        if grip != self.grip {
            self.grip = grip;
            self.tell(ctx, Message::LetGo);
        }
    }

    /// Zooming by key keeps what is under the pointer where it is.
    fn at_pointer(&self, action: Action) -> Command {
        let doublings = match action {
            Action::ZoomIn => 0.5,
            Action::ZoomOut if self.state.session.view.is_some() => -0.5,
            _ => return action.into(),
        };
        match self.timeline.zoom_pivot() {
            Some(pivot) => Command::View(Some(drive(&self.state, Some(pivot), doublings, 0.0))),
            None => action.into(),
        }
    }

    /// The buttons at the side of the mouse go through the views, as in a browser.
    fn mouse_buttons(&mut self, ctx: &Context) {
        for (button, action) in [
            (PointerButton::Extra1, Action::ViewBack),
            (PointerButton::Extra2, Action::ViewForward),
        ] {
            if ctx.input(|i| i.pointer.button_pressed(button)) {
                self.run(ctx, action.into());
            }
        }
    }

    /// W, S, A and D go on while they are held, faster and faster. The first press is an action like any other.
    fn held_keys(&mut self, ctx: &Context) {
        ctx.input_mut(|i| {
            i.events.retain(|event| {
                let again =
                    matches!(event, Event::Key { key, repeat: true, .. } if HELD.contains(key));
                !again
            });
        });
        let (down, now, elapsed) = ctx.input(|i| {
            let free = i.modifiers.is_none();
            let down = HELD.map(|key| free && i.key_down(key));
            (down, i.time, f64::from(i.stable_dt.min(0.1)))
        });
        let way = |more: usize, less: usize| f64::from(i8::from(down[more]) - i8::from(down[less]));
        let (zoom, pan) = (way(0, 1), way(3, 2));
        if (zoom == 0.0 && pan == 0.0) || self.state.session.run.batches().is_empty() {
            self.drive = Drive::default();
            return;
        }
        ctx.request_repaint();
        let zoom = zoom * self.drive.distance(now, elapsed, Drive::ZOOM);
        let pan = pan * self.drive.distance(now, elapsed, Drive::PAN);
        if zoom == 0.0 && pan == 0.0 {
            return;
        }
        let view = drive(&self.state, self.timeline.zoom_pivot(), zoom, pan);
        self.timeline.expect(view);
        self.tell(ctx, Message::Driven(view));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tap_does_not_drive_and_holding_accelerates() {
        let mut drive = Drive::default();
        assert_eq!(drive.distance(10.0, 0.016, Drive::PAN), 0.0);
        assert_eq!(drive.distance(10.1, 0.016, Drive::PAN), 0.0);
        let early = drive.distance(10.3, 0.016, Drive::PAN);
        let later = drive.distance(11.0, 0.016, Drive::PAN);
        let last = drive.distance(13.0, 0.016, Drive::PAN);
        assert!(early > 0.0 && early < later && later < last);
        assert_eq!(last, drive.distance(20.0, 0.016, Drive::PAN));
    }

    #[test]
    fn what_text_needs_is_left_to_it() {
        for action in WHILE_TYPING {
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
}
