//! `loadscope what-if`: forecasts of other settings from a recording.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use loadscope_trace::{Nanos, Prospects, bytes};
use loadscope_words::{right, say};
use serde_json::{Value, json};

use super::pick::{LoaderArg, pick};
use super::terminal::{say, say_json};
use loadscope_insight::format;
use loadscope_insight::report::AboutLoader;
use loadscope_plan::forecast::{Forecast, Outlook, Recorded, Setting, explore, grid};
use loadscope_plan::keyvalue::{Wrong, numbers};
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
    /// Numbers of workers to forecast, at most 1,024: 4, 0..8 or 1,2,4 [default: 0..8 and more if useful]
    ///
    /// At most 10,000 settings are forecast.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = workers)]
    workers: Option<Range>,
    /// Values of prefetch_factor to forecast, at most 10,000: 2, 1..4 or 2,8 [default: 1..4 and the recorded one]
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = prefetch)]
    prefetch: Option<Range>,
    /// Change another setting in every forecast, such as in_order=false (can be repeated)
    ///
    /// Settings: batch_size, in_order, persistent_workers, pin_memory, step_ms, cores, cache=0.8 (share of samples), faster=decode:2 (a
    /// named stage), trainer_cpu=0.5 (share of a step). num_workers and prefetch_factor replace the ranges.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object
    ///
    /// Its keys: configurations, recorded, best, cheapest, headroom and others.
    #[arg(long)]
    json: bool,
}

/// `4`, `0..8` (with its end) or `1,2,4`.
#[derive(Clone, Debug, PartialEq)]
struct Range(Vec<usize>);

fn workers(text: &str) -> Result<Range, Wrong> {
    numbers(text, "num_workers", limits::WORKERS).map(Range)
}

fn prefetch(text: &str) -> Result<Range, Wrong> {
    numbers(text, "prefetch_factor", limits::PREFETCH).map(Range)
}

pub fn run(args: &WhatIfArgs) -> anyhow::Result<ExitCode> {
    let picked = pick(&args.file, args.loader.loader.as_deref())?;
    let recorded = Recorded::of_part(picked.run())?;
    let mut base = recorded.setting();
    let set = base.set_all(args.set.iter().map(String::as_str))?;
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
        // Default settings that cannot be forecast are skipped, such as other numbers of workers for iterable-style datasets.
        recorded.headroom(&base)?;
        settings.retain(|s| recorded.headroom(s).is_ok());
    }
    let Some(outlook) = explore(&recorded, &settings, &|_| true)? else {
        bail!(say!("the forecast was stopped"));
    };
    let Some(prospects) = recorded.prospects(&|_| true)? else {
        bail!(say!("the forecast was stopped"));
    };
    let answer = Answer {
        recorded: &recorded,
        prospects: &prospects,
        base: &base,
        outlook: &outlook,
        loader: picked.about(),
    };
    match args.json {
        true => say_json(answer.json())?,
        false => say(answer.text()?.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

struct Answer<'a> {
    recorded: &'a Recorded,
    prospects: &'a Prospects,
    base: &'a Setting,
    outlook: &'a Outlook,
    loader: Option<AboutLoader>,
}

impl Answer<'_> {
    /// The effect of one change to the recorded setting.
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
            // The measured times, next to the forecast.
            map.insert("seconds".into(), self.recorded.time().as_secs_f64().into());
            let waited = self.recorded.waited().as_secs_f64();
            map.insert("waited_seconds".into(), waited.into());
            map.insert("forecast_seconds".into(), own.time.as_secs_f64().into());
        }
        json!({
            "loader": self.loader.as_ref().map(|loader| loader.json().0),
            "configurations": self.outlook.configurations.iter().map(object).collect::<Vec<_>>(),
            "recorded": recorded,
            "best": object(self.best()),
            "cheapest": object(self.cheapest()),
            "kept": self.outlook.kept.iter().map(object).collect::<Vec<_>>(),
            "recommended": object(&self.outlook.recommended),
            "headroom": { "seconds": self.outlook.headroom.as_secs_f64() },
            "changes": self.prospects.changes,
            "fits": self.prospects.fits(),
            "outlook": self.sentence(),
            "assumptions": self.recorded.notes(),
        })
    }

    fn text(&self) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        // A model that does not fit what was recorded gives no advice; its numbers have wide intervals.
        let fits = self.prospects.fits();
        if fits {
            writeln!(out, "{}", self.verdict())?;
        }
        writeln!(out, "{}", self.sentence())?;
        if let Some(loader) = &self.loader {
            writeln!(out, "{}", loader.sentence())?;
        }
        self.forecasts(&mut out)?;
        writeln!(
            out,
            "{}",
            say!(
                "\nRecorded: {}, {} of it waiting\nForecast for the same settings: {}",
                self.recorded.time(),
                self.recorded.waited(),
                self.outlook.recorded.time
            )
        )?;
        for doubt in self.doubts() {
            writeln!(out, "{}", say!("Wide intervals: {doubt}"))?;
        }
        for note in self.recorded.notes() {
            writeln!(out, "{}", say!("Assumed: {note}"))?;
        }
        Ok(out)
    }

    /// Reasons of wide intervals.
    fn doubts(&self) -> BTreeSet<&'static str> {
        let all = self.outlook.configurations.iter();
        all.filter_map(|f| f.doubt).collect()
    }

    /// The forecasts of all settings.
    fn forecasts(&self, out: &mut String) -> std::fmt::Result {
        let ideal = self.outlook.headroom;
        writeln!(
            out,
            "{}",
            say!("With an ideal loader the run would take {ideal}")
        )?;
        let changes = self.base.differences(&self.recorded.setting());
        if !changes.is_empty() {
            writeln!(out, "{}", say!("All forecasts use {}", changes.join(", ")))?;
        }
        writeln!(out)?;
        self.table(out)
    }

    /// The recommendation.
    fn verdict(&self) -> String {
        let chosen = &self.outlook.recommended;
        let all = self.outlook.configurations.iter().chain(&self.outlook.kept);
        let best = all.min_by_key(|f| f.time).unwrap_or(chosen);
        let took = self.prospects.now();
        let saved = 1.0 - chosen.time.as_secs_f64() / took.as_secs_f64().max(1e-9);
        if saved < 0.02 {
            return match took < self.recorded.time() {
                true => say!(
                    "No setting is at least 2\u{2009}% faster than the forecast for the recorded settings ({took})"
                ),
                false => {
                    say!("No setting is at least 2\u{2009}% faster than the recorded run ({took})")
                }
            };
        }
        let what = self.words(&chosen.setting);
        let mut text = say!(
            "{what} would take {} instead of {took}, {} less",
            chosen.time,
            format::percent(saved)
        );
        if best.time < chosen.time {
            let _ = write!(
                text,
                "\n{}",
                say!("Fastest: {} with {}", best.time, self.words(&best.setting))
            );
        }
        text
    }

    /// A setting in PyTorch's words.
    fn words(&self, setting: &Setting) -> String {
        let kept = match setting.persistent_workers && !self.base.persistent_workers {
            true => ", persistent_workers=True",
            false => "",
        };
        match setting.num_workers {
            0 => "num_workers=0".to_owned(),
            n => format!(
                "num_workers={n}, prefetch_factor={}{kept}",
                setting.prefetch_factor
            ),
        }
    }

    fn table(&self, out: &mut String) -> std::fmt::Result {
        let tells_memory = self
            .outlook
            .configurations
            .iter()
            .any(|f| f.memory.is_some());
        let memory = match tells_memory {
            true => right(say!(column: "memory"), 10),
            false => String::new(),
        };
        writeln!(
            out,
            "{}  {}  {}  {}  {}  {}{memory}",
            right(say!(column: "workers"), 7),
            right(say!(column: "prefetch"), 8),
            right(say!(column: "time"), 10),
            right(say!(column: "90 % interval"), 23),
            right(say!(column: "waited"), 10),
            right(say!(column: "share"), 6)
        )?;
        let is_open = self.prospects.workers_refused.is_none();
        for (at, f) in self.outlook.configurations.iter().enumerate() {
            let mark = match at {
                // An iterable-style dataset has a forecast for one number of workers only.
                _ if !is_open => "",
                at if at == self.outlook.cheapest && at == self.outlook.best => {
                    say!("  best and cheapest")
                }
                at if at == self.outlook.best => say!("  best"),
                at if at == self.outlook.cheapest => say!("  cheapest within 2\u{2009}%"),
                _ => "",
            };
            row(out, f, tells_memory, mark)?;
        }
        if !self.outlook.kept.is_empty() {
            writeln!(out, "{}", say!("With persistent_workers=True:"))?;
        }
        for f in &self.outlook.kept {
            let is_it = f.setting == self.outlook.recommended.setting;
            row(
                out,
                f,
                tells_memory,
                if is_it { say!("  recommended") } else { "" },
            )?;
        }
        Ok(())
    }
}

/// A line of the table.
fn row(out: &mut String, f: &Forecast, tells_memory: bool, mark: &str) -> std::fmt::Result {
    let prefetch = match f.setting.num_workers {
        0 => "—".to_owned(),
        _ => f.setting.prefetch_factor.to_string(),
    };
    let memory = match tells_memory {
        true => format!(
            "  {:>8}",
            f.memory.map_or("—".to_owned(), |all| bytes(all as f64))
        ),
        false => String::new(),
    };
    writeln!(
        out,
        "{:>7}  {prefetch:>8}  {:>10}  {}  {:>10}  {:>6}{memory}{mark}",
        f.setting.num_workers,
        f.time.to_string(),
        right(&say!("{} to {}", f.low, f.high), 23),
        f.waited.to_string(),
        format::percent(f.waited_share()),
    )
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
        "doubt": f.doubt,
        "samples_per_second": f.samples_per_second(),
        "memory_bytes": f.memory,
    })
}

#[cfg(test)]
mod tests;
