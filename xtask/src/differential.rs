//! Random programs, run by PyTorch and by the engine. `tests/reference/differential.py` describes the method.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::setup::{Ready, workspace};
use crate::{pytorch, steps};

/// Options of the comparison.
#[derive(Args, Debug)]
pub struct Options {
    /// Number of random programs, about fifty per second
    #[arg(long, default_value_t = 1000)]
    cases: u32,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first: u32,
    /// Write tests/reference/DIFFERENTIAL.md
    #[arg(long)]
    write: bool,
}

/// Runs the programs with both. Returns 1 if the results differ.
pub fn run(ready: &Ready, options: &Options) -> Result<u8> {
    let engine = built(ready)?;
    let root = workspace();
    let mut command = Command::new(pytorch::with_libraries(&pytorch::cache()?)?);
    command
        .arg(root.join("tests/reference/differential.py"))
        .args(["--cases", &options.cases.to_string()])
        .args(["--first", &options.first.to_string()])
        .arg("--engine")
        .arg(engine);
    if options.write {
        command
            .arg("--results")
            .arg(root.join("tests/reference/DIFFERENTIAL.md"));
    }
    steps::finish(&mut command)
}

/// Builds the test `parity`, which runs the programs, and returns its executable.
fn built(ready: &Ready) -> Result<PathBuf> {
    let arguments = [
        "test",
        "--workspace",
        "--exclude",
        "xtask",
        "--test",
        "parity",
        "--no-run",
        "--message-format",
        "json",
    ];
    let output = steps::cargo(ready, &arguments)
        .stderr(Stdio::inherit())
        .output()
        .context("cargo could not be started")?;
    if !output.status.success() {
        bail!("The build of the engine failed. Its errors are above.");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let artifacts = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut executables = artifacts
        .filter(|one| one["target"]["name"] == "parity")
        .filter_map(|one| one["executable"].as_str().map(PathBuf::from));
    executables
        .next_back()
        .context("cargo named no executable of the test parity")
}
