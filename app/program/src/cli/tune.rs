//! `loadscope tune`: measures other `DataLoader` arguments in the program itself.

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Args;
use loadscope_files::{create_free_folder, new_folder};
use loadscope_trace::Overrides;
use loadscope_words::say;

use super::interrupt::Signals;
use super::number::whole_number;
use super::program::{NOT_STARTED, exit_as};
use super::terminal::{print_json_line, print_message, print_report};
use loadscope_insight::tune::overrides;
use loadscope_session::Stop;
use loadscope_session::tune::{Job, TuneError, tune};

/// Maximum number of default names to try.
const MOST_NAMES: u32 = 10_000;
/// Exit code after Ctrl+C.
const INTERRUPTED: u8 = 130;

/// The program, and the settings to try.
#[derive(Debug, Args)]
#[command(after_long_help = "\
How a run ends: after enough batches, next() raises SystemExit, so `finally` and `with` blocks run.

Side effects: `tune` changes none of your files. Your program writes its checkpoints, logs and uploads in every run. Redirect them with \
an option of your program (--output-dir /tmp/try) or turn them off (WANDB_MODE=offline).

Random numbers: another num_workers changes random augmentations. Each batch keeps its samples. With shuffle=True, \
another persistent_workers changes the sample order from the second epoch on, with or without a generator.

Exit code:
  0    the settings were compared
  2    an option is invalid, or the output folder cannot be written
  127  the program cannot be started
  130  interrupted by Ctrl+C (143 by SIGTERM)
  If the unchanged program fails: its own exit code.")]
pub struct TuneArgs {
    /// Stop each run after this many batches or this long: 200, 30s or 5m
    ///
    /// A time counts from the first batch.
    #[arg(long, value_name = "BATCHES|TIME", default_value = "200")]
    stop_after: StopAfter,
    /// Maximum number of settings to try, at most 64
    ///
    /// The unchanged program is repeated after every three settings.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = whole_number(1_u16, 64))]
    tries: u16,
    /// Try only this setting, such as num_workers=4,prefetch_factor=4 (can be repeated)
    #[arg(long = "try", value_name = "KEY=VALUE,…", value_parser = overrides)]
    asked: Vec<Overrides>,
    /// Loader to tune, by line, number or part of its name [default: the one training waits for longest]
    ///
    /// Examples: train.py:42, 4, "rank 2".
    #[arg(long, value_name = "LOADER")]
    loader: Option<String>,
    /// Apply the settings to all loaders, not only to the measured one
    #[arg(long)]
    all: bool,
    /// Output folder, new or empty [default: tune, then tune-2, …]
    ///
    /// Contains the recordings and the output of the program.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print one JSON object
    ///
    /// Its keys: runs, noise, recommended, verdict.
    #[arg(long)]
    json: bool,
    /// Program and its arguments, such as python train.py --epochs 3
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Limit of a run: `200` batches, or a time such as `30s`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StopAfter(Stop);

impl FromStr for StopAfter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || say!("expected a number of batches, or a time such as 30s or 5m").to_owned();
        let (number, unit) = match text.strip_suffix('m') {
            Some(number) => (number, 60.0),
            None => (text.strip_suffix('s').unwrap_or(text), 1.0),
        };
        if number == text {
            let batches = text.parse::<NonZeroU64>().map_err(|_| wrong())?;
            return Ok(Self(Stop::Batches(batches)));
        }
        let seconds = number.parse::<f64>().map_err(|_| wrong())? * unit;
        let time = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
        match time.is_zero() {
            true => Err(wrong()),
            false => Ok(Self(Stop::Time(time))),
        }
    }
}

pub fn run(args: &TuneArgs) -> anyhow::Result<ExitCode> {
    let folder = folder(args).context(say!("program not started"))?;
    let job = Job {
        command: args.command.clone(),
        started_in: None,
        stop: args.stop_after.0,
        tries: args.tries.into(),
        asked: args.asked.clone(),
        loader: args.loader.clone(),
        all_loaders: args.all,
        folder: folder.clone(),
    };
    let signals = Signals::catch();
    let ends = || signals.count();
    let tuned = match tune(&job, &mut |progress| print_message(progress), &ends) {
        Ok(tuned) => tuned,
        Err(TuneError::Start(e)) => {
            print_message(e);
            return Ok(ExitCode::from(NOT_STARTED));
        }
        Err(TuneError::Failed { end, log }) => {
            print_message(TuneError::Failed { end, log });
            return exit_as(end);
        }
        Err(e) => return Err(anyhow!(e)),
    };
    let shown = folder.display().to_string();
    if let Some(table) = &tuned.table {
        match args.json {
            true => print_json_line(table.json(&shown))?,
            false => print_report(&table.text(&shown))?,
        }
    }
    if tuned.interrupted {
        print_message(say!("interrupted. The recordings so far are in {shown}."));
        return Ok(ExitCode::from(signals.code().unwrap_or(INTERRUPTED)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates the output folder.
fn folder(args: &TuneArgs) -> anyhow::Result<PathBuf> {
    match &args.output {
        Some(path) => {
            new_folder(path)?;
            Ok(path.clone())
        }
        None => {
            let others = (2..=MOST_NAMES).map(|n| format!("tune-{n}"));
            let names = std::iter::once("tune".to_owned()).chain(others);
            Ok(create_free_folder(names.map(PathBuf::from))?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_after_batches_or_a_time() {
        let read = |text: &str| text.parse::<StopAfter>().map(|stop| stop.0);
        let batches = NonZeroU64::new(200).map(Stop::Batches).expect("not zero");
        assert_eq!(read("200"), Ok(batches));
        assert_eq!(read("30s"), Ok(Stop::Time(Duration::from_secs(30))));
        assert_eq!(read("1.5m"), Ok(Stop::Time(Duration::from_secs(90))));
        for wrong in [
            "0", "-1", "0s", "-3s", "s", "m", "nans", "infs", "1e30s", "many", "",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
