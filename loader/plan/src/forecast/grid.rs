//! Forecasts a grid of settings, and finds the best and the cheapest one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use loadscope_diagnose::is_likely_less;
use loadscope_trace::Nanos;
use loadscope_words::say;

use super::load::Load;
use super::resample::{Resampled, resampled};
use super::{Forecast, ForecastError, Recorded, Setting};
use crate::cpu::run_in_parallel;

/// Tolerance for a setting that counts as good as the best, as a share of the time.
const TOLERANCE: f64 = 0.02;

/// Forecasts of many settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Exploration {
    /// One forecast per setting, in the same order.
    pub configurations: Vec<Forecast>,
    /// Forecast of the recorded setting. Its time equals the recorded time if the model is right.
    pub recorded: Forecast,
    /// Position of the fastest setting. Ties go to the fewest workers.
    pub best: usize,
    /// Position of the setting within 2 % of the best that has the fewest workers, then the smallest prefetch factor.
    pub cheapest: usize,
    /// Forecasts with `persistent_workers=True` for the same numbers of workers, if the settings restart workers in each epoch.
    pub kept: Vec<Forecast>,
    /// Recommended setting: within 2 % of the best of all, with the fewest workers, then the smallest prefetch factor. Settings that may
    /// well be slower than the recorded one are excluded. If no setting is faster by 2 %, the recorded one is recommended.
    pub recommended: Forecast,
    /// Training time with a loader that never delays the trainer.
    pub headroom: Nanos,
}

/// Returns `base` with each number of workers and prefetch factor. Zero workers take only the first factor, since nothing is prefetched.
pub fn grid(
    base: &Setting,
    workers: impl IntoIterator<Item = usize>,
    prefetch: &[usize],
) -> Vec<Setting> {
    let mut settings = Vec::new();
    for num_workers in workers {
        let factors = if num_workers == 0 {
            &prefetch[..prefetch.len().min(1)]
        } else {
            prefetch
        };
        for &prefetch_factor in factors {
            settings.push(Setting {
                num_workers,
                prefetch_factor,
                ..base.clone()
            });
        }
    }
    settings
}

/// Forecasts all `settings`. `progress` receives the completed share and returns false to cancel.
///
/// # Errors
/// If a setting is invalid, or `settings` is empty. Returns `Ok(None)` if canceled.
pub fn explore(
    recorded: &Recorded,
    settings: &[Setting],
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Option<Exploration>, ForecastError> {
    let Some(first) = settings.first() else {
        return Err(ForecastError(say!("no settings given").to_owned()));
    };
    let own = recorded.setting();
    // The setting keeps the recorded number of workers, because the time of a training step may depend on it.
    let headroom = recorded.headroom(&Setting {
        num_workers: own.num_workers,
        ..first.clone()
    })?;
    let own = recorded.forecast(&own)?;
    let Some(configurations) = forecast_all(recorded, settings, progress)? else {
        return Ok(None);
    };
    let Some(kept) = forecast_all(
        recorded,
        &recorded.with_persistent_workers(settings),
        progress,
    )?
    else {
        return Ok(None);
    };
    let (best, cheapest) = cheapest_of(&configurations).unwrap_or_default();
    let is_sure = |f: &&Forecast| is_likely_less((f.time, f.high), (own.time, own.high));
    let all = configurations.iter().chain(&kept).filter(is_sure);
    let all: Vec<Forecast> = all.cloned().collect();
    let (_, recommended) = cheapest_of(&all).unwrap_or_default();
    let is_worth_it =
        |f: &&Forecast| f.time.as_secs_f64() <= own.time.as_secs_f64() * (1.0 - TOLERANCE);
    let recommended = all.get(recommended).filter(is_worth_it);
    Ok(Some(Exploration {
        best,
        cheapest,
        recommended: recommended.unwrap_or(&own).clone(),
        kept,
        recorded: own,
        headroom,
        configurations,
    }))
}

impl Recorded {
    /// Returns `settings` with workers kept between epochs, one per number of workers, where that differs. They have the recorded prefetch
    /// factor, so that fewer arguments change.
    pub(super) fn with_persistent_workers(&self, settings: &[Setting]) -> Vec<Setting> {
        let factor = self.setting().prefetch_factor;
        let mut kept: Vec<Setting> = Vec::new();
        for setting in settings {
            let starts_anew = setting.num_workers > 0 && !setting.persistent_workers;
            let is_known = kept.iter().any(|s| s.num_workers == setting.num_workers);
            if starts_anew && !is_known && self.epochs.len() > 1 {
                kept.push(Setting {
                    persistent_workers: true,
                    prefetch_factor: factor,
                    ..setting.clone()
                });
            }
        }
        kept
    }
}

/// Returns the positions of the fastest forecast and of the cheapest within 2 %: fewest workers, then smallest prefetch factor.
pub(super) fn cheapest_of(configurations: &[Forecast]) -> Option<(usize, usize)> {
    let cost = |f: &Forecast| (f.setting.num_workers, f.setting.prefetch_factor);
    let each = || configurations.iter().enumerate();
    let (best, least) = each().min_by_key(|(_, f)| (f.time, cost(f)))?;
    let limit = least.time.as_secs_f64() * (1.0 + TOLERANCE);
    let good = each().filter(|(_, f)| f.time.as_secs_f64() <= limit);
    let cheapest = good.min_by_key(|(_, f)| cost(f));
    Some((best, cheapest.map_or(best, |(at, _)| at)))
}

/// Returns the forecasts of all `settings` in their order. Returns `Ok(None)` if canceled.
pub(super) fn forecast_all(
    recorded: &Recorded,
    settings: &[Setting],
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Option<Vec<Forecast>>, ForecastError> {
    let settings: Vec<Setting> = settings
        .iter()
        .map(|s| recorded.checked(s))
        .collect::<Result<_, _>>()?;
    let prepared = Prepared::all(recorded, &settings);
    let next = AtomicUsize::new(0);
    let wanted = AtomicBool::new(progress(0.0));
    let done = Mutex::new(Vec::with_capacity(settings.len()));
    let lock = || done.lock().unwrap_or_else(PoisonError::into_inner);
    run_in_parallel(settings.len(), || {
        while wanted.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(setting) = settings.get(at) else {
                return;
            };
            let found = prepared.iter().find(|p| p.fits(recorded, setting));
            if let Some(Prepared {
                load, resampled, ..
            }) = found
            {
                let forecast = recorded.forecast_of(setting, load, resampled);
                let mut done = lock();
                done.push((at, forecast));
                if !progress(done.len() as f64 / settings.len() as f64) {
                    wanted.store(false, Ordering::Relaxed);
                }
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if done.len() < settings.len() {
        return Ok(None);
    }
    done.sort_by_key(|(at, _)| *at);
    Ok(Some(
        done.into_iter().map(|(_, forecast)| forecast).collect(),
    ))
}

/// Work that several settings share. These settings differ only in workers, prefetching and order.
struct Prepared {
    setting: Setting,
    load: Load,
    resampled: Resampled,
}

impl Prepared {
    fn all(recorded: &Recorded, settings: &[Setting]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for setting in settings {
            if !all.iter().any(|p| p.fits(recorded, setting)) {
                let load = Load::of(recorded, setting);
                let resampled = resampled(recorded, setting, &load);
                let setting = setting.clone();
                all.push(Self {
                    setting,
                    load,
                    resampled,
                });
            }
        }
        all
    }

    fn fits(&self, recorded: &Recorded, other: &Setting) -> bool {
        let own = &self.setting;
        own.batch_size == other.batch_size
            && own.step == other.step
            && own.cache == other.cache
            && own.faster == other.faster
            // Without workers no process receives batches, and no worker competes with the training steps.
            && (own.num_workers > 0) == (other.num_workers > 0)
            // Each stream belongs to a worker.
            && (!recorded.streams || own.num_workers == other.num_workers)
    }
}
