//! `loadscope what-if`: forecasts other settings from a recording.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::Args;
use loadscope_diagnose::{Change, Effect, ForecastSet};
use loadscope_trace::{Nanos, Run};
use loadscope_words::say;
use serde_json::{Value, json};

use super::pick::{LoaderArg, pick};
use super::terminal::{print_json_line, print_report};
use loadscope_insight::format;
use loadscope_insight::report::LoaderContext;
use loadscope_plan::forecast::{Exploration, Forecast, Recorded, Setting, explore, grid};
use loadscope_plan::keyvalue::{ValueError, numbers};
use loadscope_plan::limits;

/// Maximum number of settings.
const MOST_SETTINGS: usize = 10_000;

/// The recording, and the settings to forecast.
#[derive(Debug, Args)]
pub struct WhatIfArgs {
    /// Recording or folder of recordings
    file: PathBuf,
    #[command(flatten)]
    loader: LoaderArg,
    /// Numbers of workers to forecast, at most 1,024: 4, 0..8 (8 included) or 1,2,4 [default: 0..8 and more if useful]
    ///
    /// At most 10,000 settings are forecast.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = workers)]
    workers: Option<Range>,
    /// Values of prefetch_factor to forecast, at most 10,000: 2, 1..4 or 2,8 [default: 1..4 and the recorded one]
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = prefetch)]
    prefetch: Option<Range>,
    /// Change another setting in every forecast, such as in_order=false (can be repeated)
    ///
    /// Settings: batch_size, in_order, persistent_workers, pin_memory, step_ms, cores, cache=0.8 (share of samples), faster=rest:2 (a
    /// named stage, or rest), trainer_cpu=0.5 (share of a step). num_workers and prefetch_factor replace the ranges.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object
    ///
    /// Its keys: configurations, recorded, best, cheapest, headroom and others.
    #[arg(long)]
    json: bool,
}

/// Range of numbers: `4`, `0..8` (8 included) or `1,2,4`.
#[derive(Clone, Debug, PartialEq)]
struct Range(Vec<usize>);

fn workers(text: &str) -> Result<Range, ValueError> {
    numbers(text, "num_workers", limits::WORKERS).map(Range)
}

fn prefetch(text: &str) -> Result<Range, ValueError> {
    numbers(text, "prefetch_factor", limits::PREFETCH).map(Range)
}

pub fn run(args: &WhatIfArgs) -> anyhow::Result<ExitCode> {
    let picked = pick(&args.file, args.loader.loader.as_deref())?;
    let recorded = Recorded::of_enough(picked.run())?;
    let mut base = recorded.setting();
    let set = base.set_all(args.set.iter().map(String::as_str));
    let set = set.map_err(|text| anyhow!(say!("--set: {text}")))?;
    let asked = |range: &Option<Range>| range.as_ref().map(|r| r.0.clone());
    let workers = match set.contains(&"num_workers") {
        true => vec![base.num_workers],
        false => asked(&args.workers).unwrap_or_else(|| recorded.usual_workers()),
    };
    let prefetch = match set.contains(&"prefetch_factor") {
        true => vec![base.prefetch_factor],
        false => asked(&args.prefetch).unwrap_or_else(|| recorded.usual_prefetch()),
    };
    let count = workers.len().saturating_mul(prefetch.len());
    if count > MOST_SETTINGS {
        bail!(say!(
            "{} numbers of workers and {} prefetch factors make {} settings, but at most {} are forecast. Choose smaller ranges.",
            format::count(workers.len() as u64),
            format::count(prefetch.len() as u64),
            format::count(count as u64),
            format::count(MOST_SETTINGS as u64)
        ));
    }
    let mut settings = grid(&base, workers, &prefetch);
    if args.workers.is_none() {
        // Default settings without a forecast are skipped, such as other numbers of workers for iterable-style datasets.
        recorded.headroom(&base)?;
        settings.retain(|s| recorded.headroom(s).is_ok());
    }
    let Some(outlook) = explore(&recorded, &settings, &|_| true)? else {
        bail!(say!("the forecast was interrupted. Run the command again."));
    };
    let Some(prospects) = recorded.prospects(&|_| true)? else {
        bail!(say!("the forecast was interrupted. Run the command again."));
    };
    let answer = ForecastReport {
        run: picked.run(),
        recorded: &recorded,
        prospects: &prospects,
        base: &base,
        outlook: &outlook,
        loader: picked.about(),
    };
    match args.json {
        true => print_json_line(answer.json())?,
        false => print_report(answer.text()?.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

struct ForecastReport<'a> {
    run: &'a Run,
    recorded: &'a Recorded,
    prospects: &'a ForecastSet,
    base: &'a Setting,
    outlook: &'a Exploration,
    loader: Option<LoaderContext>,
}

impl ForecastReport<'_> {
    /// Describes the effect of one change to the recorded setting.
    fn sentence(&self) -> String {
        let workers = self.recorded.setting().num_workers;
        self.prospects.sentence(workers, |time| time.to_string())
    }

    fn best(&self) -> &Forecast {
        &self.outlook.configurations[self.outlook.best]
    }

    fn cheapest(&self) -> &Forecast {
        &self.outlook.configurations[self.outlook.cheapest]
    }

    fn json(&self) -> Value {
        let own = &self.outlook.recorded;
        let mut recorded = object(own);
        if let Some(map) = recorded.as_object_mut() {
            // Measured times are next to the forecast.
            map.insert("seconds".into(), self.recorded.time().as_secs_f64().into());
            let waited = self.recorded.waited().as_secs_f64();
            map.insert("waited_seconds".into(), waited.into());
            map.insert("forecast_seconds".into(), own.time.as_secs_f64().into());
            let recording = self.prospects.recording.as_secs_f64();
            map.insert("recording_seconds".into(), recording.into());
        }
        json!({
            "loader": self.loader.as_ref().map(|loader| loader.json().0),
            "configurations": self.outlook.configurations.iter().map(object).collect::<Vec<_>>(),
            "recorded": recorded,
            "best": object(self.best()),
            "cheapest": object(self.cheapest()),
            "kept": self.outlook.kept.iter().map(object).collect::<Vec<_>>(),
            "recommended": object(&self.outlook.recommended),
            "effects": self.effects(),
            "headroom": { "seconds": self.outlook.headroom.as_secs_f64() },
            "changes": self.prospects.changes,
            "fits": self.prospects.fits(),
            "outlook": self.sentence(),
            "assumptions": self.recorded.notes_for(self.base),
        })
    }

    fn text(&self) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        if let Some(loader) = &self.loader {
            writeln!(out, "{}\n", loader.sentence())?;
        }
        for fact in self.facts() {
            writeln!(out, "{fact}")?;
        }
        writeln!(out)?;
        self.table(&mut out)?;
        writeln!(out)?;
        for doubt in self.doubts() {
            writeln!(out, "{}", say!("Wide intervals: {doubt}"))?;
        }
        for note in self.recorded.notes_for(self.base) {
            writeln!(out, "{}", say!("Note: {note}"))?;
        }
        Ok(out)
    }

    /// Returns the reasons for wide intervals.
    fn doubts(&self) -> BTreeSet<&'static str> {
        let all = self.outlook.configurations.iter();
        all.filter_map(|f| f.uncertainty_reason).collect()
    }

    /// Returns the facts above the table, one per line.
    fn facts(&self) -> Vec<String> {
        let whole = self.recorded.time();
        let say = |time: Nanos| time.format_in_unit_of(whole);
        let waited = self.recorded.waited();
        let share = waited.as_secs_f64() / whole.as_secs_f64().max(1e-9);
        let mut facts = vec![
            say!(
                "Recorded: {}, waiting {} ({} of the run)",
                say(whole),
                say(waited),
                format::percent(share)
            ),
            say!(
                "Forecast for the recorded settings: {}",
                say(self.outlook.recorded.time)
            ),
        ];
        let workers = self.recorded.setting().num_workers;
        match self.prospects.recommended(workers) {
            // A model that does not fit the recording gives no advice. Its forecasts have wide intervals.
            _ if !self.prospects.fits() => facts.push(self.sentence()),
            Some(_) => {
                facts.push(self.verdict());
                facts.extend(
                    self.best_single_change()
                        .filter(|_| self.change_outside_table().is_none()),
                );
                facts.extend(self.prospects.describe_unforecast_workers());
            }
            None => {
                facts.push(self.verdict());
                facts.extend(self.prospects.describe_unforecast_workers());
            }
        }
        facts.extend(self.effects().iter().map(|effect| {
            let effect = effect.sentence(self.run);
            say!("Side effect: {effect}.")
        }));
        facts.extend(self.prospects.caveat());
        facts.push(say!("Ideal loader: {}", say(self.outlook.headroom)));
        let changes = self.base.differences(&self.recorded.setting());
        if !changes.is_empty() {
            facts.push(say!("All forecasts use {}", changes.join(", ")));
        }
        facts
    }

    /// Returns the side effects of the best change on training. The set is empty if the model gives no advice.
    fn effects(&self) -> BTreeSet<Effect> {
        if !self.prospects.fits() {
            return BTreeSet::new();
        }
        let own = self.recorded.setting();
        let chosen = &self.outlook.recommended.setting;
        let changes = match self.change_outside_table() {
            Some(first) => vec![first.change],
            None => chosen.changes(&own),
        };
        let is_random = self.run.info.is_random();
        let effects = changes
            .into_iter()
            .map(|change| change.effects(own.num_workers, is_random));
        effects.flatten().collect()
    }

    /// Returns a faster change of an option that the table does not vary.
    fn change_outside_table(&self) -> Option<loadscope_diagnose::Forecast> {
        let is_outside = |f: &loadscope_diagnose::Forecast| {
            matches!(f.change, Change::InOrder(_) | Change::PinMemory(_))
                && f.took < self.outlook.recommended.time
        };
        let is_own = *self.base == self.recorded.setting();
        self.prospects
            .better()
            .into_iter()
            .find(|f| is_own && is_outside(f))
    }

    /// Returns the recommendation.
    fn verdict(&self) -> String {
        if let Some(first) = self.change_outside_table() {
            let (now, what) = (self.prospects.now(), first.change);
            return say!(
                "Best change: {what}: {} forecast instead of {} ({})",
                first.took.format_in_unit_of(now),
                now.format_in_unit_of(now),
                format::signed(self.prospects.change(first.took))
            );
        }
        let chosen = &self.outlook.recommended;
        let best = self.fastest().unwrap_or(chosen);
        let took = self.prospects.now();
        let saved = 1.0 - chosen.time.as_secs_f64() / took.as_secs_f64().max(1e-9);
        let what = self.words(&chosen.setting);
        // Without a faster setting, the recorded one is recommended.
        if saved < 0.02 || what.is_empty() {
            return say!(
                "Best change: none is at least 2\u{2009}% faster than the forecast for the recorded settings ({took})"
            );
        }
        let say = |time: Nanos| time.format_in_unit_of(took);
        let mut text = say!(
            "Best change: {what}: {} forecast instead of {} ({})",
            say(chosen.time),
            say(took),
            format::signed(-saved)
        );
        if best.time < chosen.time {
            let _ = write!(
                text,
                "\n{}",
                say!(
                    "Fastest: {}: {} ({})",
                    self.words(&best.setting),
                    say(best.time),
                    format::signed(self.prospects.change(best.time))
                )
            );
        }
        text
    }

    /// Returns the best change of one option. Returns `None` if the best change is one, or no forecast is faster.
    fn best_single_change(&self) -> Option<String> {
        let own = self.recorded.setting();
        if self.outlook.recommended.setting.differences(&own).len() < 2 {
            return None;
        }
        let better = self.prospects.better().into_iter();
        let is_single = |f: &loadscope_diagnose::Forecast| {
            !matches!(f.change, Change::Window(..) | Change::Kept(_))
        };
        let best = better.filter(is_single).min_by_key(|f| f.took)?;
        let took = best.took.format_in_unit_of(self.prospects.now());
        let gain = format::signed(self.prospects.change(best.took));
        Some(say!("Best single change: {}: {took} ({gain})", best.change))
    }

    /// Returns the changes of a setting in PyTorch's words.
    fn words(&self, setting: &Setting) -> String {
        setting.differences(&self.recorded.setting()).join(", ")
    }
}

fn object(f: &Forecast) -> Value {
    let s = &f.setting;
    let seconds = Nanos::as_secs_f64;
    json!({
        "num_workers": s.num_workers,
        "prefetch_factor": (s.num_workers > 0).then_some(s.prefetch_factor),
        "batch_size": s.batch_size,
        "in_order": s.in_order,
        "persistent_workers": s.persistent_workers,
        "pin_memory": s.pin_memory,
        "step_ms": s.step.map(Nanos::as_millis_f64),
        "cores": s.cores,
        "cache": s.cache,
        "seconds": seconds(f.time),
        "waited_seconds": seconds(f.waited),
        "first_batch_seconds": f.first_batch.map(seconds),
        "low": seconds(f.low),
        "high": seconds(f.high),
        "doubt": f.uncertainty_reason,
        "samples_per_second": f.samples_per_second(),
        "memory_bytes": f.memory,
    })
}

mod table;

#[cfg(test)]
mod tests;
