//! Commands: everything a user can ask for. Menus, toolbar, help sheet and tooltips derive from [`Action::info`].

use std::path::PathBuf;

use eframe::egui::{Key, KeyboardShortcut, Modifiers, ThemePreference};
use loadscope_trace::RunOptions;

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
    /// Choose a recording.
    Open,
    /// Save the recording.
    Save,
    /// Choose a folder of pictures.
    ChooseFolder,
    /// Close the run.
    Close,
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
    /// Clear the innermost thing.
    Escape,
    /// The timeline below the machine.
    ShowTimeline,
    /// The table of batches below the machine.
    ShowBatches,
    /// Options on or off.
    ToggleOptions,
    /// Inspector on or off.
    ToggleInspector,
    /// Dark or light.
    ToggleTheme,
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

impl Action {
    /// All actions in the order of the help sheet.
    pub const ALL: [Self; 33] = [
        Self::RunDemo,
        Self::Run,
        Self::Stop,
        Self::PauseResume,
        Self::StepForward,
        Self::StepBack,
        Self::NextBatch,
        Self::PreviousBatch,
        Self::NextStall,
        Self::PreviousStall,
        Self::FollowLive,
        Self::ZoomIn,
        Self::ZoomOut,
        Self::PanLeft,
        Self::PanRight,
        Self::ShowAll,
        Self::FitSelection,
        Self::ViewBack,
        Self::ViewForward,
        Self::NextSpan,
        Self::PreviousSpan,
        Self::Open,
        Self::Save,
        Self::ChooseFolder,
        Self::Close,
        Self::Escape,
        Self::ShowTimeline,
        Self::ShowBatches,
        Self::ToggleOptions,
        Self::ToggleInspector,
        Self::ToggleTheme,
        Self::Help,
        Self::Quit,
    ];

    /// Name, tooltip, key and group.
    pub fn info(self) -> Info {
        use Group::{File, Run, Time, Window};
        let (name, tooltip, shortcut, group) = match self {
            Self::RunDemo => (
                "Run the digits demo",
                "Loads 1,797 handwritten digits with 4 workers",
                with(Modifiers::COMMAND, Key::D),
                Run,
            ),
            Self::Run => (
                "Run",
                "Runs the loader with the options on the left",
                with(Modifiers::COMMAND, Key::R),
                Run,
            ),
            Self::Stop => (
                "Stop",
                "Breaks the epoch off; what was recorded stays",
                with(Modifiers::COMMAND, Key::Period),
                Run,
            ),
            Self::PauseResume => (
                "Pause or resume",
                "Holds every thread of the loader, or plays the recording",
                key(Key::Space),
                Run,
            ),
            Self::StepForward => (
                "Step forward",
                "One transition: a batch enters its next stage",
                key(Key::ArrowRight),
                Run,
            ),
            Self::StepBack => (
                "Step back",
                "One transition back in the recording",
                key(Key::ArrowLeft),
                Run,
            ),
            Self::NextBatch => (
                "Next batch",
                "To the next batch that the trainer gets",
                with(Modifiers::SHIFT, Key::ArrowRight),
                Run,
            ),
            Self::PreviousBatch => (
                "Previous batch",
                "To the batch that the trainer got before",
                with(Modifiers::SHIFT, Key::ArrowLeft),
                Run,
            ),
            Self::NextStall => (
                "Next stall",
                "To the next time the trainer waits",
                key(Key::N),
                Run,
            ),
            Self::PreviousStall => (
                "Previous stall",
                "To the last time the trainer waited",
                key(Key::P),
                Run,
            ),
            Self::FollowLive => ("Follow live", "Shows what happens now", key(Key::L), Run),
            Self::ZoomIn => (
                "Zoom in",
                "Shows less time, in more detail",
                key(Key::W),
                Time,
            ),
            Self::ZoomOut => ("Zoom out", "Shows more time", key(Key::S), Time),
            Self::PanLeft => ("Move left", "Shows earlier time", key(Key::A), Time),
            Self::PanRight => ("Move right", "Shows later time", key(Key::D), Time),
            Self::ShowAll => (
                "Show everything",
                "The whole run, and follow what comes",
                key(Key::Home),
                Time,
            ),
            Self::FitSelection => (
                "Fit the selection",
                "Zooms to what is selected",
                key(Key::F),
                Time,
            ),
            Self::ViewBack => (
                "View back",
                "The range that was looked at before",
                with(Modifiers::ALT, Key::ArrowLeft),
                Time,
            ),
            Self::ViewForward => (
                "View forward",
                "The range that was looked at after",
                with(Modifiers::ALT, Key::ArrowRight),
                Time,
            ),
            Self::NextSpan => (
                "Next span",
                "The next batch on the selected lane",
                key(Key::Period),
                Time,
            ),
            Self::PreviousSpan => (
                "Previous span",
                "The batch before on the selected lane",
                key(Key::Comma),
                Time,
            ),
            Self::Open => (
                "Open a recording…",
                "Opens a .jsonl or .jsonl.zst file",
                with(Modifiers::COMMAND, Key::O),
                File,
            ),
            Self::Save => (
                "Save as…",
                "Writes the recording to a file",
                with(Modifiers::COMMAND, Key::S),
                File,
            ),
            Self::ChooseFolder => (
                "Choose a folder of pictures…",
                "Loads your own JPEG and PNG pictures",
                None,
                File,
            ),
            Self::Close => (
                "Close",
                "Back to the welcome screen",
                with(Modifiers::COMMAND, Key::W),
                File,
            ),
            Self::Escape => (
                "Clear",
                "Takes away the selection, then the time cursor",
                key(Key::Escape),
                Window,
            ),
            Self::ShowTimeline => (
                "Timeline",
                "What happened when, lane by lane",
                key(Key::T),
                Window,
            ),
            Self::ShowBatches => (
                "Batches",
                "A table of all batches and where their time went",
                key(Key::B),
                Window,
            ),
            Self::ToggleOptions => (
                "Options",
                "Shows or hides the options on the left",
                with(Modifiers::COMMAND, Key::B),
                Window,
            ),
            Self::ToggleInspector => (
                "Inspector",
                "Shows or hides the inspector on the right",
                with(Modifiers::COMMAND, Key::I),
                Window,
            ),
            Self::ToggleTheme => (
                "Dark or light",
                "Changes the colours",
                with(Modifiers::COMMAND, Key::T),
                Window,
            ),
            Self::Help => ("Help", "Shows all keys", key(Key::Questionmark), Window),
            Self::Quit => (
                "Quit",
                "Closes the window",
                with(Modifiers::COMMAND, Key::Q),
                Window,
            ),
        };
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
        for action in Action::ALL {
            if let Some(shortcut) = action.info().shortcut
                && let Some(other) = seen.insert((shortcut.modifiers, shortcut.logical_key), action)
            {
                panic!("{other:?} and {action:?} share {shortcut:?}");
            }
        }
    }

    #[test]
    fn names_are_in_sentence_case_and_unique() {
        let mut names = BTreeSet::new();
        for action in Action::ALL {
            let info = action.info();
            assert!(names.insert(info.name), "{} twice", info.name);
            assert!(!info.tooltip.ends_with('.') && info.name.starts_with(char::is_uppercase));
        }
        assert_eq!(
            Action::ALL.iter().collect::<BTreeSet<_>>().len(),
            Action::ALL.len()
        );
    }
}
