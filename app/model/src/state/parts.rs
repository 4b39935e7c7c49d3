//! What the state is made of: what belongs to the run and goes with it, and what stays.

use std::collections::BTreeSet;
use std::path::PathBuf;

use loadscope_insight::Datasets;
use loadscope_insight::diagnose::Diagnose;
use loadscope_insight::landmarks::{Goal, Landmarks};
use loadscope_insight::loaders::Loaders;
use loadscope_insight::options::Problem;
use loadscope_insight::platform::Platform;
use loadscope_insight::sampling::Choice;
use loadscope_insight::search::Search;
use loadscope_insight::unsaved::LeftOver;
use loadscope_trace::{Origin, Run, RunOptions};
use loadscope_words::Language;

use super::learn::OfLesson;
use super::{Seek, Source};
use crate::answers::Answers;
use crate::history::History;
use crate::markers::Markers;
use crate::notice::Notice;
use crate::palette::Palette;
use crate::question::{Output, Question};
use crate::thumbnail::Thumbnails;
use crate::trying::Trying;
use crate::typing::TypedPath;
use crate::view::{Cursor, Item, LaneGroup, Lower, OptionsOf, TimeView};
use crate::watching::{Program, Watching};

/// A recording on its way to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// Where it goes.
    pub path: PathBuf,
    /// Number of events that the run had when it was begun.
    pub events: u64,
}

/// The run that is shown, and all that goes with it when another one takes its place.
#[derive(Debug, Default)]
pub struct SessionState {
    /// How many runs there were before this one: what panels keep of one is worth nothing for the next.
    pub run_number: u64,
    /// Its number in the list of runs of this window, from 1.
    pub number: u32,
    /// It stays in that list until it is dropped by hand.
    pub starred: bool,
    /// The run that was shown before this one: shown again if this one is refused.
    pub came_from: Option<u32>,
    /// The run is one of a lesson, and not of the user.
    pub of_lesson: Option<OfLesson>,
    /// Where the events come from.
    pub source: Source,
    /// The run is one of a program that is watched: it can be looked at and stopped, but not held.
    pub watched: bool,
    /// That program, if it can be started again.
    pub program: Option<Program>,
    /// What is known of the run; empty while there is none.
    pub run: Run,
    /// The options that the run was started with: those of the run itself have seeds that were drawn for it as well.
    pub asked: Option<RunOptions>,
    /// The other loaders of the session.
    pub loaders: Loaders,
    /// Whose options are shown, where there is a choice.
    pub options_of: OptionsOf,
    /// Instants to be found again.
    pub markers: Markers,
    /// Where in the run are moments to jump to.
    pub landmarks: Landmarks,
    /// What the held engine is let go on for.
    pub seeking: Option<Seek>,
    /// The file that is written only if it may be replaced.
    pub replacing: Option<Output>,
    /// The user declared the run not to be needed.
    pub discarded: bool,
    /// Number of events that the run had when it was saved last.
    pub saved: Option<u64>,
    /// The range on the screen.
    pub view: Option<TimeView>,
    /// The ranges that were looked at before, latest last.
    pub views_before: Vec<Option<TimeView>>,
    /// The ranges that were looked at after, nearest last.
    pub views_after: Vec<Option<TimeView>>,
    /// The instant that is looked at.
    pub cursor: Cursor,
    /// What is selected.
    pub selection: Option<Item>,
    /// The picture of the selected batch that is shown enlarged: its field and its place in it.
    pub enlarged: Option<(usize, usize)>,
    /// What the pointer was over in the last frame.
    pub hovered: Option<Item>,
    /// What the pointer is over in this frame.
    pub hovering: Option<Item>,
    /// True while a recording is being played.
    pub playing: bool,
    /// Things the user should know.
    pub notices: Vec<Notice>,
    /// The recording is being written.
    pub saving: Option<Saving>,
    /// The file that the run is being exported to, and how far that is, 0 to 1.
    pub exporting: Option<(PathBuf, f32)>,
    /// Which batches the table shows, as it was typed; all if that is nothing.
    pub filter: String,
    /// Which order the Sampling workspace shows.
    pub sampling: Choice,
    /// What the Diagnose workspace shows.
    pub diagnose: Diagnose,
    /// What long calculations have said so far.
    pub answers: Answers,
}

impl SessionState {
    /// What there is before the next run: nothing.
    pub fn after(before: &Self) -> Self {
        Self {
            run_number: before.run_number + 1,
            ..Self::default()
        }
    }

    /// Draws the run by which its recording is known again on the start page, if it is one.
    pub fn draw_thumbnail(&self, thumbnails: &mut Thumbnails) {
        if let Source::Recording { path, .. } = &self.source {
            thumbnails.draw(path, &self.run);
        }
    }

    /// True if something has been heard of the run, so that it is worth a place in the list.
    pub fn is_worth_keeping(&self) -> bool {
        let is_there = match self.source {
            Source::None | Source::Loading { .. } | Source::Simulating => false,
            Source::Live { .. } | Source::Finished | Source::Recording { .. } => true,
        };
        let run = &self.run;
        // Runs of lessons would take the places of the user's own.
        is_there
            && self.of_lesson.is_none()
            && (!run.whole().transitions().is_empty()
                || !run.batches().is_empty()
                || run.gauges().next().is_some()
                // A run of an empty dataset.
                || (run.has_ended() && !run.epochs().is_empty()))
    }

    /// True for a run of the demo, which can be repeated at any time.
    pub fn is_demo(&self) -> bool {
        self.run.info.options == crate::prefs::demo()
    }

    /// True if this is a run of the engine or of a program that would be gone for good.
    pub fn is_unsaved(&self) -> bool {
        let of_engine = matches!(self.source, Source::Live { .. } | Source::Finished)
            && matches!(self.run.info.origin, Origin::Engine | Origin::Pytorch(_));
        of_engine
            && self.of_lesson.is_none()
            && !self.discarded
            && !self.run.batches().is_empty()
            && self.saved != Some(self.run.events())
    }
}

/// How the window is looked at and worked with, whatever the run.
#[derive(Debug, Default)]
pub struct Look {
    /// What was changed in the options.
    pub history: History,
    /// Why the options cannot be run as they are.
    pub problems: Vec<Problem>,
    /// What the buttons for the next and the previous one of its kind go to.
    pub goal: Goal,
    /// What is looked for in the run.
    pub search: Search,
    /// Groups of lanes that are folded.
    pub folded: BTreeSet<LaneGroup>,
    /// What is below the pipeline.
    pub lower: Lower,
    /// The pipeline is shown alone, as large as the screen allows.
    pub presenting: bool,
    /// Multiple of real time at which a recording is played.
    pub speed: f64,
    /// Other arguments that are or were tried on the program that is watched.
    pub trying: Option<Trying>,
    /// No animation: what follows from what the user, the system and this start ask for.
    pub still: bool,
    /// Data flow, and the user has left the window alone for a while: it is drawn rarely.
    pub unattended: bool,
    /// How long the last frame took the window, ms: its own cost.
    pub frame_ms: f32,
}

impl Look {
    /// True if what moves glides to its new place, instead of being there in the next frame.
    pub fn glides(&self) -> bool {
        !self.still && !self.unattended
    }
}

/// What lies over the window.
#[derive(Debug, Default)]
pub struct Overlay {
    /// The palette, while it is open.
    pub palette: Option<Palette>,
    /// The program that is to be watched, while it is asked for.
    pub watching: Option<Watching>,
    /// The path that is being typed.
    pub typing: Option<TypedPath>,
    /// The path that was typed last, until it is known that it served: if it did not, it is there to be corrected.
    pub typed: Option<TypedPath>,
    /// What is looked at before it is opened.
    pub looking: Option<PathBuf>,
    /// What has to be answered before the window closes.
    pub question: Option<Question>,
    /// The list of errors and warnings is shown.
    pub messages_open: bool,
    /// The help sheet is shown.
    pub help_open: bool,
    /// The glossary is shown: what is typed in it.
    pub glossary: Option<String>,
    /// Why the last key did nothing, or what has just been done.
    pub hint: Option<String>,
}

/// Where the program runs.
#[derive(Debug, Default)]
pub struct Place {
    /// This build has no embedded loader: it can simulate, but not run.
    pub no_engine: bool,
    /// The window is a page in a browser: it reaches no file by its name, and no program.
    pub in_page: bool,
    /// Who is asked about datasets.
    pub datasets: Datasets,
    /// Its clock, and where it makes long calculations.
    pub platform: Platform,
    /// The language of the system.
    pub language: Language,
    /// The language that was asked for at the start, whatever is remembered.
    pub asked_language: Option<Language>,
    /// Live runs are written to a journal as they come: what was not saved is offered at the next start.
    pub keeps_journal: bool,
    /// Runs that were not saved before their window ended.
    pub left_over: Vec<LeftOver>,
    /// The system asks for no animation.
    pub system_still: bool,
    /// No animation for this start.
    pub still_for_now: bool,
}
