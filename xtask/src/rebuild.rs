//! Measurement of the incremental build time after a change of one line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::setup::workspace;

/// Options of the measurement.
#[derive(Args)]
pub struct Options {
    /// Another checkout to measure in turn. It needs a build folder of its own, `target` in it
    #[arg(long)]
    against: Option<PathBuf>,
    /// The file of a panel in the other checkout, if its path differs
    #[arg(long, default_value = PANEL)]
    panel: PathBuf,
    /// Repetitions of each measurement
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

const PANEL: &str = "app/ui/src/panels/status.rs";
const TRACE: &str = "loader/trace/src/run.rs";

/// Checkout and the files that are changed in it.
struct Tree {
    name: &'static str,
    folder: PathBuf,
    changed: [(&'static str, PathBuf); 2],
}

/// Changed file. Dropping it restores the text.
struct Changed {
    path: PathBuf,
    text: String,
}

impl Changed {
    /// Appends code that the compiler cannot ignore.
    fn new(path: PathBuf, round: usize) -> Result<Self> {
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let line =
            format!("\n/// Round {round}.\n#[allow(dead_code)]\nconst REBUILT: usize = {round};\n");
        fs::write(&path, format!("{text}{line}"))
            .with_context(|| format!("cannot change {}", path.display()))?;
        Ok(Self { path, text })
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        if let Err(e) = fs::write(&self.path, &self.text) {
            eprintln!(
                "{} keeps the line that was added: {e}. Restore it with git",
                self.path.display()
            );
        }
    }
}

/// Measures the build times and prints a table.
pub fn run(options: &Options) -> Result<u8> {
    let tree = |name, folder: PathBuf, panel: &Path| Tree {
        name,
        changed: [
            ("a panel", folder.join(panel)),
            ("trace", folder.join(TRACE)),
        ],
        folder,
    };
    let mut trees = vec![tree("here", workspace(), Path::new(PANEL))];
    if let Some(other) = &options.against {
        let other = other
            .canonicalize()
            .with_context(|| format!("cannot find {}", other.display()))?;
        trees.push(tree("there", other, &options.panel));
    }
    for tree in &trees {
        eprintln!(
            "Building {} once, so that everything is warm",
            tree.folder.display()
        );
        build(&tree.folder)?;
    }
    println!(
        "| one changed line in | tree | seconds, median of {} | each |\n|---|---|---|---|",
        options.rounds
    );
    for what in 0..2 {
        let mut times = vec![Vec::new(); trees.len()];
        for round in 0..options.rounds {
            for (tree, times) in trees.iter().zip(&mut times) {
                let changed = Changed::new(tree.changed[what].1.clone(), round)?;
                times.push(build(&tree.folder)?);
                drop(changed);
            }
        }
        // The last build compiles the restored text.
        for tree in &trees {
            build(&tree.folder)?;
        }
        for (tree, times) in trees.iter().zip(&times) {
            let each: Vec<String> = times
                .iter()
                .map(|t| format!("{:.1}", t.as_secs_f64()))
                .collect();
            println!(
                "| {} | {} | {:.1} | {} |",
                tree.changed[what].0,
                tree.name,
                median(times).as_secs_f64(),
                each.join(", ")
            );
        }
    }
    Ok(0)
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn build(folder: &Path) -> Result<Duration> {
    let start = Instant::now();
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--package", "loadscope"])
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .current_dir(folder)
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("{} cannot be built", folder.display());
    }
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_gets_its_text_back() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("lib.rs");
        fs::write(&path, "fn main() {}\n").expect("there is room");
        let changed = Changed::new(path.clone(), 1).expect("it is there");
        assert!(
            fs::read_to_string(&path)
                .expect("text")
                .contains("REBUILT: usize = 1")
        );
        drop(changed);
        assert_eq!(fs::read_to_string(&path).expect("text"), "fn main() {}\n");
    }

    #[test]
    fn the_median_is_the_middle_duration() {
        let seconds = [3, 1, 2].map(Duration::from_secs);
        assert_eq!(median(&seconds), Duration::from_secs(2));
    }
}
