//! Python interpreter with the packages for comparison.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the first Python that can import all `packages`: that of `LOADSCOPE_FORMATS_PYTHON`, that of `cargo xtask setup --formats`, or
/// another one. Without one, prints a line about the skipped test that bypasses the output capture.
pub fn python(packages: &[&str]) -> Option<PathBuf> {
    let import = format!("import {}", packages.join(", "));
    let works = |python: &PathBuf| {
        let mut asked = Command::new(python);
        asked.args(["-c", &import]).stderr(Stdio::null());
        // PyTorch must not load Loadscope's libtorch.
        asked.env_remove("LD_LIBRARY_PATH");
        asked.status().is_ok_and(|status| status.success())
    };
    let found = places().into_iter().find(works);
    if found.is_none() {
        say(&format!(
            "no Python here has {} (cargo xtask setup --formats installs what formats are compared with)",
            packages.join(" and ")
        ));
    }
    found
}

fn places() -> Vec<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("LOADSCOPE_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("loadscope")))
        .or_else(|| Some(folder("HOME")?.join(".cache/loadscope")));
    let inside = ["formats", "kinds", "venv"]
        .map(|name| Some(cache.as_ref()?.join("peers").join(name).join("bin/python")));
    let given = folder("LOADSCOPE_FORMATS_PYTHON");
    let own = Some(PathBuf::from("python3"));
    [given]
        .into_iter()
        .chain(inside)
        .chain([own])
        .flatten()
        .collect()
}

/// Reports a skipped test.
pub fn say(text: &str) {
    use std::io::Write as _;
    let line = format!("NOT RUN: {text}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
