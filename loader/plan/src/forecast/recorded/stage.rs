//! Times of the samples in a part of `dataset[index]`.

use loadscope_trace::Nanos;

/// Named stage of the samples.
#[derive(Clone, Debug)]
pub(in crate::forecast) struct StageCosts {
    pub name: String,
    /// Wall time per entry of [`Recorded::samples`].
    pub walls: Vec<Nanos>,
}
