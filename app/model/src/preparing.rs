//! Background preparation of lessons: simulator runs, their facts, detective cases.

use loadscope_insight::background::{Background, Outcome as Answer};
use loadscope_insight::landmarks::Landmarks;
use loadscope_lessons::cases::Case;
use loadscope_lessons::{BuiltInPrograms, QueryContext, simulated};
use loadscope_plan::plan::normalized;
use loadscope_words::{Text, text};
use std::sync::Arc;

use crate::message::Message;
use crate::state::State;
use crate::state::learn::{JobRequest, LessonJob, Outcome, Prepared, StepRequest, StepRun};

/// Current background job.
#[derive(Debug, Default)]
pub struct Preparing {
    job: Option<(u64, Background<Result<Outcome, String>>)>,
}

impl Preparing {
    /// Starts the wanted job, and returns finished results. Call it in every frame. `wake` requests a frame.
    pub fn update(&mut self, state: &State, wake: impl Fn() + Send + 'static) -> Option<Message> {
        let wanted = match &state.learn.wanted {
            Some(wanted) => wanted,
            None => {
                self.job = None;
                return None;
            }
        };
        if self.job.as_ref().is_none_or(|(n, _)| *n != wanted.number) {
            match start(state, wanted.clone(), wake) {
                Ok(job) => self.job = Some((wanted.number, job)),
                Err(error) => return Some(failed(wanted.number, error.to_string())),
            }
        }
        let (number, job) = self.job.as_ref()?;
        let outcome = match job.take() {
            Answer::NotYet => return None,
            Answer::Ready(outcome) => outcome,
            Answer::Broken => return Some(failed(*number, BROKEN.say().to_owned())),
        };
        let number = *number;
        self.job = None;
        Some(Message::Prepared(Prepared { number, outcome }))
    }
}

const BROKEN: Text =
    text!("The run of this step could not be simulated: go one step back, then forward again");

fn failed(number: u64, why: String) -> Message {
    Message::Prepared(Prepared {
        number,
        outcome: Err(why),
    })
}

fn start(
    state: &State,
    wanted: JobRequest,
    wake: impl Fn() + Send + 'static,
) -> std::io::Result<Background<Result<Outcome, String>>> {
    let jobs = state.place.platform.jobs;
    Background::start(jobs, "lesson", wake, move |_| Ok(work_out(&wanted.what)))
}

/// Computes the wanted data.
pub(crate) fn work_out(what: &LessonJob) -> Result<Outcome, String> {
    match what {
        LessonJob::Step(step) => step_run(step).map(|run| Outcome::Step(Box::new(run))),
        LessonJob::Case(seed, number) => match Case::of(*seed, *number) {
            Ok(case) => Ok(Outcome::Case(Arc::new(case))),
            Err(error) => Err(error.to_string()),
        },
        LessonJob::Solution(case, named, chosen) => {
            Ok(Outcome::Solved(Box::new(case.solve(named, chosen))))
        }
    }
}

fn step_run(step: &StepRequest) -> Result<StepRun, String> {
    let run = simulated(&step.options).map_err(|error| error.to_string())?;
    let landmarks = Landmarks::of(&run);
    let truth = step.question.as_ref().and_then(|question| {
        let about = QueryContext::at(&run, question.at, &BuiltInPrograms)?;
        question.truth(about)
    });
    Ok(StepRun {
        options: normalized(step.options.clone()),
        truth,
        from: step.from.resolve(&run, &landmarks),
        until: step.until.resolve(&run, &landmarks),
        landmarks,
        run: Arc::new(run),
    })
}
