//! Sums of an interval of a run whose events are not kept.

use std::collections::BTreeMap;

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::{AsideKind, DeviceTime, GaugeKind, Log2Histogram, Nanos, QuantileSketch, Stage};

/// Sums of an interval of a run. A batch counts in the interval of its end, and so do waits and training steps. Therefore, the sums of all
/// intervals and the remaining events add up to the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sums {
    /// Number of the part that contained the interval.
    #[serde(skip)]
    pub part: u32,
    /// Start (inclusive).
    pub from: Nanos,
    /// End (exclusive).
    pub to: Nanos,
    /// Applied events.
    #[serde(skip_serializing_if = "is_zero")]
    pub events: u64,
    /// Events that the recorder dropped.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Started epochs.
    #[serde(skip_serializing_if = "is_zero")]
    pub epochs: u64,
    /// Finished batches that the trainer received.
    #[serde(skip_serializing_if = "is_zero")]
    pub batches: u64,
    /// Samples in these batches.
    #[serde(skip_serializing_if = "is_zero")]
    pub samples: u64,
    /// Finished batches that were held in the reorder buffer.
    #[serde(skip_serializing_if = "is_zero")]
    pub held: u64,
    /// Batches whose error was raised in the trainer.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Batches that never reached the trainer.
    #[serde(skip_serializing_if = "is_zero")]
    pub discarded: u64,
    /// Messages that are errors.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Messages that are warnings.
    #[serde(skip_serializing_if = "is_zero")]
    pub warnings: u64,
    /// Time of waits, by the state of the awaited batch.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub waited: BTreeMap<AwaitedStage, Nanos>,
    /// Time in `iter`.
    #[serde(skip_serializing_if = "no_time")]
    pub opening: Nanos,
    /// Lengths of the training steps.
    #[serde(skip_serializing_if = "Log2Histogram::is_empty")]
    pub steps: Log2Histogram,
    /// Time of steps that does not count: other work of the program, and the time after the last batch of an epoch. Negative if a step
    /// continued after another loader was iterated.
    #[serde(skip_serializing_if = "no_time")]
    pub uncounted: Nanos,
    /// Other work of the program in training steps, unless most steps contain it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub asides: BTreeMap<AsideKind, Nanos>,
    /// Waits that were measured on the device.
    #[serde(skip_serializing_if = "DeviceTime::is_zero")]
    pub device: DeviceTime,
    /// Lengths of the waits.
    #[serde(skip_serializing_if = "QuantileSketch::is_empty")]
    pub waits: QuantileSketch,
    /// Times of fetching and collating a batch.
    #[serde(skip_serializing_if = "QuantileSketch::is_empty")]
    pub fetches: QuantileSketch,
    /// Sums of the gauges, one entry per lane and quantity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gauges: Vec<GaugeSum>,
}

/// State of the awaited batch during a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AwaitedStage {
    /// Batch that was not dispatched yet.
    NotDispatched,
    /// Batch in an index queue.
    Queued,
    /// Batch whose samples were fetched.
    Fetching,
    /// Batch whose samples were collated.
    Collating,
    /// Batch in the result queue or the pinned queue, on its way to the main process.
    Returning,
    /// Batch that was copied to page-locked memory.
    Pinning,
    /// Batch held in the reorder buffer.
    Held,
    /// Batch that had arrived and was not yielded yet.
    Ready,
    /// No batch: the epoch ended, or the batch failed or was discarded.
    End,
}

impl AwaitedStage {
    /// Returns the state for a batch in `stage`.
    pub fn of(stage: Stage) -> Self {
        match stage {
            Stage::Queued => Self::Queued,
            Stage::Fetching => Self::Fetching,
            Stage::Collating => Self::Collating,
            Stage::Returning => Self::Returning,
            Stage::Pinning => Self::Pinning,
            Stage::Held => Self::Held,
            Stage::Ready | Stage::Training | Stage::Done => Self::Ready,
            Stage::Failed | Stage::Discarded => Self::End,
        }
    }

    /// Returns a short name in the user's language.
    pub fn label(self) -> &'static str {
        match self {
            Self::NotDispatched => say!("Not yet dispatched"),
            Self::Queued => say!("In the index queue"),
            Self::Fetching => say!("Fetching"),
            Self::Collating => say!("Collating"),
            Self::Returning => say!("Returning"),
            Self::Pinning => say!("Pinning"),
            Self::Held => say!("Held"),
            Self::Ready => say!("Main process"),
            Self::End => say!("End of epoch"),
        }
    }
}

/// Sum of a gauge in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaugeSum {
    /// Measured lane. `None` for the whole program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Measured quantity. It determines the unit of the values.
    pub what: GaugeKind,
    /// Number of values.
    pub count: u64,
    /// Sum of the values.
    pub sum: f64,
    /// Largest value.
    pub max: f64,
}

impl Sums {
    /// Returns the total time of the waits.
    pub fn waited(&self) -> Nanos {
        self.waited.values().fold(Nanos::ZERO, |all, t| all + *t)
    }

    /// Returns the time in the loader's loop.
    pub fn in_loop(&self) -> Nanos {
        self.waited() + self.opening + self.steps.sum() - self.uncounted
    }

    /// Adds the sums of another interval.
    pub fn add(&mut self, other: &Self) {
        let is_first = *self == Self::default();
        self.part = self.part.max(other.part);
        self.from = match is_first {
            true => other.from,
            false => self.from.min(other.from),
        };
        self.to = self.to.max(other.to);
        let counts = [
            (&mut self.events, other.events),
            (&mut self.dropped, other.dropped),
            (&mut self.epochs, other.epochs),
            (&mut self.batches, other.batches),
            (&mut self.samples, other.samples),
            (&mut self.held, other.held),
            (&mut self.failed, other.failed),
            (&mut self.discarded, other.discarded),
            (&mut self.errors, other.errors),
            (&mut self.warnings, other.warnings),
        ];
        for (count, more) in counts {
            *count = count.saturating_add(more);
        }
        for (what, time) in &other.waited {
            *self.waited.entry(*what).or_default() += *time;
        }
        self.opening += other.opening;
        self.steps.add(&other.steps);
        self.uncounted += other.uncounted;
        for (kind, time) in &other.asides {
            *self.asides.entry(*kind).or_default() += *time;
        }
        self.device.add(other.device);
        self.waits.add(&other.waits);
        self.fetches.add(&other.fetches);
        for gauge in &other.gauges {
            self.add_gauge(gauge);
        }
    }

    fn add_gauge(&mut self, gauge: &GaugeSum) {
        let is_it = |g: &&mut GaugeSum| g.lane == gauge.lane && g.what == gauge.what;
        match self.gauges.iter_mut().find(is_it) {
            Some(known) => {
                known.count = known.count.saturating_add(gauge.count);
                known.sum = (known.sum + gauge.sum).clamp(f64::MIN, f64::MAX);
                known.max = known.max.max(gauge.max);
            }
            None => self.gauges.push(gauge.clone()),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn no_time(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}
