//! The endurance test: a billion events each through the limited recorder, the window and the engine, measured from outside. Writes
//! `tests/soak/RESULTS.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};

use crate::bench::programs;
use crate::setup::Ready;
use crate::steps;

mod child;
mod judge;
mod row;
mod sample;
mod stops;
mod table;

use child::Work;
use table::Section;

/// Options of the endurance test.
#[derive(Args, Debug)]
pub struct Options {
    /// Events of each part
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000,
          value_parser = clap::value_parser!(u64).range(10_000..))]
    events: u64,
    /// Only these parts [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PART")]
    part: Vec<Part>,
    /// Write tests/soak/RESULTS.md. Results of other parts stay
    #[arg(long)]
    write: bool,
    /// Seed of random times, to repeat a run [default: the time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Time limit, hours
    #[arg(long, value_name = "N", default_value_t = 24)]
    hours: u64,
    /// Use this `soak` executable instead of building one
    #[arg(long, value_name = "EXECUTABLE")]
    executable: Option<PathBuf>,
}

/// Tested part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// A synthetic training through the recorder with a limit
    Recorder,
    /// Runs and recordings through the window, one after the other
    Fold,
    /// The embedded engine, recorded with a limit, with pauses and steps
    Engine,
    /// The same with the process stopped and continued, and with clock changes for the recorder
    Interrupted,
}

const ALL: [Part; 4] = [Part::Recorder, Part::Fold, Part::Engine, Part::Interrupted];

/// Options of the limited recording.
const LIMIT: &str = "`--last 30m --max-size 200MB`";

/// Builds the benchmark, runs and watches its parts, and writes the table. Returns 1 if a check fails.
pub fn run(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    let executable = match &options.executable {
        Some(own) => own.clone(),
        None => programs::built(
            steps::cargo(ready, &["bench", "--no-run", "--bench", "soak"])
                .args(["-p", "loadscope"]),
            "soak",
        )?,
    };
    let seed = options.seed.unwrap_or_else(by_time);
    eprintln!("Random moments begin at {seed}; `--seed {seed}` repeats them.");
    let parts = match options.part.is_empty() {
        true => &ALL[..],
        false => &options.part,
    };
    let path = workspace.join("tests/soak/RESULTS.md");
    let mut code = 0;
    for work in parts.iter().flat_map(|part| works(*part)) {
        let run = child::Run {
            executable: &executable,
            libraries: ready.libtorch.join("lib"),
            events: options.events,
            seed,
            deadline: Duration::from_secs(options.hours.saturating_mul(3600)),
        };
        let watched = child::watch(&work, &run)?;
        let section = Section::of(&work, &run, &watched);
        println!("{}", section.text());
        if watched.rows.iter().any(|row| row.holds == Some(false)) {
            code = 1;
        }
        // The page is written after each part, because the next part takes hours.
        if options.write {
            write(&path, section)?;
        }
    }
    match options.write {
        true => eprintln!("Written to {}.", path.display()),
        false => eprintln!("Not written; --write does."),
    }
    Ok(code)
}

/// Replaces the section with the same title in the page.
fn write(path: &Path, section: Section) -> Result<()> {
    let before = match path.exists() {
        true => fs::read_to_string(path).with_context(|| path.display().to_string())?,
        false => String::new(),
    };
    let order: Vec<&str> = ALL
        .iter()
        .flat_map(|part| works(*part))
        .map(|w| w.title)
        .collect();
    fs::create_dir_all(path.parent().context("a folder")?)?;
    fs::write(path, table::page(&before, section, &order))
        .with_context(|| path.display().to_string())
}

fn by_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(1, |since| since.as_secs())
}

/// Returns the processes of a part.
fn works(part: Part) -> Vec<Work> {
    let work = |title, about: String, arguments: &'static [&'static str]| Work {
        title,
        about,
        arguments,
        is_stopped: false,
    };
    match part {
        Part::Recorder => vec![work(
            "Recorder",
            format!(
                "A made-up training of days through the recorder, as with {LIMIT}: hours in which all fits and hours in which the size is the limit, \
                     a long wait in 2,000 batches, errors, warnings, epochs that are stopped early."
            ),
            &["part=recorder"],
        )],
        Part::Fold => vec![work(
            "Window",
            "Runs and recordings through the window without a screen, each replaced by the next."
                .to_owned(),
            &["part=fold"],
        )],
        Part::Engine => vec![work(
            "Engine",
            format!(
                "The embedded engine at full speed, recorded as `run --record` does it with {LIMIT}."
            ),
            &["part=engine"],
        )],
        Part::Interrupted => {
            let mut stopped = work(
                "Engine, suspended",
                "The same while the process is stopped by SIGSTOP for one to three seconds at random moments.".to_owned(),
                &["part=engine"],
            );
            stopped.is_stopped = true;
            vec![
                stopped,
                work(
                    "Recorder, clock set",
                    format!(
                        "{CLOCKS} Here the events are sorted as those of the engine's threads are."
                    ),
                    &["part=recorder", "clock=sorted"],
                ),
                work(
                    "Recorder, clock set, unsorted",
                    "The same with events that come to the recorder as they are.".to_owned(),
                    &["part=recorder", "clock=raw"],
                ),
            ]
        }
    }
}

/// Reason why the test does not change the clock of the host.
const CLOCKS: &str = "The clock of the events is set forwards and back by hours. Events have their times from a clock that only goes \
                      onwards (`Instant`), and the time of day stands in the introduction of a run and in names of journals only: so no clock of the host is set, \
                      but that of the made-up events.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_titles_are_unique() {
        let mut titles: Vec<&str> = ALL
            .iter()
            .flat_map(|part| works(*part))
            .map(|w| w.title)
            .collect();
        let all = titles.len();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), all);
    }
}
