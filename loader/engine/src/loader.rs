//! The loader: PyTorch's `DataLoader` and the iterators behind it.

mod begin;
mod builder;
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

pub(crate) use builder::Rest;
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

/// What the loader has to know of its dataset.
#[derive(Clone)]
pub(crate) struct About {
    /// `len(dataset)`; `None` if it has none.
    pub len: Arc<dyn Fn() -> Option<usize> + Send + Sync>,
    /// The name of its type.
    pub name: String,
}

/// Loads batches. PyTorch's `DataLoader`, made by a [`LoaderBuilder`]; [`DataLoader::iter`] is `iter(loader)`.
pub struct DataLoader<F: Fetch> {
    fetch: Arc<F>,
    index: Index,
    about: Option<About>,
    options: LoaderOptions,
    init: Option<WorkerInitFn>,
    /// `generator`; `None`: the default one.
    generator: Option<SharedGenerator>,
    default_generator: SharedGenerator,
    pinner: Option<Pinner>,
    /// PyTorch's warnings that were not taken yet.
    warnings: Vec<String>,
    /// Those that were sent to the observer.
    shown: HashSet<String>,
    /// Warnings given whenever an iterator is made.
    warned_at_iter: Vec<String>,
    /// `_IterableDataset_len_called`: what the dataset said when the loader's length was asked for.
    len_called: Cell<Option<usize>>,
    probe: Probe,
    interrupt: Option<Arc<AtomicBool>>,
    /// The threads, between the epochs of a loader with persistent workers.
    persistent: Option<Pool<F>>,
    /// `_base_seed` of the threads that live.
    base_seed: Option<i64>,
    next_epoch: u32,
    /// Where to go on, after [`DataLoader::load_state_dict`].
    resume: Option<Resume>,
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
    ) -> Result<Self, LoaderError> {
        options.check()?;
        let default_generator = Arc::clone(&generator);
        let mut loader = Self::of(fetch, Index::Batches(batches), options, default_generator)?;
        loader.generator = Some(generator);
        Ok(loader)
    }

    /// A loader whose options are sound.
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
            about: None,
            options,
            init: None,
            generator: None,
            default_generator,
            pinner: pinning.pinner,
            warnings: Vec::new(),
            shown: HashSet::new(),
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

    /// The same loader, observed.
    #[must_use]
    pub fn observed(self, probe: Probe) -> Self {
        Self { probe, ..self }
    }

    /// The same loader, which stops waiting for a batch once `interrupt` is set: its iterator then yields
    /// [`LoaderError::Interrupted`] and ends.
    #[must_use]
    pub fn interruptible(self, interrupt: Arc<AtomicBool>) -> Self {
        Self {
            interrupt: Some(interrupt),
            ..self
        }
    }

    /// How batches are loaded.
    pub fn options(&self) -> &LoaderOptions {
        &self.options
    }

    /// `loader.generator`, or the default generator.
    pub fn generator(&self) -> &SharedGenerator {
        self.generator.as_ref().unwrap_or(&self.default_generator)
    }

    /// `len(loader)`: batches in an epoch. For a stream this is only what the dataset says of itself.
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
        let about = self.about.as_ref();
        let Some(samples) = about.and_then(|a| (a.len)()) else {
            let name = about.map_or("IterableDataset", |a| &a.name);
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

    /// True if an epoch has no batches, as far as is known.
    pub fn is_empty(&self) -> bool {
        self.len() == Ok(0)
    }

    /// PyTorch's warnings (`UserWarning`) since the last call. They are events, too.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn warn(&mut self, text: String) {
        // As Python does: the same warning is shown once.
        if self.shown.insert(text.clone()) {
            self.probe.say(Level::Warning, || text.clone());
        }
        self.warnings.push(text);
    }

    /// True if samples come from streams, one a worker.
    fn streams(&self) -> bool {
        matches!(self.index, Index::Stream { .. })
    }
}
