//! Presentation of an action: name, tooltip, keys, group.

use egui::{Context, Key, KeyboardShortcut, Modifiers};
use loadscope_words::say;

use super::Action;

/// Presentation of an action.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Name in menus and for screen readers.
    pub name: &'static str,
    /// Tooltip: its effect in one sentence.
    pub tooltip: &'static str,
    /// Main key.
    pub shortcut: Option<KeyboardShortcut>,
    /// Group in the help sheet.
    pub group: Group,
}

/// Groups of the help sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Starting and stopping runs.
    Run,
    /// Moving the time cursor.
    Travel,
    /// Zooming and moving the view.
    View,
    /// Jumping between items and selecting them.
    Find,
    /// Opening and answering lessons.
    Learn,
    /// Recordings and the options.
    File,
    /// Panels, theme and zoom of the window.
    Window,
}

impl Group {
    /// All groups in the order of the help sheet.
    pub const ALL: [Self; 7] = [
        Self::Run,
        Self::Travel,
        Self::View,
        Self::Find,
        Self::Learn,
        Self::File,
        Self::Window,
    ];

    /// Returns the heading.
    pub fn label(self) -> &'static str {
        match self {
            Self::Run => say!("Run"),
            Self::Travel => say!("Time travel"),
            Self::View => say!("View"),
            Self::Find => say!("Find and select"),
            Self::Learn => say!("Lessons"),
            Self::File => say!("File and options"),
            Self::Window => say!("Window"),
        }
    }
}

impl Info {
    /// Returns the key as shown in menus and in the help: `Ctrl+O`, `→`.
    pub fn keys(&self, ctx: &Context) -> String {
        self.shortcut.map_or_else(String::new, |s| written(ctx, &s))
    }
}

/// Formats a key as a symbol, after the modifiers in the notation of the system.
pub(super) fn written(ctx: &Context, shortcut: &KeyboardShortcut) -> String {
    let symbol = match shortcut.logical_key {
        Key::ArrowRight => "→",
        Key::ArrowLeft => "←",
        Key::ArrowUp => "↑",
        Key::ArrowDown => "↓",
        Key::Period => ".",
        Key::Comma => ",",
        Key::OpenBracket => "[",
        Key::CloseBracket => "]",
        Key::Slash => "/",
        Key::Minus => "−",
        Key::Plus => "+",
        Key::Equals => "=",
        Key::Questionmark => "?",
        Key::Escape => say!("Esc"),
        _ => return ctx.format_shortcut(shortcut),
    };
    // `format_shortcut` supplies the modifiers. The key is replaced with our symbol.
    let plain = KeyboardShortcut::new(shortcut.modifiers, Key::A);
    let mut text = ctx.format_shortcut(&plain);
    text.truncate(text.len() - 1);
    text + symbol
}

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
            text += &written(ctx, &also);
        }
        text
    }
}
