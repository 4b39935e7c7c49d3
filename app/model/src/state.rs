//! Everything the window shows. Panels read it; `update` changes it.

use loadscope_insight::course;
use loadscope_trace::{Nanos, Origin, Pipeline, RunOptions, Transition};
use loadscope_words::Language;

use crate::prefs::Prefs;
use crate::secrets::without_secrets;
use crate::view::{Cursor, Item, OptionsOf, TimeView, Workspace};

pub mod kept;
pub mod learn;
mod parts;
mod source;

use kept::KeptRuns;
use learn::Learn;
pub use parts::{Look, Overlay, Place, Saving, SessionState};
pub use source::{Seek, Source};

/// Everything the window shows.
#[derive(Debug, Default)]
pub struct State {
    /// What is remembered from one start to the next.
    pub prefs: Prefs,
    /// The run, and what goes with it.
    pub session: SessionState,
    /// The runs that were shown before.
    pub runs: KeptRuns,
    /// How the window is looked at and worked with.
    pub look: Look,
    /// What is open for learning.
    pub learn: Learn,
    /// What lies over the window.
    pub overlay: Overlay,
    /// Where the program runs.
    pub place: Place,
}

impl State {
    /// Puts the run aside, with all that goes with it. Returns its number if there was anything in it.
    pub fn set_aside(&mut self) -> Option<u32> {
        let next = SessionState::after(&self.session);
        let mut before = std::mem::replace(&mut self.session, next);
        if before.run.hidden_after().is_some() {
            before.run.hide_after(None);
        }
        before.loaders.hide_after(None);
        before.draw_thumbnail(&mut self.prefs.sketches);
        self.prefs.sketches.keep(&self.prefs.recent);
        self.look.search.start_again();
        self.runs.keep(before)
    }

    /// The language of all texts.
    pub fn language(&self) -> Language {
        let asked = self.place.asked_language.or(self.prefs.language);
        asked.unwrap_or(self.place.language)
    }

    /// What is remembered until the next start: what a lesson shows is not, and no secret among the arguments of a program.
    pub fn prefs_to_keep(&self) -> Prefs {
        let mut prefs = self.prefs.clone();
        self.session.draw_thumbnail(&mut prefs.sketches);
        prefs.sketches.keep(&prefs.recent);
        prefs.watched.arguments = without_secrets(&prefs.watched.arguments);
        if let Some(own) = &self.learn.own {
            prefs.options = own.options.clone();
            prefs.workspace = own.workspace;
            [
                prefs.options_open,
                prefs.inspector_open,
                prefs.variables_open,
            ] = own.panels;
        }
        prefs
    }

    /// True if there is something to look at.
    pub fn has_run(&self) -> bool {
        match self.session.source {
            Source::None | Source::Simulating => false,
            // What was read so far.
            Source::Loading { .. } => !self.session.run.whole().transitions().is_empty(),
            Source::Live { .. } | Source::Finished | Source::Recording { .. } => true,
        }
    }

    /// True if the pipeline is shown alone: where there is one.
    pub fn presents(&self) -> bool {
        let has_pipeline = self.has_run() && !self.session.run.whole().transitions().is_empty();
        self.look.presenting && has_pipeline && self.prefs.workspace == Workspace::Debug
    }

    /// True if the run that is shown has options that can be looked at beside those of the next run.
    pub fn has_options_of_run(&self) -> bool {
        self.has_run() && self.session.run.events() > 0 && !self.session.run.has_only_parts()
    }

    /// The options of the run that is shown, where another run could have the same: a program in Python is another matter.
    pub fn options_of_run(&self) -> Option<&RunOptions> {
        let info = &self.session.run.info;
        let is_ours = matches!(info.origin, Origin::Engine | Origin::Simulation);
        let asked = self.session.asked.as_ref().unwrap_or(&info.options);
        (is_ours && self.has_options_of_run()).then_some(asked)
    }

    /// True if these are shown on the left instead of those of the next run.
    pub fn shows_options_of_run(&self) -> bool {
        self.has_options_of_run() && self.session.options_of == OptionsOf::Run
    }

    /// The number of runs of this window that would be gone for good. Runs of the demo count if there are others beside them: those were
    /// compared with them.
    pub fn unsaved(&self) -> usize {
        let kept = self.runs.all().iter().map(|kept| &kept.session);
        let all = kept.chain([&self.session]);
        let unsaved: Vec<_> = all.filter(|session| session.is_unsaved()).collect();
        match unsaved.iter().all(|session| session.is_demo()) {
            true => 0,
            false => unsaved.len(),
        }
    }

    /// True if the journal keeps a run of this window.
    pub fn keeps(&self, session: &SessionState) -> bool {
        session.is_unsaved() && self.unsaved() > 0
    }

    /// True if the run tells no batch, but what was measured over time.
    pub fn has_only_gauges(&self) -> bool {
        let run = &self.session.run;
        run.whole().transitions().is_empty()
            && (run.gauges().next().is_some() || !run.parts().is_empty())
    }

    /// Number of transitions that have happened at the instant that is looked at.
    pub fn step(&self) -> usize {
        let transitions = self.session.run.whole().transitions();
        match self.session.cursor {
            Cursor::Live => transitions.len(),
            Cursor::At(at) => transitions.partition_point(|t| t.at <= at),
            Cursor::Step(step) => step.min(transitions.len()),
        }
    }

    /// The instant that is looked at.
    pub fn now(&self) -> Nanos {
        match self.session.cursor {
            Cursor::Live => self.session.run.whole().end(),
            Cursor::At(at) => at,
            Cursor::Step(step) => match step.checked_sub(1) {
                Some(last) => self
                    .session
                    .run
                    .whole()
                    .transitions()
                    .get(last)
                    .map_or(Nanos::ZERO, |t| t.at),
                None => Nanos::ZERO,
            },
        }
    }

    /// True while a lesson asks what comes next, or will, or plays to the answer: no panel must show it before.
    pub fn asks_what_comes(&self) -> bool {
        self.session.of_lesson == Some(learn::OfLesson::Given) && self.learn.hides_future()
    }

    /// True if something that happened is hidden, because it came after the instant that is looked at.
    pub fn hides_future(&self) -> bool {
        self.session.run.hidden_after().is_some()
    }

    /// The pipeline at the instant that is looked at.
    pub fn pipeline(&self) -> Pipeline<'_> {
        match self.session.cursor {
            Cursor::Live => self.session.run.pipeline_at(self.session.run.whole().end()),
            Cursor::At(at) => self.session.run.pipeline_at(at),
            Cursor::Step(step) => self.session.run.pipeline_after(step),
        }
    }

    /// The transition that led to the pipeline that is looked at.
    pub fn last_transition(&self) -> Option<&Transition> {
        self.session
            .run
            .whole()
            .transitions()
            .get(self.step().checked_sub(1)?)
    }

    /// The range on the screen: the chosen one, or the whole run.
    pub fn shown(&self) -> TimeView {
        self.session.view.unwrap_or_else(|| self.whole())
    }

    /// True while a file is being read.
    pub fn is_reading(&self) -> bool {
        matches!(self.session.source, Source::Loading { .. })
    }

    /// True while data flow.
    pub fn flows(&self) -> bool {
        self.session.source == Source::Live { paused: false }
    }

    /// From the first epoch to the last event of the run, and of all others of the session: one axis of time for all of them. The far past,
    /// of which only sums are kept, is not in it.
    pub fn extent(&self) -> (Nanos, Nanos) {
        let (start, end) = self
            .session
            .loaders
            .extent(&self.session.run)
            .unwrap_or_default();
        (start, end.max(self.session.run.whole().end()))
    }

    /// The range of the whole session. While data flow it grows in steps of a few pixels: a picture that creeps by a fraction of one
    /// in every frame would have to be made anew for it, and the processors are the loader's.
    pub fn whole(&self) -> TimeView {
        let (start, mut end) = self.extent();
        if self.asks_what_comes() {
            end = start + rounded_up(end - start);
        }
        if self.flows() || self.is_reading() {
            end = start + in_steps(end - start);
        }
        // A little air on both sides, so that the first and the last span can be seen to begin and end.
        let air = Nanos((end - start).0 / 60);
        TimeView::new(start - air, end + air)
    }

    /// The range of the whole session, with the far past.
    pub fn course(&self) -> TimeView {
        let whole = self.whole();
        let all = self.session.loaders.all(&self.session.run);
        let begins = all.iter().filter_map(|(_, run)| course::begins(run)).min();
        match begins {
            Some(begins) if begins < whole.start => {
                let air = Nanos((whole.end - begins).0 / 60);
                TimeView::new(begins - air, whole.end + air)
            }
            _ => whole,
        }
    }

    /// True if `item` is what is selected, or if nothing is.
    pub fn in_focus(&self, item: Item) -> bool {
        self.session
            .selection
            .is_none_or(|selected| selected == item)
    }
}

/// The next round length of time above this one: 1, 2 or 5 times a power of ten. It does not reveal the length itself.
fn rounded_up(length: Nanos) -> Nanos {
    let mut power: i64 = 1;
    loop {
        for times in [1, 2, 5] {
            match power.checked_mul(times) {
                Some(round) if round > length.0 => return Nanos(round),
                Some(_) => {}
                None => return length,
            }
        }
        let Some(next) = power.checked_mul(10) else {
            return length;
        };
        power = next;
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
