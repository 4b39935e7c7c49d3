//! Differences between collation in a worker and in the consumer's thread.

/// Thread that collates a batch.
///
/// PyTorch's worker processes write into shared memory of a fixed size and type. The results differ if the tensors of a
/// batch differ in dtype or shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollateSite {
    /// The consumer's thread (`num_workers=0`): dtypes are promoted.
    Main,
    /// A worker: the first sample's dtype is kept.
    Worker,
}
