//! Training time that does not count, as in [`Run::in_loop`](crate::Run::in_loop).

use std::collections::BTreeMap;

use strum::IntoEnumIterator as _;

use crate::step::{Aside, AsideKind, OpenStep, PreviousSteps, Uncounted};
use crate::{BatchId, Nanos, Origin};

/// Training steps of a run in a stream of events.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Count and time of all finished steps.
    before: PreviousSteps,
    open: Option<OpenStep>,
    /// Sums of the whole run.
    all: Uncounted,
    /// Sums since the previous call of `sum_up`.
    since: Uncounted,
    /// True if stage *training* ends early only for another loader.
    training_ends_at_next: bool,
}

impl Steps {
    pub fn set_origin(&mut self, origin: &Origin) {
        self.training_ends_at_next = matches!(origin, Origin::Pytorch(_));
    }

    pub fn begin(&mut self, batch: BatchId, at: Nanos) {
        let time = self.before.time - self.all.in_steps;
        self.open = Some(OpenStep::new(
            batch,
            at,
            PreviousSteps {
                time,
                ..self.before
            },
        ));
    }

    pub fn end(&mut self, batch: BatchId, at: Nanos, took: Nanos) {
        self.before.count += 1;
        self.before.time += took;
        if let Some(step) = &mut self.open {
            step.done(batch, at);
        }
    }

    pub fn aside(&mut self, at: Nanos, aside: &Aside) {
        let found = self.open.as_mut().map(|step| step.aside(at, aside));
        self.leave_out(found);
    }

    pub fn end_at_next(&mut self, at: Nanos) {
        let found = self
            .open
            .take()
            .map(|step| step.end_at_next(at, self.training_ends_at_next));
        self.leave_out(found);
    }

    pub fn leave_loop(&mut self, at: Nanos, epoch: u32) {
        let open = self.open.take_if(|step| step.batch().epoch == epoch);
        self.leave_out(open.map(|step| step.end_at_loop_end(at, self.training_ends_at_next)));
    }

    fn leave_out(&mut self, found: Option<Uncounted>) {
        if let Some(found) = found {
            self.all.add(&found);
            self.since.add(&found);
        }
    }

    /// Returns the time since the previous call that does not count, and the asides in it by kind.
    pub fn sum_up(&mut self) -> (Nanos, BTreeMap<AsideKind, Nanos>) {
        let since = std::mem::take(&mut self.since);
        let mut uncounted = since.in_steps;
        let mut asides = BTreeMap::new();
        for kind in AsideKind::iter() {
            let time = since.asides[kind as usize];
            match self.all.recurs(kind, self.before.count) {
                true => uncounted = uncounted - time,
                false if time.0 > 0 => _ = asides.insert(kind, time),
                false => {}
            }
        }
        (uncounted, asides)
    }
}
