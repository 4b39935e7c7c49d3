//! Destination of a run's log, and the callback for new data.

use std::sync::Arc;

use loadscope_files::GrowingFile;

use super::{NewEntry, NewLimited};

/// Destination of a run's log.
pub enum Record {
    /// No log.
    Off,
    /// Compressed log in memory, for saving it later.
    Memory,
    /// A file, which is removed if nothing is written.
    File(GrowingFile),
    /// A recording with a limit.
    Limited(NewLimited),
    /// The user's journal.
    Journal(NewEntry),
}

/// Callback for new data.
pub type Waker = Arc<dyn Fn() + Send + Sync>;
