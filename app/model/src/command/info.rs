//! Presentation of an action: name, tooltip, keys, group.

use egui::{Context, Key, KeyboardShortcut};
use loadscope_words::say;

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
