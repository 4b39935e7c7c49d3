//! Work in slices, and live recordings.

use loadscope_insight::platform::Budget;
use loadscope_insight::session_event::SessionEvent;
use loadscope_trace::LogError;
use loadscope_words::say;

use crate::live::Feed;
use crate::reading::{Read, Reading};
use crate::simulating::Simulating;

/// Work in slices.
pub(crate) enum Work {
    /// Reading of a recording with this name.
    Reading(String, Box<Reading>),
    /// Simulation of a run.
    Simulating(Simulating),
}

/// Program that is being recorded.
pub(crate) struct Following {
    pub feed: Feed,
    /// Number of its run in the window.
    pub number: u32,
}

/// Returns the error for a recording that cannot be read.
pub(crate) fn refusal(name: &str, error: &LogError) -> String {
    match error {
        LogError::NotALog { .. } => say!(
            "cannot open {name}: it is not a Loadscope recording. For the traces of other tools, create a page with `loadscope share`."
        ),
        _ => say!("cannot open {name}: {}", error.describe(name.as_ref())),
    }
}

impl Work {
    /// Continues until the budget is spent. Returns the resulting events.
    pub fn go_on(&mut self, budget: &Budget) -> Vec<SessionEvent> {
        match self {
            Self::Reading(name, reading) => match reading.go_on(budget) {
                Read::Part(share) => vec![SessionEvent::Loading(share)],
                Read::Whole(whole) => vec![whole.arrival(), SessionEvent::Ended(None)],
                Read::Failed(e) => vec![SessionEvent::Ended(Some(refusal(name, &e)))],
            },
            Self::Simulating(simulating) => match simulating.go_on(budget) {
                Ok(None) => Vec::new(),
                Ok(Some(arrival)) => vec![arrival, SessionEvent::Ended(None)],
                Err(why) => vec![SessionEvent::Ended(Some(why))],
            },
        }
    }
}
