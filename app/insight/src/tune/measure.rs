//! Times of the first batches of a loader.

use loadscope_trace::{Activity, Epoch, Lane, Nanos, Run, Stage};

use crate::report::compare::{Drawn, change_of};

/// Maximum number of pieces of consecutive batches for the bootstrap. A piece has at least one batch per worker.
const MAX_PIECES: usize = 2_000;

/// Returns the number of batches that the trainer received.
pub fn yielded(run: &Run) -> usize {
    let batches = run.batches().iter();
    batches.filter(|batch| batch.was_yielded).count()
}

/// Times of a loader's first batches: the time within epochs, from the first batch to the end of the last measured step.
/// The first batch of the run waits for the workers to start, so it is separate.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Number of measured batches.
    pub batches: usize,
    /// Time per batch, s.
    pub per_batch: f64,
    /// Waited part of that time, s.
    pub waited: f64,
    /// Time from the start of the first epoch to its first batch, s.
    pub first_batch: f64,
    /// Pieces of consecutive batches.
    pieces: Vec<Drawn>,
}

impl Measured {
    /// Measures the first `most` batches of `run`. Returns `None` if there are fewer than two.
    pub fn of(run: &Run, most: usize) -> Option<Self> {
        let mut all = Vec::new();
        for epoch in run.epochs() {
            if all.len() >= most {
                break;
            }
            let left = most - all.len();
            all.extend(of_epoch(run, epoch, left));
        }
        let batches = all.len();
        let first = run.epochs().first()?;
        let (first_at, first_tail) = all.first().map(|one| (one.at, one.tail))?;
        let mut items: Vec<Drawn> = all.iter().map(|one| one.drawn).collect();
        // The wait for the first batch is excluded. Its later time is included.
        items[0] = Drawn {
            cycle: first_tail,
            waited: 0.0,
            ..items[0]
        };
        let count = batches.checked_sub(1).filter(|n| *n > 0)? as f64;
        let sum = |value: fn(&Drawn) -> f64| items.iter().map(value).sum::<f64>() * 1e-9;
        let piece = batches
            .div_ceil(MAX_PIECES)
            .max(run.info.options.num_workers.max(1));
        let pieces = items.chunks(piece).map(|chunk| {
            let mut sum = Drawn::default();
            chunk.iter().for_each(|d| sum.add(d));
            sum
        });
        Some(Self {
            batches,
            per_batch: sum(|d| d.cycle) / count,
            waited: sum(|d| d.waited) / count,
            first_batch: (first_at - first.start).as_secs_f64(),
            pieces: pieces.collect(),
        })
    }

    /// Returns the relative change of the time per batch compared with all of `before`, with its 95 % confidence interval.
    pub fn change_from(&self, before: &[&Self]) -> Option<(f64, Option<(f64, f64)>)> {
        let before: Vec<Vec<Drawn>> = before.iter().map(|m| m.pieces.clone()).collect();
        let mine = [self.pieces.clone()];
        change_of(&before, &mine, |d| d.cycle / d.batches)
    }
}

/// A yielded batch, with the wait before it.
struct Yielded {
    at: Nanos,
    drawn: Drawn,
    /// Time after the batch if it is the last measured one of its epoch, ns.
    tail: f64,
}

/// Returns the first `most` batches of an epoch in yield order.
fn of_epoch(run: &Run, epoch: &Epoch, most: usize) -> Vec<Yielded> {
    let at = |row: &u32| Some((run.entered(*row as usize, Stage::Training)?, *row as usize));
    let mut rows: Vec<(Nanos, usize)> = epoch.rows.iter().filter_map(at).collect();
    rows.sort_unstable();
    let is_whole = rows.len() <= most;
    rows.truncate(most);
    let mut before = epoch.start;
    let waited = |start, end| {
        let spent = run.spent(Lane::Trainer, start, end);
        spent.time_in(Activity::Waiting).0 as f64
    };
    let mut out: Vec<Yielded> = Vec::with_capacity(rows.len());
    for &(at, row) in &rows {
        let start = std::mem::replace(&mut before, at);
        out.push(Yielded {
            at,
            drawn: Drawn {
                cycle: (at - start).0 as f64,
                waited: waited(start, at),
                samples: f64::from(run.batches()[row].samples()),
                batches: 1.0,
                ..Drawn::default()
            },
            tail: 0.0,
        });
    }
    if let (Some(last), Some(&(at, row))) = (out.last_mut(), rows.last()) {
        let end = match is_whole {
            true => epoch.end.unwrap_or(run.end()),
            false => end_of_step(run, row).unwrap_or(at),
        };
        last.tail = (end - at).0.max(0) as f64;
        last.drawn.cycle += last.tail;
        last.drawn.waited += waited(at, end.max(at));
    }
    out
}

/// Returns the end of the training step on a batch.
fn end_of_step(run: &Run, row: usize) -> Option<Nanos> {
    let path = run.path(row);
    let step = path.iter().rev().find(|s| s.stage == Stage::Training)?;
    step.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated;
    use loadscope_trace::RunOptions;

    fn options(workers: usize) -> RunOptions {
        RunOptions {
            dataset: "synthetic:len=400,cost_ms=10".to_owned(),
            batch_size: Some(10),
            num_workers: workers,
            step_ms: 20.0,
            epochs: 2,
            ..RunOptions::default()
        }
    }

    #[test]
    fn time_per_batch_is_the_sum_of_step_and_wait() {
        let run = simulated(&options(0));
        assert_eq!(yielded(&run), 80);
        // 10 samples of 10 ms and a step of 20 ms. The first batch is fetched before the measurement.
        let all = Measured::of(&run, usize::MAX).expect("batches");
        assert_eq!(all.batches, 80);
        assert!((all.first_batch - 0.1).abs() < 1e-3, "{}", all.first_batch);
        let expected = (80.0 * 0.02 + 79.0 * 0.1) / 79.0;
        assert!((all.per_batch - expected).abs() < 1e-3, "{}", all.per_batch);
        // A partial epoch ends with the step on its last batch.
        let some = Measured::of(&run, 30).expect("batches");
        assert_eq!(some.batches, 30);
        let expected = (30.0 * 0.02 + 29.0 * 0.1) / 29.0;
        assert!(
            (some.per_batch - expected).abs() < 1e-3,
            "{}",
            some.per_batch
        );
        assert!(Measured::of(&run, 1).is_none());
    }

    #[test]
    fn a_change_is_detected_and_equal_runs_have_none() {
        let slow = Measured::of(&simulated(&options(1)), 80).expect("batches");
        let fast = Measured::of(&simulated(&options(4)), 80).expect("batches");
        let (change, ends) = fast.change_from(&[&slow, &slow]).expect("both took time");
        let (low, high) = ends.expect("enough pieces");
        assert!(
            low <= change && change <= high && high < -0.5,
            "{low} {change} {high}"
        );
        let (change, ends) = slow.change_from(&[&slow]).expect("it took time");
        let (low, high) = ends.expect("enough pieces");
        assert!(change.abs() < 1e-12 && low <= 0.0 && high >= 0.0);
    }
}
