//! PyTorch's `DataLoader` and its iterators.

mod builder;
mod epoch_start;
mod iter;
mod save;
mod state;

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

pub use loadscope_plan::loader::{
    Arguments, Index, LoaderOptions, RequestIter, check_assignable, too_many_workers,
};
use loadscope_trace::Level;

pub(crate) use builder::LoaderParts;
pub use builder::{LoaderBuilder, MapStyle, Streaming};
pub use iter::LoaderIter;
pub use state::{LoaderState, Progress};

use crate::error::LoaderError;
use crate::fetch::Fetch;
use crate::pin::{Pinner, Pinning};
use crate::pool::Pool;
use crate::probe::Probe;
use crate::rng::SharedGenerator;
use crate::sampler::BatchSource;
use crate::sync::AtomicBool;
use crate::worker::WorkerInitFn;
use state::Resume;

/// Properties of the dataset that the loader needs.
#[derive(Clone)]
pub(crate) struct DatasetInfo {
    /// `len(dataset)`, or `None` if the dataset has no length.
    pub len: Arc<dyn Fn() -> Option<usize> + Send + Sync>,
    /// Name of the dataset's type.
    pub name: String,
}

/// PyTorch's `DataLoader`, made by a [`LoaderBuilder`]. [`DataLoader::iter`] is `iter(loader)`.
pub struct DataLoader<F: Fetch> {
    fetch: Arc<F>,
    index: Index,
    dataset_info: Option<DatasetInfo>,
    options: LoaderOptions,
    init: Option<WorkerInitFn>,
    /// `generator`. `None` means the default generator.
    generator: Option<SharedGenerator>,
    default_generator: SharedGenerator,
    pinner: Option<Pinner>,
    /// PyTorch's warnings that [`DataLoader::take_warnings`] has not returned yet.
    warnings: Vec<String>,
    /// Warnings that were sent to the observer.
    emitted_warnings: HashSet<String>,
    /// Warnings to repeat whenever an iterator is made.
    warned_at_iter: Vec<String>,
    /// `_IterableDataset_len_called`: the dataset's length when the loader's length was requested.
    len_called: Cell<Option<usize>>,
    probe: Probe,
    interrupt: Option<Arc<AtomicBool>>,
    /// Threads of a loader with persistent workers, between epochs.
    persistent: Option<Pool<F>>,
    /// `_base_seed` of the running threads.
    base_seed: Option<i64>,
    next_epoch: u32,
    /// State from which to continue, after [`DataLoader::load_state_dict`].
    resume: Option<Resume>,
}

impl<F: Fetch> DataLoader<F> {
    /// Creates a loader of the batches in `batches`, made by `fetch`. Base seeds are drawn from `generator`.
    ///
    /// # Errors
    /// If the options contradict each other, or memory cannot be locked although `mlock` was requested.
    pub fn new(
        fetch: F,
        batches: Arc<dyn BatchSource>,
        options: LoaderOptions,
        generator: SharedGenerator,
    ) -> Result<Self, LoaderError> {
        options.check()?;
        let default_generator = Arc::clone(&generator);
        let mut loader = Self::of(fetch, Index::Batches(batches), options, default_generator)?;
        loader.generator = Some(generator);
        Ok(loader)
    }

    /// Creates a loader with valid options.
    pub(crate) fn of(
        fetch: F,
        index: Index,
        options: LoaderOptions,
        default_generator: SharedGenerator,
    ) -> Result<Self, LoaderError> {
        let pinning = Pinning::choose(options.pin_memory)?;
        Ok(Self {
            fetch: Arc::new(fetch),
            index,
            dataset_info: None,
            options,
            init: None,
            generator: None,
            default_generator,
            pinner: pinning.pinner,
            warnings: Vec::new(),
            emitted_warnings: HashSet::new(),
            warned_at_iter: pinning.warning.into_iter().collect(),
            len_called: Cell::new(None),
            probe: Probe::off(),
            interrupt: None,
            persistent: None,
            base_seed: None,
            next_epoch: 0,
            resume: None,
        })
    }

    /// Returns this loader with an observer.
    #[must_use]
    pub fn observed(self, probe: Probe) -> Self {
        Self { probe, ..self }
    }

    /// Returns this loader with an interrupt flag.
    ///
    /// Once `interrupt` is set, its iterator stops waiting for a batch, yields [`LoaderError::Interrupted`] and ends.
    #[must_use]
    pub fn interruptible(self, interrupt: Arc<AtomicBool>) -> Self {
        Self {
            interrupt: Some(interrupt),
            ..self
        }
    }

    /// Returns the options.
    pub fn options(&self) -> &LoaderOptions {
        &self.options
    }

    /// Returns `loader.generator`, or the default generator.
    pub fn generator(&self) -> &SharedGenerator {
        self.generator.as_ref().unwrap_or(&self.default_generator)
    }

    /// Returns `len(loader)`, the batches of an epoch. For a stream it is based on the length that the dataset reports.
    ///
    /// # Errors
    /// TypeError for a stream without a length.
    pub fn len(&self) -> Result<usize, LoaderError> {
        let Index::Stream {
            batch_size,
            drop_last,
        } = &self.index
        else {
            return Ok(self.index.len());
        };
        let dataset_info = self.dataset_info.as_ref();
        let Some(samples) = dataset_info.and_then(|a| (a.len)()) else {
            let name = dataset_info.map_or("IterableDataset", |a| &a.name);
            return Err(LoaderError::type_error(format!(
                "object of type '{name}' has no len()"
            )));
        };
        self.len_called.set(Some(samples));
        Ok(match batch_size {
            None => samples,
            Some(size) if *drop_last => samples / size,
            Some(size) => samples.div_ceil(*size),
        })
    }

    /// Returns true if an epoch is known to have no batches.
    pub fn is_empty(&self) -> bool {
        self.len() == Ok(0)
    }

    /// Returns PyTorch's warnings (`UserWarning`) since the last call. Warnings are also events.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn warn(&mut self, text: String) {
        // As in Python, each distinct warning is shown once.
        if self.emitted_warnings.insert(text.clone()) {
            self.probe.emit_message(Level::Warning, || text.clone());
        }
        self.warnings.push(text);
    }

    /// Returns true if samples come from streams, one per worker.
    fn is_iterable(&self) -> bool {
        matches!(self.index, Index::Stream { .. })
    }
}
