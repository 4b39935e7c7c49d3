//! Memory limit of a window. If the window's runs are too large, smaller runs replace them at a position in the event stream.
//! The smaller runs have sums per minute and data kept in full in place of the far past. They contain all events before this position
//! and none after it.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::session_event::RebuiltRuns;
use loadscope_trace::{Event, Fleet, RunId};

mod history;
mod kept_data;

pub use history::History;

/// Divisor of the memory limit. At this size of the window's runs, the smaller runs start.
/// Together, they need a third of the limit. The rest is for the spare capacity of lists and for analyses.
const START_DIVISOR: u64 = 5;

/// Divisor of the memory limit for the smaller runs.
const SMALLER_DIVISOR: u64 = 8;

/// Memory limit of a window: it records the events and replaces runs.
pub(super) struct MemoryBound {
    memory: u64,
    history: History,
    /// Estimated size of the window's runs, bytes.
    shown: u64,
    smaller: Option<SmallerRuns>,
    /// Marker of the last sent runs. The marker is alive until the window applies the runs.
    sent: Weak<()>,
}

/// Runs whose far past consists of sums.
#[derive(Default)]
struct SmallerRuns {
    /// Number of the part with which the complete events start.
    first: u32,
    fleet: Fleet,
    landmarks: BTreeMap<RunId, Landmarks>,
    /// Estimated size of the events after the sums, bytes.
    bytes: u64,
}

impl MemoryBound {
    /// Creates the limit for a window with this number of bytes for its runs.
    pub fn new(memory: u64) -> Self {
        Self {
            memory,
            history: History::new(memory),
            shown: 0,
            smaller: None,
            sent: Weak::new(),
        }
    }

    /// Records events that are sent to the window. Returns the runs to send after them, if they replace those of the window.
    pub fn record(&mut self, events: &[Event]) -> Option<RebuiltRuns> {
        let bytes: u64 = events.iter().map(Event::bytes_in_run).sum();
        self.history.record(events, self.first());
        self.shown += bytes;
        let Some(smaller) = &mut self.smaller else {
            if self.shown >= self.memory / START_DIVISOR {
                self.start();
            }
            return None;
        };
        smaller.apply(events);
        smaller.bytes += bytes;
        let (bytes, most) = (smaller.bytes, self.memory / SMALLER_DIVISOR);
        // A hidden window does not apply its messages, so no second message is sent before it does.
        if self.sent.strong_count() > 0 {
            if bytes >= 2 * most {
                self.start();
            }
            return None;
        }
        let smaller = self.smaller.take_if(|_| bytes >= most)?;
        self.shown = bytes;
        let in_flight = Arc::new(());
        self.sent = Arc::downgrade(&in_flight);
        Some(smaller.finish(in_flight))
    }

    /// Returns the number of the first part that sums do not replace. All sums so far are about parts before the next smaller runs.
    fn first(&self) -> u32 {
        self.smaller.as_ref().map_or(u32::MAX, |runs| runs.first)
    }

    /// Starts smaller runs with the sums of all events so far.
    fn start(&mut self) {
        let (first, state) = self.history.start_part(self.first());
        let mut smaller = SmallerRuns {
            first,
            ..SmallerRuns::default()
        };
        smaller.apply(&self.history.before(first));
        smaller.apply(&state);
        self.smaller = Some(smaller);
    }
}

impl SmallerRuns {
    fn apply(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.fleet.apply(event));
        for (id, run) in self.fleet.runs() {
            self.landmarks.entry(id).or_default().follow(run);
        }
    }

    fn finish(mut self, in_flight: Arc<()>) -> RebuiltRuns {
        let mut runs = Vec::new();
        for (id, run) in self.fleet.into_runs() {
            let landmarks = self.landmarks.remove(&id).unwrap_or_default();
            runs.push((id, run, landmarks));
        }
        RebuiltRuns { runs, in_flight }
    }
}

/// Returns the memory of this host, bytes. Returns `None` if it is unknown.
pub fn memory_of_host() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib.saturating_mul(1024))
}

#[cfg(test)]
mod tests;
