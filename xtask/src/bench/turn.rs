//! What one program said once.

use serde_json::Value as Json;

/// What one program said once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// In the unit of the work.
    pub value: f64,
    /// What was loaded, if the program tells: the sum of all labels, and the same with positions.
    pub same: Option<(u64, u64)>,
    /// Events that were lost.
    pub lost: u64,
    /// What recording cost, if there was one.
    pub cost: Option<Cost>,
}

/// What recording cost, beside the same loader without, in turn in one process. Times are microseconds a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// By which share it was slower.
    pub slower: f64,
    /// From one batch to the next, without recording.
    pub batch: f64,
    /// Of the processor, by the threads of the loader, without recording.
    pub loading: f64,
    /// The same with recording.
    pub recorded_loading: f64,
    /// Of the processor, by the thread that takes and writes the events.
    pub listening: f64,
    /// Events a batch.
    pub events: f64,
}

impl Cost {
    /// As the program says it; `None` if it says nothing of it.
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
