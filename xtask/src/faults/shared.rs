//! Stores paths, recordings and limits that all cases share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// Name and content of a file.
pub type Output = (String, Vec<u8>);

/// State that all cases share.
pub struct SharedState {
    pub loadscope: PathBuf,
    /// Executable of xtask, which is also the fake program `speak`.
    pub xtask: PathBuf,
    /// Python with PyTorch, if installed.
    pub pytorch: Option<PathBuf>,
    /// Intact recording, compressed.
    pub recording: PathBuf,
    pub plain_recording: PathBuf,
    /// Outputs of commands without a fault, by the name of the command.
    pub references: Mutex<HashMap<String, Vec<Output>>>,
    /// True if system calls can be intercepted.
    pub supervises: bool,
    pub is_root: bool,
    pub kills: u32,
    /// Maximum duration of missing data after a kill: the promised one, or a longer one in CI, which may run on a loaded host.
    pub most_missing: Duration,
    pub seed: u64,
    /// Keeps the folder of the recordings until the end.
    pub _folder: tempfile::TempDir,
}
