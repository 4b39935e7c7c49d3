//! What a lesson consists of.

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
    /// Its number, from 1.
    pub number: u32,
    /// The language of its texts.
    pub language: Language,
    /// What it is called.
    pub title: String,
    /// What one can do after it.
    pub goal: String,
    /// Its runs, the first of which is there at the beginning; never empty.
    pub(crate) scenes: Vec<Scene>,
    /// Its steps; never empty.
    pub(crate) steps: Vec<Step>,
}

/// A run that steps are about.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Its name in the file; the first one is called `run`.
    pub name: String,
    /// What is simulated.
    pub options: RunOptions,
}

/// A step of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The position of its run in [`Lesson::scenes`].
    pub(crate) scene: usize,
    /// The parts of the window that it is about.
    pub parts: Vec<Part>,
    /// Those that show the answer of a question, once it was given; empty: the same.
    pub(crate) then: Vec<Part>,
    /// What it asks for.
    pub task: Task,
    /// The line of the file in which it begins.
    pub line: usize,
}

impl Step {
    /// The parts of the window that it is about once its question, if it has one, was answered.
    pub fn parts_then(&self) -> &[Part] {
        match self.then.is_empty() {
            true => &self.parts,
            false => &self.then,
        }
    }
}

/// What a step asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// To read, and to look.
    Look {
        /// What is there to see.
        text: String,
        /// The moment that is shown.
        at: Moment,
    },
    /// To say what will happen.
    Predict {
        /// The question.
        question: Question,
        /// The moment that shows the answer.
        until: Moment,
    },
    /// To reach a goal.
    Try(Trial),
    /// To read a program and what it printed.
    Code {
        /// What it shows.
        text: String,
        /// The name of the program.
        name: String,
    },
}

/// A goal that is reached by changing options and running again.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What is to be reached.
    pub text: String,
    /// The same as a condition over a run.
    pub goal: Condition,
    /// Options that stay as they are, so that the work is the same.
    pub keep: Vec<String>,
    /// Shown after two runs that did not reach it.
    pub hint: String,
    /// What reaches it. Offered after four.
    pub solution: Changes,
    /// Why it does.
    pub why: String,
}

/// Options that a trial keeps, apart from those of its solution: they decide which batches are trained on, in which order, and for how
/// long.
pub const KEPT: [&str; 15] = [
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
    /// Options that `run` changed although they are to stay.
    pub fn changed<'a>(&'a self, start: &RunOptions, run: &Run) -> Vec<&'a str> {
        let keep = self.keep.iter().map(String::as_str);
        let differs = |name: &&str| {
            crate::query::option(start, name) != crate::query::option(&run.info.options, name)
        };
        keep.filter(differs).collect()
    }
}

impl Lesson {
    /// Its runs, the first of which is there at the beginning.
    pub fn scenes(&self) -> &[Scene] {
        &self.scenes
    }

    /// Its steps: at least one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The options of a step's run.
    pub fn options(&self, step: &Step) -> Option<&RunOptions> {
        self.scenes.get(step.scene).map(|scene| &scene.options)
    }

    /// All texts that a learner reads.
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

    /// Words that a learner reads. Hints count, programs and what they print do not.
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
    /// `look`, `predict`, `try` or `code`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Look { .. } => "look",
            Self::Predict { .. } => "predict",
            Self::Try(_) => "try",
            Self::Code { .. } => "code",
        }
    }

    /// Words that a learner reads.
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
