//! Work in slices, and live recordings.

use loadscope_insight::platform::Budget;
use loadscope_insight::session_event::SessionEvent;
use loadscope_trace::LogError;
use loadscope_words::say;

use crate::live::LiveParser;
use crate::recording_reader::{ReadProgress, RecordingReader};
use crate::simulation::Simulation;

/// Work in slices.
pub(crate) enum Work {
    /// Reading of a recording with this name.
    Reading(String, Box<RecordingReader>),
    /// Simulation of a run.
    Simulating(Simulation),
}

/// Program that is being recorded.
pub(crate) struct LiveRecording {
    pub parser: LiveParser,
    /// Number of its run in the window.
    pub number: u32,
}

/// Returns the error for a recording that cannot be read.
pub(crate) fn read_error(name: &str, error: &LogError) -> String {
    match error {
        LogError::NotALog { .. } => say!(
            "cannot open {name}: it is not a Loadscope recording. For the traces of other tools, create a page with `loadscope share`."
        ),
        _ => say!("cannot open {name}: {}", error.describe(name.as_ref())),
    }
}

impl Work {
    /// Continues until the budget is spent. Returns the resulting events.
    pub fn resume(&mut self, budget: &Budget) -> Vec<SessionEvent> {
        match self {
            Self::Reading(name, reading) => match reading.resume(budget) {
                ReadProgress::Partial(share) => vec![SessionEvent::Loading(share)],
                ReadProgress::Complete(whole) => {
                    vec![whole.into_session_event(), SessionEvent::Ended(None)]
                }
                ReadProgress::Failed(e) => vec![SessionEvent::Ended(Some(read_error(name, &e)))],
            },
            Self::Simulating(simulating) => match simulating.resume(budget) {
                Ok(None) => Vec::new(),
                Ok(Some(arrival)) => vec![arrival, SessionEvent::Ended(None)],
                Err(why) => vec![SessionEvent::Ended(Some(why))],
            },
        }
    }
}
