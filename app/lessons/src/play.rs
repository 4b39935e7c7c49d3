//! Player of a lesson without a window: run, moment, parts, answers and help.

use loadscope_insight::landmarks::{Landmarks, Place};
use loadscope_trace::{Run, RunOptions};

use crate::code::ProgramCatalog;
use crate::lesson::{Lesson, Step, Task};
use crate::moment::Moment;
use crate::part::Part;
use crate::progress::LessonProgress;
use crate::query::{Changes, Query, QueryContext};
use crate::question::{Answer, Judgement, Question, Unanswerable};
use crate::value::Value;

/// Number of failures before the hint.
const HINT_AFTER: u32 = 2;
/// Number of failures before the solution is offered.
const SOLUTION_AFTER: u32 = 4;

/// State of a learner in a lesson.
#[derive(Clone, Debug)]
pub struct Play {
    lesson: Lesson,
    at: usize,
    /// Last step reached so far.
    furthest: usize,
    phase: Phase,
    lecture: bool,
    progress: LessonProgress,
}

/// Progress within a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The learner reads a text.
    Reading,
    /// A question is open.
    Asking,
    /// The question is answered. The run moves to the moment that shows the reason.
    Answered(Judgement),
    /// A goal is open, after this number of failed runs.
    Trying(u32),
    /// The goal is reached.
    Reached,
    /// The lesson is finished.
    Finished,
}

/// Result of a run in a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialResult {
    /// The goal is reached.
    Reached,
    /// The goal is not reached.
    NotYet,
    /// The run does not count, because it changed these options that must stay the same.
    Changed(Vec<String>),
    /// The step has no goal.
    NoTrial,
}

impl Play {
    /// Starts a lesson.
    pub fn of(lesson: &Lesson) -> Self {
        Self::from(lesson, 0)
    }

    /// Continues a lesson at a step that was reached before.
    pub fn from(lesson: &Lesson, step: usize) -> Self {
        let mut play = Self {
            lesson: lesson.clone(),
            at: 0,
            furthest: 0,
            phase: Phase::Reading,
            lecture: false,
            progress: LessonProgress::default(),
        };
        play.go_to(step.min(lesson.steps.len().saturating_sub(1)));
        play
    }

    /// Hides or shows the questions. Without questions, one key leads through the lesson.
    pub fn set_lecture(&mut self, lecture: bool) {
        self.lecture = lecture;
        self.go_to(self.at);
    }

    /// Returns true if the questions are hidden.
    pub fn is_lecture(&self) -> bool {
        self.lecture
    }

    /// Returns the lesson.
    pub fn lesson(&self) -> &Lesson {
        &self.lesson
    }

    /// Replaces the lesson by another language or a changed file, at the same step.
    pub fn replace_lesson(&mut self, lesson: &Lesson) {
        self.lesson = lesson.clone();
        self.at = self.at.min(lesson.steps.len().saturating_sub(1));
    }

    /// Returns the position of the step, from 0, and the number of steps.
    pub fn position(&self) -> (usize, usize) {
        (self.at, self.lesson.steps.len())
    }

    /// Returns the current step. A lesson has at least one.
    pub fn step(&self) -> &Step {
        &self.lesson.steps[self.at]
    }

    /// Returns the progress within the step.
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Returns the progress to store.
    pub fn progress(&self) -> &LessonProgress {
        &self.progress
    }

    /// Returns the options of the step's run. In a trial, the learner starts from these options.
    pub fn options(&self) -> &RunOptions {
        &self.lesson.scenes[self.step().scene].options
    }

    /// Returns the changed options of an answered question about other options. The run with them shows the answer.
    pub fn changes(&self) -> Option<&Changes> {
        match (&self.step().task, &self.phase) {
            (Task::Predict { question, .. }, Phase::Answered(_) | Phase::Reading) => {
                question.query.changes()
            }
            _ => None,
        }
    }

    /// Returns the options of the shown run: those of the step, or those of the answered question.
    pub fn shown_options(&self) -> RunOptions {
        let changed = self.changes();
        let changed = changed.and_then(|changes| changes.apply(self.options()).ok());
        changed.unwrap_or_else(|| self.options().clone())
    }

    /// Returns the parts of the window to outline. While a question is open, none of them shows its answer.
    pub fn parts(&self) -> &[Part] {
        match self.phase {
            Phase::Finished => &[],
            Phase::Asking => &self.step().parts,
            Phase::Reading | Phase::Answered(_) | Phase::Trying(_) | Phase::Reached => {
                self.step().parts_after_answer()
            }
        }
    }

    /// Returns the open and later questions about the step's run. While there are any, the window hides events after the moment.
    fn pending(&self) -> impl Iterator<Item = &Question> {
        let first = match self.phase {
            _ if self.lecture => self.lesson.steps.len(),
            Phase::Finished => self.lesson.steps.len(),
            Phase::Asking => self.at,
            Phase::Reading | Phase::Answered(_) | Phase::Trying(_) | Phase::Reached => self.at + 1,
        };
        let scene = self.step().scene;
        let later = self.lesson.steps.iter().skip(first);
        let questions = later.filter_map(move |step| match &step.task {
            Task::Predict { question, .. } if step.scene == scene => Some(question),
            _ => None,
        });
        questions.filter(|question| question.query.is_about_shown_run())
    }

    /// Returns true if events after the moment would answer a question of this or a later step.
    pub fn hides_future(&self) -> bool {
        self.changes().is_none() && self.pending().next().is_some()
    }

    /// Returns true if the verdict would answer a question of this or a later step.
    pub fn hides_verdict(&self) -> bool {
        let is_about_it =
            |question: &Question| matches!(&question.query, Query::Run(q) if q.is_diagnosis());
        self.phase == Phase::Asking || self.pending().any(is_about_it)
    }

    /// Returns the moment that the window shows: the question's moment while it is open, then the answer's moment.
    pub fn moment(&self) -> Moment {
        match (&self.step().task, &self.phase) {
            (Task::Look { at, .. }, _) => *at,
            (Task::Predict { question, .. }, Phase::Asking) => question.at,
            (Task::Predict { until, .. }, _) => *until,
            (Task::Try(_) | Task::Code { .. }, _) => Moment::End,
        }
    }

    /// Returns the moment as a place in `run`.
    pub fn place(&self, run: &Run) -> Option<Place> {
        self.moment().resolve(run, &Landmarks::of(run))
    }

    /// Returns true if the next key leads to the next step.
    pub fn can_advance(&self) -> bool {
        self.lecture || !matches!(self.phase, Phase::Asking | Phase::Trying(_))
    }

    /// Moves to the next step. After the last one, the lesson is finished. A skipped question counts as answered wrong.
    pub fn forward(&mut self) {
        if matches!(self.phase, Phase::Asking) {
            self.progress.wrong += 1;
        }
        if self.at + 1 < self.lesson.steps.len() {
            self.go_to(self.at + 1);
        } else {
            self.phase = Phase::Finished;
            self.progress.done = true;
        }
    }

    /// Moves to the previous step.
    pub fn back(&mut self) {
        self.go_to(self.at.saturating_sub(1));
    }

    /// Marks all steps as reached, because the lesson was finished before.
    pub fn reach_all(&mut self) {
        self.furthest = self.lesson.steps.len().saturating_sub(1);
    }

    /// Returns true if the step is reached, so the learner can move to it.
    pub fn has_reached(&self, step: usize) -> bool {
        step < self.lesson.steps.len() && (self.lecture || step <= self.furthest)
    }

    /// Moves to a step that is reached. Returns false if it is not.
    pub fn jump(&mut self, step: usize) -> bool {
        let may = self.has_reached(step);
        if may {
            self.go_to(step);
        }
        may
    }

    fn go_to(&mut self, step: usize) {
        self.at = step;
        self.furthest = self.furthest.max(step);
        self.progress.step = step;
        self.phase = match &self.lesson.steps[step].task {
            Task::Predict { .. } if !self.lecture => Phase::Asking,
            Task::Try(_) if !self.lecture => Phase::Trying(0),
            Task::Predict { .. } | Task::Try(_) | Task::Look { .. } | Task::Code { .. } => {
                Phase::Reading
            }
        };
    }

    /// Answers the open question. `run` has the options [`Play::options`].
    ///
    /// # Errors
    /// If there is no question, the run has no answer, or the answer is of another kind.
    pub fn answer(
        &mut self,
        run: &Run,
        codes: &dyn ProgramCatalog,
        answer: &Answer,
    ) -> Result<&Judgement, Unanswerable> {
        let about =
            QueryContext::at(run, self.open_question()?.at, codes).ok_or(Unanswerable::NoTruth)?;
        let truth = self.open_question()?.truth(about);
        self.answer_with_truth(truth.ok_or(Unanswerable::NoTruth)?, answer)
    }

    /// Answers the open question with a known truth.
    ///
    /// # Errors
    /// If there is no question, or the answer is of another kind.
    pub fn answer_with_truth(
        &mut self,
        truth: Value,
        answer: &Answer,
    ) -> Result<&Judgement, Unanswerable> {
        let question = self.open_question()?;
        let judged = question.judge_with_truth(truth, answer, self.lesson.language)?;
        match judged.is_right {
            true => self.progress.right += 1,
            false => self.progress.wrong += 1,
        }
        self.phase = Phase::Answered(judged);
        match &self.phase {
            Phase::Answered(judged) => Ok(judged),
            _ => Err(Unanswerable::NotOpen),
        }
    }

    /// Returns the open question of the step.
    ///
    /// # Errors
    /// If there is none.
    pub fn open_question(&self) -> Result<&Question, Unanswerable> {
        match (&self.step().task, &self.phase) {
            (Task::Predict { question, .. }, Phase::Asking) => Ok(question),
            _ => Err(Unanswerable::NotOpen),
        }
    }

    /// Checks a run of the learner.
    pub fn check_trial(&mut self, run: &Run, codes: &dyn ProgramCatalog) -> TrialResult {
        let step = &self.lesson.steps[self.at];
        let (Task::Try(trial), Some(start)) = (&step.task, self.lesson.options(step)) else {
            return TrialResult::NoTrial;
        };
        let changed: Vec<String> = trial
            .changed(start, run)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let met =
            QueryContext::at(run, Moment::End, codes).is_some_and(|about| trial.goal.is_met(about));
        let failures = match self.phase {
            Phase::Trying(failures) => failures,
            _ => 0,
        };
        match (met, changed.is_empty()) {
            (true, true) => {
                self.phase = Phase::Reached;
                TrialResult::Reached
            }
            (_, false) => TrialResult::Changed(changed),
            (false, true) => {
                // A reached goal stays reached.
                if self.phase != Phase::Reached {
                    self.phase = Phase::Trying(failures.saturating_add(1));
                }
                TrialResult::NotYet
            }
        }
    }

    /// Returns the hint after enough failures.
    pub fn hint(&self) -> Option<&str> {
        match (&self.step().task, &self.phase) {
            (Task::Try(trial), Phase::Trying(failures)) if *failures >= HINT_AFTER => {
                Some(&trial.hint)
            }
            _ => None,
        }
    }

    /// Returns the solution after enough failures.
    pub fn solution(&self) -> Option<&Changes> {
        match (&self.step().task, &self.phase) {
            (Task::Try(trial), Phase::Trying(failures)) if *failures >= SOLUTION_AFTER => {
                Some(&trial.solution)
            }
            _ => None,
        }
    }
}
