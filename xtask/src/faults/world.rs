//! What all cases share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// The name of a file and what is in it.
pub type Output = (String, Vec<u8>);

/// What all cases share.
pub struct World {
    pub loadscope: PathBuf,
    /// This program, which also speaks as a PyTorch program does.
    pub xtask: PathBuf,
    /// A Python with PyTorch, if there is one.
    pub pytorch: Option<PathBuf>,
    /// A sound recording, compressed, and the same as text.
    pub recording: PathBuf,
    pub plain_recording: PathBuf,
    /// What commands write when nothing is in their way, by name.
    pub references: Mutex<HashMap<String, Vec<Output>>>,
    /// System calls can be answered.
    pub supervises: bool,
    pub is_root: bool,
    pub kills: u32,
    /// So much of the past may be missing after a kill: what is promised, or, where a loaded host must not fail, more.
    pub most_missing: Duration,
    pub seed: u64,
    /// Where the recordings are, as long as this is.
    pub _folder: tempfile::TempDir,
}
