//! What a learner asks for.

use std::path::PathBuf;

use loadscope_lessons::cases::{Culprit, Remedy};
use loadscope_lessons::{Answer, Language, Lesson, Target};

use crate::state::learn::Draft;

/// What a learner asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnCommand {
    /// Open the lesson with this number, or go on with it.
    Lesson(u32),
    /// Show a lesson that is being written; or what is wrong with its file.
    Preview(PathBuf, Result<Box<Lesson>, String>),
    /// Go to this step of the lesson, counted from 0, if it was reached before.
    Step(usize),
    /// The answer as it is so far.
    Draft(Draft),
    /// The answer.
    Answer(Answer),
    /// This was clicked as an answer.
    Target(Target),
    /// Show the lessons in this language.
    Language(Language),
    /// Show the solution of a try: its options are set.
    Solution,
    /// Begin the quiz of this seed.
    Quiz(u64),
    /// Draw the cases by this seed.
    Seed(u64),
    /// Open a detective case: its seed and its number.
    Case(u64, u32),
    /// Name this cause, or no longer.
    Name(Culprit),
    /// Choose this remedy, or no longer.
    Choose(Remedy),
    /// Judge what was named and chosen.
    Solve,
}
