//! Saving a loader in the middle of an epoch, and going on from there.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::DataLoader;
use crate::error::EngineError;
use crate::fetch::Fetch;
use crate::rng::{Generator, GeneratorState, SharedGenerator, lock_generator};

/// The version of [`LoaderState`].
const VERSION: u32 = 1;

/// What `state_dict()` returns: a loader that is given it yields exactly the batches that were not yet yielded, and the same
/// epochs afterwards. The counterpart of torchdata's `StatefulDataLoader.state_dict()`.
///
/// It holds the state of the generators, not that of the dataset; a stream is gone through again up to where it was. The random
/// streams inside the workers begin anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoaderState {
    /// Version of this form, 1.
    pub version: u32,
    /// Worker threads of the loader that was saved.
    pub num_workers: usize,
    /// The epoch, counted from 0, that is under way or comes next.
    pub epoch: u32,
    /// The generators when the epoch began, just after its base seed was drawn: the loader's (or the default one), then those of
    /// its samplers.
    pub generators: Vec<GeneratorState>,
    /// `_base_seed`; `None`: still to be drawn.
    pub base_seed: Option<i64>,
    /// What was yielded of the epoch; `None`: the epoch has not begun.
    pub progress: Option<Progress>,
}

/// Which batches of an epoch were yielded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// All tasks below a number, and some beyond (only with `in_order=False`).
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

/// What was yielded before the state was saved and must not be again.
#[derive(Clone, Debug)]
pub(super) struct Behind {
    done: Progress,
    /// Tasks sent so far to each worker, as far as streams are concerned.
    sent: Vec<u64>,
}

impl Behind {
    pub fn new(streams: bool, num_workers: usize) -> Self {
        Self::from(Progress::nothing(streams, num_workers))
    }

    /// Where the epoch stands when it begins.
    pub fn progress(&self) -> Progress {
        self.done.clone()
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

impl From<Progress> for Behind {
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

/// The generators just after the base seed of an epoch was drawn.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Copies: most snapshots are never looked at, so they are not written out yet.
    generators: Vec<Generator>,
    base_seed: i64,
}

pub(super) fn snapshot<F: Fetch>(loader: &DataLoader<F>, base_seed: i64) -> Snapshot {
    Snapshot {
        generators: (loader.generators().iter())
            .map(|g| lock_generator(g).clone())
            .collect(),
        base_seed,
    }
}

fn states(generators: &[SharedGenerator]) -> Vec<GeneratorState> {
    let state = |g: &SharedGenerator| lock_generator(g).state();
    generators.iter().map(state).collect()
}

/// A state to go on from.
pub(super) struct Resume(LoaderState);

impl Resume {
    pub fn epoch(&self) -> u32 {
        self.0.epoch
    }

    /// Sets the generators back; returns the base seed, if it was drawn, and what was yielded.
    pub fn restore<F: Fetch>(
        self,
        loader: &DataLoader<F>,
    ) -> Result<(Option<i64>, Option<Behind>), EngineError> {
        let generators = loader.generators();
        for (generator, state) in generators.iter().zip(&self.0.generators) {
            lock_generator(generator).set_state(state)?;
        }
        Ok((self.0.base_seed, self.0.progress.map(Behind::from)))
    }
}

impl<F: Fetch> DataLoader<F> {
    /// All generators that an epoch draws from, each once.
    fn generators(&self) -> Vec<SharedGenerator> {
        let mut all = vec![Arc::clone(self.generator())];
        for generator in self.index.generators() {
            if !all.iter().any(|known| Arc::ptr_eq(known, &generator)) {
                all.push(generator);
            }
        }
        all
    }

    /// The state between two epochs. In the middle of one ask its iterator:
    /// [`LoaderIter::state_dict`](super::LoaderIter::state_dict).
    pub fn state_dict(&self) -> LoaderState {
        match &self.resume {
            Some(Resume(state)) => state.clone(),
            None => LoaderState {
                version: VERSION,
                num_workers: self.options.num_workers,
                epoch: self.next_epoch,
                generators: states(&self.generators()),
                base_seed: self.base_seed,
                progress: None,
            },
        }
    }

    /// Makes the next [`iter`](Self::iter) go on where `state` was saved.
    ///
    /// # Errors
    /// ValueError if the state is damaged, or of another kind of loader: another version, another number of generators, or, for
    /// streams, another number of workers.
    pub fn load_state_dict(&mut self, state: LoaderState) -> Result<(), EngineError> {
        if state.version != VERSION {
            return Err(EngineError::value_error(format!(
                "the state is of version {}, but this program knows version {VERSION}",
                state.version
            )));
        }
        let (saved, here) = (state.generators.len(), self.generators().len());
        if saved != here {
            return Err(EngineError::value_error(format!(
                "the state was saved by a loader with {saved} generators, this one has {here}. \
                 Give it the same samplers"
            )));
        }
        for saved in &state.generators {
            // Now, not when the next epoch begins.
            Generator::new(0).set_state(saved)?;
        }
        if state.epoch == u32::MAX {
            return Err(EngineError::value_error(format!(
                "the state is of epoch {}, and no epoch after it could be counted; it is damaged",
                state.epoch
            )));
        }
        let fits = match &state.progress {
            Some(Progress::Streams(counts)) => {
                self.streams() && counts.len() == self.options.num_workers.max(1)
            }
            Some(Progress::Tasks { .. }) => !self.streams(),
            None => true,
        };
        if !fits {
            return Err(EngineError::value_error(format!(
                "the state was saved by a loader with num_workers={} of another kind of dataset or with another \
                 number of workers; a stream goes on only with as many workers as it had",
                state.num_workers
            )));
        }
        // Threads that are alive have streams and seeds of their own epoch.
        self.persistent = None;
        self.resume = Some(Resume(state));
        Ok(())
    }
}

/// The state in the middle of an epoch.
pub(super) fn state_of<F: Fetch>(
    loader: &DataLoader<F>,
    epoch: u32,
    snapshot: &Snapshot,
    progress: &Progress,
) -> LoaderState {
    LoaderState {
        version: VERSION,
        num_workers: loader.options.num_workers,
        epoch,
        generators: snapshot.generators.iter().map(Generator::state).collect(),
        base_seed: Some(snapshot.base_seed),
        progress: Some(progress.clone()),
    }
}
