//! Stores the result of one run of a program, and parses its cost of recording.

use serde_json::Value as Json;

/// Result of one run of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Figure in the unit of the workload.
    pub value: f64,
    /// Sum of all labels, and their sum weighted by position, if the program prints them.
    pub checksums: Option<(u64, u64)>,
    /// Number of lost events.
    pub lost: u64,
    /// Cost of recording, if the run was recorded.
    pub cost: Option<Cost>,
}

/// Cost of recording compared with an unrecorded loader that takes turns in the same process. Times are microseconds per batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Relative slowdown.
    pub slower: f64,
    /// Time from one batch to the next, without recording.
    pub batch: f64,
    /// CPU time of the loader's threads, without recording.
    pub loading: f64,
    /// CPU time of the loader's threads, with recording.
    pub recorded_loading: f64,
    /// CPU time of the thread that receives and writes the events.
    pub listening: f64,
    /// Events per batch.
    pub events: f64,
}

impl Cost {
    /// Parses the cost from a program's output. Returns `None` if the run was not recorded.
    pub fn of(said: &Json) -> Option<Self> {
        let number = |name: &str| said.get(name).and_then(Json::as_f64);
        Some(Self {
            slower: number("cost")?,
            batch: number("batch")?,
            loading: number("loading")?,
            recorded_loading: number("recorded_loading")?,
            listening: number("listening")?,
            events: number("batch_events")?,
        })
    }
}
