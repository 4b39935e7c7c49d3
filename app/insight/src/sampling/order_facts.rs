//! Input of the findings about an order: options, seeds and other random generators of workers.

use loadscope_trace::{RandomStates, RunOptions};

use super::order::Digest;

/// Seed of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSeed {
    /// The epoch that was running at its start.
    pub epoch: u32,
    /// Id of the worker.
    pub worker: u16,
    /// `get_worker_info().seed`
    pub seed: u64,
}

/// States of a worker's other random generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerGenerators {
    /// The epoch that was running at its start.
    pub epoch: u32,
    /// Digests of the states.
    pub of: RandomStates,
}

/// Facts about an order in addition to its indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderFacts {
    /// Options of the loader.
    pub options: RunOptions,
    /// True if the epoch can receive no more indices.
    pub is_complete: bool,
    /// Digests of all epochs.
    pub digests: Vec<Digest>,
    /// Seeds of all workers.
    pub seeds: Vec<WorkerSeed>,
    /// Other random generators of workers.
    pub generators: Vec<WorkerGenerators>,
    /// Numbers of yielded samples and of workers that yielded them, for an iterable dataset.
    pub yielded: Option<(u64, usize)>,
    /// Length of the dataset, if known.
    pub len: Option<u64>,
}

impl OrderFacts {
    pub(super) fn sampler(&self) -> &str {
        let (kind, _) = self
            .options
            .sampler
            .split_once(':')
            .unwrap_or((&self.options.sampler, ""));
        kind
    }

    /// Returns true if the order should be uniformly random. Custom samplers count as not random, because their order is unknown.
    pub(super) fn is_random(&self) -> bool {
        let kind = self.sampler();
        let plain = matches!(kind, "" | "random") && (self.options.shuffle || kind == "random");
        plain
            || matches!(
                kind,
                "subset"
                    | "weighted"
                    | "distributed"
                    | "SubsetRandomSampler"
                    | "WeightedRandomSampler"
                    | "stream"
            )
            || self.options.is_stream()
    }

    /// Returns true if every index should occur exactly once in an epoch.
    pub(super) fn is_complete_pass(&self) -> bool {
        let o = &self.options;
        self.is_complete
            && matches!(self.sampler(), "" | "sequential" | "random")
            && !o.replacement
            && o.num_samples.is_none()
    }

    pub(super) fn is_distributed(&self) -> bool {
        matches!(self.sampler(), "distributed" | "equi") || self.options.world_size > 1
    }
}
