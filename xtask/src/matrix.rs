//! Matrix of PyTorch programs and releases, with and without Loadscope.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::pytorch::{self, runs};
use crate::scripts::{built, command, tests};
use crate::setup::Ready;
use crate::{libtorch, steps};

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

/// Runs PyTorch programs with and without Loadscope, and writes tests/pytorch/RESULTS.md.
pub fn matrix(ready: &Ready, options: &Matrix) -> Result<u8> {
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
    let mut command = command(&pythons[0], "pytorch/matrix.py");
    command.arg("--loadscope").arg(loadscope);
    command.arg("--kills").arg(options.kills.to_string());
    if let Some(folder) = &options.examples {
        command.arg("--examples").arg(folder);
    }
    if let Some(word) = &options.only {
        command.arg("--only").arg(word);
    }
    match options.fast {
        true => command.arg("--fast"),
        false => command
            .arg("--results")
            .arg(tests().join("pytorch/RESULTS.md")),
    };
    steps::finish(command.args(&pythons))
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
    // The oldest releases are older than NumPy 2.
    let is_old = release.starts_with("1.") || release.starts_with("2.0");
    let numpy = if is_old { "numpy<2" } else { "numpy" };
    let torch = format!("torch=={release}");
    // Old releases exist only for old Python versions.
    let names = (9..=14).rev().map(|minor| format!("python3.{minor}"));
    for name in names.chain(["python3".to_owned()]) {
        let _ = std::fs::remove_dir_all(&environment);
        let made = runs(Command::new(&name).args(["-m", "venv"]).arg(&environment));
        if made && runs(&mut pytorch::pip(&python, &[&torch, numpy])) {
            return Some(python);
        }
    }
    eprintln!("Without PyTorch {release}: pip offers it for no Python that is here.");
    None
}
