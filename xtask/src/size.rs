//! Measurement of large data per format: the time of the first batch, and the memory of an epoch. Writes `loader/formats/SIZE.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value as Json;

use crate::setup::Ready;
use crate::steps;

/// Amount of data.
#[derive(Args, Debug)]
pub struct Options {
    /// Rows per table
    #[arg(long, default_value_t = 10_000_000)]
    rows: u64,
    /// Files per folder, or samples in all shards
    #[arg(long, default_value_t = 100_000)]
    files: u64,
    /// Only these formats, without a table
    #[arg(long, value_delimiter = ',', value_name = "FORMAT")]
    only: Vec<String>,
}

/// Creates, reads and removes the data of each format, one by one, in a temporary folder.
pub fn run(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    let program = build(ready)?;
    let formats = output_of(&program, &["all".to_owned()])?;
    let mut rows = Vec::new();
    for line in formats.lines() {
        let (format, unit) = line.split_once(' ').context("a format and its unit")?;
        if !options.only.is_empty() && !options.only.iter().any(|only| only == format) {
            continue;
        }
        let count = if unit == "files" {
            options.files
        } else {
            options.rows
        };
        let folder = std::env::temp_dir().join(format!("loadscope-size-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let place = folder.display().to_string();
        let answer = output_of(&program, &[format.to_owned(), place, count.to_string()]);
        // The folder is removed even after a failure, because the data may take gigabytes.
        let removed = fs::remove_dir_all(&folder);
        let row = row(format, unit, &serde_json::from_str(&answer?)?)?;
        removed.with_context(|| format!("{} cannot be removed", folder.display()))?;
        eprintln!("{row}");
        rows.push(row);
    }
    let page = page(&rows);
    println!("{page}");
    if options.only.is_empty() {
        fs::write(workspace.join("loader/formats/SIZE.md"), page)?;
    }
    Ok(0)
}

fn build(ready: &Ready) -> Result<PathBuf> {
    let arguments = [
        "build",
        "--release",
        "--package",
        "loadscope-formats",
        "--example",
        "size",
    ];
    if steps::finish(&mut steps::cargo(ready, &arguments))? != 0 {
        bail!("the build of the measuring program failed. Its errors are above.");
    }
    Ok(ready.target.join("release/examples/size"))
}

fn output_of(program: &Path, arguments: &[String]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{} could not be started", program.display()))?;
    if !output.status.success() {
        bail!("{arguments:?} ended with {}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn row(format: &str, unit: &str, measured: &Json) -> Result<String> {
    let number = |value: &Json| {
        value
            .as_f64()
            .with_context(|| format!("{format}: {measured}"))
    };
    let memory = |at: usize| number(&measured["memory"][at]);
    let rows = number(&measured["rows"])?;
    Ok(format!(
        "| `{format}` | {:.1} million {unit} | {:.3} s | {:.1} s | {:.0} MB | {:.0} MB | {:.0} MB |",
        rows / 1e6,
        number(&measured["first"])?,
        number(&measured["epoch"])?,
        memory(0)?,
        memory(1)?,
        memory(2)?,
    ))
}

fn page(rows: &[String]) -> String {
    let mut page = String::from(
        "# Large data\n\n\
         Written by `cargo xtask size`. *first batch*: time from opening the data to the first batch of 64 rows. *epoch*: every row is read\n\
         once, in batches from all over the data, in one thread. Memory is that of the process without file mappings. The files are in the page\n\
         cache. Text tables have no index, so opening reads the whole file. Parquet and compressed Arrow keep up to 512 MB of decoded data.\n\n\
         | format | size | first batch | epoch | memory, first batch | a quarter | end |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let _ = writeln!(page, "{row}");
    }
    page
}
