//! Tests of the probe with PyTorch programs, and measurements of the cost of recording.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use clap::Args;

use crate::bench::programs;
use crate::pytorch::runs;
use crate::setup::Ready;
use crate::{libtorch, pytorch, steps};

/// PyTorch releases of the full matrix, as far as pip has them for an installed Python. The release of [`pytorch::python`] is always
/// tested.
const RELEASES: [&str; 4] = ["1.13.1", "2.0.1", "2.6.0", "2.15.0"];

/// Options of the matrix.
#[derive(Args, Debug)]
pub struct Matrix {
    /// One release, few start methods, few kills, write nothing
    #[arg(long)]
    fast: bool,
    /// Install the other releases (a few gigabytes each, once per user)
    #[arg(long, conflicts_with = "fast")]
    install: bool,
    /// Only checks with this in their names
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// Kills at random times
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Also test the programs of this checkout of github.com/pytorch/examples
    #[arg(long, value_name = "FOLDER")]
    examples: Option<PathBuf>,
    /// Use this Loadscope executable instead of building one
    #[arg(long, value_name = "EXECUTABLE")]
    loadscope: Option<PathBuf>,
    /// Python interpreters with PyTorch [default: the installed environments]
    pythons: Vec<PathBuf>,
}

/// Options of the cost measurement.
#[derive(Args, Debug)]
pub struct Overhead {
    /// Repetitions of each program
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    rounds: u32,
    /// Count instructions with callgrind instead of measuring time (a quarter of an hour)
    #[arg(long, conflicts_with = "rounds")]
    instructions: bool,
    /// Only workloads with this in their names, as in pictures-2. Other rows of the table stay
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// Use this optimised Loadscope executable instead of building one
    #[arg(long, value_name = "EXECUTABLE")]
    loadscope: Option<PathBuf>,
}

/// Runs PyTorch programs with and without Loadscope, and writes tests/pytorch/RESULTS.md.
pub fn matrix(ready: &Ready, workspace: &Path, options: &Matrix) -> Result<u8> {
    let mut pythons = options.pythons.clone();
    if pythons.is_empty() {
        let cache = libtorch::cache()?;
        pythons.push(pytorch::python(&pytorch::cache()?)?);
        if !options.fast {
            for release in RELEASES {
                pythons.extend(python_of_release(&cache, release, options.install));
            }
        }
    }
    let loadscope = match &options.loadscope {
        Some(own) => own.clone(),
        None => built(ready, &[])?,
    };
    let mut command = script(&pythons[0], workspace, "matrix.py", &loadscope);
    command.arg("--kills").arg(options.kills.to_string());
    if let Some(folder) = &options.examples {
        command.arg("--examples").arg(folder);
    }
    if let Some(word) = &options.only {
        command.arg("--only").arg(word);
    }
    if options.fast {
        command.arg("--fast");
    } else {
        command
            .arg("--results")
            .arg(workspace.join("tests/pytorch/RESULTS.md"));
    }
    steps::finish(command.args(&pythons))
}

/// Runs the same programs with and without recording, in turn, and writes tests/pytorch/OVERHEAD.md.
pub fn overhead(ready: &Ready, workspace: &Path, options: &Overhead) -> Result<u8> {
    let cache = pytorch::cache()?;
    let python = pytorch::python(&cache)?;
    let data = programs::data(&python, workspace, &cache)?;
    let loadscope = match &options.loadscope {
        Some(own) => own.clone(),
        None => built(ready, &["--release"])?,
    };
    let mut command = script(&python, workspace, "overhead.py", &loadscope);
    if let Some(word) = &options.only {
        command.arg("--only").arg(word);
    }
    if options.instructions {
        command.arg("--instructions");
    }
    command
        .arg("--data")
        .arg(data)
        .arg("--rounds")
        .arg(options.rounds.to_string())
        .arg("--results")
        .arg(workspace.join("tests/pytorch/OVERHEAD.md"))
        .arg(python);
    steps::finish(&mut command)
}

/// Prepares a script of `tests/pytorch` with a Loadscope executable.
pub(crate) fn script(python: &Path, workspace: &Path, name: &str, loadscope: &Path) -> Command {
    let mut command = Command::new(python);
    command
        .arg("-B")
        .arg(workspace.join("tests/pytorch").join(name))
        .arg("--loadscope")
        .arg(loadscope)
        // The recorded PyTorch must not load Loadscope's libtorch.
        .env_remove("LD_LIBRARY_PATH");
    command
}

/// Builds Loadscope and returns the path of the executable.
pub(crate) fn built(ready: &Ready, more: &[&str]) -> Result<PathBuf> {
    let mut build = steps::cargo(ready, &["build", "--package", "loadscope"]);
    if steps::finish(build.args(more))? != 0 {
        bail!("The build of Loadscope failed. Its errors are above.");
    }
    let profile = if more.contains(&"--release") {
        "release"
    } else {
        "debug"
    };
    let name = format!("loadscope{}", std::env::consts::EXE_SUFFIX);
    Ok(ready.target.join(profile).join(name))
}

/// Returns the Python of an environment with this release. Returns `None` if it does not exist and cannot be made.
fn python_of_release(cache: &Path, release: &str, install: bool) -> Option<PathBuf> {
    let environment = cache.join(format!("pytorch-{release}"));
    let python = pytorch::inside(&environment);
    if runs(Command::new(&python).args(["-c", "import torch"])) {
        return Some(python);
    }
    if !install {
        eprintln!("Without PyTorch {release}: it is not installed, and --install was not given.");
        return None;
    }
    // Old releases exist only for old Python versions.
    let names = (9..=14).rev().map(|minor| format!("python3.{minor}"));
    for name in names.chain(["python3".to_owned()]) {
        let _ = std::fs::remove_dir_all(&environment);
        let made = runs(Command::new(&name).args(["-m", "venv"]).arg(&environment));
        let pinned = format!("torch=={release}");
        // The oldest releases are older than NumPy 2.
        let numpy = if release.starts_with("1.") || release.starts_with("2.0") {
            "numpy<2"
        } else {
            "numpy"
        };
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--only-binary=:all:",
            &pinned,
            numpy,
        ];
        if made && runs(Command::new(&python).args(pip)) {
            return Some(python);
        }
    }
    eprintln!("Without PyTorch {release}: pip offers it for no Python that is here.");
    None
}
