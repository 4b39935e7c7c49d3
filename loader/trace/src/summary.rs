//! Summarizes a run, or several simultaneous runs.

use serde::Serialize;

use crate::fleet::extent;
use crate::{Level, Nanos, Run};

/// Summary of a run, which `loadscope run --json` and `loadscope info --json` print.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Started epochs.
    pub epochs: u64,
    /// Batches that the trainer received.
    pub batches: u64,
    /// Samples in these batches.
    pub samples: u64,
    /// Time in the loader's loop, s: in `iter`, waits and training steps, but not between epochs. For several runs, the time from the first
    /// epoch to the last event.
    pub seconds: f64,
    /// `samples / seconds`.
    pub samples_per_second: f64,
    /// Time that the trainer waited for batches, s.
    pub waited_seconds: f64,
    /// Batches that were held in the reorder buffer, because they arrived before an earlier batch.
    pub held: u64,
    /// Batches whose error was raised in the trainer.
    pub failed: u64,
    /// Batches that never reached the trainer.
    pub discarded: u64,
    /// Messages that are errors.
    pub errors: u64,
    /// Messages that are warnings.
    pub warnings: u64,
    /// Applied events.
    pub events: u64,
    /// Events that the recorder dropped.
    pub dropped: u64,
}

impl Summary {
    /// Summarizes `run`, including the data that is reduced to sums.
    pub fn of(run: &Run) -> Self {
        let mut summary = Self::of_events(run);
        let Some(past) = run.past() else {
            return summary;
        };
        let (total, carried) = (past.total(), past.carried);
        summary.events = summary.events.saturating_sub(carried.0);
        summary.epochs = summary.epochs.saturating_sub(carried.1);
        let counts = [
            (&mut summary.epochs, total.epochs),
            (&mut summary.batches, total.batches),
            (&mut summary.samples, total.samples),
            (&mut summary.held, total.held),
            (&mut summary.failed, total.failed),
            (&mut summary.discarded, total.discarded),
            (&mut summary.errors, total.errors),
            (&mut summary.warnings, total.warnings),
            (&mut summary.events, total.events),
            (&mut summary.dropped, total.dropped),
        ];
        for (count, more) in counts {
            *count = count.saturating_add(more);
        }
        // Sums in a foreign file can have any value.
        let waited = run.waited() + total.waited();
        summary.waited_seconds = waited.max(Nanos::ZERO).as_secs_f64();
        let in_loop = run.in_loop() + total.in_loop();
        summary.seconds = in_loop.max(Nanos::ZERO).as_secs_f64();
        summary.samples_per_second = rate(summary.samples, summary.seconds);
        summary
    }

    /// Summarizes the complete part of a run.
    fn of_events(run: &Run) -> Self {
        let count =
            |pick: fn(&crate::Batch) -> bool| run.batches.iter().filter(|b| pick(b)).count();
        let samples = run
            .batches
            .iter()
            .filter(|b| b.was_yielded)
            .map(|b| u64::from(b.samples()))
            .sum::<u64>();
        let seconds = run.in_loop().as_secs_f64();
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
            samples_per_second: rate(samples, seconds),
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

    /// Summarizes several simultaneous runs. Counts saturate, because a foreign file can contain any value.
    pub fn combined<'a>(runs: impl IntoIterator<Item = &'a Run> + Clone) -> Self {
        let mut sum = Self::of(&Run::default());
        for run in runs.clone() {
            let s = Self::of(run);
            let counts = [
                (&mut sum.epochs, s.epochs),
                (&mut sum.batches, s.batches),
                (&mut sum.samples, s.samples),
                (&mut sum.held, s.held),
                (&mut sum.failed, s.failed),
                (&mut sum.discarded, s.discarded),
                (&mut sum.errors, s.errors),
                (&mut sum.warnings, s.warnings),
                (&mut sum.events, s.events),
                (&mut sum.dropped, s.dropped),
            ];
            for (count, more) in counts {
                *count = count.saturating_add(more);
            }
            sum.waited_seconds += s.waited_seconds;
        }
        let pasts = runs.clone().into_iter().filter_map(Run::past);
        let before = pasts.map(|past| past.total().from).min();
        let (start, end) = extent(runs).unwrap_or_default();
        let start = before.map_or(start, |before| before.min(start));
        sum.seconds = (end - start).as_secs_f64();
        if sum.seconds > 0.0 {
            sum.samples_per_second = sum.samples as f64 / sum.seconds;
        }
        sum
    }
}

fn rate(samples: u64, seconds: f64) -> f64 {
    match seconds > 0.0 {
        true => samples as f64 / seconds,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, EventKind, Fleet, RunId};

    #[test]
    fn overflowing_counts_saturate() {
        let mut fleet = Fleet::default();
        for run in [RunId(0), RunId(1)] {
            for count in [u64::MAX, 7] {
                let kind = EventKind::Dropped { count };
                let at = Nanos(1);
                fleet.apply(&Event { at, run, kind });
            }
        }
        let runs: Vec<&Run> = fleet.runs().map(|(_, run)| run).collect();
        let sum = Summary::combined(runs);
        assert_eq!((sum.dropped, sum.events), (u64::MAX, 4));
    }
}
