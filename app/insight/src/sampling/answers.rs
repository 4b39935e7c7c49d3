//! Everything that can be said about an order.

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

/// Everything that can be said about an order.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The order.
    pub order: Arc<Order>,
    /// Indices in it.
    pub positions: usize,
    /// Which indices came, and how often.
    pub coverage: Coverage,
    /// How well it is shuffled.
    pub shuffle: Option<Shuffle>,
    /// Whether the classes came as they were asked for.
    pub balance: Option<Balance>,
    /// Classes of samples, as far as they are known.
    pub labels: Option<Arc<Labels>>,
    /// What the other ranks get.
    pub ranks: Option<Ranks>,
    /// The orders of the first ranks, to be laid over each other.
    pub by_rank: Overlay,
    /// The latest epochs, to be laid over each other.
    pub epochs: Overlay,
    /// Which of them this is.
    pub rank: u32,
    /// How workers share a stream.
    pub sharing: Option<Sharing>,
    /// Where an index comes for the second time.
    pub first_repeat: Option<usize>,
    /// What is worth saying.
    pub findings: Vec<Finding>,
    /// True if the order came from a generator without a seed, so that it would be another one each time.
    pub is_one_of_many: bool,
    /// For an order that is predicted: whether the engine also predicts the epochs that the run has had; `None` if there
    /// are none to compare with.
    pub agrees: Option<bool>,
}

impl Answers {
    /// The whole answer in one sentence.
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
