//! Python environments with PyTorch, for comparisons with the real one. Without them, the tests report that they did not run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::version::{VERSION, VISION};
use crate::{libtorch, python};

/// Index of the wheels without CUDA. These wheels are a tenth of the size of PyPI's wheels, which need NVIDIA's libraries to be imported.
const CPU_WHEELS: &str = "https://download.pytorch.org/whl/cpu";

/// Returns the folder for the environments and other compared programs.
pub fn cache() -> Result<PathBuf> {
    Ok(libtorch::cache()?.join("peers"))
}

/// Returns a Python with PyTorch: the user's, or one in an environment in `cache`, which is created if missing.
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

/// Installs the wheels for the CPU if their index is reachable. Otherwise, it installs those of pip's configured index.
fn install(python: &Path) -> Result<()> {
    let pip = || {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "numpy", "pillow"])
            .arg(format!("torch=={}", VERSION));
        pip
    };
    // On other systems, PyPI's wheels are for the CPU.
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

/// Training libraries, and libraries with their own loaders.
const LIBRARIES: [&str; 6] = [
    "accelerate",
    "datasets",
    "lightning",
    "torchdata",
    "transformers",
    "webdataset",
];

/// Modules that data formats are compared with, and their pip packages. The training libraries are in the environment below.
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

/// Returns a Python with PyTorch and the training libraries, in an environment on top of that of [`python()`]. Tests skip missing
/// libraries.
pub fn with_libraries(cache: &Path) -> Result<PathBuf> {
    let below = python(cache)?;
    let names = LIBRARIES.join(", ");
    let (python, is_new) = layer(&cache.join("kinds"), &[&below], &names)?;
    if is_new && !runs(&mut pip(&python, &LIBRARIES)) {
        eprintln!("pip could not install them: programs that need one of them are not tried.");
    }
    Ok(python)
}

/// Returns a Python with the modules of [`FORMATS`], in an environment on top of that of [`with_libraries`]. Tests report the comparisons
/// that they skipped.
pub fn with_formats(cache: &Path) -> Result<PathBuf> {
    let (below, libraries) = (python(cache)?, with_libraries(cache)?);
    let modules = FORMATS.map(|(module, _)| module).join(", ");
    let names = format!("torchvision, {modules}");
    let (python, is_new) = layer(&cache.join("formats"), &[&below, &libraries], &names)?;
    if is_new {
        // torchvision depends on a release of PyTorch, which is already installed.
        let vision = runs(pip(&python, &[&format!("torchvision=={VISION}")]).arg("--no-deps"));
        if !vision || !runs(&mut pip(&python, &FORMATS.map(|(_, package)| package))) {
            eprintln!("pip could not install all of {names}: what is missing is not compared.");
        }
    }
    Ok(python)
}

/// Returns an environment that also sees the packages of others, because PyTorch takes a few gigabytes. The flag is false if the
/// environment already existed with all `modules`.
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

/// Returns the Python of an environment in `folder` that can import `module`. Installs the pip package if necessary.
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

/// Prepares pip for an interpreter, without builds from source.
pub fn pip(python: &Path, packages: &[&str]) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--only-binary=:all:"])
        .args(packages);
    pip
}

/// Returns the package folder of an interpreter.
fn packages_of(python: &Path) -> Result<String> {
    let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let said = Command::new(python)
        .args(["-c", ask])
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .with_context(|| format!("{} does not start", python.display()))?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// Returns the path of an environment's interpreter.
pub fn inside(environment: &Path) -> PathBuf {
    match cfg!(windows) {
        true => environment.join("Scripts").join("python.exe"),
        false => environment.join("bin").join("python"),
    }
}

/// Runs a command without output. Returns true if it succeeds.
pub fn runs(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // PyTorch must not load Loadscope's libtorch.
        .env_remove("LD_LIBRARY_PATH");
    quiet.status().is_ok_and(|status| status.success())
}

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command, otherwise: &str) -> Result<()> {
    // The output is not part of the tables.
    let status = command.stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{otherwise} ({status})."),
        Err(error) => Err(error).with_context(|| otherwise.to_owned()),
    }
}
