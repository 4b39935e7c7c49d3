//! Commands: everything a user can ask for. Menus, toolbar, help sheet and tooltips derive from [`Action::info`].

use std::path::PathBuf;

use egui::{Key, KeyboardShortcut, Modifiers, ThemePreference};
use loadscope_trace::{RunId, RunOptions};

use crate::markers::Mark;
use crate::notice::Notice;
use crate::palette::Palette;
use crate::question::{Answer, Output};
use crate::typing::{PathFor, TypedPath};
use crate::view::{Cursor, Item, LaneGroup, OptionsOf, TimeView, Workspace};
use loadscope_insight::diagnose::Check;
use loadscope_insight::landmarks::Goal;
use loadscope_insight::sampling::Choice;
use loadscope_plan::forecast::Setting;

mod info;
mod keys;

pub use info::{Group, Info};

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
    /// Fold this group of lanes, or unfold it.
    Fold(LaneGroup),
    /// The pointer is over this.
    Hover(Option<Item>),
    /// Look at this order in the Sampling workspace.
    Sampling(Choice),
    /// Forecast the table around this setting; `None`: as it was recorded.
    WhatIf(Option<Box<Setting>>),
    /// Look at this forecast: num_workers and prefetch_factor.
    Pick(Option<(usize, usize)>),
    /// Run what was forecast, and see whether it comes true.
    Check(Box<Check>),
    /// Show this loader of the session.
    ShowLoader(RunId),
    /// Compare with this recording.
    CompareWith(PathBuf),
    /// Let a path be typed, or no longer.
    TypePath(Option<TypedPath>),
    /// Compare no more.
    StopComparing,
    /// The form was edited.
    Edit(Box<RunOptions>),
    /// Show the form on the left, or the options of the run that is shown.
    OptionsOf(OptionsOf),
    /// Open a recording.
    Open(PathBuf),
    /// Write the run to a file; ask first if it exists.
    SaveTo(PathBuf),
    /// Write the run for other tools, as the name of the file asks for; ask first if it exists.
    ExportTo(PathBuf),
    /// Write to a file even if it exists.
    Overwrite(Output),
    /// Replace the file that exists, or leave it.
    Replace(bool),
    /// Remove this run, which was not saved, from the journal.
    RemoveLeftOver(PathBuf),
    /// Use the pictures in this folder.
    UseFolder(PathBuf),
    /// Play at this multiple of real time.
    Speed(f64),
    /// Dark, light or as the system.
    Theme(ThemePreference),
    /// Place, move, name or remove a marker.
    Mark(Mark),
    /// What the buttons for the next and the previous one of its kind go to.
    Goal(Goal),
    /// Look for this.
    Search(String),
    /// Jump to this hit of the search, counted from 0.
    Hit(usize),
    /// Show the palette so, or take it away.
    Palette(Option<Palette>),
    /// What to do with the run that is about to be replaced.
    Answer(Answer),
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
    /// Run what the form says with a virtual clock.
    Simulate,
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
    /// To the next arrival out of order.
    NextOutOfOrder,
    /// To the arrival out of order before.
    PreviousOutOfOrder,
    /// To the next error or loss.
    NextTrouble,
    /// To the error or loss before.
    PreviousTrouble,
    /// To the next change of stage of the selected batch.
    NextStage,
    /// To the change of stage before.
    PreviousStage,
    /// Play slower.
    Slower,
    /// Play faster.
    Faster,
    /// To the beginning of the run.
    GoToStart,
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
    /// Show the selected range.
    ZoomToRange,
    /// The view before.
    ViewBack,
    /// The view after.
    ViewForward,
    /// Next span on this lane.
    NextSpan,
    /// Previous span on this lane.
    PreviousSpan,
    /// The lane above.
    LaneUp,
    /// The lane below.
    LaneDown,
    /// Look for a batch, a sample, what was slow.
    Search,
    /// To the next hit of the search.
    NextMatch,
    /// To the hit before.
    PreviousMatch,
    /// Place a marker at the instant that is looked at, or take it away.
    ToggleMarker,
    /// To the next marker.
    NextMarker,
    /// To the marker before.
    PreviousMarker,
    /// Take all markers away.
    ClearMarkers,
    /// Choose a recording.
    Open,
    /// Choose a folder of logs.
    OpenFolder,
    /// Save the recording.
    Save,
    /// Choose a recording to compare with.
    Compare,
    /// Write the run for other tools.
    Export,
    /// Break the export off.
    CancelExport,
    /// Choose a folder of pictures.
    ChooseFolder,
    /// How to watch a program of PyTorch's.
    WatchProgram,
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
    /// Take back the last change to the form.
    Undo,
    /// Make it again.
    Redo,
    /// Put the options of the run that is shown into the form.
    TakeOptions,
    /// Clear the innermost thing.
    Escape,
    /// The machine and what happened in it.
    ShowDebug,
    /// The order of the samples.
    ShowSampling,
    /// Why training waits, and what would help.
    ShowDiagnose,
    /// The timeline below the machine.
    ShowTimeline,
    /// The table of batches below the machine.
    ShowBatches,
    /// Counters over time below the machine.
    ShowPlots,
    /// All loaders and ranks below the machine.
    ShowLoaders,
    /// Show the next loader.
    NextLoader,
    /// Show the loader before.
    PreviousLoader,
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
    /// Ask before a run that was not saved is replaced, or don't.
    ToggleAsking,
    /// The list of errors and warnings on or off.
    ShowMessages,
    /// All actions, to be found by typing.
    Palette,
    /// Help on or off.
    Help,
    /// Quit.
    Quit,
}

const fn key(key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(Modifiers::NONE, key))
}

const fn with(modifiers: Modifiers, key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(modifiers, key))
}

/// Every action once: its name, what it does, its key, and where it stands in the help.
#[rustfmt::skip]
const TABLE: &[(Action, &str, &str, Option<KeyboardShortcut>, Group)] = {
    use {Action as A, Group as G};
    const CTRL: Modifiers = Modifiers::COMMAND;
    const SHIFT: Modifiers = Modifiers::SHIFT;
    const ALT: Modifiers = Modifiers::ALT;
    const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
    &[
        (A::RunDemo, "Run the digits demo", "Loads 1,797 handwritten digits with 4 workers", with(CTRL, Key::D), G::Run),
        (A::Run, "Run", "Runs the loader with the options on the left", with(CTRL, Key::R), G::Run),
        (A::Simulate, "Simulate", "Works the run out with a virtual clock, exact and the same every time", with(CTRL_SHIFT, Key::R), G::Run),
        (A::Stop, "Stop", "Breaks the epoch off; what was recorded stays", with(CTRL, Key::Period), G::Run),
        (A::PauseResume, "Pause or resume", "Holds every thread of the loader, or plays the recording", key(Key::Space), G::Travel),
        (A::StepForward, "Step forward", "One transition: a batch enters its next stage", key(Key::ArrowRight), G::Travel),
        (A::StepBack, "Step back", "One transition back in the recording", key(Key::ArrowLeft), G::Travel),
        (A::NextBatch, "Next batch", "To the next batch that the trainer gets", with(SHIFT, Key::ArrowRight), G::Travel),
        (A::PreviousBatch, "Previous batch", "To the batch that the trainer got before", with(SHIFT, Key::ArrowLeft), G::Travel),
        (A::NextStall, "Next stall", "To the next time the trainer waits for at least a twentieth of the longest wait", key(Key::N), G::Travel),
        (A::PreviousStall, "Previous stall", "To the last time the trainer waited for at least a twentieth of the longest wait", key(Key::P), G::Travel),
        (A::NextOutOfOrder, "Next arrival out of order", "To the next batch that arrives before one that should come first", key(Key::O), G::Travel),
        (A::PreviousOutOfOrder, "Previous arrival out of order", "To the last batch that arrived before one that should come first", with(SHIFT, Key::O), G::Travel),
        (A::NextTrouble, "Next error", "To the next error, or to where events were lost", key(Key::E), G::Travel),
        (A::PreviousTrouble, "Previous error", "To the last error, or to where events were lost", with(SHIFT, Key::E), G::Travel),
        (A::NextStage, "Next stage", "To where the selected batch enters its next stage", key(Key::CloseBracket), G::Travel),
        (A::PreviousStage, "Previous stage", "To where the selected batch entered the stage before", key(Key::OpenBracket), G::Travel),
        (A::Slower, "Play slower", "Down to a hundredth of real time", key(Key::Minus), G::Travel),
        (A::Faster, "Play faster", "Up to ten times real time", key(Key::Plus), G::Travel),
        (A::GoToStart, "Go to the beginning", "To the moment before anything happened", with(CTRL, Key::Home), G::Travel),
        (A::FollowLive, "Follow live", "Shows what happens now", key(Key::L), G::Travel),
        (A::ZoomIn, "Zoom in", "Shows less time, in more detail", key(Key::W), G::Look),
        (A::ZoomOut, "Zoom out", "Shows more time", key(Key::S), G::Look),
        (A::PanLeft, "Move left", "Shows earlier time", key(Key::A), G::Look),
        (A::PanRight, "Move right", "Shows later time", key(Key::D), G::Look),
        (A::ShowAll, "Show everything", "The whole run, and follow what comes", key(Key::Home), G::Look),
        (A::FitSelection, "Fit the selection", "Zooms to what is selected", key(Key::F), G::Look),
        (A::ZoomToRange, "Zoom to the range", "Zooms to the range that was dragged on the ruler", key(Key::Z), G::Look),
        (A::ViewBack, "View back", "The range that was looked at before", with(ALT, Key::ArrowLeft), G::Look),
        (A::ViewForward, "View forward", "The range that was looked at after", with(ALT, Key::ArrowRight), G::Look),
        (A::NextSpan, "Next span", "The next batch on the selected lane", key(Key::Period), G::Find),
        (A::PreviousSpan, "Previous span", "The batch before on the selected lane", key(Key::Comma), G::Find),
        (A::LaneUp, "Lane above", "Selects the lane above the selected one", key(Key::ArrowUp), G::Find),
        (A::LaneDown, "Lane below", "Selects the lane below the selected one", key(Key::ArrowDown), G::Find),
        (A::Search, "Search…", "Finds a batch, a sample, a worker, what was slow, errors", key(Key::Slash), G::Find),
        (A::NextMatch, "Next match", "To the next thing that was searched for", key(Key::F3), G::Find),
        (A::PreviousMatch, "Previous match", "To the last thing that was searched for", with(SHIFT, Key::F3), G::Find),
        (A::ToggleMarker, "Place or remove a marker", "Marks the instant that is looked at, so that it can be found again", key(Key::M), G::Find),
        (A::NextMarker, "Next marker", "To the first marker after this moment", key(Key::J), G::Find),
        (A::PreviousMarker, "Previous marker", "To the last marker before this moment", with(SHIFT, Key::J), G::Find),
        (A::ClearMarkers, "Remove all markers", "Takes every marker of this run away", None, G::Find),
        (A::Open, "Open a recording…", "Opens a recording, a trace of torch.profiler or SPDL's statistics", with(CTRL, Key::O), G::File),
        (A::OpenFolder, "Open a folder…", "Opens a folder of recordings as one session, or of LotusTrace logs", with(CTRL_SHIFT, Key::O), G::File),
        (A::Save, "Save as…", "Writes the recording to a file", with(CTRL, Key::S), G::File),
        (A::Compare, "Compare with a recording…", "Puts another recording beside this run: throughput, waiting, findings", None, G::File),
        (A::Export, "Export…", "Writes the run as a trace for Perfetto, or as tables", with(CTRL, Key::E), G::File),
        (A::CancelExport, "Cancel the export", "Stops writing; nothing half-written is left", None, G::File),
        (A::ChooseFolder, "Choose a folder of pictures…", "Loads your own JPEG and PNG pictures", None, G::File),
        (A::WatchProgram, "Watch a PyTorch program", "Copies the command that runs your own training script, unchanged, and shows its loaders live", None, G::File),
        (A::SavePicture, "Save the picture…", "Writes the enlarged picture to a PNG file, pixel by pixel", None, G::File),
        (A::CopyValues, "Copy the values", "Puts the values of the selected batch on the clipboard, one row a sample", key(Key::C), G::File),
        (A::CopyContent, "Copy the content as JSON", "Puts all that is known of the selected batch's content on the clipboard", with(SHIFT, Key::C), G::File),
        (A::CopyIndices, "Copy the indices", "Puts the dataset indices of the selected batch on the clipboard", None, G::File),
        (A::CopyVariables, "Copy the variables", "Puts PyTorch's variables on the clipboard, as Python prints them", None, G::File),
        (A::Close, "Close", "Back to the welcome screen", with(CTRL, Key::W), G::File),
        (A::Undo, "Undo", "Takes back the last change to the options", with(CTRL, Key::Z), G::File),
        (A::Redo, "Redo", "Makes the change to the options again", with(CTRL_SHIFT, Key::Z), G::File),
        (A::TakeOptions, "Use these options", "Puts the options of the run that is shown into the form, from which the next one is started", None, G::File),
        (A::Escape, "Clear", "Takes away the innermost thing: a list, then the selection", key(Key::Escape), G::Window),
        (A::ShowDebug, "Debug", "The machine at any instant, and what happened when", key(Key::Num1), G::Window),
        (A::ShowSampling, "Sampling", "The order of the samples: what is drawn, how often, by whom", key(Key::Num2), G::Window),
        (A::ShowDiagnose, "Diagnose", "Why training waits, what to change, and what it would bring", key(Key::Num3), G::Window),
        (A::ShowTimeline, "Timeline", "What happened when, lane by lane", key(Key::T), G::Window),
        (A::ShowBatches, "Batches", "A table of all batches and where their time went", key(Key::B), G::Window),
        (A::ShowPlots, "Plots", "Waiting, throughput and queues over time", key(Key::G), G::Window),
        (A::ShowLoaders, "Loaders", "All loaders and ranks of the session, and which one holds the others up", key(Key::K), G::Window),
        (A::NextLoader, "Next loader", "Shows the next loader or rank of the session", with(CTRL, Key::PageDown), G::Window),
        (A::PreviousLoader, "Previous loader", "Shows the loader or rank before", with(CTRL, Key::PageUp), G::Window),
        (A::ToggleOptions, "Options", "Shows or hides the options on the left", with(CTRL, Key::B), G::Window),
        (A::ToggleInspector, "Inspector", "Shows or hides the inspector on the right", with(CTRL, Key::I), G::Window),
        (A::ToggleVariables, "Variables", "Shows or hides send_idx, rcvd_idx, task_info and workers_status beside the machine", key(Key::V), G::Window),
        (A::ToggleTheme, "Dark or light", "Changes the colours", with(CTRL, Key::T), G::Window),
        (A::ToggleMotion, "Reduce motion", "Zooms and moves without animation, or with it", None, G::Window),
        (A::ToggleAsking, "Ask before a run is lost", "Asks whether to save a run before another one takes its place, or does not", None, G::Window),
        (A::ShowMessages, "Errors and warnings", "What the loader complained about, and when", with(CTRL, Key::M), G::Window),
        (A::Palette, "All actions…", "Finds an action, or something in the run, by typing", with(CTRL, Key::K), G::Window),
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

impl From<Workspace> for Action {
    /// The action that shows it.
    fn from(workspace: Workspace) -> Self {
        match workspace {
            Workspace::Debug => Self::ShowDebug,
            Workspace::Sampling => Self::ShowSampling,
            Workspace::Diagnose => Self::ShowDiagnose,
        }
    }
}

impl Command {
    /// What a path that was typed is used for.
    pub fn for_path(what: PathFor, path: PathBuf) -> Self {
        match what {
            PathFor::Open | PathFor::OpenFolder => Self::Open(path),
            PathFor::Save => Self::SaveTo(path),
            PathFor::Compare => Self::CompareWith(path),
            PathFor::Export => Self::ExportTo(path),
            PathFor::Folder => Self::UseFolder(path),
        }
    }
}

impl From<Action> for Command {
    fn from(action: Action) -> Self {
        Self::Act(action)
    }
}

#[cfg(test)]
mod tests;
