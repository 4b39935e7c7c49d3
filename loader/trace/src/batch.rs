//! Stores the state of a batch, and the steps of its path.

use std::ops::Add;

use crate::{BatchId, Lane, Nanos, Stage, WorkerId};
use loadscope_column::View;

/// State of one batch in a [`crate::Run`]. The run stores its path, samples and content.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Epoch and number.
    pub id: BatchId,
    /// Worker that fetches the batch, `None` for the main process.
    pub worker: Option<WorkerId>,
    /// Current stage.
    pub stage: Stage,
    /// True if the batch was ever in the reorder buffer.
    pub was_held: bool,
    /// True if the trainer received the batch.
    pub was_yielded: bool,
    /// True if an error message refers to the batch.
    pub has_error: bool,
    /// True after the batch entered the pin thread.
    pub(crate) pinned: bool,
    /// Position in the list of batches in flight. Valid until the batch enters a final stage.
    pub(crate) in_flight_position: u32,
    /// Current lane and row, if any.
    pub(crate) place: Option<(Lane, u16)>,
    /// Index of the first transition.
    pub(crate) first: u32,
    /// Index of the latest transition.
    pub(crate) last: u32,
    /// Dataset indices in the run's arena.
    pub(crate) indices: Extent,
    /// Sample timings in the run's arena. Empty if there are none.
    pub(crate) timings: Extent,
    /// Named stages in the run's arena: first position, number of stages.
    pub(crate) stages: Extent,
    /// Index of the list of stage names, `None` until the samples were fetched.
    pub(crate) stage_names: Option<u16>,
    /// Position in the run's list of contents, or [`u32::MAX`]. After a content was evicted, the slot can be empty or contain another
    /// batch.
    pub(crate) content: u32,
}

/// Range in one of the run's arenas. Packed to save memory: every batch contains three, and there is a batch for about eight spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(crate) struct Extent {
    first: u64,
    len: u32,
}

impl Extent {
    pub fn new(first: usize, len: u32) -> Self {
        let first = first as u64;
        Self { first, len }
    }

    pub fn len(self) -> u32 {
        self.len
    }

    pub fn first(self) -> usize {
        self.first as usize
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.first()..self.first() + self.len as usize
    }
}

/// One stage on the path of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Stage that the batch entered.
    pub stage: Stage,
    /// Time of entry.
    pub start: Nanos,
    /// Time of exit. `None` while the stage lasts or if it is final.
    pub end: Option<Nanos>,
}

impl PathStep {
    /// Returns the stage in which a batch failed. Returns `None` if it had not failed by `now`.
    pub fn failed_in(path: &[Self], now: Nanos) -> Option<Stage> {
        let is_failure = |s: &Self| s.stage == Stage::Failed && s.start <= now;
        let at = path.iter().position(is_failure)?;
        // The error of a failed batch still passes through the later stages, so these are skipped.
        let before = path.get(..at)?.iter().rev();
        let mut worked_on = before.filter(|s| s.stage < Stage::Returning);
        worked_on.next().map(|s| s.stage)
    }
}

/// One sample of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Position within the batch.
    pub position: usize,
    /// Dataset index, `None` for iterable-style datasets.
    pub index: Option<u64>,
    /// Start of the fetch.
    pub start: Nanos,
    /// Wall time of the fetch.
    pub wall: Nanos,
    /// CPU time of the fetch, if measured.
    pub cpu: Option<Nanos>,
}

impl Batch {
    /// Returns the known number of samples.
    pub fn samples(&self) -> u32 {
        self.indices.len().max(self.timings.len())
    }

    /// Returns true if sample times are known, even for a batch without samples.
    pub(crate) fn is_measured(&self) -> bool {
        self.timings.len() > 0 || self.stage_names.is_some()
    }

    /// Returns true if the batch entered the pin thread, so its tensors are in page-locked memory.
    pub fn was_pinned(&self) -> bool {
        self.pinned
    }
}

impl Sample {
    /// Returns the end of the fetch.
    pub fn end(&self) -> Nanos {
        self.start + self.wall
    }
}

/// Named stages of the samples of a batch.
#[derive(Clone, Copy, Debug)]
pub struct SampleStages<'a> {
    /// Names in the order of execution.
    pub names: &'a [String],
    pub(crate) walls: View<'a, Nanos>,
    pub(crate) samples: usize,
}

impl SampleStages<'_> {
    /// Returns the wall time of stage `name_at` for the sample at `position`.
    pub fn wall(&self, name_at: usize, position: usize) -> Nanos {
        let at = name_at
            .saturating_mul(self.samples)
            .saturating_add(position);
        if position < self.samples {
            self.walls.get(at).copied().unwrap_or_default()
        } else {
            Nanos::ZERO
        }
    }

    /// Returns the wall time of stage `name_at`, summed over all samples.
    pub fn total(&self, name_at: usize) -> Nanos {
        (0..self.samples)
            .map(|p| self.wall(name_at, p))
            .fold(Nanos::ZERO, Add::add)
    }
}
