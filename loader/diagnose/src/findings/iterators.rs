//! A new iterator for each batch: `next(iter(loader))` in the training loop.

use std::cmp::Reverse;

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Epoch, Nanos, Run, Stage, count, percent};
use loadscope_words::say;

/// Finds a program that creates a new iterator for most batches.
pub(super) fn per_batch(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    if !run.iterates_per_batch() {
        return None;
    }
    let cost = survey.blame.waited + run.opening() + shutdown_time(run);
    let severity = survey.severity(cost).unwrap_or(Severity::Note);
    let (epochs, all) = (run.single_batch_epochs() as u64, run.epochs().len() as u64);
    let is_persistent = run.info.options.persistent_workers;
    let effect = match survey.workers {
        0 => say!("The sampler restarts each time").to_owned(),
        _ if is_persistent => say!("Prefetched batches are lost each time").to_owned(),
        1 => say!("1 worker restarts each time").to_owned(),
        n => say!("{n} workers restart each time"),
    };
    let share = percent(survey.share(cost));
    Some(Finding {
        id: FindingId::IteratorPerBatch,
        text: say!(
            "{} of {} iterators yielded only one batch: {} ({share} of the run) to start, wait and end. {effect}.",
            count(epochs),
            count(all),
            survey.format_time(cost)
        ),
        severity,
        evidence: longest_epoch(run),
        remedy: say!(
            "Iterate with `for batch in loader:`. In a loop over steps, create `it = iter(loader)` once and call `next(it)` per step."
        )
        .to_owned(),
        cost: None,
    })
}

/// Returns the total time from a yielded batch to the end of its iterator, over all iterators with one batch. An iterator ends its workers.
/// With `persistent_workers`, they continue, and the result is 0.
fn shutdown_time(run: &Run) -> Nanos {
    if run.info.options.persistent_workers {
        return Nanos::ZERO;
    }
    let pairs = run.epochs().pairs();
    let ends = pairs.filter_map(|pair| {
        // An iterator in a variable ends only after the start of the next one. Such ends do not count.
        let end = pair[0].end.filter(|end| *end <= pair[1].start)?;
        let batch = pair[0]
            .rows
            .iter()
            .find_map(|row| run.entered(*row as usize, Stage::Training))?;
        (run.yielded_in(pair[0]) == 1).then_some(end - batch)
    });
    ends.fold(Nanos::ZERO, |sum, time| sum + time)
}

/// Returns the time range of the longest epoch, or the whole run if it has no epoch.
fn longest_epoch(run: &Run) -> Evidence {
    let lasted = |epoch: &&Epoch| epoch.end.unwrap_or(epoch.start) - epoch.start;
    match run.epochs().iter().min_by_key(|e| Reverse(lasted(e))) {
        Some(epoch) => Evidence::Range(epoch.start, epoch.end.unwrap_or(run.end())),
        None => Evidence::Run,
    }
}
