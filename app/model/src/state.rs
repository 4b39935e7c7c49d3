//! Complete state of the window. Panels read it. `update` changes it.

use loadscope_insight::past_sums;
use loadscope_trace::{Nanos, Origin, Pipeline, RunOptions, Transition};
use loadscope_words::Language;

use crate::prefs::Prefs;
use crate::prefs::without_secrets;
use crate::view::{Cursor, Item, OptionsSource, TimeView, Workspace};

pub mod kept;
pub mod learn;
mod parts;

use kept::KeptRuns;
use learn::Learn;
pub use parts::{Environment, Overlay, Saving, SessionState, ViewState};
pub use parts::{Seek, Source};

/// Complete state of the window.
#[derive(Debug, Default)]
pub struct State {
    /// Preferences that are kept between starts.
    pub prefs: Prefs,
    /// The shown run and its session.
    pub session: SessionState,
    /// Runs that were shown before.
    pub runs: KeptRuns,
    /// View and input state of the window.
    pub look: ViewState,
    /// State of lessons.
    pub learn: Learn,
    /// Overlays over the window.
    pub overlay: Overlay,
    /// Environment of the program.
    pub place: Environment,
}

impl State {
    /// Sets the run and its session aside. Returns its number, or `None` if it was empty.
    pub fn stash_session(&mut self) -> Option<u32> {
        let next = SessionState::after(&self.session);
        let mut before = std::mem::replace(&mut self.session, next);
        if before.run.hidden_after().is_some() {
            before.run.hide_after(None);
        }
        before.loaders.hide_after(None);
        before.draw_thumbnail(&mut self.prefs.sketches);
        self.prefs.sketches.keep(&self.prefs.recent);
        self.look.search.restart();
        self.runs.keep(before)
    }

    /// Returns the language of all texts.
    pub fn language(&self) -> Language {
        let asked = self.place.asked_language.or(self.prefs.language);
        asked.unwrap_or(self.place.language)
    }

    /// Returns the preferences to store, without values of a lesson or secrets in arguments.
    pub fn prefs_to_keep(&self) -> Prefs {
        let mut prefs = self.prefs.clone();
        self.session.draw_thumbnail(&mut prefs.sketches);
        prefs.sketches.keep(&prefs.recent);
        prefs.watched.arguments = without_secrets(&prefs.watched.arguments);
        if let Some(own) = &self.learn.user_window {
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

    /// Returns true if there is a run to show.
    pub fn has_run(&self) -> bool {
        match self.session.source {
            Source::None | Source::Simulating => false,
            // The part that was read so far.
            Source::Loading { .. } => !self.session.run.whole().transitions().is_empty(),
            Source::Live { .. } | Source::Finished | Source::Recording { .. } => true,
        }
    }

    /// Returns true if the pipeline is shown alone. Without a pipeline, nothing can be shown alone.
    pub fn presents(&self) -> bool {
        let has_pipeline = self.has_run() && !self.session.run.whole().transitions().is_empty();
        self.look.presenting && has_pipeline && self.prefs.workspace == Workspace::Debug
    }

    /// Returns true if the shown run has options that can be shown next to those of the next run.
    pub fn has_options_of_run(&self) -> bool {
        self.has_run() && self.session.run.events() > 0 && !self.session.run.has_only_parts()
    }

    /// Returns the options of the shown run, if the engine or the simulator can run them. Python programs have none.
    pub fn options_of_run(&self) -> Option<&RunOptions> {
        let info = &self.session.run.info;
        let is_ours = matches!(info.origin, Origin::Engine | Origin::Simulation);
        let asked = self.session.asked.as_ref().unwrap_or(&info.options);
        (is_ours && self.has_options_of_run()).then_some(asked)
    }

    /// Returns true if the left panel shows the options of the run instead of those of the next run.
    pub fn shows_options_of_run(&self) -> bool {
        self.has_options_of_run() && self.session.options_of == OptionsSource::Run
    }

    /// Returns the number of runs of this window that closing it would lose.
    /// Demo runs count only next to other runs, because they were compared with them.
    pub fn unsaved(&self) -> usize {
        let kept = self.runs.all().iter().map(|kept| &kept.session);
        let all = kept.chain([&self.session]);
        let unsaved: Vec<_> = all.filter(|session| session.is_unsaved()).collect();
        match unsaved.iter().all(|session| session.is_demo()) {
            true => 0,
            false => unsaved.len(),
        }
    }

    /// Returns true if the journal keeps a run of this window.
    pub fn keeps(&self, session: &SessionState) -> bool {
        session.is_unsaved() && self.unsaved() > 0
    }

    /// Returns true if the run has measurements over time but no batches.
    pub fn has_only_gauges(&self) -> bool {
        let run = &self.session.run;
        run.whole().transitions().is_empty()
            && (run.gauges().next().is_some() || !run.parts().is_empty())
    }

    /// Returns the number of transitions up to the cursor.
    pub fn step(&self) -> usize {
        let transitions = self.session.run.whole().transitions();
        match self.session.cursor {
            Cursor::Live => transitions.len(),
            Cursor::At(at) => transitions.partition_point(|t| t.at <= at),
            Cursor::Step(step) => step.min(transitions.len()),
        }
    }

    /// Returns the time of the cursor.
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

    /// Returns true while a lesson asks about the future, will ask, or plays up to the answer. No panel may show the answer earlier.
    pub fn hides_answer(&self) -> bool {
        self.session.lesson_run == Some(learn::LessonRunKind::Given) && self.learn.hides_future()
    }

    /// Returns true if events after the cursor are hidden.
    pub fn hides_future(&self) -> bool {
        self.session.run.hidden_after().is_some()
    }

    /// Returns the pipeline at the cursor.
    pub fn pipeline(&self) -> Pipeline<'_> {
        match self.session.cursor {
            Cursor::Live => self.session.run.pipeline_at(self.session.run.whole().end()),
            Cursor::At(at) => self.session.run.pipeline_at(at),
            Cursor::Step(step) => self.session.run.pipeline_after(step),
        }
    }

    /// Returns the last transition up to the cursor.
    pub fn last_transition(&self) -> Option<&Transition> {
        self.session
            .run
            .whole()
            .transitions()
            .get(self.step().checked_sub(1)?)
    }

    /// Returns the visible range: the chosen one, or the whole run.
    pub fn shown(&self) -> TimeView {
        self.session.view.unwrap_or_else(|| self.whole())
    }

    /// Returns true while a file is being read.
    pub fn is_reading(&self) -> bool {
        matches!(self.session.source, Source::Loading { .. })
    }

    /// Returns true while data flow.
    pub fn flows(&self) -> bool {
        self.session.source == Source::Live { paused: false }
    }

    /// Returns the time from the first epoch to the last event of all loaders of the session, which share one time axis.
    /// The range excludes the far past, for which only sums are stored.
    pub fn extent(&self) -> (Nanos, Nanos) {
        let (start, end) = self
            .session
            .loaders
            .extent(&self.session.run)
            .unwrap_or_default();
        (start, end.max(self.session.run.whole().end()))
    }

    /// Returns the range of the whole session. While data flow, it grows in steps of a few pixels.
    /// A range that grows in every frame would redraw the timeline each time, and the loader needs the CPU.
    pub fn whole(&self) -> TimeView {
        let (start, mut end) = self.extent();
        if self.hides_answer() {
            end = start + rounded_up(end - start);
        }
        if self.flows() || self.is_reading() {
            end = start + in_steps(end - start);
        }
        // A margin on both sides makes the start of the first span and the end of the last one visible.
        let air = Nanos((end - start).0 / 60);
        TimeView::new(start - air, end + air)
    }

    /// Returns the range of the whole session, including the far past.
    pub fn whole_with_past(&self) -> TimeView {
        let whole = self.whole();
        let all = self.session.loaders.all(&self.session.run);
        let begins = all
            .iter()
            .filter_map(|(_, run)| past_sums::summed_since(run))
            .min();
        match begins {
            Some(begins) if begins < whole.start => {
                let air = Nanos((whole.end - begins).0 / 60);
                TimeView::new(begins - air, whole.end + air)
            }
            _ => whole,
        }
    }

    /// Returns true if `item` is selected, or if nothing is.
    pub fn in_focus(&self, item: Item) -> bool {
        self.session
            .selection
            .is_none_or(|selected| selected == item)
    }
}

/// Returns the next larger round duration: 1, 2 or 5 times a power of ten. It hides the exact duration.
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

/// Rounds a duration up to a whole number of steps.
/// A step is between 1/512 and 1/256 of the duration. The step is a power of two, so it rarely changes.
fn in_steps(length: Nanos) -> Nanos {
    let Ok(whole @ 1..) = u64::try_from(length.0) else {
        return length;
    };
    let step = 1 << whole.ilog2().saturating_sub(8);
    let up = whole.checked_next_multiple_of(step);
    up.and_then(|up| i64::try_from(up).ok())
        .map_or(length, Nanos)
}
