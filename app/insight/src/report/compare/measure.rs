//! Throughput and waits of both runs, with bootstrap confidence intervals of their changes.

use loadscope_trace::Nanos;
use loadscope_words::say;
use oorandom::Rand64;
use serde::Serialize;

use super::paired::Noise;
use super::pieces::Drawn;
use super::pieces::{CONFIDENCE, MIN_PIECES, Outcome, SEED, any_of};
use crate::format::percent;
use crate::format::signed;
use crate::report::facts::rate;

/// Number of bootstrap draws.
const DRAWS: usize = 1_000;

/// A number that is compared between two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// Name in JSON.
    pub id: &'static str,
    /// Value in the first run.
    pub a: f64,
    /// Value in the second run.
    pub b: f64,
    /// `b / a − 1`. `None` if `a` is zero.
    pub change: Option<f64>,
    /// Lower end of the confidence interval of `change`. `None` with too few batches.
    pub low: Option<f64>,
    /// Upper end of the confidence interval of `change`.
    pub high: Option<f64>,
    /// Significance of the change.
    pub outcome: Outcome,
}

/// Function that returns the value of a measure.
type Value64 = fn(&Drawn) -> f64;
/// All measures as (name, value, true if more is better).
const MEASURES: [(&str, Value64, bool); 4] = [
    ("samples_per_second", |d| d.samples / d.cycle * 1e9, true),
    ("wait_share", |d| d.waited / d.cycle, false),
    (
        "wait_seconds_per_batch",
        |d| d.waited / d.batches * 1e-9,
        false,
    ),
    (
        "work_seconds_per_batch",
        |d| d.work / d.batches * 1e-9,
        false,
    ),
];

/// Returns the change with its confidence interval: `+12 % (+9.1 % to +15 %)`.
///
/// The change of `wait_share` is in percentage points: `−20 points (−28 to −12)`.
pub fn change(m: &Measure) -> String {
    let is_zero = |end: Option<f64>| end.is_none_or(|end| end == 0.0);
    if m.a == m.b && is_zero(m.low) && is_zero(m.high) {
        return "0".to_owned();
    }
    if m.id == "wait_share" {
        let points = |change: f64| {
            let points = (change * m.a * 100.0).round();
            match points {
                0.0 => "0".to_owned(),
                p if p < 0.0 => format!("−{}", -p),
                p => format!("+{p}"),
            }
        };
        return match (m.change, m.low, m.high) {
            (Some(change), Some(low), Some(high)) => say!(
                "{} points ({} to {})",
                points(change),
                points(low),
                points(high)
            ),
            (Some(change), ..) => say!("{} points", points(change)),
            _ => "—".to_owned(),
        };
    }
    match (m.change, m.low, m.high) {
        (Some(change), Some(low), Some(high)) => {
            say!("{} ({} to {})", signed(change), signed(low), signed(high))
        }
        (Some(change), ..) => signed(change),
        _ => "—".to_owned(),
    }
}

/// Returns the translated name and the formatted values of both runs.
pub fn shown(m: &Measure) -> (&'static str, String, String) {
    let time = |s: f64| match Nanos::from_secs_f64(s) {
        Nanos(0) => "0".to_owned(),
        time => time.to_string(),
    };
    match m.id {
        "samples_per_second" => (say!("samples/s"), rate(m.a), rate(m.b)),
        "wait_share" => (say!("share waited"), percent(m.a), percent(m.b)),
        "wait_seconds_per_batch" => (say!("waited per batch"), time(m.a), time(m.b)),
        _ => (say!("work per batch"), time(m.a), time(m.b)),
    }
}

/// Returns the measures of two runs.
///
/// With `noise`, both runs yield the same batches in the same order. Random noise then replaces the resampling of pieces.
pub(super) fn measures(a: &[Vec<Drawn>], b: &[Vec<Drawn>], noise: Option<Noise>) -> Vec<Measure> {
    let (of_a, of_b) = (whole(a), whole(b));
    if of_a.batches == 0.0 || of_b.batches == 0.0 {
        return Vec::new();
    }
    let mut random = Rand64::new(SEED);
    let draws: Vec<(Drawn, Drawn)> = match are_enough(a) && are_enough(b) {
        true => (0..DRAWS)
            .map(|_| match noise {
                Some(noise) => (of_a, noise.draw(&of_b, &mut random)),
                None => (draw(a, &mut random), draw(b, &mut random)),
            })
            .collect(),
        false => Vec::new(),
    };
    let measure = |(id, value, more_is_better): (&'static str, Value64, bool)| {
        let drawn = draws.iter().filter_map(|(x, y)| ratio(value(x), value(y)));
        let (low, high) = interval(drawn.collect()).unzip();
        let outcome = match (low, high) {
            (Some(low), _) if low > 0.0 && more_is_better => Outcome::Improved,
            (_, Some(high)) if high < 0.0 && !more_is_better => Outcome::Improved,
            (Some(low), _) if low > 0.0 => Outcome::Worse,
            (_, Some(high)) if high < 0.0 => Outcome::Worse,
            _ => Outcome::Unclear,
        };
        let (a, b) = (value(&of_a), value(&of_b));
        let change = ratio(a, b);
        Measure {
            id,
            a,
            b,
            change,
            low,
            high,
            outcome,
        }
    };
    MEASURES.into_iter().map(measure).collect()
}

/// Returns the relative change of a value with its bootstrap confidence interval.
///
/// Returns `None` if the first value is zero. The interval is `None` with too few pieces.
pub(crate) fn change_of(
    a: &[Vec<Drawn>],
    b: &[Vec<Drawn>],
    value: impl Fn(&Drawn) -> f64,
) -> Option<(f64, Option<(f64, f64)>)> {
    let change = ratio(value(&whole(a)), value(&whole(b)))?;
    if !(are_enough(a) && are_enough(b)) {
        return Some((change, None));
    }
    let mut random = Rand64::new(SEED);
    let draws = (0..DRAWS).filter_map(|_| {
        let (x, y) = (draw(a, &mut random), draw(b, &mut random));
        ratio(value(&x), value(&y))
    });
    let ends = interval(draws.collect());
    Some((
        change,
        ends.map(|(low, high)| (low.min(change), high.max(change))),
    ))
}

/// Returns the sum of all pieces.
fn whole(epochs: &[Vec<Drawn>]) -> Drawn {
    let mut sum = Drawn::default();
    epochs.iter().flatten().for_each(|d| sum.add(d));
    sum
}

/// Returns true if there are enough pieces for a confidence interval.
fn are_enough(epochs: &[Vec<Drawn>]) -> bool {
    epochs.iter().map(Vec::len).sum::<usize>() >= MIN_PIECES
}

/// Returns `y / x − 1`. Returns `None` if `x` is not positive or `y` is not finite.
fn ratio(x: f64, y: f64) -> Option<f64> {
    (x > 0.0 && y.is_finite()).then(|| y / x - 1.0)
}

/// Returns the ends of the confidence interval of bootstrap draws. Returns `None` without draws.
fn interval(mut drawn: Vec<f64>) -> Option<(f64, f64)> {
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let last = drawn.len().checked_sub(1)?;
        drawn.get((share * last as f64).round() as usize).copied()
    };
    at((1.0 - CONFIDENCE) / 2.0).zip(at((1.0 + CONFIDENCE) / 2.0))
}

/// Returns the sum of one bootstrap draw: as many pieces of each epoch as it has, drawn with replacement.
fn draw(epochs: &[Vec<Drawn>], random: &mut Rand64) -> Drawn {
    let mut sum = Drawn::default();
    for pieces in epochs {
        for _ in pieces {
            sum.add(any_of(pieces, random));
        }
    }
    sum
}
