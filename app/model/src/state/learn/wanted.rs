//! What lessons need worked out, and what was: values that go to a thread and come back.

use std::sync::Arc;

use loadscope_insight::landmarks::{Landmarks, Place};
use loadscope_lessons::cases::{Case, Culprit, Remedy, Solved};
use loadscope_lessons::{Moment, Question, Value};
use loadscope_trace::{Run, RunOptions};

/// Something to be worked out.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its number: an answer with another one is not wanted any more.
    pub number: u64,
    /// What it is.
    pub what: LessonJob,
}

/// Background work for a lesson.
#[derive(Clone, Debug)]
pub enum LessonJob {
    /// A run, and what it says.
    Step(Box<StepOf>),
    /// A detective case: its seed and its number.
    Case(u64, u32),
    /// What comes of what was chosen in a case.
    Solution(Arc<Case>, Vec<Culprit>, Vec<Remedy>),
}

/// What a step needs to know of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct StepOf {
    /// The options of the run.
    pub options: RunOptions,
    /// The question, if there is one.
    pub question: Option<Question>,
    /// Where the run stands at first.
    pub from: Moment,
    /// The moment that shows the answer.
    pub until: Moment,
}

/// What was worked out.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The number of what was wanted.
    pub number: u64,
    /// It, or a sentence for the user.
    pub outcome: Result<Outcome, String>,
}

/// What was worked out.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A run, and what it says.
    Step(Box<StepRun>),
    /// A detective case.
    Case(Arc<Case>),
    /// What comes of what was chosen in it.
    Solved(Box<Solved>),
}

/// The run of a step, and what it says.
#[derive(Clone, Debug)]
pub struct StepRun {
    /// What it was asked for.
    pub options: RunOptions,
    /// The run.
    pub run: Arc<Run>,
    /// Its moments.
    pub landmarks: Landmarks,
    /// What it says to the question.
    pub truth: Option<Value>,
    /// Where the run stands at first.
    pub from: Option<Place>,
    /// The moment that shows the answer.
    pub until: Option<Place>,
}
