//! Findings about slow starts of the run and of epochs.

use std::cmp::Reverse;

use super::survey::Kind;
use super::unrecorded::has_unrecorded_worker;
use super::{Evidence, Finding, FindingId, Severity, Survey, large_pickle};
use crate::Cause;
use loadscope_trace::{Epoch, Nanos, Origin, count, plural};
use loadscope_words::{Text, say, text};

/// Remedy for workers that restart in every epoch.
const KEEP_WORKERS: Text =
    text!("Use persistent_workers=True to keep workers and their open files between epochs");
/// Remedy for workers that start sequentially.
pub(super) const FEWER_WORKERS: Text = text!("Use fewer workers, because they start one at a time");
/// Remedy for workers that start sequentially, if fewer workers are not faster.
pub(super) const EARLIER_START: Text = text!(
    "Start the workers before the program uses much memory, because each start takes longer in a large process"
);
/// Remedy for an empty prefetch window at the start of every epoch.
pub(super) const LONGER_EPOCHS: Text = text!(
    "Use fewer, longer epochs, with a sampler that repeats the dataset: prefetching restarts in every epoch"
);

/// Minimum ratio of a late first batch to the median work time per batch.
const LATE_RATIO: i64 = 3;

/// Returns the time from the start of an epoch to its first yield, and the instant of that yield.
///
/// Returns `None` if the epoch started before the recording, or yielded no batch.
fn first_delay(survey: &Survey, epoch: &Epoch) -> Option<(Nanos, Nanos)> {
    if epoch.was_running {
        return None;
    }
    let yields = survey.run.yields();
    let first = *yields.all().get(yields.before(epoch.start))?;
    let is_its = epoch.end.is_none_or(|end| first <= end);
    is_its.then_some((first - epoch.start, first))
}

/// Returns the number of workers that started before the first batch of an epoch, and the time until the last of these starts.
///
/// Returns `None` without such a worker, and for sources other than PyTorch.
fn worker_starts(survey: &Survey, epoch: &Epoch, first: Nanos) -> Option<(u64, Nanos)> {
    if !matches!(survey.run.info.origin, Origin::Pytorch(_)) {
        return None;
    }
    let workers = survey.run.workers().iter().map(|w| w.start);
    let starts = workers.filter(|at| (epoch.start..=first).contains(at));
    let last = starts.clone().max()?;
    Some((starts.count() as u64, last - epoch.start))
}

/// Returns the maximum cost of slow starts: all waits and the time in `iter`.
///
/// A program may do other work between `iter` and the first `next`, which is not a cost.
fn max_cost(survey: &Survey) -> Nanos {
    survey.blame.waited + survey.run.opening()
}

/// Returns true if a first batch took much longer than the median batch: more than [`LATE_RATIO`] times its work time.
fn is_late(survey: &Survey, gap: Nanos) -> bool {
    // Without a known work time per batch, no batch is late.
    survey.usual_work > Nanos::ZERO && gap.0 > survey.usual_work.0.saturating_mul(LATE_RATIO)
}

/// Reports a late first batch of the run, unless [`large_pickle`] explains it. Typical causes are worker starts, one-time setup of the
/// dataset, and page-locked memory.
pub(super) fn slow_first_batch(survey: &Survey) -> Option<Finding> {
    let epoch = survey.run.epochs().first()?;
    let (took, first) = first_delay(survey, epoch).filter(|(took, _)| is_late(survey, *took))?;
    let cost = (took - survey.usual_work).min(max_cost(survey));
    let severity = survey.severity(cost)?;
    if large_pickle::explains(survey, epoch.start, first, took) {
        return None;
    }
    let wait = survey.waits.iter().find(|w| w.kind == Kind::First);
    let forked = worker_starts(survey, epoch, first).filter(|(_, time)| time.0 > took.0 / 2);
    let started = forked.map(|(workers, time)| {
        say!(
            ", because the main process took {} to start {}",
            survey.format_time(time),
            plural(workers, say!(n: "worker"), say!(n: "workers"))
        )
    });
    let slow = wait.and_then(|w| slow_sample(survey, w.row?, took));
    let (what, remedy) = match wait.map(|w| w.main) {
        Some(Cause::Fetching) if slow.is_some() => (
            slow.as_ref().map_or("", |slow| &slow.text),
            match slow.as_ref().is_some_and(|slow| slow.is_first) {
                true => {
                    say!(
                        "Check that sample: its file may be large, damaged or on a slow disk. If __getitem__ does one-time setup, move it to worker_init_fn."
                    )
                }
                false => {
                    say!("Check that sample: its file may be large, damaged or on a slow disk")
                }
            },
        ),
        _ if started.is_some() => (
            started.as_deref().unwrap_or_default(),
            match survey.run.epochs().len() > 1 && !survey.run.info.options.persistent_workers {
                true => KEEP_WORKERS.say(),
                false => FEWER_WORKERS.say(),
            },
        ),
        Some(Cause::Starting) => (
            say!(", because its worker was starting"),
            say!(
                "Make workers start faster: shorten worker_init_fn, import less (each spawned worker imports the program again), and use a smaller dataset object"
            ),
        ),
        Some(Cause::Pinning) => (
            say!(", because pinning it was slow"),
            say!(
                "For short runs, use pin_memory=False: the first batch allocates page-locked memory"
            ),
        ),
        Some(Cause::NotDispatched | Cause::Sampling) => (
            say!(", because the sampler had not drawn its indices"),
            say!("Compute the order once before training, not in the sampler's __iter__"),
        ),
        _ if survey.workers == 0 => (
            "",
            say!("Do one-time setup, such as imports and tables, before the training loop"),
        ),
        _ => (
            "",
            say!(
                "Open files and build tables in worker_init_fn, or before you create the loader. Keep the dataset object small: it is sent to every worker."
            ),
        ),
    };
    Some(Finding {
        id: FindingId::SlowFirstBatch,
        text: say!(
            "The first batch took {}{what}. This delay costs {}, because a later batch takes only {} to load.",
            survey.format_time(took),
            survey.format_part(cost),
            survey.usual_work
        ),
        severity,
        evidence: Evidence::Range(epoch.start, first),
        remedy: remedy.to_owned(),
        cost: Some(cost),
    })
}

/// Sample that took most of the time until the first batch.
struct SlowSample {
    /// Part of the finding's text: `, because sample 3 took 1.20 s`.
    text: String,
    /// True if it is the first sample that its worker loaded.
    is_first: bool,
}

/// Returns the slowest sample of the batch at `row` if it took more than half of `took`. Otherwise `None`.
fn slow_sample(survey: &Survey, row: usize, took: Nanos) -> Option<SlowSample> {
    let slowest = survey.run.samples(row).max_by_key(|s| s.wall)?;
    if slowest.wall.0 <= took.0 / 2 {
        return None;
    }
    let name = match slowest.index {
        Some(index) => say!("sample {}", count(index)),
        None => say!("the sample at position {}", slowest.position),
    };
    Some(SlowSample {
        text: say!(", because {name} took {}", survey.format_time(slowest.wall)),
        is_first: slowest.position == 0,
    })
}

/// Reports a short run: the first batch is not late, but causes at least half of the waiting.
pub(super) fn short_run(survey: &Survey) -> Option<Finding> {
    const MIN_SHARE: f64 = 0.5;
    let epoch = survey.run.epochs().first()?;
    let (took, first) = first_delay(survey, epoch).filter(|(took, _)| !is_late(survey, *took))?;
    let share = survey.share(survey.blame.waited);
    let is_most = took.0 as f64 >= MIN_SHARE * survey.blame.waited.0 as f64;
    if share < Severity::WARNING_SHARE || !is_most {
        return None;
    }
    Some(Finding {
        id: FindingId::ShortRun,
        text: say!(
            "Most of the wait ({}) was for the first batch, which cannot be prefetched. The run has only {}.",
            survey.format_time(took),
            plural(survey.yielded, say!(n: "batch"), say!(n: "batches"))
        ),
        severity: Severity::Note,
        evidence: Evidence::Range(epoch.start, first),
        remedy: say!("Record a longer run, in which the first batch matters less").to_owned(),
        cost: None,
    })
}

/// Reports waits between epochs: old workers end, new workers start, and the prefetch window is empty.
pub(super) fn refill(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let later = run.epochs().range(1..);
    if later.is_empty() || survey.workers == 0 || has_unrecorded_worker(survey) {
        return None;
    }
    let gaps: Vec<(Nanos, Nanos, Nanos)> = (later.iter())
        .filter_map(|e| first_delay(survey, e).map(|(took, first)| (took, e.start, first)))
        .collect();
    // An iterator ends its workers before its last `next` returns. The end of the last epoch does not count, because no batch follows.
    let last = later.last().map_or(Nanos::ZERO, |epoch| epoch.start);
    let waits = survey.waits.iter().zip(run.waits());
    let ending = waits.filter(|(w, at)| w.kind == Kind::End && at.start < last);
    let ending = ending.fold(Nanos::ZERO, |sum, (w, _)| sum + w.took);
    let beginning = gaps.iter().fold(Nanos::ZERO, |sum, (took, ..)| sum + *took);
    let beginning = beginning.min(max_cost(survey) - ending);
    let cost = ending + beginning;
    let severity = survey.severity(cost)?;
    let (longest, start, first) = *gaps.iter().min_by_key(|(took, ..)| Reverse(*took))?;
    let is_persistent = run.info.options.persistent_workers;
    let remedy = if !is_late(survey, longest) && ending.0 < cost.0 / 2 {
        LONGER_EPOCHS.say()
    } else if is_persistent {
        say!(
            "Move one-time setup out of __iter__ of the sampler and the dataset. The workers persist, so this setup causes the gap."
        )
    } else {
        KEEP_WORKERS.say()
    };
    let waited = survey.format_part(cost);
    let epochs = match gaps.len() {
        1 => say!("Between two epochs, training waited {waited}"),
        gaps => say!(
            "In {} gaps between epochs, training waited {waited}",
            count(gaps as u64)
        ),
    };
    let beginning = survey.format_time(beginning);
    Some(Finding {
        id: FindingId::EpochRefill,
        text: match ending.0 > 0 {
            true => say!(
                "{epochs}: {} until the old workers ended, {beginning} until the first batch",
                survey.format_time(ending)
            ),
            false => say!("{epochs} until the first batch"),
        },
        severity,
        evidence: Evidence::Range(start, first),
        remedy: remedy.to_owned(),
        cost: Some(cost),
    })
}
