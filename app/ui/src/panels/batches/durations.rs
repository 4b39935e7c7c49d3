//! Time of each batch in each stage, updated as events arrive.

use loadscope_insight::waits::wait_for;
use loadscope_trace::{Nanos, Run, Stage};
use loadscope_words::{Text, text};

use loadscope_insight::format;
use loadscope_insight::platform::Budget;

/// Stages with a duration, and the names of their columns.
pub const TIMED: [(Stage, Text); 8] = [
    (Stage::Queued, text!("Queued")),
    (Stage::Fetching, text!("Fetch")),
    (Stage::Collating, text!("Collate")),
    (Stage::Returning, text!("Return")),
    (Stage::Pinning, text!("Pin")),
    (Stage::Held, text!("Held")),
    (Stage::Ready, text!("Ready")),
    (Stage::Training, text!("Train")),
];

/// Column of the time that the trainer waited for a batch.
pub const WAITED: usize = TIMED.len();
/// Column of the time between the end of work on a batch and the trainer's request. It is negative if the batch was late.
pub const ARRIVED: usize = TIMED.len() + 1;

/// Time columns with their names in a filter.
pub const NAMED: [(usize, &[&str]); ARRIVED] = [
    (0, &["queued", "queue"]),
    (1, &["fetch", "fetching"]),
    (2, &["collate", "collating"]),
    (3, &["return", "returning"]),
    (4, &["pin", "pinning"]),
    (5, &["held"]),
    (6, &["ready"]),
    (7, &["train", "training"]),
    (WAITED, &["waited", "wait", "trainer waited"]),
];

/// Value of a stage that the batch has not been in.
const NONE: i64 = i64::MIN;

/// Durations of a batch in each stage of [`TIMED`], then the time it was awaited and how early it arrived, ns.
pub type Row = [i64; ARRIVED + 1];

/// Durations of all batches in all stages.
#[derive(Debug, Default)]
pub struct Durations {
    rows: Vec<Row>,
    /// Rows of unfinished batches.
    open: Vec<u32>,
    version: u64,
    transitions: usize,
    /// Start time of the run, which identifies it.
    started: i64,
    /// Per column, the time from which a batch is among the slowest, ns.
    slow: Row,
    units: [Unit; ARRIVED + 1],
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
                self.rows[*row as usize] = durations(run, *row as usize);
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
            self.rows.extend(new.map(|row| durations(run, row)));
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
    pub fn row(&self, run: &Run, row: usize) -> Row {
        self.rows
            .get(row)
            .copied()
            .unwrap_or_else(|| durations(run, row))
    }

    /// Returns the duration of the batch at `row` in stage `k` of [`TIMED`], or the value of another time column. Returns `None` if it has
    /// none.
    pub fn of(&self, row: usize, k: usize) -> Option<Nanos> {
        time(self.rows.get(row)?, k)
    }

    /// Returns true if `time` is among the slowest of stage `k`.
    pub fn is_slow(&self, k: usize, time: Nanos) -> bool {
        time.0 >= self.slow[k]
    }

    /// Returns the unit that suits the times in stage `k`.
    pub fn unit(&self, k: usize) -> Unit {
        self.units[k]
    }

    /// Computes which times are slow. A slow time is above the 98th percentile, at least twice the median and at least 0.1 ms.
    fn update_thresholds(&mut self) {
        self.threshold_rows = self.rows.len();
        let step = self.rows.len() / MAX_SAMPLED + 1;
        for k in 0..=ARRIVED {
            let looked_at = self.rows.iter().step_by(step).map(|r| r[k]);
            let known = looked_at.filter(|t| *t != NONE);
            let mut times: Vec<i64> = known.map(i64::saturating_abs).collect();
            times.sort_unstable();
            let Some(longest) = times.last().copied() else {
                self.slow[k] = i64::MAX;
                continue;
            };
            let (middle, high) = (times[times.len() / 2], times[times.len() * 98 / 100]);
            self.slow[k] = high.max(middle.saturating_mul(2)).max(100_000);
            self.units[k] = match k {
                // Most batches are hardly awaited. The unit suits the long waits, which are what users read.
                WAITED => Unit::of(high).with_decimals(1),
                ARRIVED => Unit::of(high),
                _ => Unit::of(if middle > 0 { middle } else { longest }),
            };
        }
    }
}

/// Returns the time in stage `k`. Returns `None` if the batch was not in it.
pub fn time(row: &Row, k: usize) -> Option<Nanos> {
    (row[k] != NONE).then_some(Nanos(row[k]))
}

/// Unit of a time column, with its number of decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Symbol of the unit.
    pub symbol: &'static str,
    /// Length of the unit, ns.
    ns: i64,
    decimals: usize,
}

impl Default for Unit {
    fn default() -> Self {
        Self {
            symbol: "ms",
            ns: 1_000_000,
            decimals: 2,
        }
    }
}

impl Unit {
    /// Returns the unit that suits a typical time of `ns`.
    fn of(ns: i64) -> Self {
        const UNITS: [(&str, i64); 4] = [
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("µs", 1_000),
            ("ns", 1),
        ];
        let (symbol, size) = UNITS
            .into_iter()
            .find(|(_, size)| ns >= *size)
            .unwrap_or(UNITS[3]);
        let decimals = match ns / size {
            _ if size == 1 => 0,
            0..10 => 2,
            10..100 => 1,
            _ => 0,
        };
        Self {
            symbol,
            ns: size,
            decimals,
        }
    }

    /// Returns the unit with at least this number of decimals.
    fn with_decimals(self, least: usize) -> Self {
        let decimals = match self.ns {
            1 => 0,
            _ => self.decimals.max(least),
        };
        Self { decimals, ..self }
    }

    /// Formats a time in this unit, without the symbol.
    pub fn write(self, time: Nanos) -> String {
        let text = format!("{:.*}", self.decimals, time.0 as f64 / self.ns as f64);
        let (whole, decimals) = text.split_at(text.find('.').unwrap_or(text.len()));
        match whole.parse() {
            Ok(whole) => format::count(whole) + decimals,
            Err(_) => text,
        }
    }
}

fn durations(run: &Run, row: usize) -> Row {
    let mut all = [NONE; ARRIVED + 1];
    let path = run.path(row);
    for step in &path {
        let column = TIMED.iter().position(|(stage, _)| *stage == step.stage);
        if let (Some(column), Some(end)) = (column, step.end) {
            all[column] = all[column].max(0) + (end - step.start).0;
        }
    }
    let Some(wait) = wait_for(run, row) else {
        return all;
    };
    all[WAITED] = (wait.end - wait.start).0;
    // Time when the batch was last put into a queue. Without such a time, the end of the work on the batch.
    let put = path.iter().rev().find(|s| s.stage == Stage::Returning);
    let worked = path.iter().rev().find(|s| s.stage <= Stage::Collating);
    let finished = match (put, worked) {
        (Some(put), _) => Some(put.start),
        (None, Some(worked)) if run.measures(Stage::Fetching) => worked.end,
        (None, _) => None,
    };
    if let Some(finished) = finished {
        all[ARRIVED] = (wait.start - finished).0;
    }
    all
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId};

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
            (durations.of(0, 0), durations.of(0, 1), durations.open.len())
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
        let mut tell = |ms: i64, kind| {
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
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for idx in 0..3 {
            tell(0, EventKind::dispatched(id(idx), Some(0), []));
        }
        tell(1, EventKind::Consumer { waiting: true });
        tell(5, entered(0, Stage::Returning));
        tell(6, entered(0, Stage::Training));
        tell(8, entered(1, Stage::Returning));
        tell(9, entered(0, Stage::Done));
        tell(10, EventKind::Consumer { waiting: true });
        tell(11, entered(1, Stage::Training));
        let mut durations = Durations::default();
        durations.update(&run, &Budget::none());
        let of = |row, k| durations.of(row, k).map(|t| t.0 / 1_000_000);
        assert_eq!([of(0, WAITED), of(0, ARRIVED)], [Some(5), Some(-4)]);
        assert_eq!([of(1, WAITED), of(1, ARRIVED)], [Some(1), Some(2)]);
        assert_eq!([of(2, WAITED), of(2, ARRIVED)], [None, None]);
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
            assert_eq!(time(&durations.row(&run, 1_999), 0), Some(Nanos(1_000)));
        }
        assert_eq!(frames, 2_000_usize.div_ceil(CHUNK));
        assert_eq!(durations.of(1_500, 1), Some(Nanos(4_500)));
        assert_eq!(durations.unit(1).symbol, "µs");
    }

    #[test]
    fn units_fit_the_usual_duration() {
        let write = |usual, ns| (Unit::of(usual).symbol, Unit::of(usual).write(Nanos(ns)));
        assert_eq!(write(0, 7), ("ns", "7".to_owned()));
        assert_eq!(write(4_210, 812), ("µs", "0.81".to_owned()));
        assert_eq!(write(42_000_000, 600_000_000), ("ms", "600.0".to_owned()));
        assert_eq!(write(240_000_000, 1_250_000), ("ms", "1".to_owned()));
        assert_eq!(write(12_300, 40_250_000), ("µs", "40,250.0".to_owned()));
        assert_eq!(
            write(3_000_000_000, 3_456_000_000),
            ("s", "3.46".to_owned())
        );
    }
}
