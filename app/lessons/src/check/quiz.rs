//! Check that the quiz questions have answers and that the lessons teach them.

use std::collections::HashSet;

use crate::check::{LessonReport, check_question};
use crate::code::ProgramCatalog;
use crate::error::Mistake;
use crate::lesson::{Lesson, Task};
use crate::query::Query;
use crate::quiz::{Entry, Quiz};
use loadscope_words::Language;

/// Checks every question of the quiz, and the step of the lesson that teaches its answer. `lessons` are all lessons of its language.
pub fn check_quiz(
    file: &str,
    quiz: &Quiz,
    lessons: &[Lesson],
    codes: &dyn ProgramCatalog,
) -> LessonReport {
    let mut checked = LessonReport::default();
    for entry in &quiz.entries {
        match fact(entry, lessons, codes, quiz.language) {
            Ok(fact) => checked.facts.push(format!("{:>4} {fact}", entry.line)),
            Err(mistake) => checked.mistakes.push(mistake.at(file, entry.line)),
        }
    }
    checked
}

/// Checks one question, and describes its answer and the step that teaches it.
fn fact(
    entry: &Entry,
    lessons: &[Lesson],
    codes: &dyn ProgramCatalog,
    language: Language,
) -> Result<String, Mistake> {
    let no_run = |_| {
        Mistake::new(
            "its run cannot be simulated",
            "Change the options of its run.",
        )
    };
    let run = entry.run().map_err(no_run)?;
    let answer = check_question(&run, &entry.question, codes, language)?;
    let lesson = lessons.iter().find(|lesson| lesson.number == entry.lesson);
    let lesson = lesson.ok_or_else(|| {
        Mistake::new(
            format!("there is no lesson {}", entry.lesson),
            "Write the number of the lesson that teaches the answer.",
        )
    })?;
    let steps = lesson.steps().len();
    if entry.step == 0 || entry.step as usize > steps {
        return Err(Mistake::new(
            format!("lesson {} has no step {}", entry.lesson, entry.step),
            format!("Write the step that teaches the answer: 1 to {steps}."),
        ));
    }
    if let Query::Line(_, name) | Query::NumberOfLine(_, name) = &entry.question.query
        && !shows(lesson, name)
    {
        return Err(Mistake::new(
            format!("lesson {} does not show the program {name}", lesson.number),
            "Name the lesson that shows it, or ask something else.",
        ));
    }
    let known = names_of(lessons.iter().filter(|l| l.number <= lesson.number), codes);
    let unknown = names(&entry.question.ask).find(|name| !known.contains(name));
    if let Some(name) = unknown {
        return Err(Mistake::new(
            format!("no lesson up to lesson {} mentions {name}", lesson.number),
            "Teach it there, or ask without it.",
        ));
    }
    Ok(format!(
        "lesson {}, step {}: {answer}",
        entry.lesson, entry.step
    ))
}

fn shows(lesson: &Lesson, program: &str) -> bool {
    let is_it = |task: &Task| matches!(task, Task::Code { name, .. } if name == program);
    lesson.steps().iter().any(|step| is_it(&step.task))
}

/// Returns the names of PyTorch and Python in `backticks`, without leading underscores. Words under four characters are
/// values or variables.
fn names(text: &str) -> impl Iterator<Item = String> + use<> {
    let quoted: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    words(&quoted.join(" ")).into_iter()
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let names = parts.map(|part| part.trim_start_matches('_'));
    let long =
        names.filter(|name| name.len() >= 4 && name.starts_with(|c: char| c.is_ascii_alphabetic()));
    long.map(str::to_owned).collect()
}

/// Returns all names in these lessons, their programs and the output of the programs.
fn names_of<'a>(
    lessons: impl Iterator<Item = &'a Lesson>,
    codes: &dyn ProgramCatalog,
) -> HashSet<String> {
    let mut all = HashSet::new();
    for lesson in lessons {
        for text in lesson.texts() {
            all.extend(names(text));
        }
        for step in lesson.steps() {
            if let Task::Code { name, .. } = &step.task
                && let Some(code) = codes.code(name)
            {
                all.extend(words(code.source));
                all.extend(words(code.output));
            }
        }
    }
    all
}
