//! Every key with the action it stands for.

use egui::{Context, Key, KeyboardShortcut, Modifiers};
use loadscope_words::say;

use super::{Action, info};

/// Second keys: the same action under a key that others use for it, or that the keyboard has elsewhere.
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
    /// Every key with the action it stands for. Keys with modifiers come first: without them they would be taken for others.
    pub fn shortcuts() -> Vec<(KeyboardShortcut, Self)> {
        let first = Self::all().filter_map(|a| Some((a.info().shortcut?, a)));
        let also = ALSO.iter();
        let also = also.map(|(action, m, key)| (KeyboardShortcut::new(*m, *key), *action));
        let mut all: Vec<_> = first.chain(also).collect();
        let modifiers = |m: Modifiers| [m.shift, m.alt, m.command].iter().filter(|m| **m).count();
        all.sort_by_key(|(s, _)| std::cmp::Reverse(modifiers(s.modifiers)));
        all
    }

    /// Its keys as they stand in the help: `Home or 0`.
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
