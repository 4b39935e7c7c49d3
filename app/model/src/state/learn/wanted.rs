//! Requests and results of background jobs for lessons.

use std::sync::Arc;

use loadscope_insight::landmarks::{Landmarks, Place};
use loadscope_lessons::cases::{Case, Culprit, Remedy, Solved};
use loadscope_lessons::{Moment, Question, Value};
use loadscope_trace::{Run, RunOptions};

/// Request for a background job.
#[derive(Clone, Debug)]
pub struct JobRequest {
    /// Number of the request. Results with another number are ignored.
    pub number: u64,
    /// Work to do.
    pub what: LessonJob,
}

/// Background work for a lesson.
#[derive(Clone, Debug)]
pub enum LessonJob {
    /// Simulate a run and compute the correct answer.
    Step(Box<StepRequest>),
    /// Make a detective case from its seed and its number.
    Case(u64, u32),
    /// Compute the result of the selected causes and remedies in a case.
    Solution(Arc<Case>, Vec<Culprit>, Vec<Remedy>),
}

/// Request for the run of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRequest {
    /// The options of the run.
    pub options: RunOptions,
    /// The question, if there is one.
    pub question: Option<Question>,
    /// Initial position in the run.
    pub from: Moment,
    /// Moment that shows the answer.
    pub until: Moment,
}

/// Result of a background job.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Number of the request.
    pub number: u64,
    /// The result, or an error message for the user.
    pub outcome: Result<Outcome, String>,
}

/// Data from a background job.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Run of a step.
    Step(Box<StepRun>),
    /// A detective case.
    Case(Arc<Case>),
    /// Result of the selected causes and remedies.
    Solved(Box<Solved>),
}

/// Run of a step, with the correct answer.
#[derive(Clone, Debug)]
pub struct StepRun {
    /// Requested options.
    pub options: RunOptions,
    /// Simulated run of the step.
    pub run: Arc<Run>,
    /// Landmarks of the run.
    pub landmarks: Landmarks,
    /// Correct answer to the question.
    pub truth: Option<Value>,
    /// Initial position in the run.
    pub from: Option<Place>,
    /// Position that shows the answer.
    pub until: Option<Place>,
}

/// Answer before it is submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Typed number.
    pub number: String,
    /// Positions of the chosen items, in the order of choice.
    pub order: Vec<usize>,
    /// Position of the choice, part or batch that a key selected.
    pub chosen: Option<usize>,
}

impl Draft {
    /// Adds an item to the end of the order. An item that is already there is removed, with all later ones.
    pub fn toggle(&mut self, item: usize) {
        match self.order.iter().position(|at| *at == item) {
            Some(at) => self.order.truncate(at),
            None => self.order.push(item),
        }
    }

    /// Parses the typed number. Accepts a decimal comma.
    pub fn value(&self) -> Option<f64> {
        let number: f64 = self.number.trim().replace(',', ".").parse().ok()?;
        number.is_finite().then_some(number)
    }
}
