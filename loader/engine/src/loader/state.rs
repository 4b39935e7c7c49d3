//! Saving a loader during an epoch, and resuming it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::LoaderError;
use crate::rng::{Generator, GeneratorState, SharedGenerator, lock_generator};

/// Version of [`LoaderState`].
pub(super) const VERSION: u32 = 2;

/// Result of `state_dict()`, the counterpart of torchdata's `StatefulDataLoader.state_dict()`.
///
/// A loader that loads it yields exactly the batches that were not yet yielded, and the same subsequent epochs.
///
/// It contains the state of the generators, not of the dataset. A stream is read again up to its saved position. The
/// random streams inside the workers restart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoaderState {
    /// Format version, 2.
    pub version: u32,
    /// Worker threads of the saved loader.
    pub num_workers: usize,
    /// Current or next epoch, from 0.
    pub epoch: u32,
    /// Generators at the start of the epoch, before any draw: the loader's (or the default one), then those of its samplers.
    pub generators: Vec<GeneratorState>,
    /// `_base_seed` of persistent workers. `None` if the epoch draws it.
    pub base_seed: Option<i64>,
    /// Number of sampler iterators of the epoch, each of which may draw: two if new workers are started, otherwise one.
    pub iterators: u32,
    /// Yielded batches of the epoch. `None` if the epoch has not begun.
    pub progress: Option<Progress>,
}

/// Yielded batches of an epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// All tasks below a number, and some above it (only with `in_order=False`, or if the sampler failed instead of one).
    Tasks {
        /// First task that was not yielded.
        below: usize,
        /// Yielded tasks above `below`.
        also: BTreeSet<usize>,
    },
    /// Number of batches of each worker's stream.
    Streams(Vec<u64>),
}

impl Progress {
    /// Returns the progress of an epoch without yielded batches.
    fn empty(streams: bool, num_workers: usize) -> Self {
        if streams {
            Self::Streams(vec![0; num_workers.max(1)])
        } else {
            Self::Tasks {
                below: 0,
                also: BTreeSet::new(),
            }
        }
    }

    /// Returns the number of yielded batches.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Tasks { below, also } => below + also.len(),
            Self::Streams(counts) => {
                let all = counts.iter().copied().fold(0, u64::saturating_add);
                usize::try_from(all).unwrap_or(usize::MAX)
            }
        }
    }

    /// Records that batch `idx`, made by `worker`, was yielded.
    pub(super) fn record_yielded(&mut self, idx: usize, worker: usize) {
        match self {
            Self::Tasks { below, also } => {
                if idx == *below {
                    *below += 1;
                } else {
                    also.insert(idx);
                }
                while also.remove(below) {
                    *below += 1;
                }
            }
            Self::Streams(counts) => {
                if let Some(count) = counts.get_mut(worker) {
                    *count += 1;
                }
            }
        }
    }
}

/// Batches that were yielded before the state was saved. A resumed epoch skips them.
#[derive(Clone, Debug)]
pub(super) struct ResumeSkip {
    done: Progress,
    /// Number of tasks sent to each worker, for streams.
    sent: Vec<u64>,
}

impl ResumeSkip {
    pub fn new(streams: bool, num_workers: usize) -> Self {
        Self::from(Progress::empty(streams, num_workers))
    }

    /// Returns the progress at the start of the epoch.
    pub fn progress(&self) -> Progress {
        self.done.clone()
    }

    /// Returns the number of skipped batches of a map-style dataset, or 0 for a stream, whose requests draw nothing.
    pub fn tasks(&self) -> usize {
        match &self.done {
            tasks @ Progress::Tasks { .. } => tasks.count(),
            Progress::Streams(_) => 0,
        }
    }

    /// Returns true if the sampler failed instead of task `idx` before the state was saved.
    pub fn sampler_failed(&self, idx: usize) -> bool {
        match &self.done {
            Progress::Tasks { below, also } => idx < *below || also.contains(&idx),
            Progress::Streams(_) => false,
        }
    }

    /// Returns true if task `idx`, which is sent to `worker` now, was yielded before.
    pub fn skip(&mut self, idx: usize, worker: usize) -> bool {
        match &self.done {
            Progress::Tasks { below, also } => idx < *below || also.contains(&idx),
            Progress::Streams(counts) => {
                let (Some(sent), Some(count)) = (self.sent.get_mut(worker), counts.get(worker))
                else {
                    return false;
                };
                *sent += 1;
                *sent <= *count
            }
        }
    }
}

impl From<Progress> for ResumeSkip {
    fn from(done: Progress) -> Self {
        let workers = match &done {
            Progress::Streams(counts) => counts.len(),
            Progress::Tasks { .. } => 0,
        };
        Self {
            done,
            sent: vec![0; workers],
        }
    }
}

/// State at the start of an epoch, before any draw.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Copies of the generators. Most snapshots are never used, so they are not serialized yet.
    generators: Vec<Generator>,
    base_seed: Option<i64>,
    iterators: u32,
}

impl Snapshot {
    pub fn of(generators: &[SharedGenerator], base_seed: Option<i64>, iterators: u32) -> Self {
        Self {
            generators: generators
                .iter()
                .map(|g| lock_generator(g).clone())
                .collect(),
            base_seed,
            iterators,
        }
    }

    /// Returns the state during an epoch.
    pub fn state(&self, num_workers: usize, epoch: u32, progress: &Progress) -> LoaderState {
        LoaderState {
            version: VERSION,
            num_workers,
            epoch,
            generators: self.generators.iter().map(Generator::state).collect(),
            base_seed: self.base_seed,
            iterators: self.iterators,
            progress: Some(progress.clone()),
        }
    }
}

/// State from which a loader resumes.
pub(super) struct Resume(pub LoaderState);

/// Known facts of an epoch before it begins.
pub(super) struct EpochStart {
    /// Known base seed, which must not be drawn.
    pub base_seed: Option<i64>,
    /// Number of sampler iterators.
    pub iterators: u32,
    /// Batches that were already yielded.
    pub done: Option<ResumeSkip>,
}

impl Resume {
    pub fn epoch(&self) -> u32 {
        self.0.epoch
    }

    /// Restores the generators.
    pub fn restore(self, generators: &[SharedGenerator]) -> Result<EpochStart, LoaderError> {
        for (generator, state) in generators.iter().zip(&self.0.generators) {
            lock_generator(generator).set_state(state)?;
        }
        Ok(EpochStart {
            base_seed: self.0.base_seed,
            iterators: self.0.iterators,
            done: self.0.progress.map(ResumeSkip::from),
        })
    }
}
