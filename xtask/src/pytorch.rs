//! A Python environment with PyTorch, for what is held against the real one. Without it the same tests say that they did not run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::version::{VERSION, VISION};
use crate::{libtorch, python};

/// Where the wheels without CUDA are. They are a tenth of those of PyPI, which needs NVIDIA's libraries to be imported at all.
const CPU_WHEELS: &str = "https://download.pytorch.org/whl/cpu";

/// The folder for the environment and for what else is held against ours.
pub fn cache() -> Result<PathBuf> {
    Ok(libtorch::cache()?.join("peers"))
}

/// A Python with PyTorch: the user's, or one in an environment of its own in `cache`, made where it is missing.
pub fn python(cache: &Path) -> Result<PathBuf> {
    if let Some(own) = env::var_os("LOADSCOPE_PEERS_PYTHON") {
        return Ok(own.into());
    }
    let environment = cache.join("venv");
    let python = inside(&environment);
    let check = format!(
        "import numpy, PIL, torch; assert torch.__version__.split('+')[0] == '{}'",
        VERSION
    );
    if runs(Command::new(&python).args(["-c", &check])) {
        return Ok(python);
    }
    eprintln!(
        "Installing PyTorch {} in {} (a few gigabytes at most, once per user). LOADSCOPE_PEERS_PYTHON names a Python that has it \
         with numpy and Pillow.",
        VERSION,
        environment.display()
    );
    let mut make = Command::new(python::find()?);
    make.args(["-m", "venv"]).arg(&environment);
    succeed(&mut make, "No Python environment could be made")?;
    install(&python)?;
    Ok(python)
}

/// The wheels for the CPU if their index can be reached, else those of the index that pip is configured for.
fn install(python: &Path) -> Result<()> {
    let pip = || {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "numpy", "pillow"])
            .arg(format!("torch=={}", VERSION));
        pip
    };
    // Elsewhere PyPI's are for the CPU anyway.
    let small = [
        "--index-url",
        CPU_WHEELS,
        "--retries",
        "0",
        "--timeout",
        "10",
    ];
    if cfg!(target_os = "linux") && runs(pip().args(small)) {
        return Ok(());
    }
    succeed(&mut pip(), "PyTorch could not be installed")
}

/// What trains with PyTorch's loaders, or has loaders of its own.
const LIBRARIES: [&str; 6] = [
    "accelerate",
    "datasets",
    "lightning",
    "torchdata",
    "transformers",
    "webdataset",
];

/// What formats of data are compared with, as they are imported and as pip knows them. What trains with PyTorch is below it.
const FORMATS: [(&str, &str); 9] = [
    ("lmdb", "lmdb"),
    ("palmerpenguins", "palmerpenguins"),
    ("psycopg", "psycopg[binary]"),
    ("pycocotools", "pycocotools"),
    ("sklearn", "scikit-learn"),
    ("soundfile", "soundfile"),
    ("vega_datasets", "vega_datasets"),
    ("safetensors", "safetensors"),
    ("pandas", "pandas"),
];

/// A Python with PyTorch and the libraries that train with it, in an environment that lies over that of [`python()`]. Without them what
/// needs them is not tried.
pub fn with_libraries(cache: &Path) -> Result<PathBuf> {
    let below = python(cache)?;
    let names = LIBRARIES.join(", ");
    let (python, is_new) = layer(&cache.join("kinds"), &[&below], &names)?;
    if is_new && !runs(&mut pip(&python, &LIBRARIES)) {
        eprintln!("pip could not install them: programs that need one of them are not tried.");
    }
    Ok(python)
}

/// A Python with what formats of data are compared with, in an environment that lies over that of [`with_libraries`]. Without them the
/// tests say what they did not compare.
pub fn with_formats(cache: &Path) -> Result<PathBuf> {
    let (below, libraries) = (python(cache)?, with_libraries(cache)?);
    let modules = FORMATS.map(|(module, _)| module).join(", ");
    let names = format!("torchvision, {modules}");
    let (python, is_new) = layer(&cache.join("formats"), &[&below, &libraries], &names)?;
    if is_new {
        // It belongs to a release of PyTorch, which is there already.
        let vision = runs(pip(&python, &[&format!("torchvision=={VISION}")]).arg("--no-deps"));
        if !vision || !runs(&mut pip(&python, &FORMATS.map(|(_, package)| package))) {
            eprintln!("pip could not install all of {names}: what is missing is not compared.");
        }
    }
    Ok(python)
}

/// An environment over others, whose packages it sees: PyTorch itself is a few gigabytes. False: it is there and has `modules`.
fn layer(environment: &Path, below: &[&Path], modules: &str) -> Result<(PathBuf, bool)> {
    let python = inside(environment);
    if runs(Command::new(&python).args(["-c", &format!("import torch, {modules}")])) {
        return Ok((python, false));
    }
    let first = below
        .first()
        .context("an environment lies over another one")?;
    eprintln!(
        "Installing {modules} in {}, once per user",
        environment.display()
    );
    let mut make = Command::new(first);
    make.args(["-m", "venv", "--clear"]).arg(environment);
    succeed(&mut make, "No Python environment could be made")?;
    let packages = packages_of(&python)?;
    let mut lines = String::new();
    for below in below {
        lines += &format!("import site; site.addsitedir({:?})\n", packages_of(below)?);
    }
    std::fs::write(Path::new(&packages).join("pytorch.pth"), lines)
        .with_context(|| format!("cannot write into {packages}"))?;
    Ok((python, true))
}

/// A Python environment in `folder` in which `module` can be imported, made with pip's `package` if necessary.
///
/// # Errors
/// If the environment cannot be made, or pip fails.
pub fn environment(folder: &Path, module: &str, package: &str) -> Result<PathBuf> {
    let python = inside(folder);
    if !runs(Command::new(&python).args(["-c", &format!("import {module}")])) {
        let mut make = Command::new(python::find()?);
        make.args(["-m", "venv"]).arg(folder);
        succeed(&mut make, "No Python environment could be made")?;
        succeed(
            &mut pip(&python, &[package]),
            &format!("{package} could not be installed"),
        )?;
    }
    Ok(python)
}

fn pip(python: &Path, packages: &[&str]) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--only-binary=:all:"])
        .args(packages);
    pip
}

/// Where an interpreter has its packages.
fn packages_of(python: &Path) -> Result<String> {
    let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let said = Command::new(python)
        .args(["-c", ask])
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .with_context(|| format!("{} does not start", python.display()))?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// The interpreter of an environment.
pub fn inside(environment: &Path) -> PathBuf {
    match cfg!(windows) {
        true => environment.join("Scripts").join("python.exe"),
        false => environment.join("bin").join("python"),
    }
}

/// Whether a command ends well; what it prints is not looked at.
pub fn runs(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Our own libtorch must not become that of PyTorch.
        .env_remove("LD_LIBRARY_PATH");
    quiet.status().is_ok_and(|status| status.success())
}

/// Runs a command that has to end well.
pub fn succeed(command: &mut Command, otherwise: &str) -> Result<()> {
    // What is printed there is no part of the tables.
    let status = command.stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{otherwise} ({status})."),
        Err(error) => Err(error).with_context(|| otherwise.to_owned()),
    }
}
