//! The questions there are: what to do with runs that were not saved when the window closes, and whether to replace a file.

pub use loadscope_insight::unsaved::Output;

use crate::effect::Effect;

/// What waits for the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What was asked for.
    pub then: Effect,
    /// True while the run is being saved; what was asked for comes after.
    pub saving: bool,
}

/// What to do with the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Save the run that is shown first.
    Save,
    /// Leave them in the journal, which offers them at the next start.
    Keep,
    /// They are not needed.
    Discard,
    /// Leave everything as it is.
    Cancel,
}
