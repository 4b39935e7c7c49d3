//! Where the log of a run goes, and who hears that there is more of it.

use std::sync::Arc;

use loadscope_files::GrowingFile;

use super::{NewEntry, NewLimited};

/// Where the log of a run goes.
pub enum Record {
    /// Nowhere.
    Off,
    /// Into memory, compressed, so that it can be saved later.
    Memory,
    /// Into this file, which is removed again if there is nothing to write.
    File(GrowingFile),
    /// Into a recording with a limit.
    Limited(NewLimited),
    /// Into the user's journal.
    Journal(NewEntry),
}

/// Called when something new is there.
pub type Waker = Arc<dyn Fn() + Send + Sync>;
