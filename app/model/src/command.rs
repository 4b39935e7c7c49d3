//! Commands: all user requests. Menus, toolbar, help sheet and tooltips derive from [`Action::info`].

use std::path::PathBuf;

use egui::ThemePreference;
use loadscope_insight::code::CodeChoice;
use loadscope_insight::landmarks::Goal;
use loadscope_insight::sampling::Choice;
use loadscope_insight::session_event::Notice;
use loadscope_lessons::cases::{Culprit, Remedy};
use loadscope_lessons::{Language, Lesson, Target};
use loadscope_plan::forecast::Setting;
use loadscope_trace::{RunId, RunOptions};

use crate::effect::{Answer, Effect, Output};
use crate::markers::MarkerEdit;
use crate::prefs::Annotations;
use crate::state::learn::Draft;
use crate::typing::{PathFor, TypedPath};
use crate::view::{Cursor, Item, LaneGroup, OptionsSource, Palette, TimeView, Workspace};
use crate::watching::ProgramToWatch;

mod action;
mod info;
mod table;

pub use action::Action;
pub use info::{Group, Info};

/// Request of a panel or a key. `update` carries it out.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// An action with a name, and perhaps a key.
    Act(Action),
    /// Perform this effect outside the state.
    Perform(Effect),
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
    /// Show this code of the selection.
    Code(CodeChoice),
    /// Forecast the table around this setting. `None` is the recorded setting.
    WhatIf(Option<Box<Setting>>),
    /// Show this forecast: num_workers and prefetch_factor.
    Pick(Option<(usize, usize)>),
    /// Show this loader of the session.
    ShowLoader(RunId),
    /// Show the dialog for the program to watch. `None` closes it.
    AskProgram(Option<Box<ProgramToWatch>>),
    /// Set the script in the dialog for the program, if the dialog is still open.
    UseScript(PathBuf),
    /// Show the field for a path. `None` closes it.
    TypePath(Option<TypedPath>),
    /// Accept the typed path. Its use follows as a separate command.
    Typed(TypedPath),
    /// Stop comparing.
    StopComparing,
    /// Star or unstar the run with this number. A starred run is kept until the user drops it.
    StarRun(u32),
    /// Replace the options of the next run after an edit.
    Edit(Box<RunOptions>),
    /// Show the options of the next run or of the shown run in the left panel.
    OptionsSource(OptionsSource),
    /// Write the run to a file. Asks first if the file exists.
    SaveTo(PathBuf),
    /// Export the run in the format of the file name. Asks first if the file exists.
    ExportTo(PathBuf),
    /// Write to a file even if it exists.
    Overwrite(Output),
    /// Answer to the question about replacing an existing file.
    Replace(bool),
    /// Use the images in this folder.
    UseFolder(PathBuf),
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
            PathFor::Open | PathFor::OpenFolder => Self::Perform(Effect::Open(path)),
            PathFor::Save => Self::SaveTo(path),
            PathFor::Compare => Self::Perform(Effect::Compare(path)),
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

/// Request of a learner.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnCommand {
    /// Open or continue the lesson with this number.
    Lesson(u32),
    /// Show a lesson that is being written, or the error in its file.
    Preview(PathBuf, Result<Box<Lesson>, String>),
    /// Go to this step of the lesson, counted from 0, if it was already reached.
    Step(usize),
    /// Update the unfinished answer.
    Draft(Draft),
    /// Submit the answer.
    Answer(loadscope_lessons::Answer),
    /// Submit the clicked item as the answer.
    Target(Target),
    /// Show the lessons in this language.
    Language(Language),
    /// Show the solution of a trial by setting its options.
    Solution,
    /// Start the quiz with this seed.
    Quiz(u64),
    /// Draw the cases with this seed.
    Seed(u64),
    /// Open the detective case with this seed and this number.
    Case(u64, u32),
    /// Select or deselect this cause.
    Name(Culprit),
    /// Select or deselect this remedy.
    Choose(Remedy),
    /// Judge the selected causes and remedies.
    Solve,
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use egui::{Key, KeyboardShortcut, Modifiers};

    use super::*;

    #[test]
    fn no_two_actions_share_a_key() {
        let mut seen = HashMap::new();
        for (shortcut, action) in Action::shortcuts() {
            if let Some(other) = seen.insert((shortcut.modifiers, shortcut.logical_key), action) {
                panic!("{other:?} and {action:?} share {shortcut:?}");
            }
        }
    }

    /// Regression test: *End* had no effect, although a button jumps to the end.
    #[test]
    fn each_key_of_the_navigation_block_has_an_action() {
        let all = Action::shortcuts();
        for key in [
            Key::Home,
            Key::End,
            Key::PageUp,
            Key::PageDown,
            Key::ArrowUp,
            Key::ArrowDown,
            Key::ArrowLeft,
            Key::ArrowRight,
        ] {
            let plain = KeyboardShortcut::new(Modifiers::NONE, key);
            assert!(all.iter().any(|(k, _)| *k == plain), "{key:?}");
        }
        let of = |key| all.iter().find(|(k, _)| k.logical_key == key);
        assert_eq!(of(Key::End).map(|found| found.1), Some(Action::FollowLive));
    }

    /// Egui also matches a key with Shift or Alt against the shortcut without it. The shortcut with the modifier must come first.
    #[test]
    fn shortcuts_with_modifiers_are_matched_first() {
        let all = Action::shortcuts();
        for (k, (plain, _)) in all.iter().enumerate() {
            let hidden = all[k + 1..].iter().find(|(other, _)| {
                other.logical_key == plain.logical_key
                    && other.modifiers != plain.modifiers
                    && other.modifiers.matches_logically(plain.modifiers)
            });
            assert!(hidden.is_none(), "{plain:?} hides {hidden:?}");
        }
    }

    #[test]
    fn action_names_are_unique_and_in_sentence_case() {
        let mut names = BTreeSet::new();
        for action in Action::all() {
            let info = action.info();
            assert!(names.insert(info.name), "{} twice", info.name);
            let is_several = info.tooltip.trim_end_matches('.').contains(". ");
            assert_eq!(info.tooltip.ends_with('.'), is_several, "{action:?}");
            assert!(info.name.starts_with(char::is_uppercase));
            assert!(info.tooltip.starts_with(char::is_uppercase), "{action:?}");
        }
    }

    #[test]
    fn keys_are_shown_by_their_symbols() {
        let ctx = egui::Context::default();
        let keys = |action: Action| action.info().keys(&ctx);
        assert_eq!(keys(Action::NextBatch), "Shift+→");
        assert_eq!(keys(Action::Search), "/");
        assert_eq!(keys(Action::NextStage), "]");
        assert_eq!(keys(Action::ClearMarkers), "");
        assert_eq!(Action::ShowAll.all_keys(&ctx), "Home or 0");
        // No shortcut is shown with the name of an egui key.
        for action in Action::all() {
            assert!(!keys(action).contains("Bracket"), "{action:?}");
        }
    }
}
