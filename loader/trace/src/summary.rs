//! The facts about a run that fit on a few lines.

use serde::Serialize;

use crate::{Level, Nanos, Run};

/// The facts about a run that fit on a few lines: what `loadscope run --json` and `loadscope info --json` print.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Epochs begun.
    pub epochs: u64,
    /// Batches handed to the trainer.
    pub batches: u64,
    /// Samples in those batches.
    pub samples: u64,
    /// From the beginning of the first epoch to the end of the last, s.
    pub seconds: f64,
    /// `samples / seconds`.
    pub samples_per_second: f64,
    /// How long the trainer waited for batches, s.
    pub waited_seconds: f64,
    /// Batches that were held in the reorder buffer: they arrived before one that was due earlier.
    pub held: u64,
    /// Batches whose error was raised in the trainer.
    pub failed: u64,
    /// Batches that never reached the trainer.
    pub discarded: u64,
    /// Messages of level error.
    pub errors: u64,
    /// Messages of level warning.
    pub warnings: u64,
    /// Events taken in.
    pub events: u64,
    /// Events that the observer lost.
    pub dropped: u64,
}

impl Summary {
    /// Sums up `run` as far as it has gone.
    pub fn of(run: &Run) -> Self {
        let count =
            |pick: fn(&crate::Batch) -> bool| run.batches.iter().filter(|b| pick(b)).count();
        let samples = run
            .batches
            .iter()
            .filter(|b| b.was_yielded)
            .map(|b| u64::from(b.samples()))
            .sum::<u64>();
        let start = run.epochs.first().map_or(Nanos::ZERO, |e| e.start);
        let end = run
            .epochs
            .iter()
            .map(|e| e.end.unwrap_or(run.last))
            .max()
            .unwrap_or(Nanos::ZERO);
        let seconds = (end - start).as_secs_f64();
        let level = |level| {
            run.messages
                .iter()
                .filter(|(_, m)| m.level == level)
                .count() as u64
        };
        Self {
            epochs: run.epochs.len() as u64,
            batches: count(|b| b.was_yielded) as u64,
            samples,
            seconds,
            samples_per_second: if seconds > 0.0 {
                samples as f64 / seconds
            } else {
                0.0
            },
            waited_seconds: run.waited().as_secs_f64(),
            held: count(|b| b.was_held) as u64,
            failed: count(|b| b.stage == crate::Stage::Failed) as u64,
            discarded: count(|b| b.stage == crate::Stage::Discarded && !b.was_yielded) as u64,
            errors: level(Level::Error),
            warnings: level(Level::Warning),
            events: run.events,
            dropped: run.dropped,
        }
    }
}
