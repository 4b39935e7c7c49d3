//! The verdict above the pipeline, which is recomputed while data flow.

use std::time::Duration;

use egui::Context;
use loadscope_insight::headline::Headline;
use loadscope_model::state::State;
use loadscope_trace::Nanos;

/// Interval between verdicts while data flow.
const INTERVAL: Duration = Duration::from_millis(200);

/// Number of transitions of a long run. Its verdict is not recomputed in every frame when its hidden part changes.
const LONG_RUN: usize = 100_000;

/// The verdict and its inputs.
#[derive(Default)]
pub(crate) struct VerdictCache {
    headline: Option<Headline>,
    /// Number and version of its run.
    computed_for: Option<(u64, u64)>,
    computed_at: Duration,
    /// Time of the last included event.
    end: Nanos,
}

impl VerdictCache {
    pub(crate) fn headline(&self) -> Option<&Headline> {
        self.headline.as_ref()
    }

    pub(crate) fn refresh(&mut self, ctx: &Context, state: &State) {
        if state.is_reading() {
            // A partial run has no verdict, because computing one examines every wait.
            self.headline = None;
            return;
        }
        let run = &state.session.run;
        let of = (state.session.run_number, run.version());
        let now = state.place.platform.clock.now();
        let is_of_it = self.computed_for.is_some_and(|(run, _)| run == of.0);
        // In a long run, a verdict examines every wait, and numbers that change in every frame are unreadable.
        let moves = state.hides_future() && run.transitions().len() > LONG_RUN;
        let soon = (state.flows() || moves) && now.saturating_sub(self.computed_at) < INTERVAL;
        if moves && soon && is_of_it && self.computed_for != Some(of) {
            // A verdict that includes now hidden events is removed immediately.
            self.headline.take_if(|_| run.end() < self.end);
            ctx.request_repaint_after(INTERVAL);
            return;
        }
        if self.computed_for != Some(of) && !(soon && is_of_it && self.headline.is_some()) {
            self.end = run.end();
            self.computed_for = Some(of);
            self.computed_at = now;
            self.headline = Headline::of(run);
        }
    }
}
