//! Questions to the user: about unsaved runs before the window closes, and about replacing a file.

pub use loadscope_insight::unsaved::Output;

use crate::effect::Effect;

/// Effect that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Requested effect.
    pub then: Effect,
    /// True while the run is being saved. The requested effect follows.
    pub saving: bool,
}

/// Answer about the unsaved runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Save the run that is shown first.
    Save,
    /// Keep them in the journal, which offers them at the next start.
    Keep,
    /// Discard them.
    Discard,
    /// Cancel the request.
    Cancel,
}
