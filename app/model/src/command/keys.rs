//! Keyboard shortcuts of all actions.

use egui::{Context, Key, KeyboardShortcut, Modifiers};
use loadscope_words::say;

use super::{Action, info};

/// Second keys: keys from other programs or from other keyboard layouts.
#[rustfmt::skip]
const ALSO: &[(Action, Modifiers, Key)] = &[
    (Action::ShowAll, Modifiers::NONE, Key::Num0),
    (Action::FollowLive, Modifiers::NONE, Key::End),
    (Action::Faster, Modifiers::NONE, Key::Equals),
    (Action::Larger, Modifiers::COMMAND, Key::Equals),
    (Action::NextStage, Modifiers::NONE, Key::PageDown),
    (Action::PreviousStage, Modifiers::NONE, Key::PageUp),
    (Action::Redo, Modifiers::COMMAND, Key::Y),
    (Action::NextMatch, Modifiers::COMMAND, Key::G),
    (Action::PreviousMatch, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::G),
];

impl Action {
    /// Returns every shortcut with its action.
    /// Shortcuts with modifiers come first, because egui also matches a key without its modifiers.
    pub fn shortcuts() -> Vec<(KeyboardShortcut, Self)> {
        let first = Self::all().filter_map(|a| Some((a.info().shortcut?, a)));
        let also = ALSO.iter();
        let also = also.map(|(action, m, key)| (KeyboardShortcut::new(*m, *key), *action));
        let mut all: Vec<_> = first.chain(also).collect();
        let modifiers = |m: Modifiers| [m.shift, m.alt, m.command].iter().filter(|m| **m).count();
        all.sort_by_key(|(s, _)| std::cmp::Reverse(modifiers(s.modifiers)));
        all
    }

    /// Returns all keys as shown in the help: `Home or 0`.
    pub fn all_keys(self, ctx: &Context) -> String {
        let mut text = self.info().keys(ctx);
        for (_, m, key) in ALSO.iter().filter(|(a, ..)| *a == self) {
            let also = KeyboardShortcut::new(*m, *key);
            text += say!(" or ");
            text += &info::written(ctx, &also);
        }
        text
    }
}
