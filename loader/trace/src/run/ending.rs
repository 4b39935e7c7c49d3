//! Ends of runs and epochs.

use super::{Epoch, Run};
use crate::{BatchId, Level, Message, Nanos, OnError, Stage};

impl Run {
    /// Returns the error that ended the run, and its time. An interrupt by the user is none.
    pub fn failure(&self) -> Option<(Nanos, &Message)> {
        self.abort().filter(|(_, error)| !error.is_interrupt())
    }

    /// Returns the error or the interrupt that ended the run, and its time: an error in the last epoch after which no batch was yielded.
    /// Errors that the program continues after do not count.
    pub fn abort(&self) -> Option<(Nanos, &Message)> {
        let epoch = self.epochs.last()?;
        if self.info.options.on_error != OnError::Stop {
            return None;
        }
        let last = self.yields.all().last().copied().unwrap_or(epoch.start);
        let since = last.max(epoch.start);
        let until = epoch.end.unwrap_or(Nanos::MAX);
        let is_it = |(at, message): &&(Nanos, Message)| {
            let is_error = message.level == Level::Error && !message.ends_epoch();
            is_error && (*at <= until || self.last_step() == message.about)
        };
        let earlier = self.messages.partition_point(|(at, _)| *at < since);
        let found = self.messages.range(earlier..).iter().find(is_it)?;
        Some((found.0, &found.1))
    }

    /// Returns the error in a training step that ended the run, its time, and the position of the batch.
    pub fn step_failure(&self) -> Option<(Nanos, &Message, usize)> {
        let (at, message) = self.failure()?;
        let row = self.row(message.about?)?;
        let is_of_step = self.batches[row].was_yielded
            && message.worker.is_none()
            && !message.is_about_dead_worker();
        is_of_step.then_some((at, message, row))
    }

    /// Returns the last yielded batch of the last epoch.
    fn last_step(&self) -> Option<BatchId> {
        let epoch = self.epochs.last()?;
        let yielded = self.batches_of(epoch).filter(|batch| batch.was_yielded);
        yielded.map(|batch| batch.id).max()
    }

    /// Returns the number of batches of an epoch that the trainer received.
    pub fn yielded_in(&self, epoch: &Epoch) -> usize {
        self.batches_of(epoch).filter(|b| b.was_yielded).count()
    }

    /// Returns true if the trainer received exactly one batch of an epoch.
    pub(super) fn yielded_one(&self, epoch: &Epoch) -> bool {
        let mut yielded = self.batches_of(epoch).filter(|b| b.was_yielded);
        yielded.next().is_some() && yielded.next().is_none()
    }

    /// Returns true if the epoch ended because the loader had no more batches.
    pub fn is_exhausted(&self, epoch: &Epoch) -> bool {
        let Some(end) = epoch.end else {
            return false;
        };
        let waits = self.waits.partition_point(|wait| wait.end < end);
        let asks = self.waits.get(waits).copied();
        let asked = asks.is_some_and(|wait| wait.batch.is_none() && wait.end == end);
        let is_over = |stage| matches!(stage, Stage::Done | Stage::Training);
        let mut batches = self.batches_of(epoch);
        asked && (!epoch.exhausted.is_empty() || batches.all(|batch| is_over(batch.stage)))
    }

    fn batches_of<'a>(&'a self, epoch: &'a Epoch) -> impl Iterator<Item = &'a crate::Batch> {
        let rows = epoch.rows.iter();
        rows.filter_map(|row| self.batches.get(*row as usize))
    }
}
