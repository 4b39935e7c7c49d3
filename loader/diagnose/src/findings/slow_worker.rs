//! Finding about one worker that is slower than the others in every batch.

use std::collections::BTreeMap;

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Survey};
use loadscope_trace::{Nanos, WorkerId};
use loadscope_words::{Text, say, text};

/// Minimum number of batches per worker.
const MIN_BATCHES: usize = 4;
/// Minimum ratio of the median batch time of the slow worker to that of any other worker.
const MIN_RATIO: i64 = 2;

/// Remedy: the parts of the program and of the host to check first.
const CHECK: Text = text!(
    "Check worker_init_fn, code that uses get_worker_info().id, and the disk and core of this worker"
);

/// Reports a worker that is slow in nearly every batch.
pub(super) fn slow(survey: &Survey) -> Option<Finding> {
    let (worker, own, others) = slowest(survey)?;
    // Share of the work time that another worker would have saved.
    let part = 1.0 - others.as_secs_f64() / own.as_secs_f64();
    let batches = survey.run.batches();
    let is_its = |row: Option<usize>| row.is_some_and(|row| batches[row].worker == Some(worker));
    let cost = survey.sum(|w| match w.kind {
        Kind::Usual | Kind::Slow if is_its(w.row) => Nanos((w.working.0 as f64 * part) as i64),
        _ => Nanos::ZERO,
    });
    let severity = survey.severity(cost)?;
    Some(Finding {
        id: FindingId::SlowWorker,
        text: say!(
            "Worker {worker} is slow in every batch: {}. It needs {own} per batch, the other workers {others}.",
            survey.format_cost(cost)
        ),
        severity,
        evidence: Evidence::Worker(worker),
        remedy: match survey.streams.is_some() || survey.run.indices(0).is_empty() {
            true => say!("Compare its shards with those of the other workers: their size, format and storage. Distribute the shards evenly.").to_owned(),
            false => match survey.run.info.origin.has_in_order() {
                true => say!("{CHECK}. in_order=False lets other workers pass."),
                false => CHECK.say().to_owned(),
            },
        },
        cost: Some(cost),
    })
}

/// Returns the slow worker, its median batch time, and the median of the medians of the other workers.
///
/// Returns `None` unless its median is at least twice that of every other worker, and about 90 % of its batches exceed those medians.
fn slowest(survey: &Survey) -> Option<(WorkerId, Nanos, Nanos)> {
    let mut all: BTreeMap<WorkerId, Vec<i64>> = BTreeMap::new();
    for (batch, work) in survey.run.batches().iter().zip(&survey.work) {
        if work.0 > 0
            && let Some(worker) = batch.worker
        {
            all.entry(worker).or_default().push(work.0);
        }
    }
    if all.len() < 2 || all.values().any(|works| works.len() < MIN_BATCHES) {
        return None;
    }
    let mut medians = Vec::new();
    for (worker, works) in &mut all {
        works.sort_unstable();
        medians.push((works[works.len() / 2], *worker));
    }
    medians.sort_unstable();
    let (own, worker) = medians.pop()?;
    let (next, _) = *medians.last()?;
    let others = medians[medians.len() / 2].0;
    // 10 % of its batches may be fast, for example from a cache.
    let works = &all[&worker];
    let is_always = works[works.len() / 10] > next;
    (is_always && own >= next.saturating_mul(MIN_RATIO)).then_some((
        worker,
        Nanos(own),
        Nanos(others),
    ))
}
