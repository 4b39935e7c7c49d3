//! A few samples that take most of the waiting, by name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{BatchId, Nanos, count, list, plural};
use loadscope_words::say;

/// Samples that are named at most.
const NAMED: usize = 3;
/// Share of the waiting for slow samples that the named ones cost together.
const MOST: f64 = 0.7;

/// Dataset index, or without one, the batch and the position within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Index(u64),
    Place(usize, usize),
}

/// Measurements of a slow sample.
#[derive(Clone, Debug)]
struct Slow {
    name: Name,
    /// Cost of the wait for it.
    cost: Nanos,
    /// The longest that it took, and where.
    longest: Nanos,
    batch: BatchId,
    position: usize,
    epochs: BTreeSet<u32>,
    /// Each time it was in the first batch of the run.
    is_first: bool,
}

/// True if a slow sample is slow in several epochs: then it is the cause, whatever its batch holds up.
pub(super) fn recurs(survey: &Survey) -> bool {
    gather(survey).iter().any(|slow| slow.epochs.len() > 1)
}

/// True if the named samples are the cause despite many slightly slow ones: one alone, or each in several epochs.
pub(super) fn outweighs(survey: &Survey) -> bool {
    named(survey).is_some_and(|(named, _)| match named.as_slice() {
        [_] => true,
        several => several.iter().all(|slow| slow.epochs.len() > 1),
    })
}

/// One to three samples that cost most of the waiting for slow samples, and their cost.
fn named(survey: &Survey) -> Option<(Vec<Slow>, Nanos)> {
    let mut all = gather(survey);
    all.sort_by_key(|s| Reverse(s.cost));
    let whole = all.iter().fold(Nanos::ZERO, |sum, s| sum + s.cost);
    let mut cost = Nanos::ZERO;
    let enough = all.iter().position(|s| {
        cost += s.cost;
        cost.0 as f64 >= MOST * whole.0 as f64
    })?;
    all.truncate(enough + 1);
    // A sample that is late only at the beginning belongs to the finding about the first batch.
    let is_late = all.iter().all(|s| s.is_first);
    (all.len() <= NAMED && !is_late).then_some((all, cost))
}

/// One to three samples cost most of the waiting for slow samples.
pub(super) fn slow(survey: &Survey) -> Option<Finding> {
    let (named, cost) = named(survey)?;
    let severity = Severity::of_share(survey.share(cost))?;
    let worst = named.first()?;
    let index = match worst.name {
        Name::Index(index) => Some(index),
        Name::Place(..) => None,
    };
    let alone = named.len() == 1;
    let remedy = match alone {
        true => say!("Check that sample: its file may be large, damaged or on a slow disk"),
        false => say!("Check those samples: their files may be large, damaged or on a slow disk"),
    };
    Some(Finding {
        id: FindingId::SlowSample,
        text: sentence(survey, &named, cost),
        severity,
        evidence: Evidence::Sample(worst.batch, worst.position, index),
        remedy: remedy.to_owned(),
        cost: Some(cost),
    })
}

/// `Sample 13 (a/13.png) takes 0.80 s, 700 times the median, in each of 3 epochs: 2.40 s of waiting (77 % of the run)`
fn sentence(survey: &Survey, named: &[Slow], cost: Nanos) -> String {
    let names: Vec<String> = named.iter().map(|s| called(survey, s)).collect();
    let cost = survey.say_cost(cost);
    let longest = named.iter().map(|s| s.longest).max().unwrap_or_default();
    let took = survey.say(longest);
    let times = longest.0 / survey.samples.usual.0.max(1);
    let times = count(u64::try_from(times).unwrap_or(0));
    let epochs = named.iter().map(|s| s.epochs.len()).max().unwrap_or(0);
    let when = match epochs {
        0 | 1 => String::new(),
        n if n == survey.run.epochs().len() => say!(" in every epoch").to_owned(),
        n => say!(
            " in {}",
            plural(n as u64, say!(n: "epoch"), say!(n: "epochs"))
        ),
    };
    match names.as_slice() {
        [name] => say!("{name} takes {took}{when}, {times} times the median: {cost}"),
        _ => say!(
            "{} take up to {took}{when}, {times} times the median: {cost}",
            list(&names, NAMED)
        ),
    }
}

/// `Sample 13 (a/13.png)`
fn called(survey: &Survey, slow: &Slow) -> String {
    match slow.name {
        Name::Index(index) => match survey.run.file_of(index) {
            Some(file) => say!("Sample {} ({file})", count(index)),
            None => say!("Sample {}", count(index)),
        },
        Name::Place(..) => say!("Sample {} of {}", slow.position, slow.batch),
    }
}

/// The slow samples that the trainer waited for.
fn gather(survey: &Survey) -> Vec<Slow> {
    let run = survey.run;
    let mut all: BTreeMap<Name, Slow> = BTreeMap::new();
    for wait in &survey.waits {
        let Some(row) = wait.row else {
            continue;
        };
        // A wait for a batch that is slow because of it is its own as a whole.
        let cost = match wait.kind {
            Kind::Slow if wait.by_slow_sample => wait.took,
            _ => wait.in_slow_samples,
        };
        let slowest = run.samples(row);
        let slowest = slowest.max_by_key(|s| (s.wall, Reverse(s.position)));
        let Some(sample) = slowest.filter(|s| cost.0 > 0 && survey.is_slow_sample(s.wall)) else {
            continue;
        };
        let name = match sample.index {
            Some(index) => Name::Index(index),
            None => Name::Place(row, sample.position),
        };
        let batch = run.batches()[row].id;
        let is_first = wait.kind == Kind::First && batch.epoch == 0;
        let slow = all.entry(name).or_insert(Slow {
            name,
            cost: Nanos::ZERO,
            longest: Nanos::ZERO,
            batch,
            position: sample.position,
            epochs: BTreeSet::new(),
            is_first: true,
        });
        slow.cost += cost;
        slow.epochs.insert(batch.epoch);
        slow.is_first &= is_first;
        if sample.wall > slow.longest {
            slow.longest = sample.wall;
            (slow.batch, slow.position) = (batch, sample.position);
        }
    }
    all.into_values().collect()
}
