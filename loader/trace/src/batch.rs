//! What is known of one batch.

use std::ops::Add;

use crate::{BatchId, Lane, Nanos, Stage, WorkerId};
use loadscope_column::View;

/// One batch as the fold keeps it. Its path, samples and content come from the [`crate::Run`] that holds it.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Its name.
    pub id: BatchId,
    /// Who fetches it; `None`: the main thread.
    pub worker: Option<WorkerId>,
    /// The stage it is in now.
    pub stage: Stage,
    /// True if it was ever held in the reorder buffer.
    pub was_held: bool,
    /// True if it was handed to the trainer.
    pub was_yielded: bool,
    /// True if a message of level error is about it.
    pub has_error: bool,
    /// True once it has been in the pin thread.
    pub(crate) pinned: bool,
    /// Its place among those in flight, while it is in no final stage.
    pub(crate) flying: u32,
    /// The lane and row it is in, while it is in one.
    pub(crate) place: Option<(Lane, u16)>,
    /// Its first transition.
    pub(crate) first: u32,
    /// Its latest transition.
    pub(crate) last: u32,
    /// Its indices in the run's arena.
    pub(crate) indices: Extent,
    /// Its sample timings in the run's arena; a length of 0 if there are none.
    pub(crate) timings: Extent,
    /// Its named stages in the run's arena: first position, number of stages.
    pub(crate) stages: Extent,
    /// Which list of stage names applies, once its samples were fetched.
    pub(crate) stage_names: Option<u16>,
    /// Position in the run's list of contents, or [`u32::MAX`]. A list that was emptied has another batch there, or none.
    pub(crate) content: u32,
}

/// A part of one of the run's arenas. Packed: there is one batch for every eight spans or so, and three of these in each.
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
    /// The stage.
    pub stage: Stage,
    /// When it was entered.
    pub start: Nanos,
    /// When it was left; `None` while it lasts or if it is final.
    pub end: Option<Nanos>,
}

impl PathStep {
    /// The stage in which a batch had failed by `now`; `None` if it had not.
    pub fn failed_in(path: &[Self], now: Nanos) -> Option<Stage> {
        let is_failure = |s: &Self| s.stage == Stage::Failed && s.start <= now;
        let at = path.iter().position(is_failure)?;
        // A failed batch is yielded as its error.
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
    /// Dataset index; `None` for iterable datasets.
    pub index: Option<u64>,
    /// When its fetch began.
    pub start: Nanos,
    /// Wall time.
    pub wall: Nanos,
    /// CPU time, if it was measured.
    pub cpu: Option<Nanos>,
}

impl Batch {
    /// How many samples it has, as far as is known.
    pub fn samples(&self) -> u32 {
        self.indices.len().max(self.timings.len())
    }

    /// True once the times of its samples are known, even if it has none.
    pub(crate) fn is_measured(&self) -> bool {
        self.timings.len() > 0 || self.stage_names.is_some()
    }

    /// True once it has been in the pin thread: its tensors are in page-locked memory.
    pub fn was_pinned(&self) -> bool {
        self.pinned
    }
}

impl Sample {
    /// When its fetch ended.
    pub fn end(&self) -> Nanos {
        self.start + self.wall
    }
}

/// The named stages of the samples of a batch.
#[derive(Clone, Copy, Debug)]
pub struct SampleStages<'a> {
    /// Names in the order in which they ran.
    pub names: &'a [String],
    pub(crate) walls: View<'a, Nanos>,
    pub(crate) samples: usize,
}

impl SampleStages<'_> {
    /// Wall time of stage `name_at` of the sample at `position`.
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

    /// Wall time of stage `name_at` over all samples.
    pub fn total(&self, name_at: usize) -> Nanos {
        (0..self.samples)
            .map(|p| self.wall(name_at, p))
            .fold(Nanos::ZERO, Add::add)
    }
}
