//! Finding about one to three samples that cause most of the waiting for slow samples.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Survey};
use crate::hot_code::{SlowLine, slow_line};
use loadscope_trace::{BatchId, Nanos, count, list, plural};
use loadscope_words::say;

/// Maximum number of samples in the finding.
const MAX_NAMED: usize = 3;
/// Minimum share of the waiting for slow samples that the named samples cause together.
const MIN_SHARE: f64 = 0.7;

/// Identity of a sample: its index in the dataset or, if unknown, its batch and its position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Index(u64),
    Position(usize, usize),
}

/// Measurements of a slow sample.
#[derive(Clone, Debug)]
struct SlowSample {
    name: Name,
    /// Waited time that the sample causes.
    cost: Nanos,
    /// Longest time to load the sample. `batch` and `position` are those of that load.
    longest: Nanos,
    batch: BatchId,
    position: usize,
    epochs: BTreeSet<u32>,
    /// True if it was slow only in the first batch of the run.
    is_first: bool,
}

/// Returns true if a sample is slow in several epochs. The sample is then the cause, even if its batch blocks finished batches.
pub(super) fn recurs(survey: &Survey) -> bool {
    slow_samples(survey)
        .iter()
        .any(|slow| slow.epochs.len() > 1)
}

/// Returns true if the named samples explain the waiting better than the many slow samples do.
///
/// This requires one named sample, or samples that are each slow in several epochs.
pub(super) fn outweighs(survey: &Survey) -> bool {
    named(survey).is_some_and(|(named, _)| match named.as_slice() {
        [_] => true,
        several => several.iter().all(|slow| slow.epochs.len() > 1),
    })
}

/// Returns the one to three samples that cause at least 70 % of the waiting for slow samples, and the waited time that they cause.
///
/// Returns `None` if more samples are needed, or if all of them were slow in the first batch of the run only.
fn named(survey: &Survey) -> Option<(Vec<SlowSample>, Nanos)> {
    let mut all = slow_samples(survey);
    all.sort_by_key(|s| Reverse(s.cost));
    let whole = all.iter().fold(Nanos::ZERO, |sum, s| sum + s.cost);
    let mut cost = Nanos::ZERO;
    let enough = all.iter().position(|s| {
        cost += s.cost;
        cost.0 as f64 >= MIN_SHARE * whole.0 as f64
    })?;
    all.truncate(enough + 1);
    // The finding about the first batch covers samples that are slow only in that batch.
    let is_start_only = all.iter().all(|s| s.is_first);
    (all.len() <= MAX_NAMED && !is_start_only).then_some((all, cost))
}

/// Reports one to three samples that cause most of the waiting for slow samples.
pub(super) fn slow(survey: &Survey) -> Option<Finding> {
    let (named, cost) = named(survey)?;
    let severity = survey.severity(cost)?;
    let worst = named.first()?;
    let index = match worst.name {
        Name::Index(index) => Some(index),
        Name::Position(..) => None,
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

/// Returns the text of the finding.
///
/// `Sample 13 (a/13.png) takes 0.80 s in every epoch, 700 times the median: 2.40 s of waiting (77 % of the run)`
fn sentence(survey: &Survey, named: &[SlowSample], cost: Nanos) -> String {
    let run = survey.run;
    let names: Vec<String> = named.iter().map(|s| name_of(survey, s)).collect();
    let cost = survey.format_cost(cost);
    let longest = named.iter().map(|s| s.longest).max().unwrap_or_default();
    let took = survey.format_time(longest);
    let times = longest.0 / survey.samples.usual.0.max(1);
    let times = count(u64::try_from(times).unwrap_or(0));
    let slowest = named.iter().max_by_key(|slow| slow.longest);
    let line = slowest.and_then(|slow| {
        let row = run.row(slow.batch)?;
        let sample = run.samples(row).nth(slow.position)?;
        let line = slow_line(run, row, sample.start..sample.start + sample.wall)?;
        Some(compared(survey, &line))
    });
    let took = took + &line.unwrap_or_default();
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
            list(&names, MAX_NAMED)
        ),
    }
}

/// Returns the time in the line, compared with the other samples: ` (540 ms in dataset.py:57, 4.10 ms in the average sample)`.
fn compared(survey: &Survey, line: &SlowLine<'_>) -> String {
    let (at, time) = (&line.text, survey.format_time(line.time));
    let others = i64::try_from(survey.samples.count.saturating_sub(1)).unwrap_or(i64::MAX);
    match line.time_of_others(survey.run) {
        None => say!(" ({time} in {at})"),
        Some(Nanos(0)) => say!(" ({time} in {at}, where no other sample was seen)"),
        Some(sum) => {
            let average = Nanos(sum.0 / others.max(1));
            say!(" ({time} in {at}, {average} in the average sample)")
        }
    }
}

/// Returns the name of a sample: `Sample 13 (a/13.png)`.
fn name_of(survey: &Survey, slow: &SlowSample) -> String {
    match slow.name {
        Name::Index(index) => match survey.run.file_of(index) {
            Some(file) => say!("Sample {} ({file})", count(index)),
            None => say!("Sample {}", count(index)),
        },
        Name::Position(..) => say!("Sample {} of {}", slow.position, slow.batch),
    }
}

/// Returns the slow samples that training waited for. Only the slowest sample of each awaited batch counts.
fn slow_samples(survey: &Survey) -> Vec<SlowSample> {
    let run = survey.run;
    let mut all: BTreeMap<Name, SlowSample> = BTreeMap::new();
    for wait in &survey.waits {
        let Some(row) = wait.row else {
            continue;
        };
        // If the sample makes the batch slow, the sample causes the whole wait.
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
            None => Name::Position(row, sample.position),
        };
        let batch = run.batches()[row].id;
        let is_first = wait.kind == Kind::First && batch.epoch == 0;
        let slow = all.entry(name).or_insert(SlowSample {
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
