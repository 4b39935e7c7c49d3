//! The verdict above the pipeline, which is given anew while data flow.

use std::time::Duration;

use egui::Context;
use loadscope_insight::headline::Headline;
use loadscope_model::state::State;
use loadscope_trace::Nanos;

/// While data flow, the verdict is given so often.
const EVERY: Duration = Duration::from_millis(200);

/// A run with more transitions is long: its verdict is not given anew in every frame in which another part of it is hidden.
const LONG: usize = 100_000;

/// The verdict, and what it is about.
#[derive(Default)]
pub(crate) struct Verdict {
    known: Option<Headline>,
    /// Which run it is about, and how far that was.
    of: Option<(u64, u64)>,
    given: Duration,
    /// The instant of the last event that it knows of.
    end: Nanos,
}

impl Verdict {
    pub(crate) fn known(&self) -> Option<&Headline> {
        self.known.as_ref()
    }

    pub(crate) fn refresh(&mut self, ctx: &Context, state: &State) {
        if state.is_reading() {
            // A part has no verdict, and to give one is a look at every wait.
            self.known = None;
            return;
        }
        let run = &state.session.run;
        let of = (state.session.run_number, run.version());
        let now = state.place.platform.clock.now();
        let is_of_it = self.of.is_some_and(|(run, _)| run == of.0);
        // Of a long run it is a look at every wait, and numbers that change in every frame cannot be read.
        let moves = state.hides_future() && run.transitions().len() > LONG;
        let soon = (state.flows() || moves) && now.saturating_sub(self.given) < EVERY;
        if moves && soon && is_of_it && self.of != Some(of) {
            // One that knows what is hidden now is not shown until then.
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
