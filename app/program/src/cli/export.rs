//! `loadscope export`: a recording for other tools.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::force::ForceArg;
use super::pick::{open, which};
use super::terminal::{complain, say};
use loadscope_insight::format;
use loadscope_session::{ExportFormat, export_runs, refuse_export_onto};
use loadscope_trace::{Past, plural};
use loadscope_words::say;

/// What to write where.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A recording (.jsonl or .jsonl.zst), a folder of them, or what another tool wrote
    file: PathBuf,
    /// Only this loader, of several: its number, or words of its name: 4, "rank 2", train [default: all]
    #[arg(long, value_name = "LOADER")]
    loader: Option<String>,
    /// As what
    #[arg(long, value_enum)]
    to: To,
    /// chrome: the file, compressed if its name ends in .gz. csv, parquet: a folder for batches, samples, gauges, waits, loaders and errors;
    /// with a name that ends in .csv or .parquet, files beside each other (run.csv: run.batches.csv, run.samples.csv, …)
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
}

/// What a recording can be written as.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum To {
    /// A trace that ui.perfetto.dev opens
    Chrome,
    /// Tables as text
    Csv,
    /// Tables that DuckDB, Polars and pandas read fast
    Parquet,
}

pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let kind = match args.to {
        To::Chrome => ExportFormat::Chrome,
        To::Csv => ExportFormat::Csv,
        To::Parquet => ExportFormat::Parquet,
    };
    refuse_export_onto(&args.file, kind, &args.output)?;
    let opened = open(&args.file)?;
    let mut runs: Vec<_> = opened.fleet.runs().collect();
    if let Some(text) = &args.loader {
        let id = which(&opened, text)?;
        runs.retain(|(one, _)| *one == id);
    }
    // On standard error, and only if it is a terminal.
    let style = ProgressStyle::with_template("{bar:40} {percent} %")
        .unwrap_or(ProgressStyle::default_bar());
    let bar = ProgressBar::new(1000).with_style(style);
    let files = export_runs(&runs, kind, &args.output, args.force.existing(), |share| {
        bar.set_position((f64::from(share) * 1000.0) as u64);
        true
    });
    bar.finish_and_clear();
    for file in files.map_err(|e| anyhow!(say!("cannot export: {e}")))? {
        say(&file.display().to_string())?;
    }
    for (_, run) in &runs {
        if let Some(past) = run.past() {
            complain(past_is_missing(past));
        }
    }
    if opened.cut {
        complain(say!(
            "the recording is cut off in the middle; what is kept in full before the cut was exported"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A recording with a limit has sums of its beginning, which no table has a place for.
fn past_is_missing(past: &Past) -> String {
    let total = past.total();
    say!(
        "{} of the first {} were not exported: only sums per minute are kept of that time, and single waits, which \
         `loadscope info` lists",
        plural(total.batches, say!(n: "batch"), say!(n: "batches")),
        format::length(total.to - total.from)
    )
}
