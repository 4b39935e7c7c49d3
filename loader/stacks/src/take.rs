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
}
