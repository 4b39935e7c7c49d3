//! Head-of-line blocking: finished batches are held in the reorder buffer until a slow one arrives. Also the slow samples that cause it.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::survey::{Kind, SLOW_SAMPLE, Waited};
use super::{Evidence, Finding, FindingId, Survey};
use loadscope_trace::{Nanos, Run, RunOptions, Sample, count, percent, plural};
use loadscope_words::{Text, say, text};

/// Minimum share of a wait during which finished batches were in the reorder buffer.
const HELD_SHARE: f64 = 0.25;
/// Minimum number of slow samples per epoch for a heavy tail. One or two are single samples, and the same ones return in every epoch.
const MIN_SLOW: u64 = 3;
/// Minimum share of slow samples among all samples for a heavy tail. Below, they are single samples.
const RARE: f64 = 0.001;

/// Minimum share of slow loads among the other loads of slow samples. Below, the contents of the samples are not the reason.
const MIN_RECURRENCE: f64 = 0.25;

/// Remedy if other samples are slow in each epoch.
pub(super) const CHECK_HOST: Text = text!(
    "Check the host for other programs, and the disk or network that is read. Random transforms can also take long."
);

pub(super) const PREPARE: Text = text!("Preprocess or cache the slow samples");

/// Finds head-of-line blocking: a slow batch delays finished batches, because `in_order=True` yields batches in order.
pub(super) fn head_of_line(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    if survey.workers < 2 || !run.info.options.in_order {
        return None;
    }
    let is_blocked =
        |w: &&Waited| w.kind == Kind::Slow && w.held.0 as f64 >= HELD_SHARE * w.took.0 as f64;
    let blocked = || survey.waits.iter().filter(is_blocked);
    let cost = blocked().fold(Nanos::ZERO, |sum, w| sum + w.took);
    let severity = survey.severity(cost)?;
    let longest = blocked().min_by_key(|w| Reverse(w.took))?;
    let row = longest.row?;
    let waits = blocked().count() as u64;
    let batches = match waits {
        1 => run.batches()[row].id.to_string(),
        n => plural(n, say!(n: "slow batch"), say!(n: "slow batches")),
    };
    let verb = if waits == 1 {
        say!("costs")
    } else {
        say!("cost")
    };
    let mut text = say!("{batches} {verb} {}", survey.format_cost(cost));
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.replace_range(..first, &text[..first].to_uppercase());
    if let Some(sample) = slowest_sample_name(survey, row).filter(|_| longest.by_slow_sample) {
        text = say!("{text}. The longest wait is for {sample}.");
    }
    Some(Finding {
        id: FindingId::HeadOfLine,
        text,
        severity,
        evidence: worst_sample(run, row),
        remedy: match run.info.origin.has_in_order() {
            true => say!("Use in_order=False to get batches as they finish").to_owned(),
            false => say!("Update to PyTorch 2.6 or later, and use in_order=False to get batches as they finish").to_owned(),
        },
        cost: Some(cost),
    })
}

/// Returns the advice to group samples of similar cost. Returns `None` unless the batch size is above 1.
pub(super) fn grouping(options: &RunOptions) -> Option<Text> {
    const GROUPS: Text = text!("Group samples of similar cost into a batch");
    let has_several = options.batch_size.is_some_and(|size| size > 1);
    has_several.then_some(GROUPS)
}

/// Finds a heavy tail: many samples that take more than [`SLOW_SAMPLE`] times the median.
pub(super) fn heavy_tail(survey: &Survey) -> Option<Finding> {
    let samples = survey.samples;
    let share_of_samples = samples.slow as f64 / samples.count.max(1) as f64;
    let epochs = survey.run.epochs().len().max(1) as u64;
    if samples.slow < MIN_SLOW.saturating_mul(epochs) || share_of_samples < RARE {
        return None;
    }
    // If slow samples make a batch slow, the whole wait for the batch counts.
    let cost = survey.sum(|w| match w.kind {
        Kind::Slow if w.by_slow_sample => w.took,
        _ => w.in_slow_samples,
    });
    let severity = survey.severity(cost)?;
    let worst = slowest_row(survey)?;
    let mut text = say!(
        "{} of {} samples ({}) take more than {SLOW_SAMPLE} times the median of {}: {}",
        count(samples.slow),
        count(samples.count),
        percent(share_of_samples),
        samples.usual,
        survey.format_cost(cost),
    );
    let is_random = recurrence(survey).is_some_and(|share| share < MIN_RECURRENCE);
    if is_random {
        text = say!(
            "{text}. In each epoch, other samples are slow, so their contents are not the reason."
        );
    } else if let Some(slowest) = slowest_sample_name(survey, worst) {
        text = say!("{text}. The longest to load is {slowest}.");
    }
    let remedy = match is_random {
        true => CHECK_HOST.say(),
        false => PREPARE.say(),
    };
    Some(Finding {
        id: FindingId::HeavyTail,
        text,
        severity,
        evidence: worst_sample(survey.run, worst),
        remedy: remedy.to_owned(),
        cost: Some(cost),
    })
}

/// Returns the share of the other loads of slow samples that are slow, too, 0 to 1. Returns `None` if too few were loaded again.
fn recurrence(survey: &Survey) -> Option<f64> {
    /// Minimum number of other loads.
    const MIN_LOADS: u64 = 10;
    let run = survey.run;
    let samples = || (0..run.batches().len()).flat_map(|row| run.samples(row));
    let is_slow = |sample: &Sample| survey.is_slow_sample(sample.wall);
    let slow = samples().filter(is_slow).filter_map(|sample| sample.index);
    // Numbers of loads and of slow loads.
    let mut loads: HashMap<u64, (u64, u64)> = slow.map(|index| (index, (0, 0))).collect();
    for sample in samples() {
        let load = sample.index.and_then(|index| loads.get_mut(&index));
        if let Some((all, slow)) = load {
            *all += 1;
            *slow += u64::from(is_slow(&sample));
        }
    }
    // Ordered pairs of a slow load and another load of the same sample.
    let pairs = |(all, slow): &(u64, u64)| slow * (all - 1);
    let slow_pairs = |(_, slow): &(u64, u64)| slow * slow.saturating_sub(1);
    let others: u64 = loads.values().map(pairs).sum();
    let slow: u64 = loads.values().map(slow_pairs).sum();
    (others >= MIN_LOADS).then(|| slow as f64 / others as f64)
}

/// Returns the position of the batch with the slowest sample among all waits. First batches of an epoch count only if no other wait
/// contains a slow sample, because their samples also include the imports of a worker.
fn slowest_row(survey: &Survey) -> Option<usize> {
    let slowest = |is_first: bool| {
        let waits = survey.waits.iter();
        let waits = waits.filter(|w| (w.kind == Kind::First) == is_first);
        let slow = waits.filter(|w| w.by_slow_sample || w.in_slow_samples.0 > 0);
        let longest = |row: &usize| survey.run.samples(*row).map(|s| s.wall).max();
        let rows = slow.filter_map(|w| w.row);
        rows.min_by_key(|row| Reverse(longest(row)))
    };
    slowest(false).or_else(|| slowest(true))
}

/// Returns the name of the slowest sample of a batch, as in `sample 13 (a/13.png)`. Returns `None` if its dataset index is unknown.
fn slowest_sample_name(survey: &Survey, row: usize) -> Option<String> {
    let slowest = survey.run.samples(row);
    // Ties go to the first sample, as in `worst_sample`.
    let slowest = slowest.max_by_key(|s| (s.wall, Reverse(s.position)))?;
    let index = slowest.index?;
    Some(match survey.run.file_of(index) {
        Some(file) => say!("sample {} ({file})", count(index)),
        None => say!("sample {}", count(index)),
    })
}

/// Returns the slowest sample of a batch, or the batch if its samples were not measured.
pub(super) fn worst_sample(run: &Run, row: usize) -> Evidence {
    let id = run.batches()[row].id;
    let samples = run.samples(row);
    // Ties go to the first sample.
    match samples.max_by_key(|s| (s.wall, Reverse(s.position))) {
        Some(slowest) => Evidence::Sample(id, slowest.position, slowest.index),
        None => Evidence::Batch(id),
    }
}
