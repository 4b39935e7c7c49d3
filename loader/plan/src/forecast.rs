//! Forecasts of other settings: the costs of a recording go through the same [`Scheduler`](crate::scheduler), with a virtual clock
//! and a model of the cores.
//!
//! A [`Recorded`] contains the costs of a run. They are computing and waiting per sample, collating, returning and pinning per batch,
//! training steps, and worker starts. If the recording had more runnable threads than cores, their waits for a core are removed first. The
//! model adds them again for another number of workers. A [`Setting`] contains the changes. [`Recorded::forecast`] returns the result for
//! one setting, [`explore`] for many.

mod checked;
mod cores;
mod error;
mod grid;
mod load;
mod memory;
mod model_error;
mod number;
mod overhead;
mod prospects;
mod recorded;
mod resample;
mod setting;
mod simulation;
mod step;
mod transport;

pub use error::ForecastError;
pub use grid::{Exploration, explore, grid};
pub use prospects::prospects;
pub use recorded::Recorded;
pub use setting::Setting;

use loadscope_trace::Nanos;

use load::Load;
use simulation::{EpochResult, Parameters};

/// Forecast for a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Forecast setting.
    pub setting: Setting,
    /// Time from the start of the first epoch to the end of the last.
    pub time: Nanos,
    /// Time that the trainer waits.
    pub waited: Nanos,
    /// Time from the start of the first epoch to its first batch. `None`: no batch.
    pub first_batch: Option<Nanos>,
    /// Lower end of the 90 % interval, for other samples of the same kind.
    pub low: Nanos,
    /// Upper end of the 90 % interval.
    pub high: Nanos,
    /// Main reason for a wide interval, as the second half of a sentence.
    pub uncertainty_reason: Option<&'static str>,
    /// Samples yielded to the trainer.
    pub samples: u64,
    /// Batches yielded to the trainer.
    pub batches: u64,
    /// Peak memory of all processes together, bytes. `None`: unknown.
    pub memory: Option<u64>,
}

impl Forecast {
    /// Returns samples per second, or `None` if the time is zero.
    pub fn samples_per_second(&self) -> Option<f64> {
        (self.time > Nanos::ZERO).then(|| self.samples as f64 / self.time.as_secs_f64())
    }

    /// Returns the share of the time in which the trainer waits, 0 to 1.
    pub fn waited_share(&self) -> f64 {
        match self.time > Nanos::ZERO {
            true => self.waited.as_secs_f64() / self.time.as_secs_f64(),
            false => 0.0,
        }
    }
}

impl Recorded {
    /// Forecasts `setting`.
    ///
    /// # Errors
    /// If the setting is invalid, or needs data that the recording lacks.
    pub fn forecast(&self, setting: &Setting) -> Result<Forecast, ForecastError> {
        let setting = self.checked(setting)?;
        let load = Load::of(self, &setting);
        let resampled = resample::resampled(self, &setting, &load);
        Ok(self.forecast_of(&setting, &load, &resampled))
    }

    /// Returns the task indices of epoch `epoch` in the order in which the trainer receives the batches.
    ///
    /// # Errors
    /// As [`Recorded::forecast`].
    pub fn order(&self, setting: &Setting, epoch: usize) -> Result<Vec<u32>, ForecastError> {
        let setting = self.checked(setting)?;
        let load = Load::of(self, &setting);
        let parameters = Parameters::of(self, &setting, epoch);
        Ok(load.epochs.get(epoch).map_or_else(Vec::new, |epoch| {
            simulation::simulate_epoch(epoch, &parameters).order
        }))
    }

    /// Returns the training time with a loader that never delays the trainer: the training steps and the pauses between epochs.
    ///
    /// # Errors
    /// As [`Recorded::forecast`].
    pub fn headroom(&self, setting: &Setting) -> Result<Nanos, ForecastError> {
        let setting = self.checked(setting)?;
        let load = Load::of(self, &setting);
        let steps = load.epochs.iter().enumerate().map(|(number, e)| {
            let weight = e.weight;
            let pause = number::float(self.pause_before(number));
            (e.steps_taken() * weight.batches + pause) * weight.epochs
        });
        Ok(number::nanos(steps.sum::<f64>()))
    }

    fn forecast_of(
        &self,
        setting: &Setting,
        load: &Load,
        resampled: &resample::Resampled,
    ) -> Forecast {
        let all = self.simulate_all(setting, load);
        let busy = self.cores_of(setting).map_or(0.0, |cores| {
            all.computed / (number::float(all.time) * cores).max(1.0)
        });
        let model_error = self.model_error(setting, all.time, busy);
        let (low, high) = resampled.spread(self, setting, all.time, model_error.share);
        Forecast {
            setting: setting.clone(),
            time: all.time,
            waited: all.waited,
            first_batch: all.first,
            low,
            high,
            uncertainty_reason: model_error.reason,
            samples: all.samples,
            batches: all.batches,
            memory: self.memory_of(setting),
        }
    }

    fn simulate_all(&self, setting: &Setting, load: &Load) -> Totals {
        let mut totals = Totals::default();
        for (number, epoch) in load.epochs.iter().enumerate() {
            let parameters = Parameters::of(self, setting, number);
            let result = simulation::simulate_epoch(epoch, &parameters);
            if number == 0 {
                totals.first = result.first.map(number::nanos);
            }
            let pause = number::float(self.pause_before(number));
            totals.time += number::nanos(pause * epoch.weight.epochs);
            totals.add(&result, epoch, parameters.finish);
            if result.stopped {
                break;
            }
        }
        totals
    }
}

/// Sums over all epochs.
#[derive(Default)]
struct Totals {
    time: Nanos,
    waited: Nanos,
    first: Option<Nanos>,
    /// CPU time on all cores, ns.
    computed: f64,
    samples: u64,
    batches: u64,
}

impl Totals {
    /// Adds an epoch, scaled by its weight. Its start and its end count once, the rest counts in proportion to the batches.
    fn add(&mut self, result: &EpochResult, load: &load::EpochLoad, finish: f64) {
        let weight = load.weight;
        let stretched = |all: f64, first: f64| {
            let finish = finish.min(all - first);
            first + (all - first - finish) * weight.batches + finish
        };
        let first = result.first.unwrap_or_default();
        let time = stretched(result.end, first);
        let waited = stretched(result.waited, result.waited_first);
        self.time += number::nanos(time * weight.epochs);
        self.waited += number::nanos(waited * weight.epochs);
        self.computed += load.computed(result.batches) * weight.batches * weight.epochs;
        let many = |n: u64| (n as f64 * weight.batches * weight.epochs).round() as u64;
        self.samples += many(result.samples);
        self.batches += many(result.batches);
    }
}

#[cfg(test)]
mod tests;
