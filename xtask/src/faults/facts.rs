//! Checks of recordings and files through commands of the program.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::launch::{Ended, Started};
use super::sandbox::Sandbox;
use crate::pytorch;

/// Output of `loadscope info --json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub batches: u64,
    pub dropped: u64,
    pub cut: bool,
}

impl Facts {
    fn of(ended: &Ended) -> Result<Self> {
        ended.code(0).context("the recording must open")?;
        let object: Value = serde_json::from_str(&ended.out).context("info prints JSON")?;
        let number = |name: &str| object[name].as_u64().unwrap_or(0);
        Ok(Self {
            batches: number("batches"),
            dropped: number("dropped"),
            cut: object["cut"] == true,
        })
    }
}

impl Sandbox<'_> {
    /// Starts `loadscope info` for a recording.
    pub fn start_info<'a>(&'a self, path: &Path) -> Result<Started<'a>> {
        let words = [Path::new("info"), path, Path::new("--json")];
        self.loadscope(&words).start()
    }

    /// Returns the facts about a recording. Fails if it does not open.
    pub fn facts(&self, path: &Path) -> Result<Facts> {
        Facts::of(&self.start_info(path)?.wait()?)
    }

    /// Fails unless the recording is complete and has this number of batches.
    pub fn check_whole(&self, path: &Path, batches: u64) -> Result<()> {
        self.is_whole(&self.start_info(path)?.wait()?, batches)
    }

    /// Fails unless the output of `info` describes a complete recording with this number of batches.
    pub fn is_whole(&self, ended: &Ended, batches: u64) -> Result<()> {
        let facts = Facts::of(ended)?;
        let expected = Facts {
            batches,
            dropped: 0,
            cut: false,
        };
        match facts == expected {
            true => Ok(()),
            false => bail!("the recording must hold {expected:?}, but holds {facts:?}"),
        }
    }

    /// Fails if the recording exists but does not open.
    pub fn opens_if_there(&self, path: &Path) -> Result<()> {
        match path.exists() {
            true => self.facts(path).map(drop),
            false => Ok(()),
        }
    }

    /// Fails unless the file contains exactly these bytes.
    pub fn check_unchanged(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let now = std::fs::read(path).with_context(|| format!("{} is lost", path.display()))?;
        match now == bytes {
            true => Ok(()),
            false => bail!("{} was changed", path.display()),
        }
    }

    /// Fails if temporary files are left.
    pub fn check_no_leftovers(&self) -> Result<()> {
        let left = self.leftovers()?;
        match left.is_empty() {
            true => Ok(()),
            false => bail!("left behind: {left:?}"),
        }
    }
}

/// Returns the Python with PyTorch from `cargo xtask setup --pytorch` or from the environment variable. Does not create one.
pub fn pytorch() -> Option<PathBuf> {
    let python = match std::env::var_os("LOADSCOPE_PEERS_PYTHON") {
        Some(own) => own.into(),
        None => pytorch::inside(&pytorch::cache().ok()?.join("venv")),
    };
    pytorch::runs(Command::new(&python).args(["-c", "import torch"])).then_some(python)
}
