//! Commands: everything a user can ask for. Menus, toolbar, help sheet and tooltips derive from [`Action::info`].

use std::path::PathBuf;

use eframe::egui::{Context, Key, KeyboardShortcut, Modifiers, ThemePreference};
use loadscope_trace::RunOptions;

use crate::state::Notice;
use crate::view::{Cursor, Item, TimeView};

/// What a panel or a key asks for. `update` carries it out.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Something with a name, and perhaps a key.
    Act(Action),
    /// Show this range of time; `None`: everything, and follow.
    View(Option<TimeView>),
    /// Look at this instant.
    Cursor(Cursor),
    /// Select this, or nothing.
    Select(Option<Item>),
    /// The pointer is over this.
    Hover(Option<Item>),
    /// The form was edited.
    Edit(Box<RunOptions>),
    /// Open a recording.
    Open(PathBuf),
    /// Write the run to a file.
    SaveTo(PathBuf),
    /// Use the pictures in this folder.
    UseFolder(PathBuf),
    /// Play at this multiple of real time.
    Speed(f64),
    /// Dark, light or as the system.
    Theme(ThemePreference),
    /// Show a picture of the selected batch enlarged: its field and its place in it; `None`: none.
    Enlarge(Option<(usize, usize)>),
    /// Put this on the clipboard.
    Copy(String),
    /// Tell the user something.
    Say(Notice),
    /// Take this notice away.
    Dismiss(usize),
}

/// A command with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Run the digits demo.
    RunDemo,
    /// Run what the form says.
    Run,
    /// Stop the run.
    Stop,
    /// Pause or resume: the engine while live, playback in a recording.
    PauseResume,
    /// One transition forwards; live and paused: let the engine take one.
    StepForward,
    /// One transition back.
    StepBack,
    /// To the next batch handed out.
    NextBatch,
    /// To the batch handed out before.
    PreviousBatch,
    /// To the next wait of the trainer.
    NextStall,
    /// To the wait before.
    PreviousStall,
    /// Follow what happens now.
    FollowLive,
    /// Zoom in.
    ZoomIn,
    /// Zoom out.
    ZoomOut,
    /// Move left.
    PanLeft,
    /// Move right.
    PanRight,
    /// Show everything.
    ShowAll,
    /// Show what is selected.
    FitSelection,
    /// The view before.
    ViewBack,
    /// The view after.
    ViewForward,
    /// Next span on this lane.
    NextSpan,
    /// Previous span on this lane.
    PreviousSpan,
    /// Choose a recording.
    Open,
    /// Save the recording.
    Save,
    /// Choose a folder of pictures.
    ChooseFolder,
    /// Save the enlarged picture.
    SavePicture,
    /// Values of the selected batch to the clipboard.
    CopyValues,
    /// Content of the selected batch to the clipboard, as JSON.
    CopyContent,
    /// Dataset indices of the selected batch to the clipboard.
    CopyIndices,
    /// PyTorch's variables to the clipboard.
    CopyVariables,
    /// Close the run.
    Close,
    /// Clear the innermost thing.
    Escape,
    /// The timeline below the machine.
    ShowTimeline,
    /// The table of batches below the machine.
    ShowBatches,
    /// Counters over time below the machine.
    ShowPlots,
    /// Options on or off.
    ToggleOptions,
    /// Inspector on or off.
    ToggleInspector,
    /// PyTorch's variables beside the machine on or off.
    ToggleVariables,
    /// Dark or light.
    ToggleTheme,
    /// Animations on or off.
    ToggleMotion,
    /// Help on or off.
    Help,
    /// Quit.
    Quit,
}

/// How an action introduces itself.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name in menus and for screen readers.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub tooltip: &'static str,
    /// Its key.
    pub shortcut: Option<KeyboardShortcut>,
    /// Where it stands in the help.
    pub group: Group,
}

/// Groups of the help sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Starting, pausing, stepping.
    Run,
    /// Moving through time.
    Time,
    /// Recordings.
    File,
    /// The window.
    Window,
}

impl Group {
    /// All groups in the order of the help sheet.
    pub const ALL: [Self; 4] = [Self::Run, Self::Time, Self::File, Self::Window];

    /// Its heading.
    pub fn label(self) -> &'static str {
        match self {
            Self::Run => "Run",
            Self::Time => "Time",
            Self::File => "File",
            Self::Window => "Window",
        }
    }
}

const fn key(key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(Modifiers::NONE, key))
}

const fn with(modifiers: Modifiers, key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(modifiers, key))
}

impl Info {
    /// Its key as it stands in menus and in the help: `Ctrl+O`, `→`.
    pub fn keys(&self, ctx: &Context) -> String {
        let Some(shortcut) = self.shortcut else {
            return String::new();
        };
        let symbol = match shortcut.logical_key {
            Key::ArrowRight => "→",
            Key::ArrowLeft => "←",
            Key::Period => ".",
            Key::Comma => ",",
            Key::Questionmark => "?",
            Key::Escape => "Esc",
            _ => return ctx.format_shortcut(&shortcut),
        };
        // The name of the modifiers as the system writes them, with our sign for the key.
        let plain = KeyboardShortcut::new(shortcut.modifiers, Key::A);
        let mut text = ctx.format_shortcut(&plain);
        text.truncate(text.len() - 1);
        text + symbol
    }
}

/// Every action once: its name, what it does, its key, and where it stands in the help.
#[rustfmt::skip]
const TABLE: [(Action, &str, &str, Option<KeyboardShortcut>, Group); 41] = {
    use {Action as A, Group as G};
    const CTRL: Modifiers = Modifiers::COMMAND;
    const SHIFT: Modifiers = Modifiers::SHIFT;
    const ALT: Modifiers = Modifiers::ALT;
    [
        (A::RunDemo, "Run the digits demo", "Loads 1,797 handwritten digits with 4 workers", with(CTRL, Key::D), G::Run),
        (A::Run, "Run", "Runs the loader with the options on the left", with(CTRL, Key::R), G::Run),
        (A::Stop, "Stop", "Breaks the epoch off; what was recorded stays", with(CTRL, Key::Period), G::Run),
        (A::PauseResume, "Pause or resume", "Holds every thread of the loader, or plays the recording", key(Key::Space), G::Run),
        (A::StepForward, "Step forward", "One transition: a batch enters its next stage", key(Key::ArrowRight), G::Run),
        (A::StepBack, "Step back", "One transition back in the recording", key(Key::ArrowLeft), G::Run),
        (A::NextBatch, "Next batch", "To the next batch that the trainer gets", with(SHIFT, Key::ArrowRight), G::Run),
        (A::PreviousBatch, "Previous batch", "To the batch that the trainer got before", with(SHIFT, Key::ArrowLeft), G::Run),
        (A::NextStall, "Next stall", "To the next time the trainer waits", key(Key::N), G::Run),
        (A::PreviousStall, "Previous stall", "To the last time the trainer waited", key(Key::P), G::Run),
        (A::FollowLive, "Follow live", "Shows what happens now", key(Key::L), G::Run),
        (A::ZoomIn, "Zoom in", "Shows less time, in more detail", key(Key::W), G::Time),
        (A::ZoomOut, "Zoom out", "Shows more time", key(Key::S), G::Time),
        (A::PanLeft, "Move left", "Shows earlier time", key(Key::A), G::Time),
        (A::PanRight, "Move right", "Shows later time", key(Key::D), G::Time),
        (A::ShowAll, "Show everything", "The whole run, and follow what comes", key(Key::Home), G::Time),
        (A::FitSelection, "Fit the selection", "Zooms to what is selected", key(Key::F), G::Time),
        (A::ViewBack, "View back", "The range that was looked at before", with(ALT, Key::ArrowLeft), G::Time),
        (A::ViewForward, "View forward", "The range that was looked at after", with(ALT, Key::ArrowRight), G::Time),
        (A::NextSpan, "Next span", "The next batch on the selected lane", key(Key::Period), G::Time),
        (A::PreviousSpan, "Previous span", "The batch before on the selected lane", key(Key::Comma), G::Time),
        (A::Open, "Open a recording…", "Opens a .jsonl or .jsonl.zst file", with(CTRL, Key::O), G::File),
        (A::Save, "Save as…", "Writes the recording to a file", with(CTRL, Key::S), G::File),
        (A::ChooseFolder, "Choose a folder of pictures…", "Loads your own JPEG and PNG pictures", None, G::File),
        (A::SavePicture, "Save the picture…", "Writes the enlarged picture to a PNG file, pixel by pixel", None, G::File),
        (A::CopyValues, "Copy the values", "Puts the values of the selected batch on the clipboard, one row a sample", key(Key::C), G::File),
        (A::CopyContent, "Copy the content as JSON", "Puts all that is known of the selected batch's content on the clipboard", with(SHIFT, Key::C), G::File),
        (A::CopyIndices, "Copy the indices", "Puts the dataset indices of the selected batch on the clipboard", None, G::File),
        (A::CopyVariables, "Copy the variables", "Puts PyTorch's variables on the clipboard, as Python prints them", None, G::File),
        (A::Close, "Close", "Back to the welcome screen", with(CTRL, Key::W), G::File),
        (A::Escape, "Clear", "Takes away the selection, then the time cursor", key(Key::Escape), G::Window),
        (A::ShowTimeline, "Timeline", "What happened when, lane by lane", key(Key::T), G::Window),
        (A::ShowBatches, "Batches", "A table of all batches and where their time went", key(Key::B), G::Window),
        (A::ShowPlots, "Plots", "Waiting, throughput and queues over time", key(Key::G), G::Window),
        (A::ToggleOptions, "Options", "Shows or hides the options on the left", with(CTRL, Key::B), G::Window),
        (A::ToggleInspector, "Inspector", "Shows or hides the inspector on the right", with(CTRL, Key::I), G::Window),
        (A::ToggleVariables, "Variables", "Shows or hides send_idx, rcvd_idx, task_info and workers_status beside the machine", key(Key::V), G::Window),
        (A::ToggleTheme, "Dark or light", "Changes the colours", with(CTRL, Key::T), G::Window),
        (A::ToggleMotion, "Reduce motion", "Zooms and moves without animation, or with it", None, G::Window),
        (A::Help, "Help", "Shows all keys", key(Key::Questionmark), G::Window),
        (A::Quit, "Quit", "Closes the window", with(CTRL, Key::Q), G::Window),
    ]
};

impl Action {
    /// All actions in the order of the help sheet.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(action, ..)| *action)
    }

    /// Name, tooltip, key and group.
    pub fn info(self) -> Info {
        let (_, name, tooltip, shortcut, group) = TABLE[self as usize];
        Info {
            name,
            tooltip,
            shortcut,
            group,
        }
    }
}

impl From<Action> for Command {
    fn from(action: Action) -> Self {
        Self::Act(action)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_actions_share_a_key() {
        let mut seen = std::collections::HashMap::new();
        for action in Action::all() {
            if let Some(shortcut) = action.info().shortcut
                && let Some(other) = seen.insert((shortcut.modifiers, shortcut.logical_key), action)
            {
                panic!("{other:?} and {action:?} share {shortcut:?}");
            }
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_actions() {
        for (k, (action, ..)) in TABLE.iter().enumerate() {
            assert_eq!(*action as usize, k, "{action:?}");
        }
    }

    #[test]
    fn names_are_in_sentence_case_and_unique() {
        let mut names = BTreeSet::new();
        for action in Action::all() {
            let info = action.info();
            assert!(names.insert(info.name), "{} twice", info.name);
            assert!(!info.tooltip.ends_with('.') && info.name.starts_with(char::is_uppercase));
        }
    }
}
