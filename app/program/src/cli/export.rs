//! `loadscope export`: converts a recording for other tools.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::output::ForceArg;
use super::pick::{OnlyLoaderArg, find_loader, open};
use super::terminal::{print_line, print_message};
use super::truncation::truncation_message;
use loadscope_insight::format;
use loadscope_insight::loaders::names;
use loadscope_session::{ExportFormat, export_runs, refuse_export_onto};
use loadscope_trace::{Past, plural};
use loadscope_words::say;

/// The recording, and the format to export.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Recording, folder of recordings, or trace of another tool
    ///
    /// Reads .jsonl, .jsonl.zst, traces of torch.profiler, folders of LotusTrace logs and statistics of SPDL.
    file: PathBuf,
    #[command(flatten)]
    loader: OnlyLoaderArg,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: To,
    /// Output file or folder
    ///
    /// chrome and speedscope write one file, compressed if its name ends in .gz. pprof writes one compressed file.
    ///
    /// csv and parquet write a folder of tables: batches, samples, gauges, waits, loaders, errors and stacks. If the name ends in .csv or
    /// .parquet, they write one file per table, such as run.batches.csv.
    #[arg(short, long, value_name = "FILE|FOLDER")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
}

/// Formats of an export.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum To {
    /// Trace for ui.perfetto.dev (perfetto is the same)
    #[value(alias = "perfetto")]
    Chrome,
    /// Tables as text
    Csv,
    /// Tables for DuckDB, Polars and pandas
    Parquet,
    /// Sampled stacks for speedscope.app
    Speedscope,
    /// Sampled stacks for pprof
    Pprof,
}

pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let kind = match args.to {
        To::Chrome => ExportFormat::Chrome,
        To::Csv => ExportFormat::Csv,
        To::Parquet => ExportFormat::Parquet,
        To::Speedscope => ExportFormat::Speedscope,
        To::Pprof => ExportFormat::Pprof,
    };
    if let Some(other) = mismatched_format(kind, &args.output) {
        let (path, to) = (args.output.display(), name(kind));
        bail!(say!(
            "{path} has the extension of {}, but --to is {to}. Use --to {}, or another name.",
            name(other),
            name(other)
        ));
    }
    refuse_export_onto(&args.file, kind, &args.output)?;
    let has_ending = ExportFormat::for_path(&args.output) == Some(kind);
    if kind.has_tables() && !has_ending && args.output.is_file() {
        let (path, to) = (args.output.display(), name(kind));
        bail!(say!(
            "{path} is a file, but --to {to} needs a folder for its tables. Choose a new name, or one that ends in .{to} for a file per table."
        ));
    }
    let opened = open(&args.file)?;
    let mut runs: Vec<_> = opened.fleet.runs().collect();
    let mut names = names(&runs);
    if let Some(text) = &args.loader.loader {
        let id = find_loader(&opened, text)?;
        let at = runs.iter().position(|(one, _)| *one == id);
        let at = at.map_or(0..0, |at| at..at + 1);
        (runs, names) = (runs[at.clone()].to_vec(), names[at].to_vec());
    }
    // The bar is on standard error, and only if it is a terminal.
    let style = ProgressStyle::with_template("{bar:40} {percent} %")
        .unwrap_or(ProgressStyle::default_bar());
    let bar = ProgressBar::new(1000).with_style(style);
    let files = export_runs(
        &runs,
        &names,
        kind,
        &args.output,
        args.force.existing(),
        |share| {
            bar.set_position((f64::from(share) * 1000.0) as u64);
            true
        },
    );
    bar.finish_and_clear();
    for file in files.map_err(|e| anyhow!(say!("cannot export: {e}")))? {
        print_line(&file.display().to_string())?;
    }
    for (_, run) in &runs {
        if let Some(past) = run.past() {
            print_message(missing_past_warning(past));
        }
    }
    if opened.cut {
        print_message(truncation_message(&args.file, &runs));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the format that the extension of `path` belongs to, if it is not `kind`.
fn mismatched_format(kind: ExportFormat, path: &Path) -> Option<ExportFormat> {
    let other = ExportFormat::for_path(path).filter(|other| *other != kind)?;
    // Stacks for speedscope are JSON, too. Among the other `.gz` names, only `.json.gz` is a trace.
    let is_json = (path.to_string_lossy().to_ascii_lowercase())
        .trim_end_matches(".gz")
        .ends_with(".json");
    let fits = other == ExportFormat::Chrome && (!is_json || kind == ExportFormat::Speedscope);
    (!fits).then_some(other)
}

/// Returns the value of `--to`.
fn name(kind: ExportFormat) -> &'static str {
    match kind {
        ExportFormat::Chrome => "chrome",
        ExportFormat::Csv => "csv",
        ExportFormat::Parquet => "parquet",
        ExportFormat::Speedscope => "speedscope",
        ExportFormat::Pprof => "pprof",
    }
}

/// Returns the warning about the beginning of a limited recording. The beginning has only sums, and no table has a column for them.
fn missing_past_warning(past: &Past) -> String {
    let total = past.total();
    say!(
        "{} of the first {} were not exported. The recording has only sums per minute for that time. `loadscope info` lists its long waits.",
        plural(total.batches, say!(n: "batch"), say!(n: "batches")),
        format::length(total.to - total.from)
    )
}
