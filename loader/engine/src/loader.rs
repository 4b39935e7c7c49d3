//! The loader: PyTorch's `DataLoader` and the iterators behind it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loadscope_trace::{EventKind, PinMemory, WorkerId};

use crate::error::{EngineError, ExceptionKind};
use crate::fetch::Fetch;
use crate::pin::{Pinner, Pinning};
use crate::pool::Pool;
use crate::probe::Probe;
use crate::rng::{SharedGenerator, lock_generator};
use crate::sampler::BatchSource;
use crate::scheduler::{Scheduler, SchedulerOptions};
use crate::worker::Looking;

mod iter;

pub use iter::LoaderIter;
use iter::Source;

/// The arguments of `DataLoader` that say how batches are loaded; which batches, the batch sampler says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoaderOptions {
    /// Worker threads; 0: the caller's thread fetches by itself.
    pub num_workers: usize,
    /// Batches in flight per worker; `None`: 2.
    pub prefetch_factor: Option<usize>,
    /// Hand batches out in the order of the sampler.
    pub in_order: bool,
    /// Copy batches to page-locked memory.
    pub pin_memory: PinMemory,
    /// Keep the workers alive between epochs.
    pub persistent_workers: bool,
}

impl Default for LoaderOptions {
    fn default() -> Self {
        Self {
            num_workers: 0,
            prefetch_factor: None,
            in_order: true,
            pin_memory: PinMemory::Off,
            persistent_workers: false,
        }
    }
}

impl LoaderOptions {
    /// PyTorch's checks, in PyTorch's order.
    ///
    /// # Errors
    /// ValueError where PyTorch's constructor raises one.
    pub fn check(&self) -> Result<(), EngineError> {
        if self.num_workers > usize::from(WorkerId::MAX) {
            return Err(EngineError::value_error(format!(
                "num_workers option should be at most {}, but got num_workers={}",
                WorkerId::MAX,
                self.num_workers
            )));
        }
        if self.num_workers == 0 && self.prefetch_factor.is_some() {
            return Err(EngineError::value_error(
                "prefetch_factor option could only be specified in multiprocessing. \
                 Let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None.",
            ));
        }
        if self.persistent_workers && self.num_workers == 0 {
            return Err(EngineError::value_error(
                "persistent_workers option needs num_workers > 0",
            ));
        }
        Ok(())
    }
}

/// Loads batches. PyTorch's `DataLoader`; [`DataLoader::iter`] is `iter(loader)`.
pub struct DataLoader<F: Fetch> {
    fetch: Arc<F>,
    batches: Arc<dyn BatchSource>,
    options: LoaderOptions,
    generator: SharedGenerator,
    pinner: Option<Pinner>,
    probe: Probe,
    interrupt: Option<Arc<AtomicBool>>,
    /// The threads, between the epochs of a loader with persistent workers.
    persistent: Option<Pool<F>>,
    next_epoch: u32,
}

impl<F: Fetch> DataLoader<F> {
    /// A loader of the batches that `batches` lists, made by `fetch`. Base seeds are drawn from `generator`.
    ///
    /// # Errors
    /// If the options contradict each other, or memory cannot be locked although that was asked for by name.
    pub fn new(
        fetch: F,
        batches: Arc<dyn BatchSource>,
        options: LoaderOptions,
        generator: SharedGenerator,
    ) -> Result<Self, EngineError> {
        options.check()?;
        Ok(Self {
            fetch: Arc::new(fetch),
            batches,
            options,
            generator,
            pinner: Pinning::choose(options.pin_memory)?.pinner,
            probe: Probe::off(),
            interrupt: None,
            persistent: None,
            next_epoch: 0,
        })
    }

    /// The same loader, observed.
    #[must_use]
    pub fn observed(self, probe: Probe) -> Self {
        Self { probe, ..self }
    }

    /// The same loader, which stops waiting for a batch once `interrupt` is set: its iterator then yields
    /// [`EngineError::Interrupted`] and ends.
    #[must_use]
    pub fn interruptible(self, interrupt: Arc<AtomicBool>) -> Self {
        Self {
            interrupt: Some(interrupt),
            ..self
        }
    }

    /// `len(loader)`: batches in an epoch.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// True if an epoch has no batches.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `iter(loader)`: starts an epoch. With workers, their queues are filled before this returns.
    ///
    /// # Errors
    /// If the sampler fails or a thread cannot be started.
    pub fn iter(&mut self) -> Result<LoaderIter<'_, F>, EngineError> {
        if self.options.num_workers > 0 && self.options.prefetch_factor == Some(0) {
            return Err(EngineError::python(
                ExceptionKind::ASSERTION_ERROR,
                "prefetch_factor must be greater than 0",
            ));
        }
        let epoch = self.next_epoch;
        self.next_epoch += 1;
        self.probe.emit(|| EventKind::EpochStarted { epoch });
        // PyTorch takes an iterator of the sampler before it draws the base seed, and with workers a second one after.
        let mut batches = self.batches.iter();
        let source = match self.persistent.take() {
            Some(pool) => {
                pool.resume(self.interrupt.as_deref())?;
                self.threads(pool)
            }
            None => {
                let base_seed = lock_generator(&self.generator).random_i64();
                if self.options.num_workers == 0 {
                    Source::Single {
                        next: 0,
                        looking: Looking::new(self.probe.content()),
                    }
                } else {
                    let pool = Pool::start(
                        &self.fetch,
                        self.options.num_workers,
                        base_seed as u64,
                        self.pinner.clone(),
                        &self.probe,
                    )?;
                    batches = self.batches.iter();
                    self.threads(pool)
                }
            }
        };
        let mut iter = LoaderIter {
            epoch,
            source,
            batches,
            training: None,
            ended: false,
            loader: self,
        };
        iter.prime()?;
        Ok(iter)
    }

    fn threads(&self, pool: Pool<F>) -> Source<F> {
        let scheduler = Scheduler::new(SchedulerOptions {
            num_workers: self.options.num_workers,
            prefetch_factor: self.options.prefetch_factor.unwrap_or(2),
            in_order: self.options.in_order,
        });
        Source::Threads { pool, scheduler }
    }
}
