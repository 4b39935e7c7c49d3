//! Samples of a simulated epoch.

/// Samples of an epoch.
#[derive(Clone, Debug)]
pub enum Work {
    /// Map-style dataset: the indices of each batch.
    Batches(Vec<Vec<u64>>),
    /// Iterable-style dataset.
    Streams {
        /// Samples of each worker's stream. Without workers, the first stream belongs to the main process.
        streams: Vec<Vec<u64>>,
        /// Samples per batch. It is 1 for a loader without batches.
        batch_size: usize,
        /// True if every worker drops an incomplete last batch.
        drop_last: bool,
    },
}

impl Work {
    /// Returns the samples of task `idx`, the `nth` task of `worker`. Returns `None` if the stream of the worker has ended.
    pub(super) fn samples(&self, idx: usize, worker: usize, nth: usize) -> Option<&[u64]> {
        match self {
            Self::Batches(batches) => batches.get(idx).map(Vec::as_slice),
            Self::Streams {
                streams,
                batch_size,
                drop_last,
            } => {
                let rest = streams.get(worker)?.get(nth.checked_mul(*batch_size)?..)?;
                let batch = rest.get(..*batch_size).unwrap_or(rest);
                let short = batch.len() < *batch_size;
                (!(batch.is_empty() || short && *drop_last)).then_some(batch)
            }
        }
    }

    /// Returns true if the sampler has a task `idx`. A stream's sampler is infinite.
    pub(super) fn has_task(&self, idx: usize) -> bool {
        match self {
            Self::Batches(batches) => idx < batches.len(),
            Self::Streams { .. } => true,
        }
    }

    /// Returns the indices that are known when the task is sent.
    pub(super) fn indices(&self, idx: usize) -> Vec<u64> {
        match self {
            Self::Batches(batches) => batches.get(idx).cloned().unwrap_or_default(),
            Self::Streams { .. } => Vec::new(),
        }
    }
}
