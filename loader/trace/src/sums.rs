//! What a stretch of a run came to, where its events are not kept.

use std::collections::BTreeMap;

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::{AsideKind, GaugeKind, Nanos, Octaves, QuantileSketch, Stage};

/// What a stretch of a run came to. What belongs to a batch is counted where the batch comes to its end, what belongs to a wait or a
/// training step where it ends: so the sums of all stretches, and what is not summed up yet, add up to the whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sums {
    /// Number of the part of the recording that it was in.
    #[serde(skip)]
    pub part: u32,
    /// First instant.
    pub from: Nanos,
    /// End (exclusive).
    pub to: Nanos,
    /// Events.
    #[serde(skip_serializing_if = "is_zero")]
    pub events: u64,
    /// Events that the observer lost.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Epochs that began.
    #[serde(skip_serializing_if = "is_zero")]
    pub epochs: u64,
    /// Batches that the trainer got and that came to their end.
    #[serde(skip_serializing_if = "is_zero")]
    pub batches: u64,
    /// Samples in those.
    #[serde(skip_serializing_if = "is_zero")]
    pub samples: u64,
    /// Batches that had been held in the reorder buffer.
    #[serde(skip_serializing_if = "is_zero")]
    pub held: u64,
    /// Batches whose error was raised in the trainer.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Batches that never reached the trainer.
    #[serde(skip_serializing_if = "is_zero")]
    pub discarded: u64,
    /// Messages of level error.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Messages of level warning.
    #[serde(skip_serializing_if = "is_zero")]
    pub warnings: u64,
    /// How long the trainer waited, by what the awaited batch was doing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub waited: BTreeMap<Awaited, Nanos>,
    /// How long making iterators took.
    #[serde(skip_serializing_if = "no_time")]
    pub opening: Nanos,
    /// The training steps.
    #[serde(skip_serializing_if = "Octaves::is_empty")]
    pub steps: Octaves,
    /// Time of the steps that does not count: other work of the program, and what follows the last batch of an epoch. Negative if a
    /// step went on after another loader was iterated in it.
    #[serde(skip_serializing_if = "no_time")]
    pub uncounted: Nanos,
    /// Other work of the program in training steps, unless most steps contain it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub asides: BTreeMap<AsideKind, Nanos>,
    /// The waits.
    #[serde(skip_serializing_if = "QuantileSketch::is_empty")]
    pub waits: QuantileSketch,
    /// How long fetching and collating a batch took.
    #[serde(skip_serializing_if = "QuantileSketch::is_empty")]
    pub fetches: QuantileSketch,
    /// What was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gauges: Vec<GaugeSum>,
}

/// What a batch was doing while the trainer waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Awaited {
    /// It had not been given to anyone.
    NotDispatched,
    /// It was in an index queue.
    Queued,
    /// Its samples were read.
    Fetching,
    /// They were put together.
    Collating,
    /// It was on its way to the main thread.
    Returning,
    /// It was copied to page-locked memory.
    Pinning,
    /// It was in the reorder buffer.
    Held,
    /// It had arrived, and was not yielded yet.
    Ready,
    /// No batch came.
    End,
}

impl Awaited {
    /// What a batch in `stage` is waited for with.
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

    /// In a few words.
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

/// What was measured of something in a stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaugeSum {
    /// Of which lane; missing for the whole program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// What was measured.
    pub what: GaugeKind,
    /// How often.
    pub count: u64,
    /// The values together.
    pub sum: f64,
    /// The largest.
    pub max: f64,
}

impl Sums {
    /// How long the trainer waited.
    pub fn waited(&self) -> Nanos {
        self.waited.values().fold(Nanos::ZERO, |all, t| all + *t)
    }

    /// How long the program was in the loader's loop.
    pub fn in_loop(&self) -> Nanos {
        self.waited() + self.opening + self.steps.sum() - self.uncounted
    }

    /// Takes in those of another stretch.
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
