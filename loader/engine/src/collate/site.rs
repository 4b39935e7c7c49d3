//! Where a batch is put together.

/// Where a batch is put together. PyTorch's worker processes write into shared memory of a fixed size and type, which
/// shows when the tensors of a batch differ in dtype or shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollateSite {
    /// In the consumer's thread (`num_workers=0`): dtypes are promoted.
    Main,
    /// In a worker: the first sample's dtype is kept.
    Worker,
}
