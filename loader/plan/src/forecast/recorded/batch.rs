//! Times of one batch of a recording.

use loadscope_trace::{Nanos, Run, Stage, WorkerId};

/// Times of a batch, where known.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct BatchFacts {
    pub row: usize,
    pub epoch: u32,
    pub worker: Option<WorkerId>,
    pub queued: Nanos,
    pub fetching: Option<Nanos>,
    /// End of fetching.
    pub fetched: Option<Nanos>,
    /// Start and end of collating.
    pub collating: Option<(Nanos, Nanos)>,
    /// Time at which the worker sent the batch.
    pub returning: Option<Nanos>,
    /// Start and end of pinning.
    pub pinning: Option<(Nanos, Nanos)>,
    /// Time at which the main process received the batch.
    pub arrived: Option<Nanos>,
    /// Time at which the batch was next in order.
    pub ready: Option<Nanos>,
    /// Start and end of the training step.
    pub training: Option<(Nanos, Option<Nanos>)>,
    pub failed: bool,
    /// Time at which the batch was done or failed.
    pub gone: Option<Nanos>,
}

impl BatchFacts {
    pub fn of(run: &Run, row: usize) -> Option<Self> {
        let batch = run.batches().get(row)?;
        let mut facts = Self {
            row,
            epoch: batch.id.epoch,
            worker: batch.worker,
            ..Self::default()
        };
        for step in run.path(row) {
            let (at, end) = (step.start, step.end);
            match step.stage {
                Stage::Queued => facts.queued = at,
                Stage::Fetching => {
                    facts.fetching = Some(at);
                    facts.fetched = end;
                }
                Stage::Collating => facts.collating = end.map(|end| (at, end)),
                Stage::Returning => {
                    facts.returning.get_or_insert(at);
                }
                Stage::Pinning => facts.pinning = end.map(|end| (at, end)),
                Stage::Held => facts.arrived = Some(at),
                Stage::Ready => {
                    facts.arrived.get_or_insert(at);
                    facts.ready = Some(at);
                }
                Stage::Training => facts.training = Some((at, end)),
                Stage::Done => facts.gone = Some(at),
                Stage::Failed => {
                    facts.failed = true;
                    facts.gone = Some(at);
                }
                Stage::Discarded => {}
            }
        }
        Some(facts)
    }

    pub fn was_yielded(&self) -> bool {
        self.training.is_some() || self.failed
    }

    pub fn fetch(&self) -> Option<Nanos> {
        Some(self.fetched? - self.fetching?)
    }

    /// Returns the time of fetching and collating.
    pub fn work(&self) -> Option<Nanos> {
        Some(self.fetch()? + self.collate())
    }

    /// Returns the time of the training step.
    pub fn step(&self) -> Option<Nanos> {
        let (start, end) = self.training?;
        Some(end? - start)
    }

    pub fn collate(&self) -> Nanos {
        self.collating
            .map_or(Nanos::ZERO, |(start, end)| end - start)
    }

    pub fn pin(&self) -> Nanos {
        self.pinning.map_or(Nanos::ZERO, |(start, end)| end - start)
    }

    /// Returns the time at which the worker finished the batch.
    pub fn made(&self) -> Option<Nanos> {
        self.collating.map(|(_, end)| end).or(self.fetched)
    }
}
