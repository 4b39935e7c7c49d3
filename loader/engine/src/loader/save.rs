//! Saving and loading the state of a loader.

use std::sync::Arc;

use loadscope_words::say;

use super::DataLoader;
use super::iter::{LoaderIter, Source};
use super::state::{LoaderState, Progress, Resume, VERSION};
use crate::error::LoaderError;
use crate::fetch::Fetch;
use crate::rng::{Generator, GeneratorState, SharedGenerator, lock_generator};

impl<F: Fetch> DataLoader<F> {
    /// Returns all generators from which an epoch draws, each once.
    pub(super) fn generators(&self) -> Vec<SharedGenerator> {
        let mut all = vec![Arc::clone(self.generator())];
        for generator in self.index.generators() {
            if !all.iter().any(|known| Arc::ptr_eq(known, &generator)) {
                all.push(generator);
            }
        }
        all
    }

    /// Returns the base seed of persistent workers. Returns `None` if the next epoch draws one.
    pub(super) fn persistent_base_seed(&self) -> Option<i64> {
        self.persistent.as_ref().and(self.base_seed)
    }

    /// Returns the number of sampler iterators of the next epoch: two if it starts workers, as in PyTorch.
    pub(super) fn iterators(&self) -> u32 {
        let starts_workers = self.options.num_workers > 0 && self.persistent.is_none();
        1 + u32::from(starts_workers)
    }

    /// Returns the state between two epochs. During an epoch, use [`LoaderIter::state_dict`](super::LoaderIter::state_dict).
    pub fn state_dict(&self) -> LoaderState {
        match &self.resume {
            Some(Resume(state)) => state.clone(),
            None => LoaderState {
                version: VERSION,
                num_workers: self.options.num_workers,
                epoch: self.next_epoch,
                generators: states(&self.generators()),
                base_seed: self.persistent_base_seed(),
                iterators: self.iterators(),
                progress: None,
            },
        }
    }

    /// Makes the next [`iter`](Self::iter) continue where `state` was saved.
    ///
    /// # Errors
    /// ValueError if the state is damaged, or has another version or another number of generators. For streams, also if
    /// it has another number of workers.
    pub fn load_state_dict(&mut self, state: LoaderState) -> Result<(), LoaderError> {
        if state.version != VERSION {
            return Err(LoaderError::value_error(say!(
                "the state has version {}, but this program reads version {VERSION}",
                state.version
            )));
        }
        let (saved, here) = (state.generators.len(), self.generators().len());
        if saved != here {
            return Err(LoaderError::value_error(say!(
                "the state is from a loader with {saved} generators, but this one has {here}. Use the same samplers."
            )));
        }
        for saved in &state.generators {
            // The generator states are checked now, not when the next epoch begins.
            Generator::new(0).set_state(saved)?;
        }
        if state.epoch == u32::MAX {
            return Err(LoaderError::value_error(say!(
                "the state is damaged: no epoch can follow its epoch {}",
                state.epoch
            )));
        }
        let fits = match &state.progress {
            Some(Progress::Streams(counts)) => {
                self.is_iterable() && counts.len() == self.options.num_workers.max(1)
            }
            Some(Progress::Tasks { .. }) => !self.is_iterable(),
            None => true,
        };
        if !fits {
            return Err(LoaderError::value_error(say!(
                "the state is from a loader with num_workers={}, and its dataset or number of workers is different. An iterable-style dataset continues only with the same number of workers.",
                state.num_workers
            )));
        }
        // Running threads have the streams and seeds of their own epoch.
        self.persistent = None;
        self.resume = Some(Resume(state));
        Ok(())
    }
}

impl<F: Fetch> LoaderIter<'_, F> {
    /// Catches up if a resumed epoch is dropped before it reaches the saved position.
    ///
    /// Its sampler then draws what it had drawn when the state was saved, so that the next epoch is the same as without the interruption.
    pub(super) fn catch_up(&mut self) {
        let skipped = self.resume_skip.tasks();
        let (asked, had_asked) = match &self.source {
            Source::Single { next, .. } => (*next, skipped),
            Source::Threads { scheduler, .. } => (
                scheduler.send_idx(),
                skipped.saturating_add(scheduler.window()),
            ),
            Source::Ended { .. } => return,
        };
        if skipped > 0 {
            for _ in asked..had_asked {
                if self.requests.next().is_none() {
                    return;
                }
            }
        }
    }
}

fn states(generators: &[SharedGenerator]) -> Vec<GeneratorState> {
    let state = |g: &SharedGenerator| lock_generator(g).state();
    generators.iter().map(state).collect()
}
