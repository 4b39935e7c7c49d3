//! Times and samples of batches, grouped into blocks of consecutive batches for the bootstrap.

use loadscope_trace::{Nanos, Run};
use oorandom::Rand64;
use serde::Serialize;

/// Maximum number of blocks (pieces) of a run in the block bootstrap.
///
/// Times of consecutive batches are correlated. A piece therefore has at least as many batches as the run has workers.
const MAX_PIECES: usize = 2_000;
/// Times and samples of one batch, or sums of several batches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drawn {
    /// Wait for the batch plus its training step, ns.
    pub(crate) cycle: f64,
    /// Waited part of `cycle`, ns.
    pub(crate) waited: f64,
    /// Time of fetching and collating, ns.
    pub(crate) work: f64,
    pub(crate) samples: f64,
    pub(crate) batches: f64,
}

impl Drawn {
    pub(crate) fn add(&mut self, other: &Self) {
        self.cycle += other.cycle;
        self.waited += other.waited;
        self.work += other.work;
        self.samples += other.samples;
        self.batches += other.batches;
    }
}

/// Returns the number of batches per piece for this run.
pub(super) fn piece(run: &Run, epochs: usize) -> usize {
    let all: usize = run.epochs().iter().take(epochs).map(|e| e.rows.len()).sum();
    let at_least = run.info.options.num_workers.max(1);
    all.div_ceil(MAX_PIECES).max(at_least)
}

/// Returns true if both runs yield the same samples in the same batches and order.
pub(super) fn yield_the_same(a: &Run, b: &Run, epochs: usize) -> bool {
    let rows = |run: &Run| -> Vec<usize> {
        let epochs = run.epochs().iter().take(epochs);
        epochs
            .flat_map(|epoch| yielded(run, epoch))
            .map(|(_, row)| row)
            .collect()
    };
    let (of_a, of_b) = (rows(a), rows(b));
    let is_same = |(x, y): (&usize, &usize)| {
        let (x, y) = (a.indices(*x), b.indices(*y));
        !x.is_empty() && x == y
    };
    !of_a.is_empty() && of_a.len() == of_b.len() && of_a.iter().zip(&of_b).all(is_same)
}

/// Returns the yielded batches of an epoch as (time, row), sorted by time.
fn yielded(run: &Run, epoch: &loadscope_trace::Epoch) -> Vec<(Nanos, usize)> {
    let yielded_at = |row: &u32| {
        let row = *row as usize;
        let at = run.entered(row, loadscope_trace::Stage::Training)?;
        Some((at, row))
    };
    let mut out: Vec<(Nanos, usize)> = epoch.rows.iter().filter_map(yielded_at).collect();
    out.sort_unstable();
    out
}

/// Returns the batches of the first `epochs` epochs in yield order, by epoch, in chunks of `piece` batches.
pub(super) fn epochs_of(run: &Run, epochs: usize, piece: usize) -> Vec<Vec<Vec<Drawn>>> {
    let epochs = run.epochs().iter().take(epochs);
    epochs.map(|epoch| pieces(run, epoch, piece)).collect()
}

/// Returns the sum of the batches of each piece, by epoch.
pub(super) fn summed(epochs: &[Vec<Vec<Drawn>>]) -> Vec<Vec<Drawn>> {
    let sum = |piece: &Vec<Drawn>| {
        let mut sum = Drawn::default();
        piece.iter().for_each(|d| sum.add(d));
        sum
    };
    let epochs = epochs.iter();
    epochs
        .map(|pieces| pieces.iter().map(sum).collect())
        .collect()
}

fn pieces(run: &Run, epoch: &loadscope_trace::Epoch, piece: usize) -> Vec<Vec<Drawn>> {
    let out = yielded(run, epoch);
    let end = epoch.end.unwrap_or(run.end());
    let left = run.left_loop(epoch);
    let waited = |from, until| {
        let trainer = run.spent(loadscope_trace::Lane::Trainer, from, until);
        trainer.time_in(loadscope_trace::Activity::Waiting).0 as f64
    };
    let mut before = epoch.start;
    let mut batches: Vec<Drawn> = Vec::with_capacity(out.len());
    for (k, (at, row)) in out.iter().copied().enumerate() {
        let next = out.get(k + 1).map_or(left, |(next, _)| *next);
        let done = run.entered(row, loadscope_trace::Stage::Done);
        let done = done.unwrap_or(next.min(end)).max(at);
        let start = std::mem::replace(&mut before, done);
        let waited = waited(start, at);
        // The same parts as in `Run::in_loop`: the first batch also has the time of `iter`.
        let opening = match k {
            0 => run.opening_within(start, at).0 as f64,
            _ => 0.0,
        };
        let work = run.path(row).into_iter().filter_map(|step| {
            use loadscope_trace::Stage::{Collating, Fetching};
            let is_work = matches!(step.stage, Fetching | Collating);
            is_work.then(|| (step.end.unwrap_or(run.end()) - step.start).0 as f64)
        });
        batches.push(Drawn {
            cycle: opening + waited + run.trained_on(row, next).0 as f64,
            waited,
            work: work.sum(),
            samples: f64::from(run.batches()[row].samples()),
            batches: 1.0,
        });
    }
    // The last batch includes the wait for the end of the epoch.
    if let Some(last) = batches.last_mut() {
        let more = waited(before, end.max(before));
        last.cycle += more;
        last.waited += more;
    }
    batches.chunks(piece).map(<[Drawn]>::to_vec).collect()
}

/// Confidence level of all intervals.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Minimum number of pieces per run for a confidence interval.
pub(super) const MIN_PIECES: usize = 5;

/// Fixed seed of the bootstrap: the same recordings give the same intervals.
pub(super) const SEED: u128 = 0;

/// Returns a uniformly random element of `all`, which must not be empty.
pub(super) fn any_of<'a, T>(all: &'a [T], random: &mut Rand64) -> &'a T {
    &all[random.rand_range(0..all.len() as u64) as usize]
}

/// Significance of a difference at the 95 % confidence level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Significantly better: the confidence interval excludes zero.
    Improved,
    /// Significantly worse: the confidence interval excludes zero.
    Worse,
    /// Not significant, or too few batches for a confidence interval.
    Unclear,
}
