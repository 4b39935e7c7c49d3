//! Choice of settings: the best ones in the forecast, and neighbors of them, because a forecast can be wrong.

use loadscope_plan::forecast::{Forecast, Recorded, Setting, explore, grid};
use loadscope_trace::{Nanos, Overrides, Run};
use loadscope_words::say;

/// Maximum number of workers without a forecast.
const MAX_WORKERS: usize = 16;
/// Minimum expected gain of a change, as a share.
const MIN_GAIN: f64 = 0.02;

/// Forecast for a setting: time per batch without the first batch, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Time per batch, s.
    pub per_batch: f64,
    /// Lower end of the 90 % interval.
    pub low: f64,
    /// Upper end of the 90 % interval.
    pub high: f64,
}

/// A setting to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// Changed arguments.
    pub overrides: Overrides,
    /// Its forecast. `None` without one.
    pub expected: Option<Expected>,
}

/// Settings to try, with forecasts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Settings in the order of execution.
    pub tries: Vec<Try>,
    /// Forecast for the unchanged program, which checks the other forecasts.
    pub own: Option<Expected>,
    /// Notes about the forecasts, as complete sentences.
    pub notes: Vec<String>,
}

/// Chooses at most `most` settings to try after the recording `run`. If `asked` is not empty, its settings are used instead.
/// `wanted` returns false if the result is no longer needed. Nothing is chosen then.
pub fn choose(
    run: &Run,
    asked: &[Overrides],
    most: usize,
    wanted: &(dyn Fn() -> bool + Sync),
) -> Choice {
    let recorded = Recorded::of_part(run);
    let mut choice = Choice::default();
    let settings = match &recorded {
        Ok(recorded) => ranked(recorded, is_stream(run), wanted),
        Err(refusal) => {
            let text = say!("No forecast: {refusal}");
            choice.notes.push(text);
            None
        }
    };
    let base = match &recorded {
        Ok(recorded) => recorded.setting(),
        Err(_) => Setting::of(&run.info.options),
    };
    let candidates: Vec<Overrides> = match (asked, settings) {
        ([], Some(ranked)) => {
            let several_epochs = run.epochs().len() > 1;
            let settings = promising(&base, &ranked, several_epochs);
            settings.iter().map(|s| difference(&base, s)).collect()
        }
        ([], None) => settings_without_forecast(&base, run),
        (asked, _) => asked.to_vec(),
    };
    let forecast = |overrides: &Overrides| {
        let recorded = recorded.as_ref().ok()?;
        let forecast = recorded.forecast(&with(&base, overrides)?).ok()?;
        expected(run, &forecast)
    };
    choice.own = forecast(&Overrides::default());
    for overrides in candidates {
        let is_new = choice.tries.iter().all(|t| t.overrides != overrides);
        let is_full = asked.is_empty() && choice.tries.len() >= most;
        if is_new && !is_full && !overrides.is_empty() && wanted() {
            let expected = forecast(&overrides);
            choice.tries.push(Try {
                overrides,
                expected,
            });
        }
    }
    choice
}

/// Returns settings with their forecasts, fastest first. Returns `None` without forecasts.
fn ranked(
    recorded: &Recorded,
    is_stream: bool,
    wanted: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Forecast>> {
    let base = recorded.setting();
    let mut workers = recorded.usual_workers();
    if is_stream || recorded.workers_refused().is_some() {
        workers = vec![base.num_workers];
    }
    let mut settings = grid(&base, workers, &recorded.usual_prefetch());
    let others: Vec<Setting> = settings
        .iter()
        .filter(|s| s.num_workers > 0 && s.prefetch_factor == base.prefetch_factor)
        .flat_map(|s| variations(&base, s))
        .collect();
    settings.extend(others);
    settings.retain(|s| recorded.headroom(s).is_ok());
    let outlook = explore(recorded, &settings, &|_| wanted()).ok()??;
    let mut all = outlook.configurations;
    all.sort_by_key(|f| (f.time, f.setting.num_workers, f.setting.prefetch_factor));
    Some(all)
}

/// Returns variants of `setting` with one more change each.
fn variations(base: &Setting, setting: &Setting) -> Vec<Setting> {
    let kept = Setting {
        persistent_workers: !base.persistent_workers,
        ..setting.clone()
    };
    let any = Setting {
        in_order: !base.in_order,
        ..setting.clone()
    };
    let pinned = Setting {
        pin_memory: !base.pin_memory,
        ..setting.clone()
    };
    vec![kept, any, pinned]
}

/// Returns settings in the order in which they are worth trying.
fn promising(base: &Setting, ranked: &[Forecast], several_epochs: bool) -> Vec<Setting> {
    let plain = |s: &Setting| {
        s.persistent_workers == base.persistent_workers
            && s.in_order == base.in_order
            && s.pin_memory == base.pin_memory
    };
    let of_grid: Vec<&Forecast> = ranked.iter().filter(|f| plain(&f.setting)).collect();
    let Some(best) = of_grid.first() else {
        return Vec::new();
    };
    let as_good = |f: &&&Forecast| is_within(f.time, best.time, MIN_GAIN);
    let cost = |f: &&&Forecast| (f.setting.num_workers, f.setting.prefetch_factor);
    let cheapest = of_grid.iter().filter(as_good).min_by_key(cost);
    let cheapest = cheapest.unwrap_or(best);
    let mut out = vec![cheapest.setting.clone()];
    // The number of workers matters most, and its forecast can be wrong. One setting with more workers and one with
    // fewer therefore follow.
    let factor = cheapest.setting.prefetch_factor;
    let workers = cheapest.setting.num_workers;
    let with_workers = |n: usize| {
        let same =
            |f: &&&Forecast| f.setting.num_workers == n && f.setting.prefetch_factor == factor;
        of_grid.iter().find(same).map(|f| f.setting.clone())
    };
    let mut numbers: Vec<usize> = of_grid.iter().map(|f| f.setting.num_workers).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let further = (workers + 1).max(workers * 3 / 2);
    let more = numbers.iter().find(|n| **n >= further);
    let fewer = numbers.iter().rev().find(|n| **n < workers && **n > 0);
    out.extend(more.and_then(|n| with_workers(*n)));
    out.push(best.setting.clone());
    // Settings with another option in addition, the most useful first.
    let on_top = ranked.iter().filter(|f| {
        let s = &f.setting;
        !plain(s) && s.num_workers == workers && s.prefetch_factor == base.prefetch_factor
    });
    let useful = |f: &&Forecast| {
        let keeps = several_epochs && f.setting.persistent_workers && !base.persistent_workers;
        keeps || !is_within(cheapest.time, f.time, MIN_GAIN)
    };
    out.extend(on_top.filter(useful).map(|f| f.setting.clone()));
    out.extend(fewer.and_then(|n| with_workers(*n)));
    out.extend(of_grid.iter().map(|f| f.setting.clone()));
    out
}

/// Returns true if `time` exceeds `least` by at most `share`.
fn is_within(time: Nanos, least: Nanos, share: f64) -> bool {
    time.as_secs_f64() <= least.as_secs_f64() * (1.0 + share)
}

/// Returns true for an iterable-style dataset. The number of workers determines the samples of each worker.
fn is_stream(run: &Run) -> bool {
    run.info.options.is_stream()
}

/// Returns settings to try without forecasts.
fn settings_without_forecast(base: &Setting, run: &Run) -> Vec<Overrides> {
    let is_stream = is_stream(run);
    let cores = (run.info.cores as usize).clamp(1, MAX_WORKERS);
    let now = base.num_workers;
    let workers = |n: usize| Overrides {
        num_workers: Some(n),
        ..Overrides::default()
    };
    let numbers = [
        cores,
        now + 1,
        (now * 2).min(MAX_WORKERS),
        cores.div_ceil(2),
        0,
    ];
    let numbers = numbers.into_iter().filter(|n| !is_stream && *n != now);
    let mut out: Vec<Overrides> = numbers.map(workers).collect();
    let has_workers = now > 0;
    let more = Overrides {
        prefetch_factor: Some(base.prefetch_factor.saturating_mul(2)),
        ..Overrides::default()
    };
    let kept = Overrides {
        persistent_workers: Some(true),
        ..Overrides::default()
    };
    out.extend(has_workers.then_some(more));
    out.extend((has_workers && !base.persistent_workers).then_some(kept));
    out
}

/// Returns the overrides that turn `base` into `setting`.
fn difference(base: &Setting, setting: &Setting) -> Overrides {
    let works = setting.num_workers > 0;
    // A program without workers gets PyTorch's default prefetch factor together with workers.
    let factor =
        (setting.prefetch_factor != base.prefetch_factor).then_some(setting.prefetch_factor);
    let flag = |is: bool, was: bool| (is != was).then_some(is);
    Overrides {
        num_workers: (setting.num_workers != base.num_workers).then_some(setting.num_workers),
        prefetch_factor: factor.filter(|_| works),
        persistent_workers: flag(setting.persistent_workers, base.persistent_workers)
            .filter(|_| works),
        pin_memory: flag(setting.pin_memory, base.pin_memory),
        in_order: flag(setting.in_order, base.in_order).filter(|_| works),
        multiprocessing_context: None,
    }
}

/// Applies `overrides` to `base`. Returns `None` if a change cannot be forecast.
fn with(base: &Setting, overrides: &Overrides) -> Option<Setting> {
    let o = overrides;
    o.multiprocessing_context.is_none().then(|| Setting {
        num_workers: o.num_workers.unwrap_or(base.num_workers),
        prefetch_factor: o.prefetch_factor.unwrap_or(base.prefetch_factor),
        persistent_workers: o.persistent_workers.unwrap_or(base.persistent_workers),
        pin_memory: o.pin_memory.unwrap_or(base.pin_memory),
        in_order: o.in_order.unwrap_or(base.in_order),
        ..base.clone()
    })
}

/// Converts a forecast to the measured quantity. A forecast covers all epochs and the time between them.
/// A measurement is the time per batch within epochs, without the first batch.
fn expected(run: &Run, forecast: &Forecast) -> Option<Expected> {
    let epochs = run.epochs();
    let between = epochs.pairs().map(|pair| {
        let end = pair[0].end.unwrap_or(pair[1].start);
        (pair[1].start - end).as_secs_f64().max(0.0)
    });
    let apart = between.sum::<f64>() + forecast.first_batch?.as_secs_f64();
    let count = forecast.batches.checked_sub(1).filter(|n| *n > 0)? as f64;
    let each = |time: Nanos| ((time.as_secs_f64() - apart) / count).max(0.0);
    Some(Expected {
        per_batch: each(forecast.time),
        low: each(forecast.low),
        high: each(forecast.high),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated;
    use crate::tune::Measured;
    use loadscope_trace::RunOptions;

    fn options(workers: usize) -> RunOptions {
        RunOptions {
            dataset: "synthetic:len=600,cost_ms=10".to_owned(),
            batch_size: Some(10),
            num_workers: workers,
            step_ms: 20.0,
            ..RunOptions::default()
        }
    }

    #[test]
    fn more_workers_are_tried_if_one_worker_is_too_slow() {
        let run = simulated(&options(1));
        let choice = choose(&run, &[], 6, &|| true);
        assert_eq!(choice.tries.len(), 6, "{choice:#?}");
        let first = &choice.tries[0];
        assert!(first.overrides.num_workers >= Some(5), "{choice:#?}");
        let numbers = choice.tries.iter().map(|t| t.overrides.num_workers);
        let mut numbers: Vec<usize> = numbers.flatten().collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert!(numbers.len() >= 3, "{choice:#?}");
        // The forecast of a setting equals its measurement.
        let measured = Measured::of(&run, usize::MAX).expect("batches").per_batch;
        let own = choice.own.expect("a forecast").per_batch;
        assert!((own / measured - 1.0).abs() < 0.01, "{own} {measured}");
        let workers = first.overrides.num_workers.expect("it is set");
        let real = simulated(&options(workers));
        let real = Measured::of(&real, usize::MAX).expect("batches").per_batch;
        let told = first.expected.expect("a forecast").per_batch;
        assert!((told / real - 1.0).abs() < 0.05, "{told} {real}");
    }

    #[test]
    fn only_requested_settings_are_tried() {
        let run = simulated(&options(1));
        let asked = Overrides {
            num_workers: Some(3),
            ..Overrides::default()
        };
        let spawned = Overrides {
            multiprocessing_context: Some(loadscope_trace::StartMethod::Spawn),
            ..Overrides::default()
        };
        let choice = choose(&run, &[asked.clone(), spawned, asked.clone()], 1, &|| true);
        assert_eq!(choice.tries.len(), 2);
        assert_eq!(choice.tries[0].overrides, asked);
        assert!(choice.tries[0].expected.is_some() && choice.tries[1].expected.is_none());
    }

    #[test]
    fn streams_keep_their_number_of_workers() {
        let mut run = simulated(&options(2));
        run.info.options.dataset = "stream".to_owned();
        let choice = choose(&run, &[], 6, &|| true);
        let tries = choice.tries.iter();
        assert!(tries.clone().count() > 0);
        assert!(
            tries.clone().all(|t| t.overrides.num_workers.is_none()),
            "{choice:#?}"
        );
    }

    #[test]
    fn a_canceled_choice_has_no_tries() {
        let choice = choose(&simulated(&options(1)), &[], 6, &|| false);
        assert!(choice.tries.is_empty());
    }
}
