//! Commands: everything a user can ask for. Menus, toolbar, help sheet and tooltips derive from [`Action::info`].

use std::path::PathBuf;

use egui::ThemePreference;
use loadscope_trace::{RunId, RunOptions};

use crate::markers::Mark;
use crate::notice::Notice;
use crate::palette::Palette;
use crate::prefs::Annotations;
use crate::question::{Answer, Output};
use crate::typing::{PathFor, TypedPath};
use crate::view::{Cursor, Item, LaneGroup, OptionsOf, TimeView, Workspace};
use crate::watching::ProgramToWatch;
use loadscope_insight::diagnose::Check;
use loadscope_insight::landmarks::Goal;
use loadscope_insight::sampling::Choice;
use loadscope_plan::forecast::Setting;

mod action;
mod info;
mod keys;
mod learn;
mod table;

pub use action::Action;
pub use info::{Group, Info};
pub use learn::LearnCommand;

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
    /// Ask for the program that is to be watched, or no longer.
    AskProgram(Option<Box<ProgramToWatch>>),
    /// Ask for its file.
    ChooseScript,
    /// The program that is asked for is in this file, if it is still asked for.
    UseScript(PathBuf),
    /// Start this program and watch it.
    WatchProgram(Box<ProgramToWatch>),
    /// Let a path be typed, or no longer.
    TypePath(Option<TypedPath>),
    /// This path was typed; what it is for follows as a command of its own.
    Typed(TypedPath),
    /// Compare no more.
    StopComparing,
    /// Show the run with this number of this window.
    ShowRun(u32),
    /// Compare the run that is shown with the one with this number.
    CompareRun(u32),
    /// Keep the run with this number until it is dropped by hand, or no longer.
    StarRun(u32),
    /// Drop the run with this number for good.
    DropRun(u32),
    /// The options were edited.
    Edit(Box<RunOptions>),
    /// Show the options of the next run on the left, or the options of the run that is shown.
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
    /// Ask where the data of a dataset are: the word that its text begins with, and whether that is a folder.
    AskData {
        /// `csv`
        word: &'static str,
        /// Whether a folder is asked for, or a file.
        is_folder: bool,
    },
    /// Load these data.
    UseData {
        /// The word that the text of the dataset begins with.
        word: &'static str,
        /// The file or folder.
        path: PathBuf,
    },
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
    /// Show the glossary, and in it the words that have this in them; `None`: close it.
    Glossary(Option<String>),
    /// Show only these batches in the table.
    Filter(String),
    /// Jump to this hit of the search, counted from 0.
    Hit(usize),
    /// Show the palette so, or take it away.
    Palette(Option<Palette>),
    /// What to do with runs that were not saved, before the window closes.
    Answer(Answer),
    /// Show a picture of the selected batch enlarged: its field and its place in it; `None`: none.
    Enlarge(Option<(usize, usize)>),
    /// Draw this over pictures.
    Annotate(Annotations),
    /// Put this on the clipboard.
    Copy(String),
    /// Something that a learner asks for.
    Learn(LearnCommand),
    /// Tell the user something.
    Say(Notice),
    /// Take this notice away.
    Dismiss(usize),
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

impl From<LearnCommand> for Command {
    fn from(command: LearnCommand) -> Self {
        Self::Learn(command)
    }
}

impl From<Action> for Command {
    fn from(action: Action) -> Self {
        Self::Act(action)
    }
}

#[cfg(test)]
mod tests;
