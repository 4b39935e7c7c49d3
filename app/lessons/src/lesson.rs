//! Structure of a lesson.

use loadscope_trace::{Run, RunOptions};

use crate::condition::Condition;
use crate::moment::Moment;
use crate::part::Part;
use crate::query::Changes;
use crate::question::{Kind, Question};
use crate::words::words;
use loadscope_words::Language;

/// A lesson in one language.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Number, from 1.
    pub number: u32,
    /// Language of its texts.
    pub language: Language,
    /// Title in the list of lessons.
    pub title: String,
    /// Skill that the lesson teaches.
    pub goal: String,
    /// Runs. The first one is loaded at the start. Never empty.
    pub(crate) scenes: Vec<Scene>,
    /// Steps. Never empty.
    pub(crate) steps: Vec<Step>,
}

/// A run of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Name in the file. The first run is `run`.
    pub name: String,
    /// Options of the simulation.
    pub options: RunOptions,
}

/// A step of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Position of its run in [`Lesson::scenes`].
    pub(crate) scene: usize,
    /// Parts of the window that the step outlines.
    pub parts: Vec<Part>,
    /// Parts that show the answer after a question. Empty means the same parts.
    pub(crate) then: Vec<Part>,
    /// Task of the learner.
    pub task: Task,
    /// First line in the file.
    pub line: usize,
}

impl Step {
    /// Returns the parts of the window to outline after the answer to the step's question, if it has one.
    pub fn parts_after_answer(&self) -> &[Part] {
        match self.then.is_empty() {
            true => &self.parts,
            false => &self.then,
        }
    }
}

/// Task of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Read a text and look at the run.
    Look {
        /// Text next to the run.
        text: String,
        /// The shown moment.
        at: Moment,
    },
    /// Predict what happens next.
    Predict {
        /// Question about the run, with a computed answer.
        question: Question,
        /// The moment that shows the answer.
        until: Moment,
    },
    /// Reach a goal.
    Try(Trial),
    /// Read a program and its output.
    Code {
        /// Text next to the program.
        text: String,
        /// Name of the program.
        name: String,
    },
}

/// A goal that the learner reaches by changing options and running again.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Text of the goal.
    pub text: String,
    /// Condition on the run.
    pub goal: Condition,
    /// Options that must not change, so that the work stays the same.
    pub keep: Vec<String>,
    /// Hint after two failed runs.
    pub hint: String,
    /// Solution, offered after four failed runs.
    pub solution: Changes,
    /// Reason why the solution works.
    pub why: String,
}

/// Options that a trial keeps, except those of its solution: they determine the batches, their order and the training time.
pub const FIXED_OPTIONS: [&str; 15] = [
    "dataset",
    "image_size",
    "extra_cost",
    "batch_size",
    "shuffle",
    "sampler",
    "replacement",
    "num_samples",
    "world_size",
    "rank",
    "sampler_drop_last",
    "set_epoch",
    "drop_last",
    "epochs",
    "step_ms",
];

impl Trial {
    /// Returns the kept options that `run` changed.
    pub fn changed<'a>(&'a self, start: &RunOptions, run: &Run) -> Vec<&'a str> {
        let keep = self.keep.iter().map(String::as_str);
        let differs = |name: &&str| {
            crate::query::option(start, name) != crate::query::option(&run.info.options, name)
        };
        keep.filter(differs).collect()
    }
}

impl Lesson {
    /// Returns the runs of the lesson. The first one is loaded at the start.
    pub fn scenes(&self) -> &[Scene] {
        &self.scenes
    }

    /// Returns the steps of the lesson, at least one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the options of a step's run.
    pub fn options(&self, step: &Step) -> Option<&RunOptions> {
        self.scenes.get(step.scene).map(|scene| &scene.options)
    }

    /// Returns all texts for the learner.
    pub fn texts(&self) -> Vec<&str> {
        let mut all = vec![self.title.as_str(), self.goal.as_str()];
        for step in &self.steps {
            match &step.task {
                Task::Look { text, .. } | Task::Code { text, .. } => all.push(text),
                Task::Predict { question, .. } => {
                    all.extend([question.ask.as_str(), question.why.as_str()]);
                    if let Kind::Choice(choices) | Kind::Order(choices) = &question.kind {
                        all.extend(choices.iter().map(|choice| choice.text.as_str()));
                    }
                }
                Task::Try(trial) => {
                    all.extend([&trial.text, &trial.hint, &trial.why].map(String::as_str));
                }
            }
        }
        all
    }

    /// Counts the words for the learner. Hints are included, programs and their output are not.
    pub fn words(&self) -> usize {
        let own = words(&self.title) + words(&self.goal);
        own + self
            .steps
            .iter()
            .map(|step| step.task.words())
            .sum::<usize>()
    }
}

impl Task {
    /// Returns `look`, `predict`, `try` or `code`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Look { .. } => "look",
            Self::Predict { .. } => "predict",
            Self::Try(_) => "try",
            Self::Code { .. } => "code",
        }
    }

    /// Counts the words for the learner.
    pub fn words(&self) -> usize {
        match self {
            Self::Look { text, .. } | Self::Code { text, .. } => words(text),
            Self::Predict { question, .. } => {
                let choices = match &question.kind {
                    Kind::Choice(all) | Kind::Order(all) => {
                        all.iter().map(|c| words(&c.text)).sum()
                    }
                    Kind::Number { .. } | Kind::Click => 0,
                };
                words(&question.ask) + words(&question.why) + choices
            }
            Self::Try(trial) => [&trial.text, &trial.hint, &trial.why]
                .iter()
                .map(|t| words(t))
                .sum(),
        }
    }
}
