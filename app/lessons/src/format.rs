//! Parser of lesson and quiz files. They are TOML, and unknown keys are errors.

use std::collections::BTreeMap;

use loadscope_trace::RunOptions;
use serde::Deserialize;
use toml::{Spanned, Table};

use crate::condition::Condition;
use crate::error::{LessonError, Mistake};
use crate::lesson::{FIXED_OPTIONS, Lesson, Scene, Step, Task, Trial};
use crate::moment::Moment;
use crate::part::Part;
use crate::query::{Changes, Query};
use crate::question::{Choice, Kind, Question};
use loadscope_words::Language;

/// A phrase with its position in the file.
pub(crate) type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLesson {
    lesson: u32,
    title: String,
    goal: String,
    #[serde(default)]
    run: Option<Spanned<Table>>,
    #[serde(default)]
    runs: BTreeMap<String, Spanned<Table>>,
    #[serde(default)]
    step: Vec<Spanned<RawStep>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    look: Option<Text>,
    predict: Option<Text>,
    r#try: Option<Text>,
    code: Option<Text>,
    run: Option<Text>,
    #[serde(default)]
    show: Vec<Text>,
    #[serde(default)]
    then: Vec<Text>,
    text: Option<String>,
    until: Option<Text>,
    ask: Option<String>,
    at: Option<Text>,
    answer: Option<Text>,
    unit: Option<String>,
    tolerance: Option<f64>,
    #[serde(default)]
    choices: Vec<RawChoice>,
    why: Option<String>,
    keep: Option<Vec<String>>,
    hint: Option<String>,
    solution: Option<Spanned<Table>>,
}

/// Common fields of predictions and quiz questions.
pub(crate) struct RawQuestion<'a> {
    pub query: &'a Text,
    pub ask: Option<&'a String>,
    pub at: Option<&'a Text>,
    pub answer: Option<&'a Text>,
    pub unit: Option<&'a String>,
    pub tolerance: Option<f64>,
    pub choices: &'a [RawChoice],
    pub why: Option<&'a String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawChoice {
    is: String,
    text: String,
}

impl RawStep {
    fn question<'a>(&'a self, query: &'a Text) -> RawQuestion<'a> {
        RawQuestion {
            query,
            ask: self.ask.as_ref(),
            at: self.at.as_ref(),
            answer: self.answer.as_ref(),
            unit: self.unit.as_ref(),
            tolerance: self.tolerance,
            choices: &self.choices,
            why: self.why.as_ref(),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct File<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl File<'_> {
    /// Returns the line of a byte offset, from 1.
    pub fn line(self, at: usize) -> usize {
        let before = self.text.as_bytes().iter().take(at);
        1 + before.filter(|byte| **byte == b'\n').count()
    }

    /// Returns the error of a mistake at a byte offset.
    pub fn error(self, at: usize, mistake: Mistake) -> LessonError {
        mistake.at(self.name, self.line(at))
    }

    /// Converts an error of the TOML parser.
    pub fn toml(self, error: &toml::de::Error) -> LessonError {
        let at = error.span().map_or(0, |span| span.start);
        let what = error.message().trim_end_matches('.').replace('\n', ", ");
        self.error(
            at,
            Mistake::new(what, "app/lessons/README.md shows how a file is written."),
        )
    }

    fn read<T>(
        self,
        text: &Text,
        read: impl Fn(&str) -> Result<T, Mistake>,
    ) -> Result<T, LessonError> {
        read(text.get_ref()).map_err(|mistake| self.error(text.span().start, mistake))
    }
}

impl Lesson {
    /// Parses the file with this name.
    ///
    /// # Errors
    /// The first mistake, with file, line, problem and remedy.
    pub fn read(name: &str, text: &str) -> Result<Self, LessonError> {
        let file = File { name, text };
        let raw: RawLesson = toml::from_str(text).map_err(|e| file.toml(&e))?;
        let scenes = scenes(file, raw.run.as_ref(), &raw.runs)?;
        let steps = raw.step.iter().map(|raw| step(file, &scenes, raw));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        if steps.is_empty() {
            let mistake = Mistake::new(
                "there is no step",
                "Begin one with [[step]] and look, predict, try or code.",
            );
            return Err(file.error(0, mistake));
        }
        Ok(Self {
            number: raw.lesson,
            language: Language::of_file(name),
            title: raw.title,
            goal: raw.goal,
            scenes,
            steps,
        })
    }
}

/// Returns the options of the first run and of the others. The others change some options of the first.
fn scenes(
    file: File<'_>,
    first: Option<&Spanned<Table>>,
    others: &BTreeMap<String, Spanned<Table>>,
) -> Result<Vec<Scene>, LessonError> {
    let plain = RunOptions::default();
    let first = match first {
        Some(table) => options(file, table, &plain)?,
        None => plain,
    };
    let mut all = vec![Scene {
        name: "run".to_owned(),
        options: first.clone(),
    }];
    for (name, table) in others {
        let options = options(file, table, &first)?;
        let name = name.clone();
        all.push(Scene { name, options });
    }
    Ok(all)
}

/// Returns `start` with the options of the table.
pub(crate) fn options(
    file: File<'_>,
    table: &Spanned<Table>,
    start: &RunOptions,
) -> Result<RunOptions, LessonError> {
    let changed = changes(table.get_ref()).and_then(|changes| changes.apply(start));
    changed.map_err(|mistake| file.error(table.span().start, mistake))
}

fn changes(table: &Table) -> Result<Changes, Mistake> {
    let pairs = table.iter().map(|(key, value)| {
        let value = serde_json::to_value(value).unwrap_or_default();
        (key.clone(), value)
    });
    Changes::of(pairs.collect())
}

/// Parses a step. A step has exactly one task.
fn step(file: File<'_>, scenes: &[Scene], raw: &Spanned<RawStep>) -> Result<Step, LessonError> {
    let start = raw.span().start;
    let step = raw.get_ref();
    let scene = match &step.run {
        None => 0,
        Some(name) => file.read(name, |name| {
            let found = scenes.iter().position(|scene| scene.name == name);
            let remedy = format!("Give its options in a table [runs.{name}].");
            found.ok_or_else(|| Mistake::new(format!("there is no run '{name}'"), remedy))
        })?,
    };
    let parts = |all: &[Text]| {
        let parts = all.iter().map(|part| file.read(part, Part::read));
        parts.collect::<Result<Vec<_>, _>>()
    };
    let (shown, then) = (parts(&step.show)?, parts(&step.then)?);
    if let (Some(part), None) = (step.then.first(), &step.predict) {
        let remedy = "Write it in a step with predict, or move its parts to show.";
        let mistake = Mistake::new("only a question has parts that show its answer", remedy);
        return Err(file.error(part.span().start, mistake));
    }
    let text = || needed(file, start, "text", step.text.as_ref());
    let task = match (&step.look, &step.predict, &step.r#try, &step.code) {
        (Some(at), None, None, None) => Task::Look {
            text: text()?,
            at: file.read(at, Moment::read)?,
        },
        (None, Some(query), None, None) => {
            let question = question(file, start, &step.question(query))?;
            let until = match &step.until {
                Some(until) => file.read(until, Moment::read)?,
                None => question.at,
            };
            Task::Predict { question, until }
        }
        (None, None, Some(goal), None) => Task::Try(trial(file, start, step, goal)?),
        (None, None, None, Some(name)) => Task::Code {
            text: text()?,
            name: name.get_ref().clone(),
        },
        _ => {
            let remedy = "Write exactly one of look, predict, try and code.";
            return Err(file.error(
                start,
                Mistake::new("it is not clear what this step is", remedy),
            ));
        }
    };
    Ok(Step {
        scene,
        parts: shown,
        then,
        task,
        line: file.line(start),
    })
}

fn needed(
    file: File<'_>,
    at: usize,
    name: &str,
    value: Option<&String>,
) -> Result<String, LessonError> {
    let text = value.map(|text| text.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
    text.filter(|text| !text.is_empty()).ok_or_else(|| {
        let remedy = format!("Add {name} = \"…\" to it.");
        file.error(at, Mistake::new(format!("{name} is missing here"), remedy))
    })
}

/// Creates a question from its fields. `start` is the offset of its table.
pub(crate) fn question(
    file: File<'_>,
    start: usize,
    raw: &RawQuestion<'_>,
) -> Result<Question, LessonError> {
    let at = raw.at.map(|at| file.read(at, Moment::read));
    Ok(Question {
        ask: needed(file, start, "ask", raw.ask)?,
        at: at.transpose()?.unwrap_or_default(),
        query: file.read(raw.query, Query::read)?,
        kind: kind(file, start, raw)?,
        why: needed(file, start, "why", raw.why)?,
    })
}

fn kind(file: File<'_>, start: usize, raw: &RawQuestion<'_>) -> Result<Kind, LessonError> {
    let choices = || {
        let all = raw.choices.iter().map(|choice| Choice {
            is: choice.is.clone(),
            text: choice.text.clone(),
        });
        all.collect::<Vec<_>>()
    };
    let Some(answer) = raw.answer else {
        let remedy = "Add answer = \"number\", \"choice\", \"order\" or \"click\".";
        return Err(file.error(
            start,
            Mistake::new("it is not clear how this is answered", remedy),
        ));
    };
    file.read(answer, |answer| match answer {
        "number" => Ok(Kind::Number {
            unit: raw.unit.cloned().unwrap_or_default(),
            tolerance: raw.tolerance.unwrap_or_default(),
        }),
        "choice" if raw.choices.len() < 2 => Err(Mistake::new(
            "a choice needs at least two answers",
            "Add choices = [{ is = \"yes\", text = \"Yes\" }, …].",
        )),
        "choice" => Ok(Kind::Choice(choices())),
        "order" => Ok(Kind::Order(choices())),
        "click" => Ok(Kind::Click),
        other => Err(Mistake::new(
            format!("'{other}' is no way to answer"),
            "Write number, choice, order or click.",
        )),
    })
}

fn trial(file: File<'_>, start: usize, step: &RawStep, goal: &Text) -> Result<Trial, LessonError> {
    let none = Mistake::new(
        "a try has no solution",
        "Add solution = { num_workers = 4 }, with options that reach the goal.",
    );
    let solution = step
        .solution
        .as_ref()
        .ok_or_else(|| file.error(start, none))?;
    let changes = changes(solution.get_ref()).map_err(|m| file.error(solution.span().start, m))?;
    let kept = || {
        let kept = FIXED_OPTIONS.into_iter();
        let kept = kept.filter(|name| changes.keys().all(|free| free != *name));
        kept.map(str::to_owned).collect()
    };
    Ok(Trial {
        text: needed(file, start, "text", step.text.as_ref())?,
        goal: file.read(goal, Condition::read)?,
        keep: step.keep.clone().unwrap_or_else(kept),
        hint: needed(file, start, "hint", step.hint.as_ref())?,
        solution: changes,
        why: needed(file, start, "why", step.why.as_ref())?,
    })
}
