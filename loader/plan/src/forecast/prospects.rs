//! Forecasts for a verdict: the recorded setting, single changes to it, and the best and the cheapest setting of a grid.

use loadscope_diagnose::{Change, ForecastSet, LineForecast};
use loadscope_trace::{Nanos, Run};

use super::grid::{cheapest_of, forecast_all, grid};
use super::number::clamp_cost;
use super::{Forecast, ForecastError, Recorded, Setting};
use crate::limits;

/// Numbers of workers up to this one are always tried.
const WORKERS: usize = 8;
/// Prefetch factors that are always tried.
const PREFETCH: [usize; 4] = [1, 2, 3, 4];

/// Forecasts the values of `run`'s verdict. `progress` receives the completed share, 0 to 1, and returns false to cancel. A long run is
/// forecast from a part, so that it takes about a second.
///
/// # Errors
/// If the run has too little data. Returns `Ok(None)` if canceled.
pub fn prospects(
    run: &Run,
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Option<ForecastSet>, ForecastError> {
    if !progress(0.0) {
        return Ok(None);
    }
    let recorded = Recorded::of_enough(run)?;
    recorded.prospects(progress)
}

impl Recorded {
    /// Returns numbers of workers to try: 0 to 8, some near a larger recorded number, and the number that loads one batch per
    /// training step.
    pub fn usual_workers(&self) -> Vec<usize> {
        /// Maximum recommended number of workers.
        const MAX_WORKERS: usize = 32;
        let now = self.setting().num_workers;
        let more = [now.saturating_add(1), now.saturating_mul(2)];
        let more = more.into_iter().filter(|n| *n <= limits::WORKERS);
        let mut all: Vec<usize> = (0..=WORKERS).collect();
        if now >= WORKERS {
            all.extend([now - 1, now].into_iter().chain(more));
        }
        all.extend(self.needed_workers().filter(|n| *n <= MAX_WORKERS));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the reason why other numbers of workers cannot be forecast. Returns `None` if they can be forecast.
    pub fn workers_refused(&self) -> Option<String> {
        let base = self.setting();
        let other = Setting {
            num_workers: base.num_workers.saturating_add(1).min(limits::WORKERS),
            ..base
        };
        self.checked(&other).err().map(|refusal| refusal.0)
    }

    /// Returns prefetch factors to try: 1 to 4 and the recorded one.
    pub fn usual_prefetch(&self) -> Vec<usize> {
        let mut all = PREFETCH.to_vec();
        all.push(self.setting().prefetch_factor);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the number of workers that together load one batch per mean training step.
    fn needed_workers(&self) -> Option<usize> {
        let (mut work, mut tasks, mut step, mut steps) = (0i128, 0, 0i128, 0);
        let time = |t: Nanos| i128::from(t.0);
        for epoch in &self.epochs {
            for task in &epoch.tasks {
                let samples = &self.samples[task.first..task.first + task.len];
                work += time(task.extra) + time(task.collate);
                work += samples
                    .iter()
                    .map(|s| time(s.off) + time(s.cpu))
                    .sum::<i128>();
                tasks += 1;
            }
            step += epoch.steps.iter().map(|s| time(s.alone)).sum::<i128>();
            steps += epoch.steps.len() as i128;
        }
        // The number is (work / tasks) / (step / steps), rounded up.
        let (work, step) = (work.checked_mul(steps)?, step.checked_mul(tasks)?);
        (step > 0).then(|| usize::try_from((work + step - 1) / step).ok())?
    }

    /// Forecasts the values of the run's verdict. See [`prospects`].
    ///
    /// # Errors
    /// If the recorded setting itself cannot be forecast. Returns `Ok(None)` if canceled.
    pub fn prospects(
        &self,
        progress: &(dyn Fn(f64) -> bool + Sync),
    ) -> Result<Option<ForecastSet>, ForecastError> {
        let base = self.setting();
        let tried = grid(&base, self.usual_workers(), &self.usual_prefetch());
        let near = near(&base, self.epochs.len(), self.origin.has_in_order()).into_iter();
        let near: Vec<(Change, Setting)> = near.filter(|(_, s)| self.checked(s).is_ok()).collect();
        let mut settings = vec![self.checked(&base)?];
        settings.extend(near.iter().map(|(_, s)| s.clone()));
        let first = settings.len();
        let tried: Vec<Setting> = tried
            .into_iter()
            .filter(|s| self.checked(s).is_ok())
            .collect();
        let kept = self.with_persistent_workers(&tried).into_iter();
        let kept: Vec<Setting> = kept.filter(|s| self.checked(s).is_ok()).collect();
        settings.extend(tried.into_iter().chain(kept));
        let Some(forecasts) = forecast_all(self, &settings, progress)? else {
            return Ok(None);
        };
        let of_grid = &forecasts[first..];
        let chosen = cheapest_of(of_grid);
        let as_workers = |at: usize| convert(change(&base, &of_grid[at].setting), &of_grid[at]);
        let mut changes: Vec<_> = near.iter().map(|(change, _)| *change).collect();
        let mut nearest: Vec<_> = forecasts[1..first].iter().collect();
        if let Some((_, cheapest)) = chosen {
            // This setting keeps the recorded prefetch factor: one change instead of two.
            let workers = of_grid[cheapest].setting.num_workers;
            let own = |f: &&Forecast| {
                f.setting.num_workers == workers
                    && f.setting.persistent_workers == base.persistent_workers
                    && f.setting.prefetch_factor == base.prefetch_factor
            };
            let is_new = !changes.contains(&Change::NumWorkers(workers));
            let plain = of_grid.iter().find(own);
            if let Some(plain) = plain.filter(|_| is_new && workers != base.num_workers) {
                changes.push(Change::NumWorkers(workers));
                nearest.push(plain);
            }
        }
        let changes = changes.into_iter().zip(nearest);
        Ok(Some(ForecastSet {
            recorded: self.time(),
            refit: forecasts[0].time,
            recording: clamp_cost(self.refit - forecasts[0].time),
            refit_high: forecasts[0].high,
            refit_waited: forecasts[0].waited,
            changes: changes.map(|(change, f)| convert(change, f)).collect(),
            best: chosen.map(|(best, _)| as_workers(best)),
            cheapest: chosen.map(|(_, cheapest)| as_workers(cheapest)),
            without_line: self.without_line(&base),
            workers_refused: self.workers_refused(),
            is_divided: self.streams && self.may_divide() && self.shards.is_none(),
            headroom: self.headroom(&base)?,
            assumptions: self.notes().to_vec(),
        }))
    }
}

impl Recorded {
    /// Forecasts the run for the case that the hottest line of fetching takes no time.
    fn without_line(&self, base: &Setting) -> Option<LineForecast> {
        /// Speedup that leaves no time.
        const NO_TIME: f64 = 1e9;
        let line = self.lines.costs.first()?.name.clone();
        let setting = Setting {
            faster: vec![(line.clone(), NO_TIME)],
            ..base.clone()
        };
        let forecast = self.forecast(&self.checked(&setting).ok()?).ok()?;
        Some(LineForecast {
            line,
            took: forecast.time,
            waited: forecast.waited.max(Nanos::ZERO),
            low: forecast.low.max(Nanos::ZERO),
            high: forecast.high,
        })
    }
}

fn convert(change: Change, forecast: &Forecast) -> loadscope_diagnose::Forecast {
    let at_least = |time: Nanos| time.max(Nanos::ZERO);
    loadscope_diagnose::Forecast {
        change,
        took: forecast.time,
        waited: at_least(forecast.waited),
        low: at_least(forecast.low),
        high: forecast.high,
    }
}

/// Returns the change from `base` to a setting of the grid.
fn change(base: &Setting, setting: &Setting) -> Change {
    let (workers, factor) = (setting.num_workers, setting.prefetch_factor);
    if setting.persistent_workers != base.persistent_workers {
        return match workers == base.num_workers {
            true => Change::PersistentWorkers(setting.persistent_workers),
            false => Change::Kept(workers),
        };
    }
    match (workers == base.num_workers, factor == base.prefetch_factor) {
        (_, true) => Change::NumWorkers(workers),
        // Without workers nothing is prefetched.
        (_, false) if workers == 0 => Change::NumWorkers(0),
        (true, false) => Change::PrefetchFactor(factor),
        (false, false) => Change::Window(workers, factor),
    }
}

/// Returns settings with a single small change.
fn near(base: &Setting, epochs: usize, has_in_order: bool) -> Vec<(Change, Setting)> {
    let workers = base.num_workers;
    let factor = base.prefetch_factor.saturating_mul(2);
    let has_workers = workers > 0;
    let mut out = Vec::new();
    let mut add = |applies: bool, change: Change, setting: Setting| {
        if applies {
            out.push((change, setting));
        }
    };
    let with = |n| Setting {
        num_workers: n,
        ..base.clone()
    };
    let more = workers.saturating_add(1);
    add(true, Change::NumWorkers(more), with(more));
    if let Some(fewer) = workers.checked_sub(1) {
        add(true, Change::NumWorkers(fewer), with(fewer));
    }
    let any = Setting {
        in_order: false,
        ..base.clone()
    };
    // With one worker, batches cannot overtake each other.
    let overtakes = has_in_order && workers > 1;
    add(overtakes && base.in_order, Change::InOrder(false), any);
    let further = Setting {
        prefetch_factor: factor,
        ..base.clone()
    };
    add(has_workers, Change::PrefetchFactor(factor), further);
    let kept = Setting {
        persistent_workers: true,
        ..base.clone()
    };
    // With one epoch the workers end only once anyway.
    let ends = has_workers && !base.persistent_workers && epochs > 1;
    add(ends, Change::PersistentWorkers(true), kept);
    let unpinned = Setting {
        pin_memory: false,
        ..base.clone()
    };
    add(base.pin_memory, Change::PinMemory(false), unpinned);
    out
}
