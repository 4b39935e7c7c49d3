//! Validation of lessons, for `cargo xtask lesson check` and the tests of all lessons.

use loadscope_insight::landmarks::Landmarks;
use loadscope_trace::Run;

use crate::code::ProgramCatalog;
use crate::error::{LessonError, Mistake};
use crate::lesson::{Lesson, Step, Task, Trial};
use crate::lesson::{MAX_LESSON_WORDS, MAX_TEXT_WORDS};
use crate::moment::Moment;
use crate::query::{QueryContext, simulated};
use crate::question::{Kind, Question};
use loadscope_words::Language;

mod evidence;
mod quiz;
mod visibility;

pub use quiz::check_quiz;

/// Result of checking a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonReport {
    /// Mistakes in the lesson.
    pub mistakes: Vec<LessonError>,
    /// Results of each step's moments and queries.
    pub facts: Vec<String>,
}

/// Simulates the runs of a lesson, resolves its moments and queries, tries its solutions, and counts its words.
pub fn check(file: &str, lesson: &Lesson, codes: &dyn ProgramCatalog) -> LessonReport {
    let mut checked = LessonReport::default();
    let mut say = |line: usize, mistake: Mistake| checked.mistakes.push(mistake.at(file, line));
    let count = lesson.words();
    if count > MAX_LESSON_WORDS {
        let what = format!(
            "the lesson has {count} words; at most {MAX_LESSON_WORDS} can be read in its time"
        );
        say(1, Mistake::new(what, "Leave something out."));
    }
    for (k, step) in lesson.steps.iter().enumerate() {
        let Some(options) = lesson.options(step) else {
            continue;
        };
        match simulated(options) {
            Ok(run) => match facts(&run, lesson, k, codes) {
                Ok(facts) => {
                    checked
                        .facts
                        .push(format!("{:>4} {}: {facts}", step.line, step.task.name()))
                }
                Err(mistake) => say(step.line, mistake),
            },
            Err(error) => say(
                step.line,
                Mistake::new(error.to_string(), "Change the options of its run."),
            ),
        }
    }
    checked
}

/// Checks one step, and describes its moments and the answers to its queries.
fn facts(
    run: &Run,
    lesson: &Lesson,
    at: usize,
    codes: &dyn ProgramCatalog,
) -> Result<String, Mistake> {
    let step = &lesson.steps[at];
    visibility::parts(run, step)?;
    match &step.task {
        Task::Look { text, at } => {
            let count = crate::lesson::words(text);
            if count > MAX_TEXT_WORDS {
                let what =
                    format!("the text has {count} words, and a look at most {MAX_TEXT_WORDS}");
                return Err(Mistake::new(what, "Shorten it, or make two steps of it."));
            }
            place(run, *at)
        }
        Task::Predict { question, until } => {
            let until = match visibility::after(run, step)? {
                Some(changed) => place(&changed, *until)?,
                None => place(run, *until)?,
            };
            let answer = check_question(run, question, codes, lesson.language)?;
            visibility::answer(run, step, question, codes, lesson.language)?;
            visibility::unseen(run, lesson, at, question, codes)?;
            visibility::unread(question, &programs(&lesson.steps[..at]))?;
            evidence::shows(step, question)?;
            Ok(format!("{answer} ({until})"))
        }
        Task::Try(trial) => check_trial(run, trial, codes),
        Task::Code { name, .. } => {
            let known = codes.code(name);
            let remedy =
                "Put NAME.py beside the others in assets/lessons/code and run run.py there.";
            let code = known
                .ok_or_else(|| Mistake::new(format!("there is no program '{name}'"), remedy))?;
            Ok(format!("{} lines printed", code.output.lines().count()))
        }
    }
}

/// Returns the names of the programs in these steps.
fn programs(steps: &[Step]) -> Vec<&str> {
    fn name(step: &Step) -> Option<&str> {
        match &step.task {
            Task::Code { name, .. } => Some(name),
            Task::Look { .. } | Task::Predict { .. } | Task::Try(_) => None,
        }
    }
    steps.iter().filter_map(name).collect()
}

fn place(run: &Run, at: Moment) -> Result<String, Mistake> {
    let found = at.resolve(run, &Landmarks::of(run));
    let none = || {
        Mistake::new(
            "its run has no such moment",
            "Choose another moment, or other options for the run.",
        )
    };
    let found = found.ok_or_else(none)?;
    Ok(format!("at {}", crate::moment::pipeline(run, found).at))
}

/// Returns the answer to a question.
pub(crate) fn check_question(
    run: &Run,
    question: &Question,
    codes: &dyn ProgramCatalog,
    language: Language,
) -> Result<String, Mistake> {
    let about = QueryContext::at(run, question.at, codes);
    let truth = about.and_then(|about| question.truth(about));
    let none = || {
        Mistake::new(
            "its query has no answer",
            "Ask something else, or change the run or the moment.",
        )
    };
    let truth = truth.ok_or_else(none)?;
    if let Kind::Choice(choices) = &question.kind {
        let right = choices.iter().filter(|choice| truth.is(&choice.is)).count();
        if right != 1 {
            let what = format!("{right} choices are right; the answer is '{}'", truth.key());
            return Err(Mistake::new(
                what,
                "Write exactly one choice with is = that answer.",
            ));
        }
    }
    if question.right_answer(&truth, language).is_none() {
        let what = format!("its answer '{}' cannot be given in this way", truth.key());
        return Err(Mistake::new(what, "Choose another way to answer."));
    }
    if let Kind::Order(named) = &question.kind {
        let items = question.items(&truth, language);
        let unnamed = items
            .iter()
            .find(|item| !named.is_empty() && named.iter().all(|n| n.is != item.is));
        if let Some(item) = unnamed {
            let what = format!("'{}' has no name among the choices", item.is);
            return Err(Mistake::new(
                what,
                "Add it to choices, or leave choices out.",
            ));
        }
    }
    Ok(truth.key())
}

fn check_trial(run: &Run, trial: &Trial, codes: &dyn ProgramCatalog) -> Result<String, Mistake> {
    let no_end = || Mistake::new("its run has no end", "Change the options of the run.");
    let about = QueryContext::at(run, Moment::End, codes).ok_or_else(no_end)?;
    if trial.goal.is_met(about) {
        return Err(Mistake::new(
            "its goal is reached at the start",
            "Make it harder, or begin with another run.",
        ));
    }
    let options = trial.solution.apply(&run.info.options)?;
    let solved =
        simulated(&options).map_err(|e| Mistake::new(e.to_string(), "Change the solution."))?;
    let about_solved = QueryContext::at(&solved, Moment::End, codes).ok_or_else(no_end)?;
    let values = |about| {
        let all = trial.goal.values(about).into_iter();
        let all: Vec<String> = all
            .map(|v| v.map_or("none".to_owned(), |v| v.key()))
            .collect();
        all.join(", ")
    };
    let (before, after) = (values(about), values(about_solved));
    if !trial.goal.is_met(about_solved) {
        let what = format!("its solution does not reach its goal: {after}");
        return Err(Mistake::new(what, "Change the solution or the goal."));
    }
    let changed = trial.changed(&run.info.options, &solved);
    if let Some(name) = changed.first() {
        let what = format!("its solution changes {name}, which is to stay");
        return Err(Mistake::new(what, "List in keep only what stays."));
    }
    Ok(format!("{before} -> {after}"))
}
