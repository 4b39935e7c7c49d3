//! Time of each batch in each stage, updated as events arrive.

use loadscope_insight::platform::Budget;
use loadscope_trace::{Nanos, Run};

use super::columns::{Column, TIMES, Times};
use super::unit::Unit;

/// Durations of all batches in all stages.
#[derive(Debug, Default)]
pub struct Durations {
    rows: Vec<Times>,
    /// Rows of unfinished batches.
    open: Vec<u32>,
    version: u64,
    transitions: usize,
    /// Start time of the run, which identifies it.
    started: i64,
    /// Per column, the time from which a batch is among the slowest, ns.
    slow: [i64; TIMES],
    units: [Unit; TIMES],
    /// Number of rows from which `slow` and `units` were computed.
    threshold_rows: usize,
}

/// Maximum number of rows from which the typical durations are computed.
const MAX_SAMPLED: usize = 4_096;
/// Number of rows computed between two checks of the time.
const CHUNK: usize = 256;

impl Durations {
    /// Processes new events until `budget` is spent. Returns true if all are processed.
    pub fn update(&mut self, run: &Run, budget: &Budget) -> bool {
        let started = run.info.started_unix_ns;
        let batches = run.batches();
        let transitions = run.transitions().len();
        if transitions < self.transitions
            || started != self.started
            || batches.len() < self.rows.len()
        {
            *self = Self::default();
            self.started = started;
        }
        let is_open = |row: usize| !batches[row].stage.is_final();
        self.transitions = transitions;
        if run.version() != self.version {
            self.version = run.version();
            for row in &self.open {
                self.rows[*row as usize] = Times::of(run, *row as usize);
            }
            self.open.retain(|row| is_open(*row as usize));
        }
        while self.rows.len() < batches.len() {
            let new = self.rows.len()..batches.len().min(self.rows.len() + CHUNK);
            self.open.extend(
                new.clone()
                    .filter(|row| is_open(*row))
                    .map(|row| row as u32),
            );
            self.rows.extend(new.map(|row| Times::of(run, row)));
            if budget.is_spent() {
                break;
            }
        }
        // The typical durations change slowly.
        if self.rows.len() < 1_000
            || self.rows.len() > self.threshold_rows + self.threshold_rows / 10
        {
            self.update_thresholds();
        }
        self.rows.len() == batches.len()
    }

    /// Returns the durations of the batch at `row`, even if it is not processed yet.
    pub fn row(&self, run: &Run, row: usize) -> Times {
        self.rows
            .get(row)
            .copied()
            .unwrap_or_else(|| Times::of(run, row))
    }

    /// Returns the time of the batch at `row` in a column. Returns `None` if it has none.
    pub fn of(&self, row: usize, column: Column) -> Option<Nanos> {
        self.rows.get(row)?.get(column)
    }

    /// Returns true if `time` is among the slowest of the column.
    pub fn is_slow(&self, column: Column, time: Nanos) -> bool {
        column.time().is_some_and(|k| time.0 >= self.slow[k])
    }

    /// Returns the unit that suits the times in the column. Other columns have none.
    pub fn unit(&self, column: Column) -> Option<Unit> {
        column.time().map(|k| self.units[k])
    }

    /// Computes which times are slow. A slow time is above the 98th percentile, at least twice the median and at least 0.1 ms.
    fn update_thresholds(&mut self) {
        self.threshold_rows = self.rows.len();
        let step = self.rows.len() / MAX_SAMPLED + 1;
        for column in Column::ALL.iter().copied() {
            let Some(k) = column.time() else { continue };
            let looked_at = self.rows.iter().step_by(step);
            let known = looked_at.filter_map(|times| times.get(column));
            let mut times: Vec<i64> = known.map(|time| time.0.saturating_abs()).collect();
            times.sort_unstable();
            let Some(longest) = times.last().copied() else {
                self.slow[k] = i64::MAX;
                continue;
            };
            let (middle, high) = (times[times.len() / 2], times[times.len() * 98 / 100]);
            self.slow[k] = high.max(middle.saturating_mul(2)).max(100_000);
            self.units[k] = match column {
                // Most batches are hardly awaited. The unit suits the long waits, which are what users read.
                Column::Waited => Unit::of(high).with_decimals(1),
                Column::Arrived => Unit::of(high),
                _ => Unit::of(if middle > 0 { middle } else { longest }),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId, Stage};

    use super::*;

    #[test]
    fn a_stage_duration_is_known_when_the_stage_ends() {
        let mut run = Run::default();
        let mut durations = Durations::default();
        let batch = BatchId::default();
        let mut at = |ms, kind| {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
            durations.update(&run, &Budget::none());
            (
                durations.of(0, Column::Queued),
                durations.of(0, Column::Fetch),
                durations.open.len(),
            )
        };
        let entered = |stage| EventKind::Entered { batch, stage };
        at(0, EventKind::EpochStarted { epoch: 0 });
        assert_eq!(
            at(1, EventKind::dispatched(batch, Some(0), [])),
            (None, None, 1)
        );
        let queued = Some(Nanos::from_millis(4));
        assert_eq!(at(5, entered(Stage::Fetching)), (queued, None, 1));
        let fetched = Some(Nanos::from_millis(3));
        assert_eq!(at(8, entered(Stage::Training)), (queued, fetched, 1));
        assert_eq!(at(9, entered(Stage::Done)), (queued, fetched, 0));
    }

    /// Batch 0 is finished 4 ms after the trainer asks for it. Batch 1 is ready 2 ms before the trainer asks.
    #[test]
    fn late_batches_have_negative_arrival_times() {
        let mut run = Run::default();
        let mut apply = |ms: i64, kind| {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
        };
        let id = |idx| BatchId { epoch: 0, idx };
        let entered = |idx, stage| EventKind::Entered {
            batch: id(idx),
            stage,
        };
        apply(0, EventKind::EpochStarted { epoch: 0 });
        for idx in 0..3 {
            apply(0, EventKind::dispatched(id(idx), Some(0), []));
        }
        apply(1, EventKind::Consumer { waiting: true });
        apply(5, entered(0, Stage::Returning));
        apply(6, entered(0, Stage::Training));
        apply(8, entered(1, Stage::Returning));
        apply(9, entered(0, Stage::Done));
        apply(10, EventKind::Consumer { waiting: true });
        apply(11, entered(1, Stage::Training));
        let mut durations = Durations::default();
        durations.update(&run, &Budget::none());
        use Column::{Arrived, Waited};
        let of = |row, column| durations.of(row, column).map(|t| t.0 / 1_000_000);
        assert_eq!([of(0, Waited), of(0, Arrived)], [Some(5), Some(-4)]);
        assert_eq!([of(1, Waited), of(1, Arrived)], [Some(1), Some(2)]);
        assert_eq!([of(2, Waited), of(2, Arrived)], [None, None]);
    }

    #[test]
    fn many_rows_are_processed_over_several_frames() {
        let mut run = Run::default();
        let mut apply = |at: i64, kind| {
            let (at, id) = (Nanos(at), RunId(0));
            run.apply(&Event { at, run: id, kind });
        };
        apply(0, EventKind::EpochStarted { epoch: 0 });
        for idx in 0..2_000 {
            let batch = BatchId { epoch: 0, idx };
            let at = i64::from(idx) * 10_000;
            apply(at, EventKind::dispatched(batch, Some(0), []));
            let stage = Stage::Fetching;
            apply(at + 1_000, EventKind::Entered { batch, stage });
            let stage = Stage::Discarded;
            apply(
                at + 4_000 + i64::from(idx),
                EventKind::Entered { batch, stage },
            );
        }
        let mut durations = Durations::default();
        let mut frames = 1;
        while !durations.update(&run, &Budget::none()) {
            frames += 1;
            // Rows that are not processed yet are still readable.
            assert_eq!(
                durations.row(&run, 1_999).get(Column::Queued),
                Some(Nanos(1_000))
            );
        }
        assert_eq!(frames, 2_000_usize.div_ceil(CHUNK));
        assert_eq!(durations.of(1_500, Column::Fetch), Some(Nanos(4_500)));
        assert_eq!(
            durations.unit(Column::Fetch).map(|unit| unit.symbol),
            Some("µs")
        );
    }
}
