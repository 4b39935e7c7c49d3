//! Commands: all user requests. Menus, toolbar, help sheet and tooltips derive from [`Action::info`].

use std::path::PathBuf;

use egui::ThemePreference;
use loadscope_trace::{RunId, RunOptions};

use crate::markers::MarkerEdit;
use crate::notice::Notice;
use crate::palette::Palette;
use crate::prefs::Annotations;
use crate::question::{Answer, Output};
use crate::typing::{PathFor, TypedPath};
use crate::view::{Cursor, Item, LaneGroup, OptionsSource, TimeView, Workspace};
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

/// Request of a panel or a key. `update` carries it out.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// An action with a name, and perhaps a key.
    Act(Action),
    /// Show this range of time. `None` shows everything and follows.
    View(Option<TimeView>),
    /// Move the cursor.
    Cursor(Cursor),
    /// Select this item, or nothing.
    Select(Option<Item>),
    /// Fold or unfold this group of lanes.
    Fold(LaneGroup),
    /// Set the item under the pointer.
    Hover(Option<Item>),
    /// Show this sample order in the Sampling workspace.
    Sampling(Choice),
    /// Forecast the table around this setting. `None` is the recorded setting.
    WhatIf(Option<Box<Setting>>),
    /// Show this forecast: num_workers and prefetch_factor.
    Pick(Option<(usize, usize)>),
    /// Run the forecast setting, and compare the result with the forecast.
    Check(Box<Check>),
    /// Show this loader of the session.
    ShowLoader(RunId),
    /// Compare with this recording.
    CompareWith(PathBuf),
    /// Show the dialog for the program to watch. `None` closes it.
    AskProgram(Option<Box<ProgramToWatch>>),
    /// Open the dialog for the script of the program.
    ChooseScript,
    /// Set the script in the dialog for the program, if the dialog is still open.
    UseScript(PathBuf),
    /// Start this program and watch it.
    WatchProgram(Box<ProgramToWatch>),
    /// Show the field for a path. `None` closes it.
    TypePath(Option<TypedPath>),
    /// Accept the typed path. Its use follows as a separate command.
    Typed(TypedPath),
    /// Stop comparing.
    StopComparing,
    /// Show the run of this window with this number.
    ShowRun(u32),
    /// Compare the shown run with the run with this number.
    CompareRun(u32),
    /// Star or unstar the run with this number. A starred run is kept until the user drops it.
    StarRun(u32),
    /// Drop the run with this number permanently.
    DropRun(u32),
    /// Replace the options of the next run after an edit.
    Edit(Box<RunOptions>),
    /// Show the options of the next run or of the shown run in the left panel.
    OptionsSource(OptionsSource),
    /// Open a recording.
    Open(PathBuf),
    /// Write the run to a file. Asks first if the file exists.
    SaveTo(PathBuf),
    /// Export the run in the format of the file name. Asks first if the file exists.
    ExportTo(PathBuf),
    /// Write to a file even if it exists.
    Overwrite(Output),
    /// Answer to the question about replacing an existing file.
    Replace(bool),
    /// Remove this unsaved run from the journal.
    RemoveUnsavedRun(PathBuf),
    /// Use the images in this folder.
    UseFolder(PathBuf),
    /// Ask for the data of a dataset.
    AskData {
        /// First word of the dataset's text, such as `csv`.
        word: &'static str,
        /// True for a folder, false for a file.
        is_folder: bool,
    },
    /// Load these data.
    UseData {
        /// First word of the dataset's text.
        word: &'static str,
        /// Path of the file or folder.
        path: PathBuf,
    },
    /// Play at this multiple of real time.
    Speed(f64),
    /// Set the theme: dark, light or that of the system.
    Theme(ThemePreference),
    /// Place, move, name or remove a marker.
    EditMarker(MarkerEdit),
    /// Set the target of the buttons for next and previous.
    Goal(Goal),
    /// Search for this text.
    Search(String),
    /// Show the glossary entries that contain this text. `None` closes the glossary.
    Glossary(Option<String>),
    /// Show only these batches in the table.
    Filter(String),
    /// Jump to this search result, counted from 0.
    Hit(usize),
    /// Show the palette in this state. `None` closes it.
    Palette(Option<Palette>),
    /// Answer to the question about unsaved runs before the window closes.
    Answer(Answer),
    /// Enlarge an image of the selected batch: its field and its position in the field. `None` closes it.
    Enlarge(Option<(usize, usize)>),
    /// Set the annotations drawn over images.
    Annotate(Annotations),
    /// Copy this text to the clipboard.
    Copy(String),
    /// A request of a learner.
    Learn(LearnCommand),
    /// Show a notice.
    Notify(Notice),
    /// Remove the notice with this index.
    Dismiss(usize),
}

impl From<Workspace> for Action {
    /// Returns the action that shows the workspace.
    fn from(workspace: Workspace) -> Self {
        match workspace {
            Workspace::Debug => Self::ShowDebug,
            Workspace::Sampling => Self::ShowSampling,
            Workspace::Diagnose => Self::ShowDiagnose,
        }
    }
}

impl Command {
    /// Returns the command for a typed path with this purpose.
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
