//! Forecasts compared with real PyTorch: `cargo xtask truth`.
//!
//! Each workload is recorded once. Loadscope forecasts other settings from this recording alone. Then the program runs with these settings,
//! without recording, in turn over several rounds. Measurements can be kept, so that forecasts can be repeated without running anything.

mod figures;
mod measure;
mod page;
mod predict;
mod process;
mod setting;
mod store;
mod workloads;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::setup::Ready;
use crate::{probe, pytorch};
use figures::Evaluation;
use store::{Folder, Measurements};
use workloads::{WORKLOADS, Workload};

/// Options of the comparison.
#[derive(Args, Debug)]
pub struct Options {
    /// Only these workloads, as in `--only jpeg,disk`. Then the table is not written
    #[arg(long, value_delimiter = ',', value_name = "WORKLOAD")]
    only: Vec<String>,
    /// Repetitions of each setting
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Use this optimised Loadscope executable instead of building one
    #[arg(long, value_name = "EXECUTABLE")]
    loadscope: Option<PathBuf>,
    /// Keep recordings and measurements.json in this folder. Workloads measured earlier stay
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Record again and keep the measurements of the settings, for recordings with new events
    #[arg(long, requires = "keep", conflicts_with = "rounds")]
    record_only: bool,
    /// Run nothing: repeat the forecasts for the recordings in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["keep", "rounds", "record_only"])]
    from: Option<PathBuf>,
    /// Write the page to this file instead of tests/pytorch/TRUTH.md, also with some workloads only
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// Measures or reads kept measurements, forecasts, and writes the page. Returns 1 if a program failed.
pub fn run(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    let works = workloads::chosen(&options.only)?;
    let loadscope = match &options.loadscope {
        Some(own) => {
            fs::canonicalize(own).with_context(|| format!("there is no {}", own.display()))?
        }
        None => probe::built(ready, &["--release"])?,
    };
    let temporary = tempfile::tempdir()?;
    let folder = match (&options.from, &options.keep) {
        (Some(folder), _) => Folder::existing(folder)?,
        (None, Some(folder)) => Folder::new(folder)?,
        (None, None) => Folder::new(temporary.path())?,
    };
    let mut measured = folder.measurements()?;
    let mut failures = 0;
    if options.from.is_none() {
        let lab = measure::Runner {
            python: pytorch::python(&pytorch::cache()?)?,
            program: workspace.join("tests/pytorch/truth/train.py"),
            loadscope: loadscope.clone(),
            folder: &folder,
            rounds: options.rounds,
        };
        for work in &works {
            let done = match options.record_only {
                true => lab.record_only(work, &mut measured),
                false => lab.measure(work, &mut measured),
            };
            if let Err(error) = done {
                eprintln!("{}: {error:#}", work.name);
                failures += 1;
            }
        }
    }
    let kept: Vec<&Workload> = WORKLOADS
        .iter()
        .filter(|work| measured.works.contains_key(work.name))
        .collect();
    let shown: Vec<&Workload> = match options.only.is_empty() {
        true => kept,
        false => works
            .into_iter()
            .filter(|work| options.from.is_some() || measured.works.contains_key(work.name))
            .collect(),
    };
    let judged = evaluate(&shown, &measured, &folder, &loadscope)?;
    publish(workspace, options, &measured, &judged)?;
    Ok(u8::from(failures > 0))
}

/// Forecasts from all recordings on two threads, and compares the forecasts with the measurements.
fn evaluate(
    works: &[&Workload],
    measured: &Measurements,
    folder: &Folder,
    loadscope: &Path,
) -> Result<Vec<Evaluation>> {
    let one = |work: &Workload| -> Result<Evaluation> {
        let Some(kept) = measured.works.get(work.name) else {
            bail!("{} was not measured; measure it with --keep", work.name);
        };
        let settings: Vec<_> = kept.tried.iter().map(|tried| tried.setting).collect();
        let told = predict::forecast(loadscope, &folder.recording(work.name), &settings)
            .with_context(|| format!("no forecast of {}", work.name))?;
        Ok(Evaluation::new(work, kept, told))
    };
    let half = works.len().div_ceil(2);
    let (early, late) = works.split_at(half);
    let judge_all = |works: &[&Workload]| {
        works
            .iter()
            .map(|work| one(work))
            .collect::<Result<Vec<_>>>()
    };
    thread::scope(|scope| {
        let early = thread::Builder::new().spawn_scoped(scope, || judge_all(early))?;
        let mut late = judge_all(late)?;
        let Ok(early) = early.join() else {
            bail!("forecasting ended unexpectedly");
        };
        let mut all = early?;
        all.append(&mut late);
        Ok(all)
    })
}

/// Prints a summary and writes the page.
fn publish(
    workspace: &Path,
    options: &Options,
    measured: &Measurements,
    judged: &[Evaluation],
) -> Result<()> {
    let text = page::written(measured, judged);
    print!("{}", page::summary(judged));
    let whole = WORKLOADS
        .iter()
        .all(|work| judged.iter().any(|one| one.name == work.name));
    let path = match &options.page {
        Some(own) => Some(own.clone()),
        None => whole.then(|| workspace.join("tests/pytorch/TRUTH.md")),
    };
    match path {
        Some(path) => {
            fs::write(&path, text)
                .with_context(|| format!("{} could not be written", path.display()))?;
            eprintln!("Written to {}.", path.display());
        }
        None => {
            println!("\n{text}");
            eprintln!(
                "Not written down, since not all workloads were looked at; --page names a file for it."
            );
        }
    }
    Ok(())
}
