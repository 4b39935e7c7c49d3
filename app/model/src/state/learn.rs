//! Learning: which lesson, quiz or detective case is open, how far it is, and what is being answered.

use std::path::PathBuf;
use std::sync::Arc;

use loadscope_insight::landmarks::Place;
use loadscope_lessons::cases::{Case, Culprit, Remedy, Solved};
use loadscope_lessons::{
    Course, Judgement, Kind, Language, Lesson, Moment, Pane, Part, Play, Progress, Question, Quiz,
    Task, Tried, Value,
};
use loadscope_trace::{Nanos, RunOptions};
use serde::{Deserialize, Serialize};

use crate::history::History;
use crate::view::{Cursor, Lower, Workspace};

mod draft;
mod wanted;

pub use draft::Draft;
pub use wanted::{LessonJob, Outcome, Prepared, StepOf, StepRun, Wanted};

/// What is remembered of learning from one start to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Learned {
    /// The language of the lessons.
    pub language: Language,
    /// Questions are hidden, the type is larger.
    pub lecture: bool,
    /// What the detective cases are drawn by; 0: the first ones.
    pub cases: u64,
    /// What was done.
    pub progress: Progress,
}

impl Learned {
    /// What the detective cases are drawn by.
    pub fn cases_seed(&self) -> u64 {
        self.cases.max(1)
    }
}

/// What is open for learning.
#[derive(Debug, Default)]
pub struct Learn {
    /// `None`: the window is used without lessons.
    pub page: Option<Page>,
    /// What the window showed before: restored afterwards.
    pub own: Option<Box<Own>>,
    /// What has to be worked out for it, away from the window's thread.
    pub wanted: Option<Wanted>,
    /// How often something was wanted.
    pub asked: u64,
    /// The lessons in the language that is chosen.
    pub course: Option<Arc<Course>>,
}

/// What is shown of it.
#[derive(Debug)]
pub enum Page {
    /// The list of lessons, cases and quizzes.
    Contents,
    /// A lesson.
    Lesson(Box<Playing>),
    /// A quiz.
    Quiz(Box<Quizzing>),
    /// A detective case.
    Case(Box<Detecting>),
}

/// A lesson that is open.
#[derive(Debug)]
pub struct Playing {
    /// How far it is.
    pub play: Play,
    /// What is shown of its run.
    pub stage: LessonView,
    /// What came of the last run of the learner's in this step.
    pub tried: Option<Tried>,
    /// Each part of the goal, with what that run says to it.
    pub found: Vec<(String, Option<Value>)>,
    /// The run of the learner's that was looked at last: what its panels know it by.
    pub looked_at: Option<u64>,
    /// The file that is being written: it is read again when it changes.
    pub file: Option<PathBuf>,
    /// What is wrong with that file.
    pub mistake: Option<String>,
}

/// A quiz that is open.
#[derive(Debug)]
pub struct Quizzing {
    /// All questions.
    pub quiz: Arc<Quiz>,
    /// What they were drawn by.
    pub seed: u64,
    /// Those that were drawn, as positions in the quiz.
    pub drawn: Vec<usize>,
    /// What was answered so far; `None`: the question was skipped.
    pub answers: Vec<Option<Judgement>>,
    /// What is shown of the run of the question.
    pub stage: LessonView,
}

/// A detective case that is open.
#[derive(Debug)]
pub struct Detecting {
    /// What the cases are drawn by.
    pub seed: u64,
    /// Its number, from 1.
    pub number: u32,
    /// The case, once it was made.
    pub case: Option<Arc<Case>>,
    /// The causes that were named.
    pub named: Vec<Culprit>,
    /// The remedies that were chosen.
    pub chosen: Vec<Remedy>,
    /// How it ended.
    pub solved: Option<Box<Solved>>,
    /// Where the window stands.
    pub stage: LessonView,
}

/// View of the run of a lesson, a question or a case.
#[derive(Clone, Debug, Default)]
pub struct LessonView {
    /// What is being answered.
    pub draft: Draft,
    /// What the run says; `None` until it is known, or where there is no question.
    pub truth: Option<Value>,
    /// Where the run stands at first.
    pub from: Option<Place>,
    /// The moment that shows the answer.
    pub until: Option<Place>,
    /// Where the window was put: if it stands elsewhere, the learner has looked at something else.
    pub home: Option<Home>,
    /// The run is on its way from one to the other.
    pub replay: Option<Replay>,
    /// Why there is no run.
    pub trouble: Option<String>,
}

/// Where the window was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The instant.
    pub cursor: Cursor,
    /// The workspace.
    pub workspace: Workspace,
}

/// The time cursor moves to a moment by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    /// Where it began.
    pub from: Nanos,
    /// Where it ends.
    pub to: Nanos,
    /// How long it has taken so far, in the time of the person who watches.
    pub elapsed: Nanos,
    /// How long it takes.
    pub length: Nanos,
    /// Where it put the cursor last: if it stands elsewhere, the learner has moved it.
    pub cursor: Cursor,
}

/// What the window showed before.
#[derive(Debug)]
pub struct Own {
    /// The options of the next run.
    pub options: RunOptions,
    /// What was changed in them.
    pub history: History,
    /// The workspace.
    pub workspace: Workspace,
    /// Whether options, inspector and variables were shown.
    pub panels: [bool; 3],
    /// What was below the pipeline.
    pub lower: Lower,
    /// The run that was shown, by its number.
    pub run: Option<u32>,
}

/// A run of a lesson: it has no place in the list of the user's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfLesson {
    /// The one that a step is about.
    Given,
    /// One of the learner's own in a step that asks for it.
    Tried,
}

impl Learn {
    /// The lesson that is open.
    pub fn playing(&self) -> Option<&Playing> {
        match &self.page {
            Some(Page::Lesson(playing)) => Some(playing),
            Some(Page::Contents | Page::Quiz(_) | Page::Case(_)) | None => None,
        }
    }

    /// The same, to be changed.
    pub fn playing_mut(&mut self) -> Option<&mut Playing> {
        match &mut self.page {
            Some(Page::Lesson(playing)) => Some(playing),
            Some(Page::Contents | Page::Quiz(_) | Page::Case(_)) | None => None,
        }
    }

    /// The quiz that is open.
    pub fn quizzing(&self) -> Option<&Quizzing> {
        match &self.page {
            Some(Page::Quiz(quizzing)) => Some(quizzing),
            Some(Page::Contents | Page::Lesson(_) | Page::Case(_)) | None => None,
        }
    }

    /// The case that is open.
    pub fn detecting(&self) -> Option<&Detecting> {
        match &self.page {
            Some(Page::Case(detecting)) => Some(detecting),
            Some(Page::Contents | Page::Lesson(_) | Page::Quiz(_)) | None => None,
        }
    }

    /// What is shown of the run of the step.
    pub fn stage(&self) -> Option<&LessonView> {
        match self.page.as_ref()? {
            Page::Contents => None,
            Page::Lesson(playing) => Some(&playing.stage),
            Page::Quiz(quizzing) => Some(&quizzing.stage),
            Page::Case(detecting) => Some(&detecting.stage),
        }
    }

    /// The same, to be changed.
    pub fn stage_mut(&mut self) -> Option<&mut LessonView> {
        match self.page.as_mut()? {
            Page::Contents => None,
            Page::Lesson(playing) => Some(&mut playing.stage),
            Page::Quiz(quizzing) => Some(&mut quizzing.stage),
            Page::Case(detecting) => Some(&mut detecting.stage),
        }
    }

    /// True where the list of lessons takes the place of the run.
    pub fn shows_contents(&self) -> bool {
        matches!(self.page, Some(Page::Contents))
    }

    /// The question that waits for an answer.
    pub fn question(&self) -> Option<&Question> {
        match self.page.as_ref()? {
            Page::Lesson(playing) => playing.play.open_question().ok(),
            Page::Quiz(quizzing) => quizzing.entry().map(|entry| &entry.question),
            Page::Contents | Page::Case(_) => None,
        }
    }

    /// The question that waits for a click, and what the run says to it.
    pub fn click(&self) -> Option<&Value> {
        let question = self.question()?;
        let truth = self.stage()?.truth.as_ref()?;
        (question.kind == Kind::Click).then_some(truth)
    }

    /// The parts of the window that the step is about.
    pub fn parts(&self) -> &[Part] {
        match &self.page {
            Some(Page::Lesson(playing)) => playing.play.parts(),
            Some(_) | None => &[],
        }
    }

    /// True while something of it moves by itself, or is worked out.
    pub fn is_moving(&self) -> bool {
        self.wanted.is_some() || self.stage().is_some_and(|stage| stage.replay.is_some())
    }

    /// True while what the diagnosis says would give an answer away: a question is open or to come, or a case is not solved.
    pub fn hides_verdict(&self) -> bool {
        match &self.page {
            Some(Page::Lesson(playing)) => playing.play.hides_verdict(),
            Some(Page::Quiz(quizzing)) => quizzing.entry().is_some(),
            Some(Page::Case(detecting)) => detecting.solved.is_none(),
            Some(Page::Contents) | None => false,
        }
    }

    /// True while a panel that is not outlined could give an answer away: a question is open, or a case is not solved.
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

    /// True while what comes later in the run would give an answer away.
    pub fn hides_future(&self) -> bool {
        let plays = self.stage().is_some_and(|stage| stage.replay.is_some());
        plays
            || self.question().is_some()
            || self
                .playing()
                .is_some_and(|playing| playing.play.hides_future())
    }

    /// A lesson that comes with the program.
    pub fn lesson(&self, number: u32) -> Option<&Lesson> {
        let course = self.course.as_ref()?;
        course.lessons().iter().find(|l| l.number == number)
    }
}

impl Playing {
    /// A lesson that is begun or gone on with.
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

    /// What the step needs to know of its run.
    pub fn step(&self) -> StepOf {
        if self.play.changes().is_some() {
            return StepOf {
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
        StepOf {
            options: self.play.options().clone(),
            question,
            from,
            until,
        }
    }
}

impl Quizzing {
    /// The question that is asked now; `None`: all were answered.
    pub fn entry(&self) -> Option<&loadscope_lessons::Entry> {
        self.quiz.entries.get(*self.drawn.get(self.answers.len())?)
    }

    /// What that question needs to know of its run.
    pub fn step(&self) -> Option<StepOf> {
        let entry = self.entry()?;
        Some(StepOf {
            options: entry.options.clone(),
            question: Some(entry.question.clone()),
            // The question says all that is needed: what the run shows later would answer it.
            from: Moment::Start,
            until: entry.question.at,
        })
    }

    /// How many answers were right.
    pub fn right(&self) -> usize {
        let right = |answer: &&Option<Judgement>| answer.as_ref().is_some_and(|j| j.is_right);
        self.answers.iter().filter(right).count()
    }
}
