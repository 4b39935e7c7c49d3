//! Forecasts for other settings: a table over num_workers and prefetch_factor.

use std::sync::Arc;

use loadscope_diagnose::ForecastSet;
use loadscope_trace::{Nanos, Run};

use crate::background::{Cancelled, Progress};
use loadscope_plan::forecast::{Exploration, Forecast, Recorded, Setting, explore, grid};

/// Forecasts for many settings.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// Costs measured in the run.
    pub recorded: Arc<Recorded>,
    /// The recorded setting.
    pub own: Setting,
    /// Common values of all settings in the table.
    pub base: Setting,
    /// Numbers of workers, the columns of the table.
    pub workers: Vec<usize>,
    /// Prefetch factors, the rows of the table. Without workers, only the first row is valid.
    pub prefetch: Vec<usize>,
    /// Forecasts of all cells of the table.
    pub outlook: Exploration,
    /// Forecasts for single changes of the recorded setting.
    pub prospects: Option<ForecastSet>,
}

/// Costs of a run, or an error message if they cannot be measured.
pub type Costs = Result<Arc<Recorded>, String>;

/// Measures the costs of a run.
pub fn costs(run: &Run) -> Costs {
    Recorded::of_enough(run)
        .map(Arc::new)
        .map_err(|e| e.to_string())
}

impl WhatIf {
    /// Forecasts the table around `base`, or around the recorded setting. `known` avoids a second forecast of single changes.
    ///
    /// # Errors
    /// If the result is no longer needed. The inner error is a message with the reason why there is no forecast.
    pub fn explore(
        recorded: &Arc<Recorded>,
        base: Option<Setting>,
        known: Option<ForecastSet>,
        progress: &Progress,
    ) -> Result<Result<Self, String>, Cancelled> {
        let own = recorded.setting();
        let base = base.unwrap_or_else(|| own.clone());
        let mut workers = recorded.usual_workers();
        // The split of a stream among another number of workers is unknown.
        if recorded.workers_refused().is_some() {
            workers = vec![own.num_workers];
        }
        let prefetch = recorded.usual_prefetch();
        let settings = grid(&base, workers.iter().copied(), &prefetch);
        let report = |share: f64| progress.report(share).is_ok();
        let outlook = match explore(recorded, &settings, &report) {
            Ok(Some(outlook)) => outlook,
            Ok(None) => return Err(Cancelled),
            Err(refusal) => return Ok(Err(refusal.to_string())),
        };
        // Prospects apply to the recorded setting, not to `base`.
        let prospects = match known {
            Some(known) => Some(known),
            None => match recorded.prospects(&report) {
                Ok(prospects) => prospects,
                Err(refusal) => return Ok(Err(refusal.to_string())),
            },
        };
        Ok(Ok(Self {
            recorded: Arc::clone(recorded),
            own,
            base,
            workers,
            prefetch,
            outlook,
            prospects,
        }))
    }

    /// Returns the forecast of a cell. Without workers, `prefetch` is ignored.
    pub fn at(&self, workers: usize, prefetch: usize) -> Option<&Forecast> {
        let fits = |f: &&Forecast| {
            let s = &f.setting;
            s.num_workers == workers && (workers == 0 || s.prefetch_factor == prefetch)
        };
        self.outlook.configurations.iter().find(fits)
    }

    /// Returns the fastest setting.
    pub fn best(&self) -> &Forecast {
        &self.outlook.configurations[self.outlook.best]
    }

    /// Returns the setting with the fewest workers among those that are nearly as fast as the best.
    pub fn cheapest(&self) -> &Forecast {
        &self.outlook.configurations[self.outlook.cheapest]
    }

    /// Returns the duration that other settings are compared with, see [`ForecastSet::now`].
    pub fn now(&self) -> Nanos {
        let known = self.prospects.as_ref().map(ForecastSet::now);
        known.unwrap_or_else(|| self.recorded.time())
    }

    /// Returns the relative error of the forecast for the recorded setting.
    pub fn own_error(&self) -> f64 {
        self.prospects.as_ref().map_or(0.0, ForecastSet::error)
    }

    /// Describes the effect of one change, in one sentence.
    pub fn sentence(&self) -> Option<String> {
        let took = self.recorded.time();
        let prospects = self.prospects.as_ref()?;
        Some(prospects.sentence(self.own.num_workers, |time| time.format_in_unit_of(took)))
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;
    use crate::simulated;

    fn explored(options: &RunOptions) -> WhatIf {
        let recorded = costs(&simulated(options)).expect("it has batches");
        WhatIf::explore(&recorded, None, None, &Progress::default())
            .expect("it is wanted")
            .expect("it can be forecast")
    }

    #[test]
    fn the_table_is_complete_and_its_sentence_is_exact() {
        let what_if = explored(&RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 20.0,
            ..RunOptions::default()
        });
        for workers in &what_if.workers {
            for prefetch in &what_if.prefetch {
                assert!(
                    what_if.at(*workers, *prefetch).is_some(),
                    "{workers} {prefetch}"
                );
            }
        }
        assert!(what_if.own_error().abs() < 0.001);
        assert_eq!(what_if.outlook.recorded.time, what_if.now());
        let sentence = what_if.sentence().map(|s| s.replace('\u{2009}', " "));
        assert_eq!(
            sentence.as_deref(),
            Some("in_order=False would take 1.17 s, and num_workers=3 would take 1.45 s")
        );
    }

    #[test]
    fn a_stream_keeps_its_workers_and_many_workers_are_listed() {
        let stream = explored(&RunOptions {
            dataset: "stream:len=24,cost_ms=5,shard=true".to_owned(),
            batch_size: Some(2),
            num_workers: 3,
            ..RunOptions::default()
        });
        assert_eq!(stream.workers, [3]);
        let many = explored(&RunOptions {
            dataset: "synthetic:len=64,cost_ms=5".to_owned(),
            batch_size: Some(1),
            num_workers: 12,
            prefetch_factor: Some(7),
            ..RunOptions::default()
        });
        assert!(many.at(12, 7).is_some() && many.at(13, 1).is_some());
    }
}
