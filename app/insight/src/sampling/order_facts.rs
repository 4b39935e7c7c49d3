//! What is known besides the order itself.

use loadscope_trace::{Generators, RunOptions};

use super::order::Digest;

/// A worker and the seed that it started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSeed {
    /// The epoch under way when it started.
    pub epoch: u32,
    /// Its id.
    pub worker: u16,
    /// `get_worker_info().seed`
    pub seed: u64,
}

/// A worker and what its other random generators began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerGenerators {
    /// The epoch under way when it started.
    pub epoch: u32,
    /// Digests of their states.
    pub of: Generators,
}

/// What is known besides the order itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderFacts {
    /// What the loader was asked to do.
    pub options: RunOptions,
    /// True once no index of this epoch can come any more.
    pub is_complete: bool,
    /// The orders of all epochs.
    pub digests: Vec<Digest>,
    /// The seeds of all workers.
    pub seeds: Vec<WorkerSeed>,
    /// What else workers draw from.
    pub generators: Vec<WorkerGenerators>,
    /// What an iterable dataset has yielded: samples, and workers that yielded them.
    pub yielded: Option<(u64, usize)>,
    /// How many samples it says it has.
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

    /// The order is meant to be uniformly random; what a sampler of the program's own means, only the program knows.
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

    /// Every index should come exactly once in an epoch.
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
