//! Python interpreters for tests.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns a Python, with or without PyTorch.
pub fn python() -> Option<PathBuf> {
    let names = ["python3", "python"];
    let works = |name: &&str| {
        Command::new(name)
            .arg("-c")
            .arg("pass")
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    };
    names.into_iter().find(works).map(PathBuf::from)
}

/// Returns a Python with PyTorch: that of `LOADSCOPE_PROBE_PYTHON`, or of `cargo xtask setup --pytorch`. A clean clone has none, because it
/// is a download of gigabytes.
pub fn pytorch() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("LOADSCOPE_PROBE_PYTHON") {
        return Some(own.into());
    }
    made("venv", "import torch")
}

/// Returns any Python. Prints a line about the skipped test if there is none.
#[allow(dead_code, reason = "some tests say more, or need PyTorch")]
#[allow(clippy::print_stderr, reason = "a test says what it did not run")]
pub fn needed_python() -> Option<PathBuf> {
    let found = python();
    if found.is_none() {
        eprintln!("There is no Python here, so this was not tested");
    }
    found
}

/// Returns a Python with PyTorch. Prints a line about the skipped test if there is none.
#[allow(dead_code, reason = "some tests say more, or need any Python")]
#[allow(clippy::print_stderr, reason = "a test says what it did not run")]
pub fn needed_pytorch() -> Option<PathBuf> {
    let found = pytorch();
    if found.is_none() {
        eprintln!(
            "There is no PyTorch here, so this was not tested; `cargo xtask setup --pytorch` gets one"
        );
    }
    found
}

/// Returns a Python with PyTorch and training frameworks: that of `LOADSCOPE_LIBRARIES_PYTHON`, or of `cargo xtask setup --formats` and
/// `cargo xtask kinds`.
#[allow(dead_code, reason = "most tests need PyTorch alone")]
pub fn libraries() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("LOADSCOPE_LIBRARIES_PYTHON") {
        return Some(own.into());
    }
    made(
        "kinds",
        "import torch, importlib.metadata as m; m.version('lightning')",
    )
}

/// Returns the Python of a cached environment, if it exists and can run `what`.
fn made(environment: &str, what: &str) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("LOADSCOPE_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("loadscope")))
        .or_else(|| Some(folder("HOME")?.join(".cache/loadscope")))?;
    let python = cache.join("peers").join(environment).join("bin/python");
    let mut asked = Command::new(&python);
    asked
        .args(["-c", what])
        .env_remove("LD_LIBRARY_PATH")
        .stderr(Stdio::null());
    asked.status().is_ok_and(|s| s.success()).then_some(python)
}
