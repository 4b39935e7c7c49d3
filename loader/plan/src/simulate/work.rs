//! What is there to be loaded.

/// The samples of an epoch.
#[derive(Clone, Debug)]
pub enum Work {
    /// A map-style dataset: the indices of each batch.
    Batches(Vec<Vec<u64>>),
    /// An iterable-style one.
    Streams {
        /// What each worker's stream yields (without workers: the first one is the main thread's).
        streams: Vec<Vec<u64>>,
        /// Samples in a batch; 1 for a loader without batches.
        batch_size: usize,
        /// Every worker leaves out its last batch if it is short.
        drop_last: bool,
    },
}

impl Work {
    /// The samples of task `idx`, given to `worker` as its `nth`; `None`: there are none any more.
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

    /// Whether the sampler has a task `idx`: a stream's never ends.
    pub(super) fn has_task(&self, idx: usize) -> bool {
        match self {
            Self::Batches(batches) => idx < batches.len(),
            Self::Streams { .. } => true,
        }
    }

    /// The indices that are known when the task is sent.
    pub(super) fn indices(&self, idx: usize) -> Vec<u64> {
        match self {
            Self::Batches(batches) => batches.get(idx).cloned().unwrap_or_default(),
            Self::Streams { .. } => Vec::new(),
        }
    }
}
