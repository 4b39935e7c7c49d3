//! Everything that the Sampling workspace shows about one order.

use std::sync::Arc;

use loadscope_trace::{RandomStates, RunOptions};
use loadscope_words::say;

use super::balance::{Balance, Labels};
use super::coverage::Coverage;
use super::finding::Finding;
use super::order::{Digest, Order};
use super::overlay::Overlay;
use super::ranks::Ranks;
use super::shuffle::Shuffle;
use crate::format::count;
use crate::sampling::order::Sharing;

/// Result of the analysis of an order.
#[derive(Clone, Debug)]
pub struct OrderAnalysis {
    /// Indices of the analyzed epoch, by batch.
    pub order: Arc<Order>,
    /// Number of indices.
    pub positions: usize,
    /// Number of occurrences of each index.
    pub coverage: Coverage,
    /// Quality of the shuffle.
    pub shuffle: Option<Shuffle>,
    /// Frequencies of the classes compared with the expected ones.
    pub balance: Option<Balance>,
    /// Classes of samples, as far as known.
    pub labels: Option<Arc<Labels>>,
    /// Split of the samples among ranks.
    pub ranks: Option<Ranks>,
    /// Orders of the first ranks, for the overlay.
    pub by_rank: Overlay,
    /// Latest epochs, for the overlay.
    pub epochs: Overlay,
    /// Rank of this order.
    pub rank: u32,
    /// Split of a stream among workers.
    pub sharing: Option<Sharing>,
    /// Position of the first repeated index.
    pub first_repeat: Option<usize>,
    /// Findings about the order.
    pub findings: Vec<Finding>,
    /// True if the order is from an unseeded generator, so it differs in each run.
    pub is_unseeded: bool,
    /// For a predicted order: true if the engine's predictions match the recorded epochs. `None` if there are none to compare.
    pub agrees: Option<bool>,
}

impl OrderAnalysis {
    /// Returns a summary in one sentence.
    pub fn headline(&self) -> String {
        let c = &self.coverage;
        if self.positions == 0 {
            return say!("Samples without indices").to_owned();
        }
        if c.missed() == 0 && c.more_than_once() == 0 {
            return match c.bound {
                1 => say!("The only index comes once").to_owned(),
                n => say!("Each of the {} indices comes exactly once", count(n)),
            };
        }
        let bound = count(c.bound);
        let rank = match &self.ranks {
            Some(ranks) => say!("Rank {} of {}: ", self.rank, ranks.shares.len()),
            None => String::new(),
        };
        let came = say!("{rank}{} of {bound} indices come", count(c.distinct));
        let never = match c.missed() {
            0 => say!("All {bound} indices come"),
            _ => came,
        };
        match c.more_than_once() {
            0 => say!("{never}, each once"),
            n => say!("{never}, {} more than once", count(n)),
        }
    }
}

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
