//! Lessons about the DataLoader: lesson files, computed moments and answers, goals, the quiz, the detective cases, and progress.
//!
//! The crate does not draw, open files, start threads or read a clock. The window shows the state of [`Play`].
//! Runs are simulated, so they are the same on all platforms.
//!
//! ```
//! use loadscope_lessons::{Course, Language, Play, Task, simulated};
//!
//! let course = Course::built_in(Language::En).expect("the lessons are sound");
//! let lesson = course.lessons().first().expect("there are lessons");
//! let play = Play::of(lesson);
//! let step = play.step();
//! let run = simulated(play.options()).expect("its options are sound");
//! // The place of the step in the run, and the outlined parts of the window.
//! assert!(play.place(&run).is_some());
//! assert!(!step.parts.is_empty() && matches!(step.task, Task::Look { .. }));
//! ```

#![forbid(unsafe_code)]

use crate::moment::MOMENTS;
use crate::part::PARTS;
use crate::phrase::PhrasePattern;
use crate::query::{MOMENT_QUERIES, ORDER_QUERIES, RUN_QUERIES, WRAPPED};

pub mod cases;
pub mod check;
mod code;
mod condition;
mod course;
mod error;
mod format;
mod lesson;
mod moment;
mod part;
mod phrase;
mod play;
mod progress;
mod query;
mod question;
mod quiz;
mod step_layout;
mod value;

pub use code::{Code, NoPrograms, ProgramCatalog};
pub use condition::Condition;
pub use course::{BuiltInPrograms, Course, LESSONS};
pub use error::{LessonError, Mistake};
pub use lesson::{FIXED_OPTIONS, Lesson, Scene, Step, Task, Trial};
pub use lesson::{MAX_LESSON_WORDS, MAX_TEXT_WORDS, words};
pub use loadscope_words::Language;
pub use moment::{Moment, pipeline};
pub use part::{Below, Pane, Part, View};
pub use play::{Phase, Play, TrialResult};
pub use progress::{LessonProgress, Progress};
pub use query::{
    Changes, MomentQuery, OrderQuery, Query, QueryContext, RunQuery, option, simulated,
};
pub use question::{Answer, Choice, Judgement, Kind, Question, Target, Unanswerable};
pub use quiz::{Entry, QUIZ_LENGTH, Quiz};
pub use step_layout::{StepLayout, absent};
pub use value::Value;

/// A phrase of lesson files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Kind: a moment, a part, or a query.
    pub kind: &'static str,
    /// Pattern. Words in capitals stand for values.
    pub pattern: &'static str,
    /// Meaning of the phrase, for the list in the README.
    pub about: &'static str,
}

/// Returns all phrases of lesson files.
pub fn phrases() -> Vec<Phrase> {
    let mut all = of("moment", MOMENTS);
    all.extend(of("part", PARTS));
    all.extend(of("query about the moment", MOMENT_QUERIES));
    all.extend(of("query about the run", RUN_QUERIES));
    all.extend(of("query to the samplers", ORDER_QUERIES));
    all.extend(of("query about other things", WRAPPED));
    all
}

fn of<T>(kind: &'static str, forms: &[PhrasePattern<T>]) -> Vec<Phrase> {
    let phrase = |form: &PhrasePattern<T>| Phrase {
        kind,
        pattern: form.pattern,
        about: form.about,
    };
    forms.iter().map(phrase).collect()
}
