//! Beginnings: of the run, and of each epoch.

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Severity, Survey};
use crate::{Cause, Epoch, Nanos, Origin, count, percent, plural};
use loadscope_words::say;

/// It takes so many times what a usual batch takes.
const MUCH_LONGER: i64 = 3;

/// How long an epoch took to yield its first batch, and when it did.
fn gap(survey: &Survey, epoch: &Epoch) -> Option<(Nanos, Nanos)> {
    if epoch.was_running {
        return None;
    }
    let yields = survey.run.yields();
    let first = *yields.all().get(yields.before(epoch.start))?;
    let is_its = epoch.end.is_none_or(|end| first <= end);
    is_its.then_some((first - epoch.start, first))
}

/// How many workers the main process started before the first batch of an epoch came, and how long that took. Only processes
/// are reported when all have been started.
fn started(survey: &Survey, epoch: &Epoch, first: Nanos) -> Option<(u64, Nanos)> {
    if !matches!(survey.run.info.origin, Origin::Pytorch(_)) {
        return None;
    }
    let workers = survey.run.workers().iter().map(|w| w.start);
    let starts = workers.filter(|at| (epoch.start..=first).contains(at));
    let last = starts.clone().max()?;
    Some((starts.count() as u64, last - epoch.start))
}

fn is_late(survey: &Survey, gap: Nanos) -> bool {
    // Where the cost of a batch is unknown, there is nothing to compare it with.
    survey.usual_work > Nanos::ZERO && gap.0 > survey.usual_work.0.saturating_mul(MUCH_LONGER)
}

/// The first batch of the run comes late: workers start, the dataset opens its files, memory is page-locked.
pub(super) fn slow_first_batch(survey: &Survey) -> Option<Finding> {
    let epoch = survey.run.epochs().first()?;
    let (took, first) = gap(survey, epoch).filter(|(took, _)| is_late(survey, *took))?;
    let cost = took - survey.usual_work;
    let severity = Severity::of_share(survey.share(cost))?;
    let wait = survey.waits.iter().find(|w| w.kind == Kind::First);
    let forked = started(survey, epoch, first).filter(|(_, time)| time.0 > took.0 / 2);
    let started = forked.map(|(workers, time)| {
        say!(
            ": the main process took {} to start {}",
            survey.say(time),
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
            say!(
                "Workers start one at a time. Use fewer workers, or num_workers=0 for short epochs."
            ),
        ),
        Some(Cause::Starting) => (
            say!(": its worker was starting"),
            say!(
                "Make workers start faster: shorten worker_init_fn, reduce imports (spawned workers repeat the program's), and use a smaller dataset object"
            ),
        ),
        Some(Cause::Pinning) => (
            say!(": pinning it was slow"),
            say!(
                "The first batch allocates page-locked memory. For short runs without a GPU, use pin_memory=False."
            ),
        ),
        Some(Cause::NotDispatched | Cause::Sampling) => (
            say!(": the sampler had not drawn its indices"),
            say!("Compute the order once before training, not in the sampler's __iter__"),
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
            "The first batch took {}, later batches {} ({} of the run){what}",
            survey.say(took),
            survey.usual_work,
            percent(survey.share(cost))
        ),
        severity,
        evidence: Evidence::Range(epoch.start, first),
        remedy: remedy.to_owned(),
        cost: Some(cost),
    })
}

/// A sample that took most of the wait for the first batch.
struct SlowSample {
    /// `: sample 3 took 1.20 s`
    text: String,
    /// Its worker had read none before it.
    is_first: bool,
}

fn slow_sample(survey: &Survey, row: usize, took: Nanos) -> Option<SlowSample> {
    let slowest = survey.run.samples(row).max_by_key(|s| s.wall)?;
    if slowest.wall.0 <= took.0 / 2 {
        return None;
    }
    let name = match slowest.index {
        Some(index) => say!("sample {}", count(index)),
        None => say!("its sample {}", slowest.position),
    };
    Some(SlowSample {
        text: say!(": {name} took {}", survey.say(slowest.wall)),
        is_first: slowest.position == 0,
    })
}

/// The first batch is most of the waiting although it takes no longer than others: the run is short.
pub(super) fn short_run(survey: &Survey) -> Option<Finding> {
    const MOST: f64 = 0.5;
    let epoch = survey.run.epochs().first()?;
    let (took, first) = gap(survey, epoch).filter(|(took, _)| !is_late(survey, *took))?;
    let share = survey.share(survey.blame.waited);
    let is_most = took.0 as f64 >= MOST * survey.blame.waited.0 as f64;
    if share < Severity::WARNING_SHARE || !is_most {
        return None;
    }
    Some(Finding {
        id: FindingId::ShortRun,
        text: say!(
            "Most of the wait ({}) was for the first batch, which cannot be prefetched. The run has only {}.",
            survey.say(took),
            plural(survey.yielded, say!(n: "batch"), say!(n: "batches"))
        ),
        severity: Severity::Note,
        evidence: Evidence::Range(epoch.start, first),
        remedy: say!("This matters less in longer runs").to_owned(),
        cost: None,
    })
}

/// Every epoch begins with a wait: workers end and start again, and the window is empty.
pub(super) fn refill(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let later = run.epochs().get(1..).unwrap_or_default();
    if later.is_empty() || survey.workers == 0 {
        return None;
    }
    let gaps: Vec<(Nanos, Nanos, Nanos)> = (later.iter())
        .filter_map(|e| gap(survey, e).map(|(took, first)| (took, e.start, first)))
        .collect();
    // The iterator ends its workers before it returns.
    let ending = survey.sum(|w| match w.kind {
        Kind::End => w.took,
        _ => Nanos::ZERO,
    });
    let cost = gaps.iter().fold(ending, |sum, (took, ..)| sum + *took);
    let severity = Severity::of_share(survey.share(cost))?;
    let (longest, start, first) = *gaps.iter().max_by_key(|(took, ..)| *took)?;
    let is_persistent = run.info.options.persistent_workers;
    let starting = survey.blame.of(Cause::Starting).unwrap_or_default();
    let anew = (starting + ending).0 >= cost.0 / 5 && !is_persistent;
    let remedy = if !is_late(survey, longest) && ending.0 < cost.0 / 2 {
        say!(
            "Use fewer, longer epochs, with a sampler that repeats the dataset: prefetching restarts in every epoch"
        )
    } else if is_persistent {
        say!(
            "Workers persist, so the sampler or the dataset's __iter__ takes the time: do its setup only once"
        )
    } else {
        say!("persistent_workers=True keeps workers and their open files between epochs")
    };
    let what = match anew {
        true => say!(", while workers restarted"),
        false => "",
    };
    Some(Finding {
        id: FindingId::EpochRefill,
        text: say!(
            "{} of {} epochs began with a gap of {}{} before the first batch{what}: {}",
            count(gaps.len() as u64),
            count(run.epochs().len() as u64),
            if gaps.len() > 1 { say!("up to ") } else { "" },
            survey.say(longest),
            survey.say_cost(cost)
        ),
        severity,
        evidence: Evidence::Range(start, first),
        remedy: remedy.to_owned(),
        cost: Some(cost),
    })
}
