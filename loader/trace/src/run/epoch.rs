use crate::{Column, Nanos, WorkerId};

/// One iteration over the loader.
#[derive(Clone, Debug, Default)]
pub struct Epoch {
    /// Number, from 0.
    pub epoch: u32,
    /// Time of `iter(loader)`.
    pub start: Nanos,
    /// End of the iterator. `None` while it is in use.
    pub end: Option<Nanos>,
    /// First recorded batch. Above 0 if the recording begins in the middle of the epoch.
    pub first: u32,
    /// True if the epoch began before the recording.
    pub was_running: bool,
    /// Positions in [`Run::batches`](super::Run::batches) by task index, counted from `first`.
    pub rows: Column<u32>,
    /// True if only some batches before the next one are recorded: those in flight.
    pub(crate) has_gap: bool,
    /// Workers whose stream ended, and the transition at which the main process received that answer.
    pub(crate) exhausted: Column<(u32, WorkerId)>,
    /// Positions of the transitions that gave up tasks without an answer.
    pub(crate) lost: Column<u32>,
}

impl Epoch {
    /// Returns the number of the next batch.
    pub(crate) fn next(&self) -> u32 {
        self.first.saturating_add(self.rows.len() as u32)
    }

    /// Returns true if this transition discarded a batch because the stream of its worker or the worker itself had ended. Such a discard
    /// does not mean that the epoch was stopped early.
    pub fn is_unanswered_discard(&self, transition: usize) -> bool {
        let is_it = |at: u32| at as usize == transition;
        self.exhausted.iter().any(|(at, _)| is_it(*at)) || self.lost.iter().any(|at| is_it(*at))
    }
}
