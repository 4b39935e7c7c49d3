//! Parts of the state: of the shown run, of the window, of the overlays and of the environment.

use std::collections::BTreeSet;
use std::path::PathBuf;

use loadscope_insight::Datasets;
use loadscope_insight::code::CodeChoice;
use loadscope_insight::diagnose::Diagnose;
use loadscope_insight::landmarks::{Goal, Landmarks};
use loadscope_insight::loaders::Loaders;
use loadscope_insight::options::Problem;
use loadscope_insight::platform::Platform;
use loadscope_insight::sampling::Choice;
use loadscope_insight::search::Search;
use loadscope_insight::session_event::{Notice, UnsavedRun};
use loadscope_trace::{Nanos, Origin, Run, RunOptions};
use loadscope_words::Language;

use super::learn::LessonRunKind;
use crate::effect::{Output, Question};
use crate::history::History;
use crate::markers::Markers;
use crate::results::BackgroundResults;
use crate::thumbnail::Thumbnails;
use crate::typing::TypedPath;
use crate::view::{Cursor, Item, LaneGroup, LowerPanel, OptionsSource, Palette, TimeView};
use crate::watching::TuneRuns;
use crate::watching::{Program, Watching};

/// A recording that is being saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// Path of the file that is being written.
    pub path: PathBuf,
    /// Number of events at the start of saving.
    pub events: u64,
}

/// State of a run. It is set aside together with the run.
#[derive(Debug, Default)]
pub struct SessionState {
    /// Number of runs before this one. Panels use it to detect that their cached values belong to another run.
    pub run_number: u64,
    /// Number in the list of runs of this window, from 1.
    pub number: u32,
    /// True if the run stays in that list until the user drops it.
    pub starred: bool,
    /// Previously shown run. It is shown again if this one is refused.
    pub previous_run: Option<u32>,
    /// Kind of lesson run. `None` for a run of the user.
    pub lesson_run: Option<LessonRunKind>,
    /// Source of the events.
    pub source: Source,
    /// True for the run of a watched program. It can be stopped, but not paused.
    pub watched: bool,
    /// The watched program, if it can be started again.
    pub program: Option<Program>,
    /// The run. Empty if there is none.
    pub run: Run,
    /// Options from the start of the run. The options in `run` also contain the drawn seeds.
    pub asked: Option<RunOptions>,
    /// The other loaders of the session.
    pub loaders: Loaders,
    /// Selects the options in the left panel: of the run or of the next run.
    pub options_of: OptionsSource,
    /// Markers of the user.
    pub markers: Markers,
    /// Positions to jump to.
    pub landmarks: Landmarks,
    /// Search for a moment by stepping the paused engine.
    pub seeking: Option<Seek>,
    /// Output that waits for permission to replace a file.
    pub replacing: Option<Output>,
    /// True if the user discarded the run.
    pub discarded: bool,
    /// Number of events at the last save.
    pub saved: Option<u64>,
    /// Visible range. `None` is the whole run.
    pub view: Option<TimeView>,
    /// Earlier visible ranges, latest last.
    pub views_before: Vec<Option<TimeView>>,
    /// Ranges for going forward, nearest last.
    pub views_after: Vec<Option<TimeView>>,
    /// Time cursor.
    pub cursor: Cursor,
    /// Selected item.
    pub selection: Option<Item>,
    /// Enlarged image of the selected batch: its field and its position in the field.
    pub enlarged: Option<(usize, usize)>,
    /// Item under the pointer in the last frame.
    pub hovered: Option<Item>,
    /// Item under the pointer in this frame.
    pub hovering: Option<Item>,
    /// True during playback of a recording.
    pub playing: bool,
    /// Notices for the user.
    pub notices: Vec<Notice>,
    /// Recording that is being saved.
    pub saving: Option<Saving>,
    /// Destination of the export, and its progress from 0 to 1.
    pub exporting: Option<(PathBuf, f32)>,
    /// Filter text of the table of batches. Empty shows all.
    pub filter: String,
    /// Sample order in the Sampling workspace.
    pub sampling: Choice,
    /// Shown code of the selection.
    pub code: CodeChoice,
    /// State of the Diagnose workspace.
    pub diagnose: Diagnose,
    /// Results of background calculations.
    pub results: BackgroundResults,
}

impl SessionState {
    /// Creates the empty state for the next run.
    pub fn after(before: &Self) -> Self {
        Self {
            run_number: before.run_number + 1,
            ..Self::default()
        }
    }

    /// Draws the thumbnail for the start page, if the run is a recording.
    pub fn draw_thumbnail(&self, thumbnails: &mut Thumbnails) {
        if let Source::Recording { path, .. } = &self.source {
            thumbnails.draw(path, &self.run);
        }
    }

    /// Returns true if the run has data, so that it deserves a place in the list.
    pub fn is_worth_keeping(&self) -> bool {
        let is_there = match self.source {
            Source::None | Source::Loading { .. } | Source::Simulating => false,
            Source::Live { .. } | Source::Finished | Source::Recording { .. } => true,
        };
        let run = &self.run;
        // Runs of lessons would displace the user's runs.
        is_there
            && self.lesson_run.is_none()
            && (!run.whole().transitions().is_empty()
                || !run.batches().is_empty()
                || run.gauges().next().is_some()
                // Run of an empty dataset.
                || (run.has_ended() && !run.epochs().is_empty()))
    }

    /// Returns true for a run of the demo, which can be repeated at any time.
    pub fn is_demo(&self) -> bool {
        self.run.info.options == crate::prefs::demo()
    }

    /// Returns true for a run of the engine or of a program whose data exist nowhere else.
    pub fn is_unsaved(&self) -> bool {
        let of_engine = matches!(self.source, Source::Live { .. } | Source::Finished)
            && matches!(self.run.info.origin, Origin::Engine | Origin::Pytorch(_));
        of_engine
            && self.lesson_run.is_none()
            && !self.discarded
            && !self.run.batches().is_empty()
            && self.saved != Some(self.run.events())
    }
}

/// View and input state of the window that is independent of the run.
#[derive(Debug, Default)]
pub struct ViewState {
    /// Undo history of the options.
    pub history: History,
    /// Problems that prevent a run with the options.
    pub problems: Vec<Problem>,
    /// Target of the buttons for next and previous.
    pub goal: Goal,
    /// Search in the run.
    pub search: Search,
    /// Folded groups of lanes.
    pub folded: BTreeSet<LaneGroup>,
    /// Panel below the pipeline.
    pub lower: LowerPanel,
    /// True if the pipeline is shown alone and as large as possible.
    pub presenting: bool,
    /// Playback speed as a multiple of real time.
    pub speed: f64,
    /// Runs of the watched program with other arguments, current or finished.
    pub trying: Option<TuneRuns>,
    /// True if animations are off, by the setting of the user, the system or this start.
    pub still: bool,
    /// True if data flow and the user has not touched the window for a while. The window is then drawn rarely.
    pub unattended: bool,
    /// Duration of the last frame, ms.
    pub frame_ms: f32,
}

impl ViewState {
    /// Returns true if moving items are animated.
    pub fn glides(&self) -> bool {
        !self.still && !self.unattended
    }
}

/// Overlays over the window.
#[derive(Debug, Default)]
pub struct Overlay {
    /// The palette, while it is open.
    pub palette: Option<Palette>,
    /// Form for the program to watch.
    pub watching: Option<Watching>,
    /// Path that is being typed.
    pub typing: Option<TypedPath>,
    /// Last typed path, until its use succeeds. After an error it is shown again for correction.
    pub typed: Option<TypedPath>,
    /// File that is examined before it is opened.
    pub checking_file: Option<PathBuf>,
    /// Question to answer before the window closes.
    pub question: Option<Question>,
    /// True if the list of errors and warnings is shown.
    pub messages_open: bool,
    /// True if the help sheet is shown.
    pub help_open: bool,
    /// Filter text of the glossary. `None` if the glossary is closed.
    pub glossary: Option<String>,
    /// Reason why the last key had no effect, or the result of the last action.
    pub hint: Option<String>,
}

/// Environment of the program.
#[derive(Debug, Default)]
pub struct Environment {
    /// True if this build has no embedded loader. Such a build can simulate, but not run.
    pub no_engine: bool,
    /// True if the window is a page in a browser, without access to files by path or to programs.
    pub in_page: bool,
    /// Command of the user's editor, from `$VISUAL` or `$EDITOR`.
    pub editor: Option<String>,
    /// Facts about datasets.
    pub datasets: Datasets,
    /// Clock and background threads.
    pub platform: Platform,
    /// The language of the system.
    pub language: Language,
    /// Language requested at the start. It overrides the preferences.
    pub asked_language: Option<Language>,
    /// True if live runs are written to a journal. The journal offers unsaved runs at the next start.
    pub keeps_journal: bool,
    /// Unsaved runs of earlier windows.
    pub unsaved_runs: Vec<UnsavedRun>,
    /// True if the system asks for no animation.
    pub system_still: bool,
    /// True if animations are off for this start.
    pub still_for_now: bool,
}

/// Source of the events, with its progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Source {
    /// There is no run.
    #[default]
    None,
    /// A file is being read.
    Loading {
        /// File or folder that is being read.
        path: PathBuf,
        /// Fraction that was read, 0 to 1.
        share: f32,
    },
    /// The simulator computes the run.
    Simulating,
    /// The engine runs.
    Live {
        /// True while the gate pauses the engine.
        paused: bool,
    },
    /// The engine has finished.
    Finished,
    /// The run was read from a file.
    Recording {
        /// File or folder of the recording.
        path: PathBuf,
        /// True if the file is truncated.
        cut: bool,
    },
}

impl Source {
    /// Returns true while the engine runs.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live { .. })
    }
}

/// Search for a moment. The paused engine performs one transition after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    /// Searched moment.
    pub goal: Goal,
    /// Number of transitions at the start of the search.
    pub step: usize,
    /// Time at the start of the search.
    pub now: Nanos,
    /// Number of transitions at the last request for a transition.
    pub asked_at: Option<usize>,
}
