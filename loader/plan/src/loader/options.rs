//! The arguments of `DataLoader` that say how batches are loaded.

use loadscope_trace::PinMemory;

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
