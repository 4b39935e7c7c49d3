//! What the command hears: a line of JSON for each thing that is to be known.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

/// How often it says how far it is.
const EVERY: Duration = Duration::from_millis(200);

/// Tells how far it is, and not too often.
pub struct Progress {
    since: Instant,
}

impl Progress {
    /// Nothing was done.
    pub fn new() -> Self {
        Self {
            since: Instant::now(),
        }
    }

    /// So many events have gone through.
    pub fn done(&mut self, events: u64) {
        if self.since.elapsed() >= EVERY {
            self.since = Instant::now();
            done(events);
        }
    }
}

/// So many events have gone through.
pub fn done(events: u64) {
    println!("{}", json!({ "done": events }));
}

/// From here on the files of a recording are in this folder. Together they have at most `most` bytes.
pub fn recording(folder: &Path, most: u64) {
    println!("{}", json!({ "recording": folder, "most": most }));
}

/// The work is done. From here on it is looked at, which takes memory of its own.
pub fn checking() {
    println!("{}", json!({ "checking": true }));
}

/// A line of the table. `holds` is `None` where nothing was promised.
pub fn row(what: &str, measured: &str, holds: Option<bool>) {
    println!(
        "{}",
        json!({ "what": what, "measured": measured, "holds": holds })
    );
}

/// A number with its thousands apart.
pub fn count(number: u64) -> String {
    loadscope_trace::count(number)
}
