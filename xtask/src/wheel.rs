//! The package for pip: its build, and its test like a user would do it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::setup::{Ready, workspace};
use crate::{python, pytorch, steps, web};

mod notices;

/// Maximum size of a wheel, bytes.
const LARGEST: u64 = 25_000_000;

/// Oldest supported systems: those with glibc 2.17.
const SYSTEMS: &str = "manylinux_2_17";

/// Build tools: maturin, and a linker that supports old glibc versions.
const BUILDERS: [&str; 2] = ["maturin>=1.9,<2", "ziglang>=0.13"];

/// Required files of the wheel, besides the program.
const CONTENTS: [&str; 4] = [
    "loadscope/__init__.py",
    "loadscope/_probe/loadscope_probe.py",
    "loadscope/_probe/sitecustomize.py",
    "loadscope/py.typed",
];

/// Options of the wheel.
#[derive(Args, Debug)]
pub struct Options {
    /// Test the wheel in a new environment (recording, report, window under Xvfb, notebook), write tests/wheel/RESULTS.md
    #[arg(long = "try")]
    tries: bool,
    /// Use this wheel instead of building one
    #[arg(long, value_name = "FILE")]
    wheel: Option<PathBuf>,
    /// Python interpreter with PyTorch for the test [default: the installed environment]. Can be repeated
    #[arg(long, value_name = "PYTHON", requires = "tries")]
    python: Vec<PathBuf>,
}

/// Builds the wheel, prints its size and the build time, and tests it with `--try`.
pub fn run(ready: &Ready, options: &Options) -> Result<u8> {
    let wheel = match &options.wheel {
        Some(own) => own.clone(),
        None => build(ready)?,
    };
    check_contents(&wheel)?;
    match options.tries {
        true => attempt(ready, &wheel, &options.python),
        false => Ok(0),
    }
}

fn build(ready: &Ready) -> Result<PathBuf> {
    let began = Instant::now();
    // The program contains the page for a browser.
    if web::build(&ready.target)? != 0 {
        bail!("The build of the page failed, so no wheel was built. Its errors are above.");
    }
    notices::write(ready)?;
    let python = builders(&ready.target.join("wheel-builders"))?;
    let out = ready.target.join("wheels");
    if out.is_dir() {
        // Wheels of older versions are removed.
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let mut maturin = Command::new(&python);
    maturin
        .args(["-m", "maturin", "build", "--release", "--out"])
        .arg(&out)
        .current_dir(workspace().join("app/wheel"))
        .env("CARGO_TARGET_DIR", &ready.target);
    if cfg!(target_os = "linux") {
        maturin.args(["--zig", "--compatibility", SYSTEMS]);
    }
    // Cargo set these variables for xtask. The cargo that maturin starts must not see them.
    for (name, value) in steps::cargo(ready, &[]).get_envs() {
        if value.is_none() {
            maturin.env_remove(name);
        }
    }
    // maturin finds zig next to its Python interpreter.
    if let Some(folder) = python.parent() {
        let path = env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(folder.to_owned()).chain(env::split_paths(&path));
        maturin.env("PATH", env::join_paths(paths)?);
    }
    if steps::finish(&mut maturin)? != 0 {
        bail!("The build of the wheel failed. Its errors are above.");
    }
    let wheel = only_wheel(&out)?;
    eprintln!("It took {}.", minutes(began.elapsed()));
    Ok(wheel)
}

/// Returns a separate Python environment with the build tools.
fn builders(environment: &Path) -> Result<PathBuf> {
    let python = pytorch::inside(environment);
    let is_there = "import ziglang, importlib.metadata as m; m.version('maturin')";
    if pytorch::runs(Command::new(&python).args(["-c", is_there])) {
        return Ok(python);
    }
    eprintln!(
        "Installing {} in {}",
        BUILDERS.join(", "),
        environment.display()
    );
    let mut make = Command::new(python::find()?);
    make.args(["-m", "venv", "--clear"]).arg(environment);
    pytorch::succeed(&mut make, "No Python environment could be made")?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet"]).args(BUILDERS);
    pytorch::succeed(&mut pip, "What builds wheels could not be installed")?;
    Ok(python)
}

fn only_wheel(folder: &Path) -> Result<PathBuf> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("{} is not there", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut wheels = paths.filter(|path| path.extension().is_some_and(|e| e == "whl"));
    match (wheels.next(), wheels.next()) {
        (Some(wheel), None) => Ok(wheel),
        _ => bail!("There is not one wheel in {}.", folder.display()),
    }
}

/// Checks the size and the contents of the wheel.
fn check_contents(wheel: &Path) -> Result<()> {
    let size = fs::metadata(wheel)
        .with_context(|| format!("{} cannot be read", wheel.display()))?
        .len();
    eprintln!("{}: {:.1} MB", wheel.display(), size as f64 / 1e6);
    if size > LARGEST {
        bail!("The wheel is larger than {} MB.", LARGEST / 1_000_000);
    }
    let list = Command::new(python::find()?)
        .args(["-m", "zipfile", "--list"])
        .arg(wheel)
        .output()
        .context("the wheel cannot be looked into")?;
    let names = String::from_utf8_lossy(&list.stdout);
    let mut wanted = CONTENTS.into_iter().chain(notices::names());
    let missing = wanted.find(|name| !names.contains(name));
    match missing {
        Some(name) => bail!("{name} is not in the wheel."),
        None if names.contains("__pycache__") => {
            bail!("What Python compiled here is in the wheel.")
        }
        None if !names.contains("/scripts/loadscope") => bail!("The program is not in the wheel."),
        None => Ok(()),
    }
}

/// Tests the wheel with each interpreter.
fn attempt(ready: &Ready, wheel: &Path, pythons: &[PathBuf]) -> Result<u8> {
    let mut pythons = pythons.to_vec();
    if pythons.is_empty() {
        pythons.push(pytorch::python(&pytorch::cache()?)?);
    }
    let root = workspace();
    let mut command = Command::new(python::find()?);
    command
        .arg(root.join("tests/wheel/attempt.py"))
        .arg(wheel)
        .arg("--environments")
        .arg(ready.target.join("wheel-tries"))
        .arg("--results")
        .arg(root.join("tests/wheel/RESULTS.md"));
    for python in pythons {
        command.arg("--python").arg(python);
    }
    steps::finish(&mut command)
}

fn minutes(time: Duration) -> String {
    format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> Result<String> {
        let path = workspace().join("app/wheel").join(name);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    }

    #[test]
    fn the_package_names_its_authors() -> Result<()> {
        let settings: toml::Table = toml::from_str(&text("pyproject.toml")?)?;
        let project = settings.get("project");
        let authors = project.and_then(|project| project.get("authors"));
        let authors = authors.and_then(toml::Value::as_array);
        assert!(authors.is_some_and(|all| !all.is_empty()), "{project:?}");
        Ok(())
    }

    /// The description of the package is shown outside of the repository, so relative links would be broken.
    #[test]
    fn the_description_has_no_relative_links() -> Result<()> {
        let description = text("README.md")?;
        assert!(!description.contains("CI.md"));
        for link in description.split("](").skip(1) {
            let target = link.split(')').next().unwrap_or_default();
            let starts = ["http://", "https://", "#"];
            let leads_out = starts.iter().any(|start| target.starts_with(start));
            assert!(leads_out, "{target}");
        }
        Ok(())
    }
}
