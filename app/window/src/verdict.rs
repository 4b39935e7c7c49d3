//! The verdict above the pipeline, which is recomputed while data flow.

use std::time::Duration;

use egui::Context;
use loadscope_insight::background::{Background, Outcome};
use loadscope_insight::headline::Headline;
use loadscope_model::state::State;
use loadscope_trace::Nanos;

/// Interval between verdicts while data flow.
const INTERVAL: Duration = Duration::from_millis(200);

/// Number of transitions of a long run. Its verdict examines every wait, so a thread computes it.
const LONG_RUN: usize = 100_000;

/// Inputs of a verdict.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    /// Number of the run.
    run: u64,
    /// Version of the run.
    version: u64,
    /// Time of the last included event.
    end: Nanos,
}

/// The verdict and its inputs.
#[derive(Default)]
pub(crate) struct VerdictCache {
    headline: Option<Headline>,
    computed_for: Option<Key>,
    computed_at: Duration,
    /// Calculation for a long run.
    job: Option<(Key, Background<Option<Headline>>)>,
}

impl VerdictCache {
    pub(crate) fn headline(&self) -> Option<&Headline> {
        self.headline.as_ref()
    }

    pub(crate) fn refresh(&mut self, ctx: &Context, state: &State) {
        if state.is_reading() {
            // A partial run has no verdict, because computing one examines every wait.
            *self = Self::default();
            return;
        }
        let run = &state.session.run;
        let key = Key {
            run: state.session.run_number,
            version: run.version(),
            end: run.end(),
        };
        // A verdict of another run, or one that includes now hidden events, is removed immediately.
        let is_ahead = |known: &Key| known.run != key.run || known.end > key.end;
        if self.computed_for.take_if(|known| is_ahead(known)).is_some() {
            self.headline = None;
        }
        self.job.take_if(|(known, _)| is_ahead(known));
        self.take_answer();
        if self.computed_for == Some(key) || self.job.is_some() {
            return;
        }
        // Numbers that change in every frame are unreadable.
        let now = state.place.platform.clock.now();
        let changes = state.flows() || state.hides_future();
        let wait = INTERVAL.saturating_sub(now.saturating_sub(self.computed_at));
        let is_long = run.transitions().len() > LONG_RUN;
        if self.headline.is_some() && changes && !wait.is_zero() && (is_long || state.flows()) {
            ctx.request_repaint_after(wait);
            return;
        }
        self.computed_at = now;
        if is_long {
            let (snapshot, waker) = (run.snapshot(), ctx.clone());
            let job = Background::start(
                state.place.platform.jobs,
                "verdict",
                move || waker.request_repaint(),
                move |_| Ok(Headline::of(&snapshot)),
            );
            if let Ok(job) = job {
                self.job = Some((key, job));
                self.take_answer();
                return;
            }
        }
        self.headline = Headline::of(run);
        self.computed_for = Some(key);
    }

    /// Takes the result of a finished calculation.
    fn take_answer(&mut self) {
        let Some((key, outcome)) = self.job.as_ref().map(|(key, job)| (*key, job.take())) else {
            return;
        };
        match outcome {
            Outcome::NotYet => return,
            Outcome::Ready(headline) => self.headline = headline,
            Outcome::Broken => self.headline = None,
        }
        self.computed_for = Some(key);
        self.job = None;
    }
}
