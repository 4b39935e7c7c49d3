//! The questions there are: what to do with a run that was not saved and is about to be replaced, and whether to replace a file.

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

/// What to do with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Save it first.
    Save,
    /// It is not needed.
    Discard,
    /// Leave everything as it is.
    Cancel,
}

impl Question {
    /// What will happen to the run, as the end of a question.
    pub fn what(&self) -> &'static str {
        match self.then {
            Effect::Quit => "before the window closes",
            Effect::Close => "before it is closed",
            Effect::Open(_) => "before the recording takes its place",
            _ => "before the next one takes its place",
        }
    }
}
