//! When and how batches are looked into.

use std::time::{Duration, Instant};

use loadscope_trace::{BatchId, EventKind};

use crate::batch::Batch;
use crate::caught::caught;
use crate::probe::{ContentPolicy, Probe};

/// Looks inside batches without taking more than its share of a worker's time, once the run's time of grace is over.
pub(crate) struct Looking {
    policy: ContentPolicy,
    since: Instant,
    spent: Duration,
}

impl Looking {
    pub fn new(policy: ContentPolicy) -> Self {
        Self {
            policy,
            since: Instant::now(),
            spent: Duration::ZERO,
        }
    }

    pub fn may_look(&self, probe: &Probe) -> bool {
        match self.policy {
            ContentPolicy::Off => false,
            ContentPolicy::Share(share) => {
                let share = share.clamp(0.0, 1.0);
                probe.has_grace() || self.spent < self.since.elapsed().mul_f64(share)
            }
        }
    }

    /// Tells what is in a batch that lacks the samples at the places `left_out`.
    pub fn look<B: Batch>(&mut self, probe: &Probe, id: BatchId, batch: &B, left_out: &[u32]) {
        let start = Instant::now();
        // A batch type of the user's that panics here must not take the worker with it.
        let content = caught(|| batch.describe(id));
        if let Ok(Some(mut content)) = content {
            content.leave_out(left_out);
            probe.emit(|| EventKind::Content(Box::new(content)));
        }
        let took = start.elapsed();
        if !probe.spend_grace(took) {
            self.spent += took;
        }
    }
}
