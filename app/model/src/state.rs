//! Everything the window shows. Panels read it; `update` changes it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use egui::ThemePreference;
use loadscope_insight::Datasets;
use loadscope_trace::{Machine, Nanos, Origin, Run, RunOptions, Transition};

use crate::history::History;
use crate::markers::Markers;
use crate::notice::Notice;
use crate::palette::Palette;
use crate::prefs::{Motion, Splits, WindowPlace};
use crate::question::{Output, Question};
use crate::typing::TypedPath;
use crate::view::{Cursor, Item, LaneGroup, Lower, OptionsOf, TimeView, Workspace};
use loadscope_insight::diagnose::Diagnose;
use loadscope_insight::landmarks::{Goal, Landmarks};
use loadscope_insight::loaders::Loaders;
use loadscope_insight::sampling::Choice;
use loadscope_insight::search::Search;
use loadscope_insight::shared::Shared;
use loadscope_insight::unsaved::LeftOver;

/// Where the events come from, and how far along that is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Source {
    /// There is no run.
    #[default]
    None,
    /// A file is being read; the share that was read, if known.
    Loading {
        /// The file.
        path: PathBuf,
        /// 0 to 1.
        share: f32,
    },
    /// The simulator works the run out.
    Simulating,
    /// The engine runs.
    Live {
        /// True while the gate holds it.
        paused: bool,
    },
    /// The engine has come to its end.
    Finished,
    /// Read from a file.
    Recording {
        /// The file.
        path: PathBuf,
        /// True if the file ends in the middle.
        cut: bool,
    },
}

impl Source {
    /// True while the engine runs.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live { .. })
    }
}

/// What the engine, held at the gate, is let go on for, one transition at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    /// What is to happen.
    pub goal: Goal,
    /// How far the run was.
    pub step: usize,
    /// What time it was.
    pub now: Nanos,
    /// How many transitions there were when the last one was asked for.
    pub asked_at: Option<usize>,
}

/// Everything the window shows.
#[derive(Debug, Default)]
pub struct State {
    /// Where the events come from.
    pub source: Source,
    /// The run is one of a program that is watched: it can be looked at and stopped, but not held.
    pub watched: bool,
    /// This build has no embedded loader: it can simulate, but not run.
    pub no_engine: bool,
    /// Who is asked about datasets.
    pub datasets: Datasets,
    /// What is known of the run; empty while there is none.
    pub run: Shared<Run>,
    /// The other loaders of the session.
    pub loaders: Loaders,
    /// The form.
    pub options: RunOptions,
    /// Whose options are shown, where there is a choice.
    pub options_of: OptionsOf,
    /// What was changed in the form.
    pub history: History,
    /// Why the form cannot be run as it is.
    pub options_error: Option<String>,
    /// What the middle of the window is for.
    pub workspace: Workspace,
    /// Instants to be found again.
    pub markers: Markers,
    /// Where in the run are moments to jump to.
    pub landmarks: Landmarks,
    /// What the buttons for the next and the previous one of its kind go to.
    pub goal: Goal,
    /// What the held engine is let go on for.
    pub seeking: Option<Seek>,
    /// What is looked for in the run.
    pub search: Search,
    /// The palette, while it is open.
    pub palette: Option<Palette>,
    /// The path that is being typed.
    pub typing: Option<TypedPath>,
    /// What has to be answered first.
    pub question: Option<Question>,
    /// The file that is written only if it may be replaced.
    pub replacing: Option<Output>,
    /// The run was said not to be needed.
    pub discarded: bool,
    /// Runs that were not saved before their window ended.
    pub left_over: Vec<LeftOver>,
    /// Number of events that the run had when it was saved last.
    pub saved: Option<u64>,
    /// Ask before a run that was not saved is replaced.
    pub asks: bool,
    /// Why the last key did nothing, or what has just been done.
    pub hint: Option<String>,
    /// The range on the screen.
    pub view: Option<TimeView>,
    /// The instant that is looked at.
    pub cursor: Cursor,
    /// Groups of lanes that are folded.
    pub folded: BTreeSet<LaneGroup>,
    /// What is selected.
    pub selection: Option<Item>,
    /// The picture of the selected batch that is shown enlarged: its field and its place in it.
    pub enlarged: Option<(usize, usize)>,
    /// PyTorch's variables are shown beside the machine.
    pub variables_open: bool,
    /// What the pointer was over in the last frame.
    pub hovered: Option<Item>,
    /// What the pointer is over in this frame.
    pub hovering: Option<Item>,
    /// True while a recording is being played.
    pub playing: bool,
    /// Multiple of real time at which it is played.
    pub speed: f64,
    /// Things the user should know.
    pub notices: Vec<Notice>,
    /// Recently opened or saved, latest first.
    pub recent: Vec<PathBuf>,
    /// The options are shown.
    pub options_open: bool,
    /// The inspector is shown.
    pub inspector_open: bool,
    /// The list of errors and warnings is shown.
    pub messages_open: bool,
    /// The help sheet is shown.
    pub help_open: bool,
    /// The file that the recording is being written to.
    pub saving: Option<PathBuf>,
    /// The file that the run is being exported to, and how far that is, 0 to 1.
    pub exporting: Option<(PathBuf, f32)>,
    /// What is below the machine.
    pub lower: Lower,
    /// How many runs there were before this one: what panels keep of one is worth nothing for the next.
    pub run_number: u64,
    /// Which order the Sampling workspace shows.
    pub sampling: Choice,
    /// What the Diagnose workspace shows.
    pub diagnose: Diagnose,
    /// Dark, light or as the system.
    pub theme: ThemePreference,
    /// The ranges that were looked at before, latest last.
    pub views_before: Vec<Option<TimeView>>,
    /// The ranges that were looked at after, nearest last.
    pub views_after: Vec<Option<TimeView>>,
    /// What the user wants of animations.
    pub motion: Motion,
    /// The system asks for no animation.
    pub system_still: bool,
    /// No animation for this start.
    pub still_for_now: bool,
    /// No animation: what follows from the three.
    pub still: bool,
    /// How wide the panels are.
    pub splits: Splits,
    /// Where the window stands on the screen.
    pub window: Option<WindowPlace>,
    /// How long the last frame took the window, ms: its own cost.
    pub frame_ms: f32,
}

impl State {
    /// True if there is something to look at.
    pub fn has_run(&self) -> bool {
        !matches!(
            self.source,
            Source::None | Source::Loading { .. } | Source::Simulating
        )
    }

    /// True if the run that is shown has options that are not those of the form: it was recorded, or is watched.
    pub fn has_options_of_run(&self) -> bool {
        let is_foreign = self.watched || matches!(self.source, Source::Recording { .. });
        is_foreign && self.has_run() && self.run.events() > 0 && !self.run.tells_only_parts()
    }

    /// True if these stand on the left instead of the form.
    pub fn shows_options_of_run(&self) -> bool {
        self.has_options_of_run() && self.options_of == OptionsOf::Run
    }

    /// True if there is a run of the engine or of a program that would be gone for good.
    pub fn is_unsaved(&self) -> bool {
        let of_engine = matches!(self.source, Source::Live { .. } | Source::Finished)
            && matches!(self.run.info.origin, Origin::Engine | Origin::Pytorch(_));
        // The demo can be had again at any time.
        let is_demo = self.run.info.options == crate::prefs::demo();
        of_engine
            && !is_demo
            && !self.run.batches().is_empty()
            && self.saved != Some(self.run.events())
    }

    /// True if the run tells no batch, but what was measured over time.
    pub fn has_only_gauges(&self) -> bool {
        let run = &self.run;
        run.batches().is_empty() && (run.gauges().next().is_some() || !run.parts().is_empty())
    }

    /// Number of transitions that have happened at the instant that is looked at.
    pub fn step(&self) -> usize {
        let transitions = self.run.transitions();
        match self.cursor {
            Cursor::Live => transitions.len(),
            Cursor::At(at) => transitions.partition_point(|t| t.at <= at),
            Cursor::Step(step) => step.min(transitions.len()),
        }
    }

    /// The instant that is looked at.
    pub fn now(&self) -> Nanos {
        match self.cursor {
            Cursor::Live => self.run.end(),
            Cursor::At(at) => at,
            Cursor::Step(step) => match step.checked_sub(1) {
                Some(last) => self
                    .run
                    .transitions()
                    .get(last)
                    .map_or(Nanos::ZERO, |t| t.at),
                None => Nanos::ZERO,
            },
        }
    }

    /// The machine at the instant that is looked at.
    pub fn machine(&self) -> Machine<'_> {
        match self.cursor {
            Cursor::Live => self.run.machine_at(self.run.end()),
            Cursor::At(at) => self.run.machine_at(at),
            Cursor::Step(step) => self.run.machine_after(step),
        }
    }

    /// The transition that led to the machine that is looked at.
    pub fn last_transition(&self) -> Option<&Transition> {
        self.run.transitions().get(self.step().checked_sub(1)?)
    }

    /// The range on the screen: the chosen one, or the whole run.
    pub fn shown(&self) -> TimeView {
        self.view.unwrap_or_else(|| self.whole())
    }

    /// True while data flow.
    pub fn flows(&self) -> bool {
        self.source == Source::Live { paused: false }
    }

    /// From the first epoch to the last event of the run, and of all others of the session: one axis of time for all of them.
    pub fn extent(&self) -> (Nanos, Nanos) {
        let (start, end) = self.loaders.extent(&self.run).unwrap_or_default();
        (start, end.max(self.run.end()))
    }

    /// The range of the whole session. While data flow it grows in steps of a few pixels: a picture that creeps by a fraction of one
    /// in every frame would have to be made anew for it, and the processors are the loader's.
    pub fn whole(&self) -> TimeView {
        let (start, mut end) = self.extent();
        if self.flows() {
            end = start + in_steps(end - start);
        }
        // A little air on both sides, so that the first and the last span can be seen to begin and end.
        let air = Nanos((end - start).0 / 60);
        TimeView::new(start - air, end + air)
    }

    /// True if `item` is what is selected, or if nothing is.
    pub fn in_focus(&self, item: Item) -> bool {
        self.selection.is_none_or(|selected| selected == item)
    }
}

/// A length of time rounded up to a whole number of steps. A step is between a 256th and a 512th of it, and a power of two, so that
/// it does not change with every length.
fn in_steps(length: Nanos) -> Nanos {
    let Ok(whole @ 1..) = u64::try_from(length.0) else {
        return length;
    };
    let step = 1 << whole.ilog2().saturating_sub(8);
    let up = whole.checked_next_multiple_of(step);
    up.and_then(|up| i64::try_from(up).ok())
        .map_or(length, Nanos)
}
