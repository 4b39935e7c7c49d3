//! Command-line tool for `cargo xtask lesson`.
//!
//! - `lesson check FILE…` plays lessons or checks the quiz, and prints mistakes and the answers of queries.
//! - `lesson ask FILE QUERY` answers a query for the runs of a lesson.
//! - `lesson phrases` lists the phrases that files can use.

#![allow(
    clippy::print_stdout,
    reason = "a command of developers, for a terminal"
)]

use std::path::Path;
use std::process::ExitCode;

use loadscope_lessons::check::{LessonReport, check, check_quiz};
use loadscope_lessons::{
    BuiltInPrograms, Course, Lesson, Moment, Query, QueryContext, Quiz, simulated,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((verb, files)) if verb == "check" && !files.is_empty() => {
            files.iter().try_for_each(|file| checked(file))
        }
        Some((verb, [file, query])) if verb == "ask" => asked(file, query),
        Some((verb, [])) if verb == "phrases" => {
            phrases();
            Ok(())
        }
        _ => Err("lesson check FILE…, lesson ask FILE QUERY or lesson phrases".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints all phrases as tables for the README.
fn phrases() {
    let mut kind = "";
    for phrase in loadscope_lessons::phrases() {
        if phrase.kind != kind {
            kind = phrase.kind;
            println!("\n| {kind} | |\n|---|---|");
        }
        println!("| `{}` | {} |", phrase.pattern, phrase.about);
    }
}

fn text_of(file: &str) -> Result<(String, String), String> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| format!("{file}: {e}. Give the path of a lesson or of the quiz."))?;
    let name = Path::new(file)
        .file_name()
        .map_or(file.into(), |name| name.to_string_lossy());
    Ok((name.into_owned(), text))
}

fn read(file: &str) -> Result<Lesson, String> {
    let (name, text) = text_of(file)?;
    Lesson::read(&name, &text).map_err(|e| e.to_string())
}

fn checked(file: &str) -> Result<(), String> {
    let (name, text) = text_of(file)?;
    if name.starts_with("quiz.") {
        let quiz = Quiz::read(&name, &text).map_err(|e| e.to_string())?;
        let course = Course::built_in(quiz.language).map_err(|e| e.to_string())?;
        println!("{file}: {} questions", quiz.entries.len());
        return told(&check_quiz(file, &quiz, course.lessons(), &BuiltInPrograms));
    }
    let lesson = Lesson::read(&name, &text).map_err(|e| e.to_string())?;
    println!(
        "{file}: {} ({} steps, {} words)",
        lesson.title,
        lesson.steps().len(),
        lesson.words()
    );
    told(&check(file, &lesson, &BuiltInPrograms))
}

fn told(checked: &LessonReport) -> Result<(), String> {
    checked.facts.iter().for_each(|fact| println!("{fact}"));
    let mistakes: Vec<String> = checked.mistakes.iter().map(ToString::to_string).collect();
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(mistakes.join("\n")),
    }
}

fn asked(file: &str, query: &str) -> Result<(), String> {
    let lesson = read(file)?;
    let (query, at) = query.split_once(" @ ").unwrap_or((query, "end"));
    let query = Query::read(query).map_err(|m| format!("{}. {}", m.what, m.remedy))?;
    let moment = Moment::read(at).map_err(|m| format!("{}. {}", m.what, m.remedy))?;
    for scene in lesson.scenes() {
        let run = simulated(&scene.options).map_err(|e| e.to_string())?;
        let answer =
            QueryContext::at(&run, moment, &BuiltInPrograms).and_then(|about| query.answer(about));
        println!(
            "{}: {}",
            scene.name,
            answer.map_or("no answer".to_owned(), |a| a.key())
        );
    }
    Ok(())
}
