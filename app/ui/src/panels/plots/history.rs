//! Data of the plots that a run does not provide itself. It is updated as events arrive, and each transition is processed once.

use std::collections::HashMap;

use loadscope_trace::{Nanos, Run, Stage};

use super::series::{NO_DISTANCE, Series, bin_of};

/// Maximum number of transitions processed at once, so that a recording of a million batches does not block a frame.
const MAX_PER_UPDATE: usize = 400_000;

/// Durations and arrival distances of all batches, in the order of their events.
#[derive(Debug, Default)]
pub struct History {
    /// Fetch time of each batch.
    pub fetch: Series,
    /// Time the trainer waited for each batch.
    pub wait: Series,
    /// Held time of each batch that was held.
    pub held: Series,
    /// Number of places by which each batch arrived too late. Negative if it was too early.
    pub distance: Series,
    /// Time of each yielded batch, and the total number of samples up to it.
    yields: Vec<(Nanos, u64)>,
    /// Time of the last transition and stage of each batch.
    last: Vec<(Nanos, Stage)>,
    /// Number of arrived batches per epoch.
    arrived: HashMap<u32, u32>,
    run: u64,
    transitions: usize,
    waits: usize,
}

impl History {
    /// Processes new events of run `number`. Returns true if some are left.
    pub fn update(&mut self, number: u64, run: &Run) -> bool {
        if run.transitions().len() < self.transitions
            || closed(run) < self.waits
            || number != self.run
        {
            *self = Self::default();
        }
        self.run = number;
        let new = run.transitions().range(self.transitions..);
        for t in new.iter().take(MAX_PER_UPDATE) {
            self.record(run, t.at, t.batch, t.stage);
        }
        self.transitions += new.len().min(MAX_PER_UPDATE);
        self.record_waits(run);
        self.transitions < run.transitions().len()
    }

    fn record(&mut self, run: &Run, at: Nanos, batch: u32, stage: Stage) {
        let row = batch as usize;
        if self.last.len() <= row {
            self.last.resize(row + 1, (at, Stage::Queued));
        }
        let (since, before) = std::mem::replace(&mut self.last[row], (at, stage));
        match before {
            Stage::Fetching => self.fetch.push(at, bin_of(at - since), batch),
            Stage::Held => self.held.push(at, bin_of(at - since), batch),
            _ => {}
        }
        if stage.has_arrived() && !before.has_arrived() && stage != Stage::Discarded {
            let id = run.batches()[row].id;
            let place = self.arrived.entry(id.epoch).or_default();
            let distance = i64::from(*place) - i64::from(id.idx);
            *place += 1;
            let most = NO_DISTANCE as i64;
            let bin = most + distance.clamp(-most, most - 1);
            self.distance.push(at, bin as usize, batch);
        }
        if stage == Stage::Training {
            let samples = match run.indices(row).len() {
                0 => run.samples(row).len(),
                n => n,
            };
            let before = self.yields.last().map_or(0, |(_, n)| *n);
            self.yields.push((at, before + samples as u64));
        }
    }

    /// Processes waits that have ended.
    fn record_waits(&mut self, run: &Run) {
        let over = |w: &&loadscope_trace::Wait| w.end != Nanos::MAX;
        for wait in run.waits().range(self.waits..).iter().take_while(over) {
            self.waits += 1;
            if let Some(batch) = wait.batch {
                self.wait
                    .push(wait.end, bin_of(wait.end - wait.start), batch);
            }
        }
    }

    /// Returns the number of batches yielded to the trainer in `start..end`.
    pub fn yielded(&self, start: Nanos, end: Nanos) -> usize {
        let until = |at| self.yields.partition_point(|(t, _)| *t < at);
        until(end).saturating_sub(until(start))
    }

    /// Returns the numbers of batches and samples yielded per second, in each of `buckets` equal parts of `start..end`.
    pub fn throughput(&self, start: Nanos, end: Nanos, buckets: usize) -> (Vec<f64>, Vec<f64>) {
        let length = (end - start).0.max(1) as f64 / buckets.max(1) as f64;
        let until = |k: usize| {
            let at = start + Nanos((length * k as f64).round() as i64);
            let place = self.yields.partition_point(|(t, _)| *t < at);
            let samples = place.checked_sub(1).map_or(0, |last| self.yields[last].1);
            (place as u64, samples)
        };
        let rate = |n: u64| n as f64 / length * 1e9;
        let mut before = until(0);
        (1..=buckets)
            .map(|k| {
                let after = until(k);
                let rates = (rate(after.0 - before.0), rate(after.1 - before.1));
                before = after;
                rates
            })
            .unzip()
    }
}

/// Returns the number of waits that have ended.
fn closed(run: &Run) -> usize {
    let waits = run.waits();
    let lasts = waits.last().is_some_and(|w| w.end == Nanos::MAX);
    waits.len() - usize::from(lasts)
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId, RunInfo};

    use super::*;

    #[test]
    fn each_batch_is_counted_in_its_histogram_bins() {
        let mut run = Run::new(RunInfo::default());
        let mut history = History::default();
        let batch = |idx| BatchId { epoch: 0, idx };
        let entered = |idx, stage| EventKind::Entered {
            batch: batch(idx),
            stage,
        };
        let events = [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(batch(0), Some(0), [1, 2, 3])),
            (0, EventKind::dispatched(batch(1), Some(1), [4])),
            (0, EventKind::Consumer { waiting: true }),
            (0, entered(0, Stage::Fetching)),
            (0, entered(1, Stage::Fetching)),
            (10, entered(1, Stage::Collating)),
            // Batch 1 is held for 90 ms until batch 0 arrives.
            (10, entered(1, Stage::Held)),
            (100, entered(0, Stage::Ready)),
            (100, entered(0, Stage::Training)),
            (100, entered(1, Stage::Ready)),
            (200, entered(1, Stage::Training)),
        ];
        for (ms, kind) in events {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
            // The update runs per event, as in a live run.
            assert!(!history.update(0, &run));
        }
        let whole = |series: &Series| series.counts(Nanos::ZERO, Nanos::MAX);
        let ms = |ms| bin_of(Nanos::from_millis(ms));
        assert_eq!(whole(&history.fetch)[ms(10)], 1);
        assert_eq!(whole(&history.fetch)[ms(100)], 1);
        assert_eq!(whole(&history.held)[ms(90)], 1);
        assert_eq!(whole(&history.wait)[ms(100)], 1);
        // Batch 1 arrived one place too early, batch 0 one place too late.
        assert_eq!(whole(&history.distance)[NO_DISTANCE - 1], 1);
        assert_eq!(whole(&history.distance)[NO_DISTANCE + 1], 1);
        let (batches, samples) = history.throughput(Nanos::ZERO, Nanos::from_millis(300), 3);
        let whole = |rates: &[f64]| rates.iter().map(|r| r.round() as u64).collect::<Vec<_>>();
        assert_eq!(whole(&batches), [0, 10, 10]);
        assert_eq!(whole(&samples), [0, 30, 10]);
        assert_eq!(history.yielded(Nanos::ZERO, Nanos::from_millis(200)), 1);
        let next = |row| {
            let (start, end) = (Nanos::ZERO, Nanos::MAX);
            history
                .fetch
                .next_in(0..super::super::series::BINS, start, end, row)
        };
        assert_eq!(
            (next(None), next(Some(1)), next(Some(0))),
            (Some(1), Some(0), Some(1))
        );
    }
}
