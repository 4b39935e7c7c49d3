//! Output for `cargo xtask soak`: one line of JSON per fact.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

/// Minimum time between two progress lines.
const EVERY: Duration = Duration::from_millis(200);

/// Progress output with a limited rate.
pub struct Progress {
    since: Instant,
}

impl Progress {
    /// Starts with no events.
    pub fn new() -> Self {
        Self {
            since: Instant::now(),
        }
    }

    /// Prints the number of processed events, if a line is due.
    pub fn done(&mut self, events: u64) {
        if self.since.elapsed() >= EVERY {
            self.since = Instant::now();
            done(events);
        }
    }
}

/// Prints the number of processed events.
pub fn done(events: u64) {
    println!("{}", json!({ "done": events }));
}

/// Reports the folder of the next recording, and the maximum size of its files in bytes.
pub fn recording(folder: &Path, most: u64) {
    println!("{}", json!({ "recording": folder, "most": most }));
}

/// Reports the start of the comparison, which needs memory of its own.
pub fn checking() {
    println!("{}", json!({ "checking": true }));
}

/// Prints a row of the table. `holds` is `None` for a value without a requirement.
pub fn row(what: &str, measured: &str, holds: Option<bool>) {
    println!(
        "{}",
        json!({ "what": what, "measured": measured, "holds": holds })
    );
}

/// Formats a number with thousands separators.
pub fn count(number: u64) -> String {
    loadscope_trace::count(number)
}
