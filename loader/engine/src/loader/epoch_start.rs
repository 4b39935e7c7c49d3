//! Start of an epoch.

use loadscope_trace::EventKind;

use super::iter::{LoaderIter, Source};
use super::state::{EpochStart, Resume, ResumeSkip, Snapshot};
use super::{DataLoader, RequestIter};
use crate::error::{ExceptionKind, LoaderError};
use crate::fetch::Fetch;
use crate::pool::{Pool, PoolConfig};
use crate::preview_budget::PreviewBudget;
use crate::rng::lock_generator;
use crate::scheduler::{Scheduler, SchedulerOptions};

impl<F: Fetch> DataLoader<F> {
    /// Starts an epoch, like `iter(loader)`. With workers, their queues are filled before this returns.
    ///
    /// # Errors
    /// If the sampler fails, a thread cannot be started, or `timeout` and `prefetch_factor` do not fit the number of workers.
    pub fn iter(&mut self) -> Result<LoaderIter<'_, F>, LoaderError> {
        for text in self.warned_at_iter.clone() {
            self.warn(text);
        }
        let resume = self.resume.take();
        let epoch = resume.as_ref().map_or(self.next_epoch, Resume::epoch);
        self.next_epoch = epoch.saturating_add(1);
        self.probe.emit(|| EventKind::EpochStarted { epoch });
        let started = self.start_epoch(resume)?;
        let mut iter = LoaderIter {
            epoch,
            source: started.source,
            requests: started.requests,
            training: None,
            ended: false,
            num_yielded: started.resume_skip.progress().count(),
            len_called: self.len_called.get(),
            progress: started.resume_skip.progress(),
            resume_skip: started.resume_skip,
            snapshot: started.snapshot,
            loader: self,
        };
        if let Err(error) = iter.prime() {
            if started.is_new {
                iter.discard_workers();
            }
            return Err(error);
        }
        Ok(iter)
    }

    /// Draws the base seed, starts or resumes the workers and takes the samplers' iterators, in PyTorch's order.
    fn start_epoch(&mut self, resume: Option<Resume>) -> Result<StartedEpoch<F>, LoaderError> {
        let known = match resume {
            Some(resume) => resume.restore(&self.generators())?,
            None => EpochStart {
                base_seed: self.persistent_base_seed(),
                iterators: self.iterators(),
                done: None,
            },
        };
        let pool = self.persistent.take();
        let is_new = pool.is_none();
        let fresh = || ResumeSkip::new(self.is_iterable(), self.options.num_workers);
        let resume_skip = known.done.unwrap_or_else(fresh);
        let snapshot = Snapshot::of(&self.generators(), known.base_seed, known.iterators);
        // PyTorch takes an iterator of the sampler before it draws the base seed, and a second one after it starts new workers.
        let mut requests = self.index.iter();
        let base_seed = match known.base_seed {
            Some(seed) => seed,
            None => lock_generator(self.generator()).random_i64(),
        };
        self.base_seed = self.options.persistent_workers.then_some(base_seed);
        self.check_start()?;
        let source = if self.options.num_workers == 0 {
            Source::Single {
                fetcher: self.fetch.start()?,
                next: 0,
                stream_ended: false,
                budget: PreviewBudget::new(&self.probe),
            }
        } else {
            let pool = match pool {
                Some(pool) => self.resume_workers(pool)?,
                None => self.start_workers(base_seed)?,
            };
            Source::Threads {
                pool,
                scheduler: Scheduler::new(SchedulerOptions {
                    num_workers: self.options.num_workers,
                    prefetch_factor: self.options.prefetch_factor.unwrap_or(2),
                    in_order: self.options.in_order,
                }),
            }
        };
        for _ in 1..known.iterators.min(2) {
            requests = self.index.iter();
        }
        Ok(StartedEpoch {
            source,
            requests,
            resume_skip,
            snapshot,
            is_new,
        })
    }

    /// Checks PyTorch's assertions of the iterator's constructor, which run after the base seed was drawn.
    fn check_start(&self) -> Result<(), LoaderError> {
        let assertion = |text: &str| LoaderError::python(ExceptionKind::ASSERTION_ERROR, text);
        if self.options.num_workers == 0 {
            if self.options.timeout > 0.0 {
                return Err(assertion(
                    "_SingleProcessDataLoaderIter requires timeout == 0",
                ));
            }
        } else if self.options.prefetch_factor == Some(0) {
            return Err(assertion(
                "prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter",
            ));
        }
        Ok(())
    }

    /// Prepares persistent workers for a new epoch.
    fn resume_workers(&mut self, mut pool: Pool<F>) -> Result<Pool<F>, LoaderError> {
        match pool.resume(self.interrupt.as_deref()) {
            Ok(()) => Ok(pool),
            Err(error) => {
                if matches!(error, LoaderError::WorkerDied { .. }) {
                    // PyTorch also keeps the iterator, and fails again in every epoch.
                    self.persistent = Some(pool);
                }
                Err(error)
            }
        }
    }

    fn start_workers(&self, base_seed: i64) -> Result<Pool<F>, LoaderError> {
        let config = PoolConfig {
            fetch: &self.fetch,
            init: self.init.clone(),
            num_workers: self.options.num_workers,
            base_seed: base_seed as u64,
            pinner: self.pinner.clone(),
        };
        Pool::start(config, &self.probe)
    }
}

impl<F: Fetch> LoaderIter<'_, F> {
    /// Ends the workers, persistent or not. PyTorch keeps no iterator whose constructor failed.
    fn discard_workers(&mut self) {
        self.end();
        self.loader.persistent = None;
        self.loader.base_seed = None;
    }
}

/// A started epoch with its workers or its fetcher.
struct StartedEpoch<F: Fetch> {
    source: Source<F>,
    requests: RequestIter,
    resume_skip: ResumeSkip,
    snapshot: Snapshot,
    /// True if its workers were started for this epoch.
    is_new: bool,
}
