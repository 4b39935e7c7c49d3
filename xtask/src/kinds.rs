//! Tests of `loadscope record` with typical PyTorch programs, and with training runs that contain an injected bottleneck.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use crate::probe::{built, script};
use crate::pytorch;
use crate::setup::Ready;
use crate::steps;

/// Options of the tests.
#[derive(Args, Debug)]
pub struct Options {
    /// Only cases with this in their name, without a table. Can be repeated
    #[arg(long, value_name = "WORD")]
    only: Vec<String>,
    /// Use this Loadscope executable instead of building one
    #[arg(long, value_name = "EXECUTABLE")]
    loadscope: Option<PathBuf>,
    /// Keep recordings and reports in this folder
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Python interpreter with PyTorch and training libraries [default: the installed environment]
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
}

/// Records typical programs and writes tests/pytorch/KINDS.md.
pub fn kinds(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    run(ready, workspace, options, "kinds.py", "KINDS.md")
}

/// Checks the verdicts on training runs with injected bottlenecks, tries the suggested changes, and writes tests/pytorch/CAUSES.md.
pub fn causes(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    run(ready, workspace, options, "causes.py", "CAUSES.md")
}

fn run(
    ready: &Ready,
    workspace: &Path,
    options: &Options,
    name: &str,
    results: &str,
) -> Result<u8> {
    let python = match &options.python {
        Some(own) => own.clone(),
        None => pytorch::with_libraries(&pytorch::cache()?)?,
    };
    let loadscope = match &options.loadscope {
        Some(own) => own.clone(),
        None => built(ready, &["--release"])?,
    };
    let mut command = script(&python, workspace, name, &loadscope);
    for word in &options.only {
        command.arg("--only").arg(word);
    }
    if let Some(folder) = &options.keep {
        command.arg("--keep").arg(folder);
    }
    command
        .arg("--results")
        .arg(workspace.join("tests/pytorch").join(results));
    steps::finish(&mut command)
}
