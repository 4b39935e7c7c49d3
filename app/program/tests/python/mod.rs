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
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("LOADSCOPE_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("loadscope")))
        .or_else(|| Some(folder("HOME")?.join(".cache/loadscope")))?;
    let python = cache.join("peers/venv/bin/python");
    let mut asked = Command::new(&python);
    asked
        .args(["-c", "import torch"])
        .env_remove("LD_LIBRARY_PATH")
        .stderr(Stdio::null());
    asked.status().is_ok_and(|s| s.success()).then_some(python)
}
