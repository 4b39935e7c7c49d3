//! The batch of a fetch.

/// The batch of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// The main process knows.
    Batch {
        iterator: u32,
        epoch: u32,
        batch: u32,
    },
    /// The `count`-th fetch since this worker made its fetcher for the `generation`-th time; both count from 0.
    Worker { generation: u32, count: u64 },
}
