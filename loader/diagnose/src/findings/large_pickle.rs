//! Data that the main process pickles for each worker (`spawn`, `forkserver`).

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Fact, Nanos, Run, Sent, bytes, percent, plural};
use loadscope_words::say;

/// Capacity of a pipe on Linux, bytes: 64 KiB. The main process writes less without waiting for the worker.
const PIPE: u64 = 64 * 1024;
/// Minimum size for a note if sending takes little time, bytes: 100 MB.
const LARGE: u64 = 100_000_000;
/// Minimum share of the bytes for an attribute to be named.
const MIN_ATTRIBUTE_SHARE: f64 = 0.5;

/// Returns the data sent at each start of workers, and the time at which the last of these workers was running.
fn starts(run: &Run) -> impl Iterator<Item = (Nanos, &Sent)> {
    run.facts().iter().filter_map(|(at, fact)| match fact {
        Fact::Sent(sent) if sent.workers > 0 => Some((*at, sent)),
        _ => None,
    })
}

/// Returns the time that less data would save. Workers then import the program at the same time, so that is only counted once.
fn saving(sent: &Sent) -> Nanos {
    let rest = sent.took - sent.pickling;
    let parallel = rest.0.max(0) / i64::from(sent.workers);
    sent.took - Nanos(parallel)
}

/// Reports workers that start slowly because of the pickled data.
pub(super) fn large_pickle(survey: &Survey) -> Option<Finding> {
    let (_, most) = starts(survey.run).max_by_key(|(_, sent)| sent.bytes)?;
    if most.bytes <= PIPE {
        return None;
    }
    let sum = |time: fn(&Sent) -> Nanos| {
        starts(survey.run).fold(Nanos::ZERO, |sum, (_, sent)| sum + time(sent))
    };
    let cost = sum(saving).min(survey.blame.waited + survey.run.opening());
    let severity = survey
        .severity(cost)
        .or_else(|| (most.bytes >= LARGE).then_some(Severity::Note))?;
    let workers: i64 = starts(survey.run)
        .map(|(_, sent)| i64::from(sent.workers))
        .sum();
    let each = |time: Nanos| survey.format_time(Nanos(time.0 / workers.max(1)));
    let pickling = sum(|sent| sent.pickling);
    let took = sum(|sent| sent.took);
    let (at, first) = starts(survey.run).max_by_key(|(_, sent)| sent.took)?;
    Some(Finding {
        id: FindingId::LargePickle,
        text: format!("{}{}", say!(
            "Each of {} receives {} at its start ({}). This takes {}: {} to pickle the data, {} until the worker has imported the program and read the data. The workers start one at a time, which costs {}.",
            plural(u64::from(most.workers), say!(n: "worker"), say!(n: "workers")),
            bytes(most.bytes as f64),
            most.method.name(),
            each(took),
            each(pickling),
            each(took - pickling),
            survey.format_part(cost),
        ), largest_attribute(most).unwrap_or_default()),
        severity,
        evidence: Evidence::Range(at - first.took, at),
        remedy: say!(
            "Keep a path in the dataset, and open the data in the first __getitem__ of each worker, such as np.load(path, mmap_mode='r'). Tensors are sent as handles to shared memory. multiprocessing_context='fork' sends nothing, but is unsafe if the main process uses CUDA or threads."
        )
        .to_owned(),
        cost: Some(cost),
    })
}

/// Returns a sentence with the attribute that most of the bytes belong to. Returns `None` without one.
fn largest_attribute(sent: &Sent) -> Option<String> {
    let attribute = sent.attribute.as_ref()?;
    let share = (attribute.bytes as f64 / sent.bytes as f64).min(1.0);
    (share >= MIN_ATTRIBUTE_SHARE).then(|| {
        say!(
            " About {} of it is the attribute `{}` of the dataset.",
            percent(share),
            attribute.name
        )
    })
}

/// Returns true if [`large_pickle`] covers a late first batch: less data would save more than half of the time `took` from `start` to
/// `first`.
pub(super) fn explains(survey: &Survey, start: Nanos, first: Nanos, took: Nanos) -> bool {
    let mut starts = starts(survey.run).filter(|(at, _)| (start..=first).contains(at));
    starts.any(|(_, sent)| {
        let saving = saving(sent);
        let is_found = survey.severity(saving).is_some();
        sent.bytes > PIPE && is_found && saving.0 > took.0 / 2
    })
}
