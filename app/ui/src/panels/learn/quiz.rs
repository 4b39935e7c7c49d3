//! Quiz in the player: the questions, then the wrong answers with explanations.

use egui::{RichText, Ui};
use loadscope_lessons::{Entry, Language};
use loadscope_model::command::{Command, LearnCommand};
use loadscope_model::state::State;
use loadscope_model::state::learn::Quizzing;

use super::answer;
use super::lesson::{judgement, result};
use super::nav::{HEAD, above_foot, foot, head, scrolled};
use super::text::columns;
use super::text::{body, line, paragraph};
use super::words::Word;
use crate::kit::empty::remark;
use crate::theme::{Palette, sans, size, space};

/// Shows the quiz in all of `ui`.
pub fn show(ui: &mut Ui, state: &State, quizzing: &Quizzing, commands: &mut Vec<Command>) {
    let language = state.prefs.learned.language;
    let at = quizzing.answers.len();
    let steps = Some((at, quizzing.drawn.len()));
    head(ui, state, Word::Quiz.text(language), steps, commands);
    let (text, answers) = columns(ui, HEAD, quizzing.entry().is_some());
    let Some(entry) = quizzing.entry() else {
        let room = text.union(answers);
        scrolled(ui, "quiz result", above_foot(room), |ui| {
            outcome(ui, state, quizzing, commands);
        });
        foot(ui, state, room, Word::Leave, commands);
        return;
    };
    scrolled(ui, &format!("quiz text {at}"), text, |ui| {
        let name = Word::Question.text(language);
        remark(ui, &format!("{name} {} / {}", at + 1, quizzing.drawn.len()));
        let ink = Palette::of(ui).text;
        paragraph(ui, &entry.question.ask, body(state), ink);
    });
    scrolled(
        ui,
        &format!("quiz answers {at}"),
        above_foot(answers),
        |ui| {
            answer::show(ui, state, &entry.question, &quizzing.stage, commands);
        },
    );
    foot(ui, state, answers, Word::Answer, commands);
}

/// Shows a link to the lesson that teaches the answer.
fn taught(ui: &mut Ui, entry: &Entry, language: Language, commands: &mut Vec<Command>) {
    let text = format!(
        "{} {}, {} {}",
        Word::TaughtIn.text(language),
        entry.lesson,
        Word::Step.text(language),
        entry.step
    );
    let link = ui.link(RichText::new(text).font(sans(size::SMALL)));
    if link.clicked() {
        commands.push(LearnCommand::Lesson(entry.lesson).into());
    }
}

/// Shows the number of right answers, and the others with the right answer and the reason.
fn outcome(ui: &mut Ui, state: &State, quizzing: &Quizzing, commands: &mut Vec<Command>) {
    let language = state.prefs.learned.language;
    let palette = Palette::of(ui);
    let (right, of) = (quizzing.right() as u32, quizzing.drawn.len() as u32);
    let text = format!(
        "{}: {}",
        Word::YourResult.text(language),
        result(language, right, of)
    );
    line(ui, &text, body(state));
    if right == of {
        remark(ui, Word::AllRight.text(language));
    }
    for (place, judged) in quizzing.drawn.iter().zip(&quizzing.answers) {
        let is_right = judged.as_ref().is_some_and(|judged| judged.is_right);
        let Some(entry) = quizzing.quiz.entries.get(*place).filter(|_| !is_right) else {
            continue;
        };
        ui.add_space(space::GAP * 2.0);
        paragraph(ui, &entry.question.ask, size::BODY, palette.weak);
        match judged {
            Some(judged) => judgement(ui, state, judged),
            None => remark(ui, Word::Skipped.text(language)),
        }
        paragraph(ui, &entry.question.why, size::BODY, palette.text);
        taught(ui, entry, language, commands);
    }
}
