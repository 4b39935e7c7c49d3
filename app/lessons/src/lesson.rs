//! Structure of a lesson.

use loadscope_trace::{Run, RunOptions};
use loadscope_words::Language;

use crate::condition::Condition;
use crate::moment::Moment;
use crate::part::Part;
use crate::query::Changes;
use crate::question::{Kind, Question};

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

/// Maximum number of words in a lesson in one language: seven minutes at a slow pace, including clicks.
pub const MAX_LESSON_WORDS: usize = 450;
/// Maximum number of words in the text of a look.
pub const MAX_TEXT_WORDS: usize = 45;
/// Reading three Chinese characters takes about as long as reading two English words.
const CHARACTERS: usize = 3;
const WORDS: usize = 2;

/// Counts words. Three Chinese characters count as two words. Names and code in Chinese text count as in English.
pub fn words(text: &str) -> usize {
    let (mut characters, mut latin, mut inside) = (0, 0, false);
    for c in text.chars() {
        if is_chinese(c) {
            characters += 1;
            inside = false;
        } else if c.is_alphanumeric() {
            latin += usize::from(!inside);
            inside = true;
        } else if c.is_whitespace() || is_chinese_sign(c) {
            // `prefetch_factor=2` and `don't` are one word.
            inside = false;
        }
    }
    latin + (characters * WORDS).div_ceil(CHARACTERS)
}

/// Returns true for a Chinese character, false for punctuation.
fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

fn is_chinese_sign(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' | '“' | '”' | '—' | '…')
}

#[cfg(test)]
mod tests {
    use loadscope_trace::Argument;

    use super::{FIXED_OPTIONS, words};

    #[test]
    fn each_option_is_fixed_or_free_in_a_trial() {
        /// Options that a trial can change.
        const FREE: [&str; 11] = [
            "seed",
            "global_seed",
            "num_workers",
            "prefetch_factor",
            "persistent_workers",
            "timeout",
            "multiprocessing_context",
            "in_order",
            "collate",
            "pin_memory",
            "on_error",
        ];
        for option in Argument::ALL.iter().flat_map(|argument| argument.fields()) {
            let lists = [&FIXED_OPTIONS[..], &FREE].map(|list| list.contains(option));
            assert_ne!(lists[0], lists[1], "{option}: add it to FIXED_OPTIONS");
        }
    }

    #[test]
    fn words_of_both_languages_are_counted() {
        assert_eq!(words("Batch 4 isn't there yet: wait."), 6);
        assert_eq!(words("`prefetch_factor=2` doubles it"), 3);
        // Six characters are four words.
        assert_eq!(words("数据加载器的，DataLoader"), 5);
    }
}
