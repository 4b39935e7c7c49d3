//! What forecasts are worth: errors, intervals, regret.

use super::kept::Work;
use super::predict::{Forecast, Told};
use super::setting::Setting;
use super::workloads::Workload;
use crate::spread::{Spread, quantile};

/// A setting is as good as the best one if it is forecast to take no more than this longer: Loadscope's own limit.
const AS_GOOD: f64 = 0.02;

/// A setting, what was forecast, what came.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub setting: Setting,
    /// Or why there is none.
    pub forecast: Result<Forecast, String>,
    pub took: Spread,
    /// How many cores other programs used meanwhile.
    pub others: f64,
}

impl Outcome {
    /// By which share the forecast is above the outcome; `None` without a forecast.
    pub fn error(&self) -> Option<f64> {
        let forecast = self.forecast.as_ref().ok()?;
        Some(forecast.seconds / self.took.median - 1.0)
    }

    /// Whether the outcome lies in the interval; without a forecast it does not.
    pub fn is_inside(&self) -> bool {
        let inside = |f: &Forecast| (f.low..=f.high).contains(&self.took.median);
        self.forecast.as_ref().is_ok_and(inside)
    }
}

/// A workload with its outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub name: &'static str,
    pub says: &'static str,
    pub recorded: Setting,
    /// What the program said of its time while it was recorded.
    pub recording: f64,
    /// How long the recorded run took, and what is forecast for the same setting.
    pub refit: (f64, f64),
    pub outcomes: Vec<Outcome>,
    /// What Loadscope recommends of all settings that it forecasts.
    pub recommended: Setting,
    pub regret: Option<Regret>,
    pub assumptions: Vec<String>,
}

/// What following the recommendation costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// The setting that is recommended, of those that were tried.
    pub chosen: Setting,
    /// The one that was really the best.
    pub best: Setting,
    /// By which share the first one took longer than the other.
    pub share: f64,
}

impl Judged {
    pub fn new(work: &Workload, kept: &Work, told: Told) -> Self {
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
            says: work.says,
            recorded: kept.recorded,
            recording: kept.recording.seconds,
            refit: told.recorded,
            regret: Regret::of(&outcomes, told.recommended),
            outcomes,
            recommended: told.recommended,
            assumptions: told.assumptions,
        }
    }

    /// Whether what is recommended of all settings is among those that were tried.
    pub fn was_recommended_tried(&self) -> bool {
        self.outcomes.iter().any(|o| o.setting == self.recommended)
    }
}

impl Regret {
    /// Of settings that hand batches out in the order that was recorded: another order is another training, and Loadscope does not recommend it for
    /// its speed alone.
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

/// What would be recommended of these: fewest workers, then the smallest prefetch factor, within 2 % of the least forecast.
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

/// Everything in a few figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    pub outcomes: usize,
    /// Outcomes of which there was no forecast.
    pub refused: usize,
    /// Of the errors without their signs.
    pub median: f64,
    pub ninetieth: f64,
    pub worst: f64,
    /// The share of all outcomes that lie in their interval.
    pub inside: f64,
    /// The largest regret, and of which workload.
    pub regret: Option<(f64, &'static str)>,
    /// The middle width of the outcomes of a setting, as a share of their median.
    pub noise: f64,
    /// How many cores other programs used, in the middle.
    pub others: f64,
}

impl Head {
    pub fn of(judged: &[Judged]) -> Self {
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

    pub fn judged(recommended: &str, outcomes: Vec<Outcome>) -> Judged {
        let recommended = recommended.parse().expect("a setting");
        Judged {
            name: "jpeg",
            says: "Decoding JPEGs",
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
    fn quantiles_lie_between_neighbours() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        let ninetieth = quantile(&values, 0.9).expect("there are values");
        assert!((ninetieth - 3.7).abs() < 1e-9, "{ninetieth}");
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn errors_and_intervals_are_about_the_median() {
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
    fn regret_is_what_the_recommendation_costs() {
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
        // Not tried: of those that were, 2 workers are forecast to be as good as the best.
        let other = judged("num_workers=5", outcomes());
        assert!(!other.was_recommended_tried());
        let regret = other.regret.expect("something was tried");
        assert_eq!(regret.chosen, Setting::workers(2));
        assert!((regret.share - 0.2).abs() < 1e-9, "{}", regret.share);
    }

    #[test]
    fn the_head_counts_what_has_no_forecast() {
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
