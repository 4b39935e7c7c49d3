//! An epoch of a run.

use crate::{Column, Nanos, WorkerId};

/// One pass over the dataset.
#[derive(Clone, Debug, Default)]
pub struct Epoch {
    /// Its number, from 0.
    pub epoch: u32,
    /// `iter(loader)`.
    pub start: Nanos,
    /// The end of the iterator; `None` while it lasts.
    pub end: Option<Nanos>,
    /// The first batch that is recorded: 0, or where a recording begins in the middle of the epoch a later one.
    pub first: u32,
    /// It began before the recording does.
    pub was_running: bool,
    /// Positions in [`Run::batches`](super::Run::batches) by task index, counted from `first`.
    pub rows: Column<u32>,
    /// Of the batches before the next one only those in flight are known.
    pub(crate) has_gap: bool,
    /// Workers whose stream ended, with the positions of the transitions with which the main process received that answer.
    pub(crate) exhausted: Column<(u32, WorkerId)>,
    /// Positions of the transitions with which tasks were given up that will get no answer.
    pub(crate) lost: Column<u32>,
}

impl Epoch {
    /// True if the transition at this position discarded a batch because its worker had nothing left for it, or had ended: the epoch
    /// was not stopped early by that.
    pub fn gave_up(&self, transition: usize) -> bool {
        let is_it = |at: u32| at as usize == transition;
        self.exhausted.iter().any(|(at, _)| is_it(*at)) || self.lost.iter().any(|at| is_it(*at))
    }
}
