//! Waits of the trainer, split into the times that the findings use.

use crate::Cause;
use loadscope_trace::Nanos;

/// Kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// Wait for the first batch of an epoch.
    First,
    /// Wait for a batch with a work time above [`super::SLOW_BATCH`] times the median.
    Slow,
    /// Wait for any other batch.
    Usual,
    /// Wait without an awaited batch: at the end of an epoch.
    End,
}

/// Wait, split into the times that the findings use.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Waited {
    /// Position of the awaited batch in [`loadscope_trace::Run::batches`]. `None` for [`Kind::End`].
    pub row: Option<usize>,
    /// Length of the wait, up to the last event. With a device, this and the following times exclude the time of its work.
    pub took: Nanos,
    /// Kind of the wait.
    pub kind: Kind,
    /// Time in which the worker of the batch was busy with it or with an earlier batch.
    pub working: Nanos,
    /// Time in which the reorder buffer held at least one finished batch.
    pub held: Nanos,
    /// Time in slow samples of the awaited batch.
    pub in_slow_samples: Nanos,
    /// True if the batch is slow and contains a slow sample.
    pub by_slow_sample: bool,
    /// Time in which the batch was collated.
    pub collating: Nanos,
    /// Time in which the batch was in the pin thread.
    pub pinning: Nanos,
    /// Time in which the batch or its indices were in a queue between processes.
    pub on_its_way: Nanos,
    /// Time in which the sampler drew indices.
    pub drawing: Nanos,
    /// Cause with the longest time.
    pub main: Cause,
}

impl Waited {
    /// Returns the part of the wait that delayed training. Time during the work of a device costs nothing.
    pub(super) fn scaled(self, share: f64) -> Self {
        let scaled = |time: Nanos| match share < 1.0 {
            true => Nanos((time.0 as f64 * share) as i64),
            false => time,
        };
        Self {
            took: scaled(self.took),
            working: scaled(self.working),
            held: scaled(self.held),
            in_slow_samples: scaled(self.in_slow_samples),
            collating: scaled(self.collating),
            pinning: scaled(self.pinning),
            on_its_way: scaled(self.on_its_way),
            drawing: scaled(self.drawing),
            ..self
        }
    }
}
