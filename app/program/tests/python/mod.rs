//! Where the tests find Python.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A Python, with PyTorch or without.
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

/// A Python that has PyTorch: the one that `LOADSCOPE_PROBE_PYTHON` names, or the one that `cargo xtask setup --pytorch` made. Clean
/// clones have none, and are not made to download gigabytes.
pub fn pytorch() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("LOADSCOPE_PROBE_PYTHON") {
        return Some(own.into());
    }
    made("venv", "import torch")
}

/// Any Python for a test that needs one. Without one a line says that this was not tested.
#[allow(dead_code, reason = "some tests say more, or need PyTorch")]
#[allow(clippy::print_stderr, reason = "a test says what it did not run")]
pub fn needed_python() -> Option<PathBuf> {
    let found = python();
    if found.is_none() {
        eprintln!("There is no Python here, so this was not tested");
    }
    found
}

/// A Python that has PyTorch for a test that needs it. Without one a line says that this was not tested.
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

/// One that has as well what trains with PyTorch: the one that `LOADSCOPE_LIBRARIES_PYTHON` names, or the one that
/// `cargo xtask setup --formats` and `cargo xtask kinds` make.
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

/// The Python of an environment of ours, if it is there and can do that.
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
