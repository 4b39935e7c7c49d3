//! Runs that verify a forecast.

use loadscope_diagnose::WaitSummary;
use loadscope_trace::{Argument, Nanos, Origin, PinMemory, Run, RunOptions};
use loadscope_words::say;

use loadscope_plan::forecast::{Forecast, Setting};

/// A forecast, and the options of the run that verifies it.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Expected result.
    pub forecast: Forecast,
    /// Changes from the recorded settings, for display: `in_order=False`, `a step of 9.5 ms`.
    pub changes: Vec<String>,
    /// Options of the verifying run.
    pub options: RunOptions,
    /// True if the run uses a virtual clock, as the previous run did.
    pub simulated: bool,
    /// Duration of the previous run.
    pub took_before: Nanos,
    /// Time that the trainer of the previous run waited.
    pub waited_before: Nanos,
}

impl Check {
    /// Prepares a run that verifies `forecast` of `run`.
    ///
    /// # Errors
    /// Returns an error message if Loadscope cannot run the forecast setting.
    pub fn of(run: &Run, own: &Setting, forecast: &Forecast) -> Result<Self, &'static str> {
        if let Some(obstacle) = obstacle(run, own, &forecast.setting) {
            return Err(obstacle);
        }
        let before = WaitSummary::of(run);
        Ok(Self {
            forecast: forecast.clone(),
            changes: forecast.setting.differences(own),
            options: options_of(&run.info.options, &forecast.setting),
            simulated: run.info.origin == Origin::Simulation,
            took_before: before.total,
            waited_before: before.waited,
        })
    }

    /// Returns the relative error of the forecast compared with the duration of `run`. Returns `None` until the run has ended.
    pub fn error(&self, run: &Run) -> Option<f64> {
        let took = WaitSummary::of(run).total;
        (run.has_ended() && took > Nanos::ZERO)
            .then(|| self.forecast.time.as_secs_f64() / took.as_secs_f64() - 1.0)
    }
}

/// Returns the reason why Loadscope cannot run `setting`.
fn obstacle(run: &Run, own: &Setting, setting: &Setting) -> Option<&'static str> {
    match run.info.origin {
        Origin::Engine | Origin::Simulation => {}
        Origin::Pytorch(_) => {
            return Some(say!(
                "This is a recording of a PyTorch program. Run the program again with `loadscope record --set num_workers=8`, or try several settings with `loadscope tune`."
            ));
        }
        Origin::Import(_) => {
            return Some(say!("Recordings of other tools cannot be run from here"));
        }
    }
    if setting.cache != own.cache {
        return Some(say!("The dataset has no cache that can be enabled"));
    }
    if setting.faster != own.faster {
        return Some(say!(
            "Stage speed cannot be changed here: optimize the dataset, then run again"
        ));
    }
    if setting.cores != own.cores || setting.trainer_cpu != own.trainer_cpu {
        return Some(say!("The number of CPU cores cannot be changed"));
    }
    None
}

/// Returns `options` with the values of `setting`.
pub fn options_of(options: &RunOptions, setting: &Setting) -> RunOptions {
    // PyTorch's default stays implicit.
    let says_factor = options.prefetch_factor.is_some() || setting.prefetch_factor != 2;
    let pin_memory = match (setting.pin_memory, options.pin_memory) {
        (false, _) => PinMemory::Off,
        (true, PinMemory::Off) => PinMemory::On,
        (true, how) => how,
    };
    let mut out = RunOptions {
        num_workers: setting.num_workers,
        prefetch_factor: says_factor.then_some(setting.prefetch_factor),
        batch_size: setting.batch_size,
        in_order: setting.in_order,
        persistent_workers: setting.persistent_workers,
        pin_memory,
        step_ms: (setting.step).map_or(options.step_ms, Nanos::as_millis_f64),
        ..options.clone()
    };
    // Without workers, PyTorch refuses such arguments.
    Argument::reset_unused(&mut out, Argument::needs_workers);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated;
    use loadscope_plan::forecast::Recorded;

    fn proof() -> RunOptions {
        RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 20.0,
            ..RunOptions::default()
        }
    }

    #[test]
    fn options_of_the_recorded_setting_equal_the_recorded_options() {
        let options = proof();
        let recorded = Recorded::of(&simulated(&options)).expect("it has batches");
        assert_eq!(options_of(&options, &recorded.setting()), options);
        let none = Setting {
            num_workers: 0,
            persistent_workers: true,
            ..recorded.setting()
        };
        let without = options_of(&options, &none);
        assert_eq!((without.num_workers, without.prefetch_factor), (0, None));
        assert!(!without.persistent_workers);
        assert!(loadscope_plan::plan::check_options(&without).is_ok());
    }

    #[test]
    fn a_forecast_for_a_simulated_run_matches_its_outcome() {
        let before = simulated(&proof());
        let recorded = Recorded::of(&before).expect("it has batches");
        let setting = Setting {
            in_order: false,
            ..recorded.setting()
        };
        let forecast = recorded.forecast(&setting).expect("it can be forecast");
        let check = Check::of(&before, &recorded.setting(), &forecast).expect("it can be run");
        assert_eq!(check.changes, ["in_order=False"]);
        assert!(check.simulated);
        let after = simulated(&check.options);
        let error = check.error(&after).expect("it has ended");
        assert!(error.abs() < 0.001, "{error}");
    }

    #[test]
    fn an_unrunnable_setting_is_refused_with_the_reason() {
        let mut run = simulated(&proof());
        let recorded = Recorded::of(&run).expect("it has batches");
        let own = recorded.setting();
        let cached = Setting {
            cache: 0.5,
            ..own.clone()
        };
        let forecast = recorded.forecast(&cached).expect("it can be forecast");
        assert!(Check::of(&run, &own, &forecast).is_err_and(|why| why.contains("cache")));
        run.info.origin = Origin::Pytorch("2.13.0".to_owned());
        let forecast = recorded.forecast(&own).expect("it can be forecast");
        assert!(Check::of(&run, &own, &forecast).is_err_and(|why| why.contains("PyTorch")));
    }
}
