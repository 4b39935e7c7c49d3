//! Benchmarks: Loadscope alone with criterion, or the same work with PyTorch, dataloader-rs and Loadscope in turn.
//!
//! Speeds differ between hosts and from minute to minute. Therefore the programs take turns, and ratios are within a round. The results are
//! `tests/peers/RESULTS.md` and, for data formats, `FORMATS.md` in the same folder.

mod measured;
mod measurement;
pub mod programs;
mod table;
mod workload;
mod workloads;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::setup::Ready;
use measured::Measured;
use programs::{Needs, Programs};
use workload::Workload;
use workloads::{FORMATS, WORKLOADS};

/// Options of the benchmarks.
#[derive(Args, Debug)]
pub struct Options {
    /// Compare with PyTorch, dataloader-rs and Python readers (installs them), write tests/peers/RESULTS.md and FORMATS.md
    #[arg(long)]
    pub peers: bool,
    /// Only these workloads, as in `--only w1,w4`. `--only formats` measures the data formats and writes their table
    #[arg(long, requires = "peers", value_delimiter = ',', value_name = "WORK")]
    only: Vec<String>,
    /// Repetitions of each program
    #[arg(long, requires = "peers", default_value_t = 5, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Run a sixteenth of the work, once, and write nothing
    #[arg(long, requires = "peers")]
    quick: bool,
}

/// Amount of work per workload: number of rounds, share of the work, minimum duration in seconds.
struct Effort {
    rounds: u32,
    share: f64,
    seconds: f64,
}

/// Compares the programs, prints the tables and writes them to files. Returns 1 if the programs did different work.
pub fn compare(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    let workloads = chosen(&options.only)?;
    let effort = if options.quick {
        Effort {
            rounds: 1,
            share: 1.0 / 16.0,
            seconds: 0.1,
        }
    } else {
        Effort {
            rounds: options.rounds,
            share: 1.0,
            seconds: 1.5,
        }
    };
    let needs = Needs {
        peers: workloads.iter().any(|workload| !workload.is_format()),
        formats: workloads.iter().any(|workload| workload.is_format()),
    };
    let programs = Programs::prepare(ready, workspace, needs)?;
    let (formats, loaders): (Vec<_>, Vec<_>) = workloads
        .into_iter()
        .partition(|workload| workload.is_format());
    let mut failed = false;
    for (workloads, all, name, text) in [
        (loaders, WORKLOADS, "RESULTS.md", table::written as Report),
        (formats, FORMATS, "FORMATS.md", table::formats),
    ] {
        if workloads.is_empty() {
            continue;
        }
        // The page is written after every workload, because measuring takes long and finished figures must survive an interruption.
        let path = workspace.join("tests/peers").join(name);
        let is_whole = !options.quick && workloads.len() == all.len();
        let mut measured = Vec::new();
        for workload in workloads {
            measured.push(run_rounds(workload, &programs, &effort)?);
            if is_whole {
                fs::write(&path, text(&measured, effort.rounds))
                    .with_context(|| format!("{} could not be written", path.display()))?;
            }
        }
        println!("{}", text(&measured, effort.rounds));
        match is_whole {
            true => eprintln!("Written to {}.", path.display()),
            false => eprintln!("Not written down, since not all was measured."),
        }
        failed |= measured.iter().any(|m| !m.differences.is_empty());
    }
    Ok(u8::from(failed))
}

/// Function that formats a report.
type Report = fn(&[Measured], u32) -> String;

/// Returns all workloads.
fn all_workloads() -> impl Iterator<Item = &'static Workload> {
    WORKLOADS.iter().chain(FORMATS)
}

/// Returns the workloads with one of the given names or group names. Returns all workloads if `only` is empty.
fn chosen(only: &[String]) -> Result<Vec<&'static Workload>> {
    for name in only {
        if !all_workloads().any(|workload| workload.is_called(name)) {
            let names: Vec<&str> = all_workloads().map(|workload| workload.id).collect();
            bail!(
                "Work {name} does not exist. Choose one of: {}.",
                names.join(", ")
            );
        }
    }
    let wanted =
        |workload: &&Workload| only.is_empty() || only.iter().any(|name| workload.is_called(name));
    Ok(all_workloads().filter(wanted).collect())
}

/// Runs every program once per round.
fn run_rounds(
    workload: &'static Workload,
    programs: &Programs,
    effort: &Effort,
) -> Result<Measured> {
    let mut measured = Measured::new(workload);
    let mut failures = Vec::new();
    for round in 1..=effort.rounds {
        for (task, measurements) in &mut measured.measurements {
            eprintln!("{} {round}/{}: {task}", workload.id, effort.rounds);
            // A peer that fails must not discard the figures of the others.
            match programs.run(task, effort.share, effort.seconds) {
                Ok(measurement) => measurements.push(measurement),
                Err(error) => {
                    eprintln!("{error:#}");
                    failures.push(format!("{task} failed."));
                }
            }
        }
    }
    failures.dedup();
    measured.differences.append(&mut failures);
    measured.compare_work();
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works_are_chosen_by_name_prefix() -> Result<()> {
        let names = |only: &[&str]| -> Result<Vec<&str>> {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            Ok(chosen(&only)?.iter().map(|workload| workload.id).collect())
        };
        assert_eq!(names(&["w5-fresh", "event"])?, ["w5-fresh", "event"]);
        assert_eq!(names(&["w1"])?, ["w1", "w1-copy", "w1-samples"]);
        assert!(names(&["w4"])?.len() > 3);
        assert_eq!(names(&["w4-memory"])?, ["w4-memory"]);
        assert_eq!(names(&[])?.len(), WORKLOADS.len() + FORMATS.len());
        assert_eq!(names(&["formats"])?.len(), FORMATS.len());
        assert_eq!(names(&["formats-csv"])?, ["formats-csv"]);
        assert!(names(&["w"]).is_err(), "not a whole name");
        Ok(())
    }
}
