//! Everything that the Sampling workspace shows about one order.

use std::sync::Arc;

use super::balance::{Balance, Labels};
use super::coverage::Coverage;
use super::finding::Finding;
use super::order::Order;
use super::overlay::Overlay;
use super::ranks::Ranks;
use super::shuffle::Shuffle;
use super::streams::Sharing;
use crate::format::count;
use loadscope_words::say;

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
