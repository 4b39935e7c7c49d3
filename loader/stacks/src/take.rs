//! Taking a snapshot.

use crate::error::StacksError;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// Reads a process and its descendants twice. No process is stopped.
    ///
    /// # Errors
    /// If the process does not exist, cannot be read, or contains no Python. On systems other than Linux always.
    pub fn take(root: u32) -> Result<Self, StacksError> {
        #[cfg(target_os = "linux")]
        return crate::system::sample(root);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = root;
            Err(StacksError::UnsupportedSystem)
        }
    }
    /// Reads `pid` and its descendants if it belongs to the tree of `root`, otherwise the tree of `root`. A process id from a container
    /// can belong to another program.
    ///
    /// # Errors
    /// As [`Snapshot::take`].
    pub fn take_within(root: u32, pid: u32) -> Result<Self, StacksError> {
        #[cfg(target_os = "linux")]
        let is_within = crate::system::process_tree(root)
            .iter()
            .any(|(one, _)| *one == pid);
        #[cfg(not(target_os = "linux"))]
        let is_within = false;
        Self::take(if is_within { pid } else { root })
    }
}
