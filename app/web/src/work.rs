//! What is done bit by bit, and what comes piece by piece.

use loadscope_insight::platform::Budget;
use loadscope_insight::session_event::SessionEvent;
use loadscope_trace::LogError;
use loadscope_words::say;

use crate::live::Feed;
use crate::reading::{Read, Reading};
use crate::simulating::Simulating;

/// What is done bit by bit.
pub(crate) enum Work {
    /// A recording of this name is read.
    Reading(String, Box<Reading>),
    /// A run is simulated.
    Simulating(Simulating),
}

/// The program whose recording comes piece by piece.
pub(crate) struct Following {
    pub feed: Feed,
    /// The number of its run among those of the window.
    pub number: u32,
}

/// What to tell a user whose recording cannot be read.
pub(crate) fn refusal(name: &str, error: &LogError) -> String {
    match error {
        LogError::NotALog { .. } => say!(
            "{name} is not a Loadscope recording. For the traces of other tools, create a page with `loadscope share`."
        ),
        _ => say!("cannot open {name}: {}", error.about(name.as_ref())),
    }
}

impl Work {
    /// Goes on for a while, and says what came of it.
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
