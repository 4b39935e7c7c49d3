//! Going through a lesson, without a window: which run, which moment, which parts, what was answered, when help is offered.

use loadscope_insight::landmarks::{Landmarks, Place};
use loadscope_trace::{Run, RunOptions};

use crate::code::Codes;
use crate::lesson::{Lesson, Step, Task};
use crate::moment::Moment;
use crate::part::Part;
use crate::progress::LessonProgress;
use crate::query::{About, Changes, Query};
use crate::question::{Answer, Judgement, Question, Unanswerable};
use crate::value::Value;

/// A hint is shown after so many failures.
const HINT_AFTER: u32 = 2;
/// The solution is offered after so many.
const SOLUTION_AFTER: u32 = 4;

/// Going through a lesson.
#[derive(Clone, Debug)]
pub struct Play {
    lesson: Lesson,
    at: usize,
    /// The furthest step so far.
    furthest: usize,
    phase: Phase,
    lecture: bool,
    progress: LessonProgress,
}

/// How far a step is.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// There is something to read.
    Reading,
    /// A question is open.
    Asking,
    /// It was answered; the run goes to the moment that shows why.
    Answered(Judgement),
    /// A goal is open, after so many runs that did not reach it.
    Trying(u32),
    /// The goal was reached.
    Reached,
    /// The last step is behind.
    Finished,
}

/// What came of a run in a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried {
    /// The goal is reached.
    Reached,
    /// It is not.
    NotYet,
    /// Options were changed that are to stay as they are, so it does not count.
    Changed(Vec<String>),
    /// There is nothing to be tried in this step.
    NoTrial,
}

impl Play {
    /// Begins a lesson.
    pub fn of(lesson: &Lesson) -> Self {
        Self::from(lesson, 0)
    }

    /// Goes on with a lesson at a step that was reached before.
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

    /// Hides the questions, so that one key goes through the lesson; or does not.
    pub fn set_lecture(&mut self, lecture: bool) {
        self.lecture = lecture;
        self.go_to(self.at);
    }

    /// True if the questions are hidden.
    pub fn is_lecture(&self) -> bool {
        self.lecture
    }

    /// The lesson.
    pub fn lesson(&self) -> &Lesson {
        &self.lesson
    }

    /// The same step in another language, or of a file that was changed.
    pub fn replace_lesson(&mut self, lesson: &Lesson) {
        self.lesson = lesson.clone();
        self.at = self.at.min(lesson.steps.len().saturating_sub(1));
    }

    /// The position of the step, from 0, and the number of steps.
    pub fn position(&self) -> (usize, usize) {
        (self.at, self.lesson.steps.len())
    }

    /// The step. A lesson has at least one.
    pub fn step(&self) -> &Step {
        &self.lesson.steps[self.at]
    }

    /// How far it is.
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// What to keep.
    pub fn progress(&self) -> &LessonProgress {
        &self.progress
    }

    /// The options of the run that the step is about. In a try the learner changes them; this is what to begin with.
    pub fn options(&self) -> &RunOptions {
        &self.lesson.scenes[self.step().scene].options
    }

    /// The changed options of an answered question about other options. The run with these shows the answer.
    pub fn changes(&self) -> Option<&Changes> {
        match (&self.step().task, &self.phase) {
            (Task::Predict { question, .. }, Phase::Answered(_) | Phase::Reading) => {
                question.query.changes()
            }
            _ => None,
        }
    }

    /// The options of the run that is shown: those of the step, or those that the answered question is about.
    pub fn shown_options(&self) -> RunOptions {
        let changed = self.changes();
        let changed = changed.and_then(|changes| changes.apply(self.options()).ok());
        changed.unwrap_or_else(|| self.options().clone())
    }

    /// The parts of the window that are outlined: while a question is open none of them shows its answer.
    pub fn parts(&self) -> &[Part] {
        match self.phase {
            Phase::Finished => &[],
            Phase::Asking => &self.step().parts,
            Phase::Reading | Phase::Answered(_) | Phase::Trying(_) | Phase::Reached => {
                self.step().parts_then()
            }
        }
    }

    /// Questions about the run of the step which are still open or to come. Until then the window hides what comes after the moment.
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
        questions.filter(|question| question.query.is_of_its_run())
    }

    /// True while what comes after the moment would answer a question of this step or of a later one.
    pub fn hides_future(&self) -> bool {
        self.changes().is_none() && self.pending().next().is_some()
    }

    /// True while the verdict would answer a question of this step or of a later one.
    pub fn hides_verdict(&self) -> bool {
        let is_about_it =
            |question: &Question| matches!(&question.query, Query::Whole(q) if q.is_diagnosis());
        self.phase == Phase::Asking || self.pending().any(is_about_it)
    }

    /// The moment that the window goes to: that of the question while it is open, that of the answer afterwards.
    pub fn moment(&self) -> Moment {
        match (&self.step().task, &self.phase) {
            (Task::Look { at, .. }, _) => *at,
            (Task::Predict { question, .. }, Phase::Asking) => question.at,
            (Task::Predict { until, .. }, _) => *until,
            (Task::Try(_) | Task::Code { .. }, _) => Moment::End,
        }
    }

    /// The same as a place in `run`.
    pub fn place(&self, run: &Run) -> Option<Place> {
        self.moment().resolve(run, &Landmarks::of(run))
    }

    /// True if the next key goes on to the next step.
    pub fn may_go_on(&self) -> bool {
        self.lecture || !matches!(self.phase, Phase::Asking | Phase::Trying(_))
    }

    /// Goes on to the next step. Behind the last one the lesson is finished. An open question or goal may be skipped; it then counts
    /// as answered wrong.
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

    /// Goes back to the step before.
    pub fn back(&mut self) {
        self.go_to(self.at.saturating_sub(1));
    }

    /// Makes every step one that can be gone to: the lesson was finished before.
    pub fn reach_all(&mut self) {
        self.furthest = self.lesson.steps.len().saturating_sub(1);
    }

    /// True if the step was reached before, so that it can be gone to.
    pub fn has_reached(&self, step: usize) -> bool {
        step < self.lesson.steps.len() && (self.lecture || step <= self.furthest)
    }

    /// Goes to a step that was reached before. False if it was not.
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

    /// Answers the open question. `run` is that of [`Play::options`].
    ///
    /// # Errors
    /// If there is no question, the run has no answer, or the answer is of another kind.
    pub fn answer(
        &mut self,
        run: &Run,
        codes: &dyn Codes,
        answer: &Answer,
    ) -> Result<&Judgement, Unanswerable> {
        let about = About::at(run, self.open_question()?.at, codes).ok_or(Unanswerable::NoTruth)?;
        let truth = self.open_question()?.truth(about);
        self.answer_by(truth.ok_or(Unanswerable::NoTruth)?, answer)
    }

    /// The same where it is known already what the run says.
    ///
    /// # Errors
    /// If there is no question, or the answer is of another kind.
    pub fn answer_by(&mut self, truth: Value, answer: &Answer) -> Result<&Judgement, Unanswerable> {
        let question = self.open_question()?;
        let judged = question.judge_by(truth, answer, self.lesson.language)?;
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

    /// The question of the step, while it is open.
    ///
    /// # Errors
    /// If there is none.
    pub fn open_question(&self) -> Result<&Question, Unanswerable> {
        match (&self.step().task, &self.phase) {
            (Task::Predict { question, .. }, Phase::Asking) => Ok(question),
            _ => Err(Unanswerable::NotOpen),
        }
    }

    /// Looks at a run of the learner's.
    pub fn tried(&mut self, run: &Run, codes: &dyn Codes) -> Tried {
        let step = &self.lesson.steps[self.at];
        let (Task::Try(trial), Some(start)) = (&step.task, self.lesson.options(step)) else {
            return Tried::NoTrial;
        };
        let changed: Vec<String> = trial
            .changed(start, run)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let met = About::at(run, Moment::End, codes).is_some_and(|about| trial.goal.is_met(about));
        let failures = match self.phase {
            Phase::Trying(failures) => failures,
            _ => 0,
        };
        match (met, changed.is_empty()) {
            (true, true) => {
                self.phase = Phase::Reached;
                Tried::Reached
            }
            (_, false) => Tried::Changed(changed),
            (false, true) => {
                // What was reached once stays reached.
                if self.phase != Phase::Reached {
                    self.phase = Phase::Trying(failures.saturating_add(1));
                }
                Tried::NotYet
            }
        }
    }

    /// The hint, once it is due.
    pub fn hint(&self) -> Option<&str> {
        match (&self.step().task, &self.phase) {
            (Task::Try(trial), Phase::Trying(failures)) if *failures >= HINT_AFTER => {
                Some(&trial.hint)
            }
            _ => None,
        }
    }

    /// The solution, once it is due.
    pub fn solution(&self) -> Option<&Changes> {
        match (&self.step().task, &self.phase) {
            (Task::Try(trial), Phase::Trying(failures)) if *failures >= SOLUTION_AFTER => {
                Some(&trial.solution)
            }
            _ => None,
        }
    }
}
