//! Requests of a learner.

use std::path::PathBuf;

use loadscope_lessons::cases::{Culprit, Remedy};
use loadscope_lessons::{Answer, Language, Lesson, Target};

use crate::state::learn::Draft;

/// Request of a learner.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnCommand {
    /// Open or continue the lesson with this number.
    Lesson(u32),
    /// Show a lesson that is being written, or the error in its file.
    Preview(PathBuf, Result<Box<Lesson>, String>),
    /// Go to this step of the lesson, counted from 0, if it was already reached.
    Step(usize),
    /// Update the unfinished answer.
    Draft(Draft),
    /// Submit the answer.
    Answer(Answer),
    /// Submit the clicked item as the answer.
    Target(Target),
    /// Show the lessons in this language.
    Language(Language),
    /// Show the solution of a trial by setting its options.
    Solution,
    /// Start the quiz with this seed.
    Quiz(u64),
    /// Draw the cases with this seed.
    Seed(u64),
    /// Open the detective case with this seed and this number.
    Case(u64, u32),
    /// Select or deselect this cause.
    Name(Culprit),
    /// Select or deselect this remedy.
    Choose(Remedy),
    /// Judge the selected causes and remedies.
    Solve,
}
