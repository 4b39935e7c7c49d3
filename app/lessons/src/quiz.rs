//! The quiz: a pool of questions in both languages. A seed draws some of them.

use loadscope_insight::landmarks::Place;
use loadscope_trace::{Run, RunOptions};
use oorandom::Rand64;
use serde::Deserialize;
use toml::{Spanned, Table};

use crate::code::ProgramCatalog;
use crate::error::LessonError;
use crate::format::{File, RawChoice, RawQuestion, Text, options, question};
use crate::query::{QueryContext, simulated};
use crate::question::{Answer, Judgement, Question, Unanswerable};
use loadscope_words::Language;

/// Number of drawn questions.
pub const QUIZ_LENGTH: usize = 20;

const FILES: [(Language, &str, &str); 2] = [
    (
        Language::En,
        "quiz.en.toml",
        include_str!("../../../assets/lessons/quiz.en.toml"),
    ),
    (
        Language::Zh,
        "quiz.zh.toml",
        include_str!("../../../assets/lessons/quiz.zh.toml"),
    ),
];

/// A question of the quiz.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Lesson that teaches the answer, from 1.
    pub lesson: u32,
    /// Step of that lesson, from 1.
    pub step: u32,
    /// Options of its run.
    pub options: RunOptions,
    /// Question with a computed answer.
    pub question: Question,
    /// First line in the file.
    pub line: usize,
}

/// The pool of questions in one language.
#[derive(Clone, Debug, PartialEq)]
pub struct Quiz {
    /// Language of the questions.
    pub language: Language,
    /// All questions.
    pub entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuiz {
    #[serde(default)]
    question: Vec<Spanned<RawEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    lesson: u32,
    step: u32,
    run: Option<Spanned<Table>>,
    query: Text,
    ask: Option<String>,
    at: Option<Text>,
    answer: Option<Text>,
    unit: Option<String>,
    tolerance: Option<f64>,
    #[serde(default)]
    choices: Vec<RawChoice>,
    why: Option<String>,
}

impl Quiz {
    /// Parses the built-in pool.
    ///
    /// # Errors
    /// If its file is invalid. A test checks that it is valid.
    pub fn built_in(language: Language) -> Result<Self, LessonError> {
        let file = FILES.iter().find(|(of, ..)| *of == language);
        let (_, name, text) = file.unwrap_or(&FILES[0]);
        Self::read(name, text)
    }

    /// Parses the file with this name.
    ///
    /// # Errors
    /// The first mistake, with file, line, problem and remedy.
    pub fn read(name: &str, text: &str) -> Result<Self, LessonError> {
        let file = File { name, text };
        let raw: RawQuiz = toml::from_str(text).map_err(|e| file.toml(&e))?;
        let entries = raw.question.iter().map(|raw| entry(file, raw));
        Ok(Self {
            language: Language::of_file(name),
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the positions in [`Quiz::entries`] of a seed's questions. They are the same in every language.
    pub fn draw(&self, seed: u64) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.entries.len()).collect();
        let mut random = Rand64::new(u128::from(seed));
        let drawn = QUIZ_LENGTH.min(places.len());
        for at in 0..drawn {
            let end = places.len() as u64;
            let other = random.rand_range(at as u64..end) as usize;
            places.swap(at, other);
        }
        places.truncate(drawn);
        places
    }
}

fn entry(file: File<'_>, raw: &Spanned<RawEntry>) -> Result<Entry, LessonError> {
    let start = raw.span().start;
    let entry = raw.get_ref();
    let plain = RunOptions::default();
    let of_run = entry.run.as_ref().map(|table| options(file, table, &plain));
    let raw = RawQuestion {
        query: &entry.query,
        ask: entry.ask.as_ref(),
        at: entry.at.as_ref(),
        answer: entry.answer.as_ref(),
        unit: entry.unit.as_ref(),
        tolerance: entry.tolerance,
        choices: &entry.choices,
        why: entry.why.as_ref(),
    };
    Ok(Entry {
        lesson: entry.lesson,
        step: entry.step,
        options: of_run.transpose()?.unwrap_or(plain),
        question: question(file, start, &raw)?,
        line: file.line(start),
    })
}

impl Entry {
    /// Evaluates an answer by simulating the run of the question.
    ///
    /// # Errors
    /// If the run has no answer, or the answer is of another kind than the question.
    pub fn judge(
        &self,
        codes: &dyn ProgramCatalog,
        answer: &Answer,
        language: Language,
    ) -> Result<Judgement, Unanswerable> {
        let run = self.run()?;
        let about = self.about(&run, codes).ok_or(Unanswerable::NoTruth)?;
        self.question.judge(about, answer, language)
    }

    /// Simulates the run of the question.
    ///
    /// # Errors
    /// If its options cannot be simulated.
    pub fn run(&self) -> Result<Run, Unanswerable> {
        simulated(&self.options).map_err(|_| Unanswerable::NoTruth)
    }

    /// Returns the place in the run that its query is about.
    pub fn about<'a>(
        &self,
        run: &'a Run,
        codes: &'a dyn ProgramCatalog,
    ) -> Option<QueryContext<'a>> {
        QueryContext::at(run, self.question.at, codes)
    }

    /// Returns the question's place in the run.
    pub fn place(&self, run: &Run) -> Option<Place> {
        let marks = loadscope_insight::landmarks::Landmarks::of(run);
        self.question.at.resolve(run, &marks)
    }
}
