//! Reference to a batch, as the main process or a worker names it.

/// Batch of a record, as its sender names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchRef {
    /// Batch number, as the main process knows it.
    Batch {
        iterator: u32,
        epoch: u32,
        batch: u32,
    },
    /// Fetch `count` of a worker since it created its fetcher for the `generation`-th time. Both count from 0.
    Worker { generation: u32, count: u64 },
}
