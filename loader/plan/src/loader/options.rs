//! `DataLoader` arguments that determine how batches are loaded.

use loadscope_trace::{PinMemory, RunOptions};

/// `DataLoader` arguments that determine how batches are loaded. The samplers determine which ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoaderOptions {
    /// Number of worker threads. 0: the caller's thread fetches.
    pub num_workers: usize,
    /// Batches in flight per worker. `None`: 2.
    pub prefetch_factor: Option<usize>,
    /// Yields batches in the order of the sampler.
    pub in_order: bool,
    /// Copies batches to page-locked memory.
    pub pin_memory: PinMemory,
    /// Keeps the workers alive between epochs.
    pub persistent_workers: bool,
    /// Maximum wait for a message of any worker, seconds. 0: no limit.
    pub timeout: f64,
}

impl Default for LoaderOptions {
    fn default() -> Self {
        Self::from(&RunOptions::default())
    }
}

impl From<&RunOptions> for LoaderOptions {
    fn from(options: &RunOptions) -> Self {
        Self {
            num_workers: options.num_workers,
            prefetch_factor: options.prefetch_factor,
            in_order: options.in_order,
            pin_memory: options.pin_memory,
            persistent_workers: options.persistent_workers,
            timeout: options.timeout,
        }
    }
}
