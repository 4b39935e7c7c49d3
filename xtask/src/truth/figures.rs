//! Accuracy of forecasts: errors, intervals, regret.

use super::predict::{Forecast, Forecasts};
use super::setting::Setting;
use super::store::WorkloadMeasurements;
use super::workloads::Workload;
use crate::spread::{Spread, quantile};

/// Relative difference up to which forecasts count as equal, as in Loadscope itself.
const AS_GOOD: f64 = 0.02;

/// Forecast and measured time of a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub setting: Setting,
    /// Forecast, or the reason why there is none.
    pub forecast: Result<Forecast, String>,
    pub took: Spread,
    /// Number of cores that other programs used during the runs.
    pub others: f64,
}

impl Outcome {
    /// Returns the relative error of the forecast, positive if it is too high. Returns `None` without a forecast.
    pub fn error(&self) -> Option<f64> {
        let forecast = self.forecast.as_ref().ok()?;
        Some(forecast.seconds / self.took.median - 1.0)
    }

    /// Returns true if the median is inside the interval of the forecast.
    pub fn is_inside(&self) -> bool {
        let inside = |f: &Forecast| (f.low..=f.high).contains(&self.took.median);
        self.forecast.as_ref().is_ok_and(inside)
    }
}

/// Workload with its outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub name: &'static str,
    pub description: &'static str,
    pub recorded: Setting,
    /// Duration of the recorded run, as the program measured it, s.
    pub recording: f64,
    /// Duration of the recorded run, and the forecast for the same setting, s.
    pub refit: (f64, f64),
    pub outcomes: Vec<Outcome>,
    /// Setting that Loadscope recommends, among all forecast settings.
    pub recommended: Setting,
    pub regret: Option<Regret>,
    pub assumptions: Vec<String>,
}

/// Cost of following the recommendation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// Recommended setting among the measured ones.
    pub chosen: Setting,
    /// Fastest measured setting.
    pub best: Setting,
    /// Relative difference between the times of `chosen` and `best`.
    pub share: f64,
}

impl Evaluation {
    pub fn new(work: &Workload, kept: &WorkloadMeasurements, told: Forecasts) -> Self {
        let outcomes = kept.tried.iter().zip(told.forecasts);
        let outcomes: Vec<Outcome> = outcomes
            .filter_map(|(tried, forecast)| {
                Some(Outcome {
                    setting: tried.setting,
                    forecast,
                    took: Spread::of(tried.turns.iter().map(|turn| turn.seconds))?,
                    others: Spread::of(tried.turns.iter().map(|turn| turn.others))?.median,
                })
            })
            .collect();
        Self {
            name: work.name,
            description: work.description,
            recorded: kept.recorded,
            recording: kept.recording.seconds,
            refit: told.recorded,
            regret: Regret::of(&outcomes, told.recommended),
            outcomes,
            recommended: told.recommended,
            assumptions: told.assumptions,
        }
    }

    /// Returns true if the recommended setting was measured.
    pub fn was_recommended_tried(&self) -> bool {
        self.outcomes.iter().any(|o| o.setting == self.recommended)
    }
}

impl Regret {
    /// Returns the regret among the settings with the `in_order` of `recommended`. Another order changes the training, so Loadscope does
    /// not recommend it for speed alone.
    fn of(outcomes: &[Outcome], recommended: Setting) -> Option<Self> {
        let same: Vec<&Outcome> = outcomes
            .iter()
            .filter(|o| o.setting.in_order == recommended.in_order)
            .collect();
        let took = |o: &&&Outcome| o.took.median;
        let best = same.iter().min_by(|a, b| took(a).total_cmp(&took(b)))?;
        let tried = same.iter().find(|o| o.setting == recommended);
        let chosen = tried.or_else(|| recommended_of(&same))?;
        Some(Self {
            chosen: chosen.setting,
            best: best.setting,
            share: chosen.took.median / best.took.median - 1.0,
        })
    }
}

/// Returns the outcome that Loadscope would recommend among `outcomes`. Among the forecasts within 2 % of the shortest, it has the fewest
/// workers, then the smallest prefetch factor.
fn recommended_of<'a>(outcomes: &'a [&'a Outcome]) -> Option<&'a &'a Outcome> {
    let forecast: Vec<(f64, &&Outcome)> = outcomes
        .iter()
        .filter_map(|o| Some((o.forecast.as_ref().ok()?.seconds, o)))
        .collect();
    let least = forecast
        .iter()
        .map(|(seconds, _)| *seconds)
        .min_by(f64::total_cmp)?;
    let good = forecast
        .into_iter()
        .filter(|(seconds, _)| *seconds <= least * (1.0 + AS_GOOD));
    let (_, chosen) =
        good.min_by_key(|(_, o)| (o.setting.num_workers, o.setting.prefetch_factor))?;
    Some(chosen)
}

/// Summary of all outcomes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    pub outcomes: usize,
    /// Number of outcomes without a forecast.
    pub refused: usize,
    /// Median of the absolute errors.
    pub median: f64,
    pub ninetieth: f64,
    pub worst: f64,
    /// Share of all outcomes that are inside their interval.
    pub inside: f64,
    /// Largest regret, and its workload.
    pub regret: Option<(f64, &'static str)>,
    /// Median spread between the rounds of a setting, as a share of their median.
    pub noise: f64,
    /// Median number of cores that other programs used.
    pub others: f64,
}

impl Head {
    pub fn of(judged: &[Evaluation]) -> Self {
        let all: Vec<&Outcome> = judged.iter().flat_map(|one| &one.outcomes).collect();
        let errors: Vec<f64> = all.iter().filter_map(|o| o.error()).map(f64::abs).collect();
        let of_errors = |share| quantile(&errors, share).unwrap_or_default();
        let middle = |value: fn(&Outcome) -> f64| {
            let values: Vec<f64> = all.iter().map(|o| value(o)).collect();
            quantile(&values, 0.5).unwrap_or_default()
        };
        let inside = all.iter().filter(|o| o.is_inside()).count();
        let regrets = judged
            .iter()
            .filter_map(|one| Some((one.regret?.share, one.name)));
        Self {
            outcomes: all.len(),
            refused: all.len() - errors.len(),
            median: of_errors(0.5),
            ninetieth: of_errors(0.9),
            worst: of_errors(1.0),
            inside: inside as f64 / all.len().max(1) as f64,
            regret: regrets.max_by(|a, b| a.0.total_cmp(&b.0)),
            noise: middle(|o| o.took.width()),
            others: middle(|o| o.others),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn outcome(setting: &str, forecast: Option<(f64, f64, f64)>, took: &[f64]) -> Outcome {
        let refused = || "the samples come from a stream".to_owned();
        let forecast = forecast.map(|(seconds, low, high)| Forecast { seconds, low, high });
        Outcome {
            setting: setting.parse().expect("a setting"),
            forecast: forecast.ok_or_else(refused),
            took: Spread::of(took.iter().copied()).expect("a turn"),
            others: 0.1,
        }
    }

    pub fn judged(recommended: &str, outcomes: Vec<Outcome>) -> Evaluation {
        let recommended = recommended.parse().expect("a setting");
        Evaluation {
            name: "jpeg",
            description: "Decoding JPEGs",
            recorded: Setting::workers(2),
            recording: 2.1,
            refit: (2.1, 2.05),
            regret: Regret::of(&outcomes, recommended),
            outcomes,
            recommended,
            assumptions: Vec::new(),
        }
    }

    #[test]
    fn quantiles_are_interpolated() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        let ninetieth = quantile(&values, 0.9).expect("there are values");
        assert!((ninetieth - 3.7).abs() < 1e-9, "{ninetieth}");
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn errors_and_intervals_refer_to_the_median() {
        let one = outcome("num_workers=2", Some((2.2, 1.9, 2.3)), &[5.0, 2.0, 1.0]);
        let error = one.error().expect("there is a forecast");
        assert!((error - 0.1).abs() < 1e-9, "{error}");
        assert!(one.is_inside());
        assert!(!outcome("num_workers=2", Some((2.2, 2.1, 2.3)), &[2.0]).is_inside());
        let refused = outcome("num_workers=2", None, &[2.0]);
        assert!(refused.error().is_none() && !refused.is_inside());
        assert_eq!(one.took.width(), 2.0);
    }

    #[test]
    fn regret_is_the_cost_of_the_recommendation() {
        let outcomes = || {
            vec![
                outcome("num_workers=0", Some((3.0, 3.0, 3.0)), &[1.0]),
                outcome("num_workers=2", Some((1.01, 1.0, 1.1)), &[1.2]),
                outcome("num_workers=4", Some((1.0, 1.0, 1.1)), &[1.1]),
                outcome(
                    "num_workers=4,in_order=false",
                    Some((1.0, 1.0, 1.1)),
                    &[0.5],
                ),
            ]
        };
        let regret = judged("num_workers=4", outcomes())
            .regret
            .expect("both were tried");
        assert_eq!(regret.chosen, Setting::workers(4));
        assert_eq!(
            regret.best,
            Setting::workers(0),
            "another order is left out"
        );
        assert!((regret.share - 0.1).abs() < 1e-9, "{}", regret.share);
        // The recommended setting was not measured. It is replaced by 2 workers: the fewest workers within 2 % of the shortest forecast.
        let other = judged("num_workers=5", outcomes());
        assert!(!other.was_recommended_tried());
        let regret = other.regret.expect("something was tried");
        assert_eq!(regret.chosen, Setting::workers(2));
        assert!((regret.share - 0.2).abs() < 1e-9, "{}", regret.share);
    }

    #[test]
    fn the_head_counts_refused_forecasts() {
        let outcomes = vec![
            outcome("num_workers=0", Some((1.1, 0.9, 1.2)), &[1.0]),
            outcome("num_workers=1", Some((0.8, 0.7, 0.9)), &[1.0]),
            outcome("num_workers=2", None, &[1.0]),
        ];
        let head = Head::of(&[judged("num_workers=0", outcomes)]);
        assert_eq!((head.outcomes, head.refused), (3, 1));
        assert!((head.median - 0.15).abs() < 1e-9 && (head.worst - 0.2).abs() < 1e-9);
        assert!((head.inside - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(head.regret, Some((0.0, "jpeg")));
        assert_eq!(Head::of(&[]).outcomes, 0);
    }
}
