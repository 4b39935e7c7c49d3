//! Median, 90th and 99th percentile of the batch times of both runs.

use loadscope_trace::Nanos;
use loadscope_words::say;
use oorandom::Rand64;
use serde::Serialize;

use super::pieces::{CONFIDENCE, MIN_PIECES, Outcome, SEED, any_of};

/// Number of bootstrap draws.
const DRAWS: usize = 300;
/// Target number of batches for the bootstrap, in evenly spaced pieces of the run.
const TARGET_BATCHES: usize = 2_000;
/// The reported quantiles, 0 to 1.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// A quantile of the batch times of both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantile {
    /// Name of the batch time in JSON: `wait_seconds` or `work_seconds`.
    pub id: &'static str,
    /// Quantile, 0 to 1: 0.9 is the 90th percentile.
    pub quantile: f64,
    /// Value in the first run, s.
    pub a: f64,
    /// Value in the second run, s.
    pub b: f64,
    /// `b − a`, s.
    pub difference: f64,
    /// Lower end of the confidence interval of `difference`, s. `None` with too few batches.
    pub low: Option<f64>,
    /// Upper end of the confidence interval of `difference`, s.
    pub high: Option<f64>,
    /// Significance of the difference. Shorter times are better.
    pub outcome: Outcome,
}

impl Quantile {
    /// Returns the translated name of the batch time.
    pub fn name(&self) -> &'static str {
        match self.id {
            "wait_seconds" => say!("wait for a batch"),
            _ => say!("work on a batch"),
        }
    }

    /// Returns name and quantile, as in `wait for a batch, 90th percentile`.
    pub fn label(&self) -> String {
        let name = self.name();
        match (self.quantile * 100.0).round() {
            50.0 => say!("{name}, median"),
            share => say!("{name}, {share}th percentile"),
        }
    }

    /// Returns the difference with its confidence interval, as in `−12.0 ms (−13.1 ms to −11.0 ms)`.
    pub fn change(&self) -> String {
        let signed = |seconds: f64| match Nanos::from_secs_f64(seconds.abs()) {
            Nanos(0) => "0".to_owned(),
            time if seconds < 0.0 => format!("−{time}"),
            time => format!("+{time}"),
        };
        let change = signed(self.difference);
        match (self.low, self.high) {
            (Some(0.0), Some(0.0)) if self.difference == 0.0 => change,
            (Some(low), Some(high)) => say!("{change} ({} to {})", signed(low), signed(high)),
            _ => change,
        }
    }
}

/// Returns the quantiles of the batch times of both runs, s. Each run is a list of pieces of consecutive batches.
///
/// The list is empty if one run has no times.
pub fn quantiles(id: &'static str, a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Quantile> {
    let all = |pieces: &[Vec<f64>]| pieces.concat();
    let (mut of_a, mut of_b) = (all(a), all(b));
    if of_a.is_empty() || of_b.is_empty() {
        return Vec::new();
    }
    let values = (at(&mut of_a), at(&mut of_b));
    let drawn = differences(&thinned(a), &thinned(b));
    let each = QUANTILES.into_iter().enumerate();
    let each = each.map(|(k, quantile)| {
        let (a, b) = (values.0[k], values.1[k]);
        let mut drawn: Vec<f64> = drawn.iter().map(|d| d[k]).collect();
        drawn.sort_by(f64::total_cmp);
        let end = |share: f64| {
            let last = drawn.len().checked_sub(1)?;
            drawn.get((share * last as f64).round() as usize).copied()
        };
        let (low, high) = (end((1.0 - CONFIDENCE) / 2.0), end((1.0 + CONFIDENCE) / 2.0));
        Quantile {
            id,
            quantile,
            a,
            b,
            difference: b - a,
            low: low.map(|low| low.min(b - a)),
            high: high.map(|high| high.max(b - a)),
            outcome: match (low, high) {
                (_, Some(high)) if high < 0.0 && b < a => Outcome::Improved,
                (Some(low), _) if low > 0.0 && b > a => Outcome::Worse,
                _ => Outcome::Unclear,
            },
        }
    });
    each.collect()
}

/// Returns the quantiles of `times`. Sorts `times`.
fn at(times: &mut [f64]) -> [f64; QUANTILES.len()] {
    times.sort_unstable_by(f64::total_cmp);
    let last = times.len().saturating_sub(1);
    QUANTILES.map(|q| {
        let place = (q * last as f64).round() as usize;
        times.get(place).copied().unwrap_or_default()
    })
}

/// Returns evenly spaced pieces with about [`TARGET_BATCHES`] batches, to keep the bootstrap fast.
fn thinned(pieces: &[Vec<f64>]) -> Vec<&Vec<f64>> {
    let each = pieces.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let most = (TARGET_BATCHES / each).max(MIN_PIECES);
    let every = pieces.len().div_ceil(most).max(1);
    pieces.iter().step_by(every).collect()
}

fn differences(a: &[&Vec<f64>], b: &[&Vec<f64>]) -> Vec<[f64; QUANTILES.len()]> {
    if a.len() < MIN_PIECES || b.len() < MIN_PIECES {
        return Vec::new();
    }
    let mut random = Rand64::new(SEED);
    let mut draw = |pieces: &[&Vec<f64>]| {
        let mut times = Vec::new();
        for _ in pieces {
            times.extend(any_of(pieces, &mut random).iter());
        }
        at(&mut times)
    };
    let drawn = (0..DRAWS).map(|_| {
        let (a, b) = (draw(a), draw(b));
        std::array::from_fn(|k| b[k] - a[k])
    });
    drawn.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(offset: f64) -> Vec<Vec<f64>> {
        let time = |k: usize| offset + (k * 7_919 % 100) as f64 / 100.0;
        let times: Vec<f64> = (0..400).map(time).collect();
        times.chunks(4).map(<[f64]>::to_vec).collect()
    }

    #[test]
    fn a_shift_changes_every_quantile_and_equal_pieces_none() {
        let shifted = quantiles("wait_seconds", &pieces(1.0), &pieces(0.5));
        assert_eq!(shifted.len(), QUANTILES.len());
        for q in &shifted {
            assert_eq!(q.outcome, Outcome::Improved, "{q:?}");
            assert!((q.difference + 0.5).abs() < 1e-9, "{q:?}");
            assert!(q.low <= Some(q.difference) && Some(q.difference) <= q.high);
        }
        assert!((shifted[0].a - 1.5).abs() < 0.02 && (shifted[1].a - 1.9).abs() < 0.02);
        for q in quantiles("wait_seconds", &pieces(1.0), &pieces(1.0)) {
            assert_eq!((q.outcome, q.difference), (Outcome::Unclear, 0.0));
        }
        let few = quantiles("wait_seconds", &pieces(1.0)[..2], &pieces(0.5));
        assert!(
            few.iter()
                .all(|q| q.low.is_none() && q.outcome == Outcome::Unclear)
        );
        assert!(quantiles("wait_seconds", &[], &pieces(0.5)).is_empty());
    }
}
