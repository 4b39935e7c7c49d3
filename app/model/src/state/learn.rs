//! State of learning: the open lesson, quiz or detective case, its progress, and the unfinished answer.

use std::path::PathBuf;
use std::sync::Arc;

use loadscope_insight::landmarks::Place;
use loadscope_lessons::cases::{Case, Culprit, Remedy, Solved};
use loadscope_lessons::{
    Course, Judgement, Kind, Language, Lesson, Moment, Pane, Part, Play, Progress, Question, Quiz,
    Task, TrialResult, Value,
};
use loadscope_trace::{Nanos, RunOptions};
use serde::{Deserialize, Serialize};

use crate::history::History;
use crate::view::{Cursor, LowerPanel, Workspace};

mod wanted;

pub use wanted::Draft;
pub use wanted::{JobRequest, LessonJob, Outcome, Prepared, StepRequest, StepRun};

/// Learning preferences and progress that are kept between starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LearnPrefs {
    /// The language of the lessons.
    pub language: Language,
    /// True in lecture mode, which hides questions and enlarges the text.
    pub lecture: bool,
    /// Seed of the detective cases. 0 means seed 1, the first cases.
    pub cases: u64,
    /// Progress in lessons, quizzes and cases.
    pub progress: Progress,
}

impl LearnPrefs {
    /// Returns the seed of the detective cases.
    pub fn cases_seed(&self) -> u64 {
        self.cases.max(1)
    }
}

/// State of the open lesson, quiz or case.
#[derive(Debug, Default)]
pub struct Learn {
    /// Open page. `None` if the window is used without lessons.
    pub page: Option<Page>,
    /// State of the window before the lesson, for restoring it.
    pub user_window: Option<Box<UserWindow>>,
    /// Background job that was requested.
    pub wanted: Option<JobRequest>,
    /// Number of background jobs requested so far.
    pub asked: u64,
    /// Lessons in the chosen language.
    pub course: Option<Arc<Course>>,
}

/// Page of the lessons.
#[derive(Debug)]
pub enum Page {
    /// The list of lessons, cases and quizzes.
    Contents,
    /// Lesson with its current step.
    Lesson(Box<Playing>),
    /// Quiz with its drawn questions.
    Quiz(Box<Quizzing>),
    /// A detective case.
    Case(Box<Detecting>),
}

/// An open lesson.
#[derive(Debug)]
pub struct Playing {
    /// Progress in the lesson.
    pub play: Play,
    /// View of the lesson's run.
    pub stage: LessonView,
    /// Result of the learner's last run in this step.
    pub tried: Option<TrialResult>,
    /// Each part of the goal, with its value in that run.
    pub found: Vec<(String, Option<Value>)>,
    /// Number of the learner's run that was checked last, as `run_number`.
    pub looked_at: Option<u64>,
    /// Lesson file that is being written. It is read again after each change.
    pub file: Option<PathBuf>,
    /// Error in that file.
    pub mistake: Option<String>,
}

/// An open quiz.
#[derive(Debug)]
pub struct Quizzing {
    /// The quiz with all its questions.
    pub quiz: Arc<Quiz>,
    /// Seed of the drawn questions.
    pub seed: u64,
    /// Drawn questions, as positions in the quiz.
    pub drawn: Vec<usize>,
    /// Judgements so far. `None` for a skipped question.
    pub answers: Vec<Option<Judgement>>,
    /// View of the question's run.
    pub stage: LessonView,
}

/// An open detective case.
#[derive(Debug)]
pub struct Detecting {
    /// Seed of the cases.
    pub seed: u64,
    /// Number of the case, from 1.
    pub number: u32,
    /// The case. `None` until it is made.
    pub case: Option<Arc<Case>>,
    /// Causes that the learner selected.
    pub named: Vec<Culprit>,
    /// Remedies that the learner selected.
    pub chosen: Vec<Remedy>,
    /// Result, after the case is solved.
    pub solved: Option<Box<Solved>>,
    /// View of the case's run.
    pub stage: LessonView,
}

/// View of the run of a lesson, a question or a case.
#[derive(Clone, Debug, Default)]
pub struct LessonView {
    /// Unfinished answer.
    pub draft: Draft,
    /// Correct answer from the run. `None` until it is known, or if there is no question.
    pub truth: Option<Value>,
    /// Initial position in the run.
    pub from: Option<Place>,
    /// Position that shows the answer.
    pub until: Option<Place>,
    /// Position that the lesson set. A different current position means that the learner has moved.
    pub home: Option<Home>,
    /// Playback from the initial position to the answer.
    pub replay: Option<Replay>,
    /// Reason why there is no run.
    pub trouble: Option<String>,
}

/// Position that a lesson set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Time cursor.
    pub cursor: Cursor,
    /// Workspace of the step.
    pub workspace: Workspace,
}

/// Automatic movement of the time cursor to a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    /// Time of the cursor at the start of the playback.
    pub from: Nanos,
    /// Time of the cursor at the end of the playback.
    pub to: Nanos,
    /// Time since the start of the playback, in real time.
    pub elapsed: Nanos,
    /// Duration of the playback, in real time.
    pub length: Nanos,
    /// Cursor that the playback set last. A different current cursor means that the learner has moved it.
    pub cursor: Cursor,
}

/// State of the window before a lesson.
#[derive(Debug)]
pub struct UserWindow {
    /// The options of the next run.
    pub options: RunOptions,
    /// Undo history of the options.
    pub history: History,
    /// Workspace before the lesson.
    pub workspace: Workspace,
    /// Visibility of options, inspector and variables.
    pub panels: [bool; 3],
    /// Panel below the pipeline.
    pub lower: LowerPanel,
    /// Number of the shown run.
    pub run: Option<u32>,
}

/// Kind of a lesson's run. Such a run is not in the list of the user's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonRunKind {
    /// Run that a step shows.
    Given,
    /// Run that the learner starts in a step.
    Trial,
}

impl Learn {
    /// Returns the open lesson.
    pub fn playing(&self) -> Option<&Playing> {
        match &self.page {
            Some(Page::Lesson(playing)) => Some(playing),
            Some(Page::Contents | Page::Quiz(_) | Page::Case(_)) | None => None,
        }
    }

    /// Returns the open lesson, mutably.
    pub fn playing_mut(&mut self) -> Option<&mut Playing> {
        match &mut self.page {
            Some(Page::Lesson(playing)) => Some(playing),
            Some(Page::Contents | Page::Quiz(_) | Page::Case(_)) | None => None,
        }
    }

    /// Returns the open quiz.
    pub fn quizzing(&self) -> Option<&Quizzing> {
        match &self.page {
            Some(Page::Quiz(quizzing)) => Some(quizzing),
            Some(Page::Contents | Page::Lesson(_) | Page::Case(_)) | None => None,
        }
    }

    /// Returns the open case.
    pub fn detecting(&self) -> Option<&Detecting> {
        match &self.page {
            Some(Page::Case(detecting)) => Some(detecting),
            Some(Page::Contents | Page::Lesson(_) | Page::Quiz(_)) | None => None,
        }
    }

    /// Returns the view of the page's run.
    pub fn stage(&self) -> Option<&LessonView> {
        match self.page.as_ref()? {
            Page::Contents => None,
            Page::Lesson(playing) => Some(&playing.stage),
            Page::Quiz(quizzing) => Some(&quizzing.stage),
            Page::Case(detecting) => Some(&detecting.stage),
        }
    }

    /// Returns the view of the page's run, mutably.
    pub fn stage_mut(&mut self) -> Option<&mut LessonView> {
        match self.page.as_mut()? {
            Page::Contents => None,
            Page::Lesson(playing) => Some(&mut playing.stage),
            Page::Quiz(quizzing) => Some(&mut quizzing.stage),
            Page::Case(detecting) => Some(&mut detecting.stage),
        }
    }

    /// Returns true if the list of lessons is shown instead of the run.
    pub fn shows_contents(&self) -> bool {
        matches!(self.page, Some(Page::Contents))
    }

    /// Returns the question that waits for an answer.
    pub fn question(&self) -> Option<&Question> {
        match self.page.as_ref()? {
            Page::Lesson(playing) => playing.play.open_question().ok(),
            Page::Quiz(quizzing) => quizzing.entry().map(|entry| &entry.question),
            Page::Contents | Page::Case(_) => None,
        }
    }

    /// Returns the correct answer of a question that waits for a click.
    pub fn click(&self) -> Option<&Value> {
        let question = self.question()?;
        let truth = self.stage()?.truth.as_ref()?;
        (question.kind == Kind::Click).then_some(truth)
    }

    /// Returns the parts of the window that the step explains.
    pub fn parts(&self) -> &[Part] {
        match &self.page {
            Some(Page::Lesson(playing)) => playing.play.parts(),
            Some(_) | None => &[],
        }
    }

    /// Returns true while a background job or a playback runs.
    pub fn is_moving(&self) -> bool {
        self.wanted.is_some() || self.stage().is_some_and(|stage| stage.replay.is_some())
    }

    /// Returns true while the diagnosis would reveal an answer: before a question is answered, or before a case is solved.
    pub fn hides_verdict(&self) -> bool {
        match &self.page {
            Some(Page::Lesson(playing)) => playing.play.hides_verdict(),
            Some(Page::Quiz(quizzing)) => quizzing.entry().is_some(),
            Some(Page::Case(detecting)) => detecting.solved.is_none(),
            Some(Page::Contents) | None => false,
        }
    }

    /// Returns true while a panel without outline could reveal an answer: during a question or an unsolved case.
    pub fn covers(&self, pane: Pane) -> bool {
        let is_outlined = self.parts().iter().any(|part| part.pane() == pane);
        match pane {
            Pane::Sampling | Pane::Variables => self.question().is_some() && !is_outlined,
            Pane::Options => self
                .detecting()
                .is_some_and(|detecting| detecting.solved.is_none()),
            Pane::Verdict | Pane::Diagnose => self.hides_verdict(),
            Pane::Inspector | Pane::Messages | Pane::Pipeline | Pane::Below(_) => false,
        }
    }

    /// Returns true while later events of the run would reveal an answer.
    pub fn hides_future(&self) -> bool {
        let plays = self.stage().is_some_and(|stage| stage.replay.is_some());
        plays
            || self.question().is_some()
            || self
                .playing()
                .is_some_and(|playing| playing.play.hides_future())
    }

    /// Returns the built-in lesson with this number.
    pub fn lesson(&self, number: u32) -> Option<&Lesson> {
        let course = self.course.as_ref()?;
        course.lessons().iter().find(|l| l.number == number)
    }
}

impl Playing {
    /// Creates the state of a new or continued lesson.
    pub fn new(play: Play) -> Self {
        Self {
            play,
            stage: LessonView::default(),
            tried: None,
            found: Vec::new(),
            looked_at: None,
            file: None,
            mistake: None,
        }
    }

    /// Returns the run that the step needs.
    pub fn step(&self) -> StepRequest {
        if self.play.changes().is_some() {
            return StepRequest {
                options: self.play.shown_options(),
                question: None,
                from: Moment::Start,
                until: self.play.moment(),
            };
        }
        let (question, from, until) = match &self.play.step().task {
            Task::Look { at, .. } => (None, *at, *at),
            Task::Predict { question, until } => (Some(question.clone()), question.at, *until),
            Task::Try(_) | Task::Code { .. } => (None, Moment::End, Moment::End),
        };
        StepRequest {
            options: self.play.options().clone(),
            question,
            from,
            until,
        }
    }
}

impl Quizzing {
    /// Returns the current question. Returns `None` after the last answer.
    pub fn entry(&self) -> Option<&loadscope_lessons::Entry> {
        self.quiz.entries.get(*self.drawn.get(self.answers.len())?)
    }

    /// Returns the run that the current question needs.
    pub fn step(&self) -> Option<StepRequest> {
        let entry = self.entry()?;
        Some(StepRequest {
            options: entry.options.clone(),
            question: Some(entry.question.clone()),
            // The question contains all needed facts. Later events of the run would answer it.
            from: Moment::Start,
            until: entry.question.at,
        })
    }

    /// Returns the number of correct answers.
    pub fn right(&self) -> usize {
        let right = |answer: &&Option<Judgement>| answer.as_ref().is_some_and(|j| j.is_right);
        self.answers.iter().filter(right).count()
    }
}
