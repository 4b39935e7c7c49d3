//! Saving a loader in the middle of an epoch, and going on from there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::LoaderError;
use crate::rng::{Generator, GeneratorState, SharedGenerator, lock_generator};

/// The version of [`LoaderState`].
pub(super) const VERSION: u32 = 2;
/// The version before it, which is still read: its generators are those just after the base seed was drawn, so a sampler that draws
/// in `iter()` does not go on as it would have.
pub(super) const AFTER_THE_SEED: u32 = 1;

/// What `state_dict()` returns: a loader that is given it yields exactly the batches that were not yet yielded, and the same
/// epochs afterwards. The counterpart of torchdata's `StatefulDataLoader.state_dict()`.
///
/// It holds the state of the generators, not that of the dataset; a stream is gone through again up to where it was. The random
/// streams inside the workers begin anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoaderState {
    /// Version of this form, 2.
    pub version: u32,
    /// Worker threads of the loader that was saved.
    pub num_workers: usize,
    /// The epoch, counted from 0, that is under way or comes next.
    pub epoch: u32,
    /// The generators when the epoch began, before anything was drawn: the loader's (or the default one), then those of its samplers.
    pub generators: Vec<GeneratorState>,
    /// `_base_seed` of persistent workers; `None`: the epoch draws it.
    pub base_seed: Option<i64>,
    /// How often the epoch takes an iterator of its sampler, which may draw: twice where new workers are started, else once.
    #[serde(default = "once")]
    pub iterators: u32,
    /// What was yielded of the epoch; `None`: the epoch has not begun.
    pub progress: Option<Progress>,
}

fn once() -> u32 {
    1
}

/// Which batches of an epoch were yielded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// All tasks below a number, and some beyond (only with `in_order=False`, or where the sampler failed in place of one).
    Tasks {
        /// All below this.
        below: usize,
        /// And these.
        also: BTreeSet<usize>,
    },
    /// So many batches of each worker's stream.
    Streams(Vec<u64>),
}

impl Progress {
    /// Nothing was yielded.
    fn nothing(streams: bool, num_workers: usize) -> Self {
        if streams {
            Self::Streams(vec![0; num_workers.max(1)])
        } else {
            Self::Tasks {
                below: 0,
                also: BTreeSet::new(),
            }
        }
    }

    /// How many batches were yielded.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Tasks { below, also } => below + also.len(),
            Self::Streams(counts) => {
                let all = counts.iter().copied().fold(0, u64::saturating_add);
                usize::try_from(all).unwrap_or(usize::MAX)
            }
        }
    }

    /// Batch `idx`, made by `worker`, was yielded.
    pub(super) fn note(&mut self, idx: usize, worker: usize) {
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

/// Batches that were yielded before the state was saved, which a resumed epoch skips.
#[derive(Clone, Debug)]
pub(super) struct ResumeSkip {
    done: Progress,
    /// Tasks sent so far to each worker, as far as streams are concerned.
    sent: Vec<u64>,
}

impl ResumeSkip {
    pub fn new(streams: bool, num_workers: usize) -> Self {
        Self::from(Progress::nothing(streams, num_workers))
    }

    /// Where the epoch stands when it begins.
    pub fn progress(&self) -> Progress {
        self.done.clone()
    }

    /// How many batches of a map-style dataset were yielded before; 0 of a stream, whose requests draw nothing.
    pub fn tasks(&self) -> usize {
        match &self.done {
            tasks @ Progress::Tasks { .. } => tasks.count(),
            Progress::Streams(_) => 0,
        }
    }

    /// Whether the sampler failed in place of task `idx` before the state was saved.
    pub fn failed(&self, idx: usize) -> bool {
        match &self.done {
            Progress::Tasks { below, also } => idx < *below || also.contains(&idx),
            Progress::Streams(_) => false,
        }
    }

    /// Whether the task `idx`, which goes to `worker` now, was yielded before.
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

/// How an epoch began, before anything was drawn.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Copies: most snapshots are never looked at, so they are not written out yet.
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

    /// The state in the middle of an epoch.
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

/// A state to go on from.
pub(super) struct Resume(pub LoaderState);

/// What is known of an epoch before it begins.
pub(super) struct Known {
    /// Not to be drawn.
    pub base_seed: Option<i64>,
    /// How often it takes an iterator of the sampler.
    pub iterators: u32,
    /// What was yielded of it.
    pub done: Option<ResumeSkip>,
}

impl Resume {
    pub fn epoch(&self) -> u32 {
        self.0.epoch
    }

    /// Sets the generators back.
    pub fn restore(self, generators: &[SharedGenerator]) -> Result<Known, LoaderError> {
        for (generator, state) in generators.iter().zip(&self.0.generators) {
            lock_generator(generator).set_state(state)?;
        }
        Ok(Known {
            base_seed: self.0.base_seed,
            iterators: self.0.iterators,
            done: self.0.progress.map(ResumeSkip::from),
        })
    }
}
