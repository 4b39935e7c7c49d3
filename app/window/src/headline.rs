//! The verdict above the pipeline, which is recomputed while data flow.

use std::time::Duration;

use egui::Context;
use loadscope_insight::headline::Headline;
use loadscope_model::state::State;
use loadscope_trace::Nanos;

/// Interval between verdicts while data flow.
const EVERY: Duration = Duration::from_millis(200);

/// Number of transitions of a long run. Its verdict is not recomputed in every frame when its hidden part changes.
const LONG: usize = 100_000;

/// The verdict and its inputs.
#[derive(Default)]
pub(crate) struct Verdict {
    known: Option<Headline>,
    /// Number and version of its run.
    of: Option<(u64, u64)>,
    given: Duration,
    /// Time of the last included event.
    end: Nanos,
}

impl Verdict {
    pub(crate) fn known(&self) -> Option<&Headline> {
        self.known.as_ref()
    }

    pub(crate) fn refresh(&mut self, ctx: &Context, state: &State) {
        if state.is_reading() {
            // A partial run has no verdict, because computing one examines every wait.
            self.known = None;
            return;
        }
        let run = &state.session.run;
        let of = (state.session.run_number, run.version());
        let now = state.place.platform.clock.now();
        let is_of_it = self.of.is_some_and(|(run, _)| run == of.0);
        // In a long run, a verdict examines every wait, and numbers that change in every frame are unreadable.
        let moves = state.hides_future() && run.transitions().len() > LONG;
        let soon = (state.flows() || moves) && now.saturating_sub(self.given) < EVERY;
        if moves && soon && is_of_it && self.of != Some(of) {
            // A verdict that includes now hidden events is removed immediately.
            self.known.take_if(|_| run.end() < self.end);
            ctx.request_repaint_after(EVERY);
            return;
        }
        if self.of != Some(of) && !(soon && is_of_it && self.known.is_some()) {
            self.end = run.end();
            self.of = Some(of);
            self.given = now;
            self.known = Headline::of(run);
        }
    }
}
