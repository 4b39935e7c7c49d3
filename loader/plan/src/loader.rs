//! The arguments of `DataLoader`, and what its tasks are drawn from.

mod arguments;
mod index;

use loadscope_trace::PinMemory;

use crate::error::EngineError;

pub use arguments::{Arguments, check_assignable, too_many_workers};
pub use index::{Index, RequestIter};

/// The arguments of `DataLoader` that say how batches are loaded; which batches, the samplers say.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The longest wait for any worker's message, seconds; 0: no limit.
    pub timeout: f64,
}

impl Default for LoaderOptions {
    fn default() -> Self {
        Self {
            num_workers: 0,
            prefetch_factor: None,
            in_order: true,
            pin_memory: PinMemory::Off,
            persistent_workers: false,
            timeout: 0.0,
        }
    }
}

impl LoaderOptions {
    /// PyTorch's checks, in PyTorch's order.
    ///
    /// # Errors
    /// ValueError where PyTorch's constructor raises one.
    pub fn check(&self) -> Result<(), EngineError> {
        Arguments::of(self).check()
    }
}

/// What a task asks for: PyTorch's `possibly_batched_index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A batch of the samples with these dataset indices.
    Batch(Vec<usize>),
    /// One sample, as it is (`batch_size=None`).
    Sample(usize),
    /// A batch of the next samples of a stream, so many.
    Next(usize),
    /// The next sample of a stream, as it is.
    NextSample,
}

impl Request {
    /// The dataset indices asked for; none if samples come from a stream.
    pub fn indices(&self) -> &[usize] {
        match self {
            Self::Batch(indices) => indices,
            Self::Sample(index) => std::slice::from_ref(index),
            Self::Next(_) | Self::NextSample => &[],
        }
    }
}
