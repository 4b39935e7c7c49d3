//! How long every batch was in every stage, kept up to date as events come in.

use loadscope_trace::{Nanos, Run, Stage};

/// The stages that take time, with the names of their columns.
pub const TIMED: [(Stage, &str); 8] = [
    (Stage::Queued, "Queued"),
    (Stage::Fetching, "Fetch"),
    (Stage::Collating, "Collate"),
    (Stage::Returning, "Return"),
    (Stage::Pinning, "Pin"),
    (Stage::Held, "Held"),
    (Stage::Ready, "Ready"),
    (Stage::Training, "Train"),
];

/// Not in this stage (yet).
const NONE: i64 = -1;

/// How long every batch was in every stage.
#[derive(Debug, Default)]
pub struct Durations {
    rows: Vec<[i64; TIMED.len()]>,
    /// Rows before this one have come to their end and change no more.
    settled: usize,
    events: u64,
    /// When the run began, to tell one run from another.
    started: i64,
    /// From how long on a time is among the slowest.
    slow: [i64; TIMED.len()],
    /// How many rows `slow` was made for.
    judged: usize,
}

impl Durations {
    /// Takes in what has happened since the last time.
    pub fn update(&mut self, run: &Run) {
        let started = run.info.started_unix_ns;
        if run.events() < self.events
            || started != self.started
            || run.batches().len() < self.rows.len()
        {
            *self = Self::default();
        }
        if run.events() == self.events {
            return;
        }
        (self.events, self.started) = (run.events(), started);
        self.rows.truncate(self.settled);
        self.rows
            .extend((self.settled..run.batches().len()).map(|row| durations(run, row)));
        let ended = |row: &usize| run.batches()[*row].stage.is_final();
        self.settled += (self.settled..run.batches().len())
            .take_while(ended)
            .count();
        // What is slow changes slowly.
        if self.rows.len() < 1_000
            || self.rows.len() > self.judged + self.judged / 10
            || run.has_ended()
        {
            self.judge();
        }
    }

    /// How long the batch at `row` was in stage `k` of [`TIMED`]; `None` if it was not.
    pub fn of(&self, row: usize, k: usize) -> Option<Nanos> {
        let time = *self.rows.get(row)?.get(k)?;
        (time != NONE).then_some(Nanos(time))
    }

    /// True if `time` is among the slowest of stage `k`.
    pub fn is_slow(&self, k: usize, time: Nanos) -> bool {
        time.0 >= self.slow[k]
    }

    /// Slow is what takes longer than 98 of 100 and twice as long as the one in the middle, and at least 0.1 ms.
    fn judge(&mut self) {
        self.judged = self.rows.len();
        for k in 0..TIMED.len() {
            let mut times: Vec<i64> = self
                .rows
                .iter()
                .map(|r| r[k])
                .filter(|t| *t != NONE)
                .collect();
            if times.is_empty() {
                self.slow[k] = i64::MAX;
                continue;
            }
            times.sort_unstable();
            let (middle, high) = (times[times.len() / 2], times[times.len() * 98 / 100]);
            self.slow[k] = high.max(middle.saturating_mul(2)).max(100_000);
        }
    }
}

fn durations(run: &Run, row: usize) -> [i64; TIMED.len()] {
    let mut all = [NONE; TIMED.len()];
    for step in run.path(row) {
        let column = TIMED.iter().position(|(stage, _)| *stage == step.stage);
        if let (Some(column), Some(end)) = (column, step.end) {
            all[column] = all[column].max(0) + (end - step.start).0;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId};

    use super::*;

    #[test]
    fn times_add_up_and_settle() {
        let mut run = Run::default();
        let mut durations = Durations::default();
        let batch = BatchId::default();
        let mut at = |ms, kind| {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
            durations.update(&run);
            (durations.of(0, 0), durations.of(0, 1), durations.settled)
        };
        let entered = |stage| EventKind::Entered { batch, stage };
        at(0, EventKind::EpochStarted { epoch: 0 });
        assert_eq!(
            at(1, EventKind::dispatched(batch, Some(0), [])),
            (None, None, 0)
        );
        let queued = Some(Nanos::from_millis(4));
        assert_eq!(at(5, entered(Stage::Fetching)), (queued, None, 0));
        let fetched = Some(Nanos::from_millis(3));
        assert_eq!(at(8, entered(Stage::Training)), (queued, fetched, 0));
        assert_eq!(at(9, entered(Stage::Done)), (queued, fetched, 1));
    }
}
