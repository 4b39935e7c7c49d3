//! Lesson in the player: the text of a step, its question and the result.

use egui::{Button, Pos2, Sense, Shape, Stroke, Ui, pos2, vec2};
use loadscope_lessons::{Changes, Judgement, Language, Phase, Question, Task, Trial, TrialResult};
use loadscope_model::command::{Action, Command, LearnCommand};
use loadscope_model::state::State;
use loadscope_model::state::learn::Playing;
use loadscope_model::update::obstacle;

use super::nav::{HEAD, above_foot, button, foot, head, scrolled};
use super::text::columns;
use super::text::{body, line, paragraph};
use super::words::Word;
use super::{answer, code};
use crate::kit::empty::remark;
use crate::theme::{Palette, size, space};

/// Shows the lesson in all of `ui`.
pub fn show(ui: &mut Ui, state: &State, playing: &Playing, commands: &mut Vec<Command>) {
    let play = &playing.play;
    let is_over = *play.phase() == Phase::Finished;
    let (at, count) = play.position();
    let steps = (if is_over { count } else { at }, count);
    let name = format!("{}  {}", play.lesson().number, play.lesson().title);
    head(ui, state, &name, Some(steps), commands);
    let (text, answers) = columns(ui, HEAD, has_answers(playing));
    if let (Task::Code { text: says, name }, false) = (&play.step().task, is_over) {
        let room = text.union(answers);
        code::show(ui, state, above_foot(room), says, name, commands);
        foot(ui, state, room, Word::Next, commands);
        return;
    }
    let salt = format!("lesson text {at}");
    scrolled(ui, &salt, text, |ui| {
        if let Some(mistake) = &playing.mistake {
            warning(ui, mistake);
        }
        match (&play.step().task, is_over) {
            (_, true) => finished(ui, state, playing),
            (Task::Look { text, .. }, _) => show_text(ui, state, text),
            (Task::Predict { question, .. }, _) => show_prediction(ui, state, playing, question),
            (Task::Try(trial), _) => show_trial(ui, state, playing, trial),
            (Task::Code { .. }, _) => {}
        }
        if let Some(trouble) = playing
            .stage
            .trouble
            .as_ref()
            .filter(|_| !is_asking(playing))
        {
            warning(ui, trouble);
        }
    });
    let salt = format!("lesson answers {at}");
    scrolled(ui, &salt, above_foot(answers), |ui| {
        match (&play.step().task, play.phase()) {
            (Task::Predict { question, .. }, Phase::Asking) => {
                answer::show(ui, state, question, &playing.stage, commands);
            }
            (Task::Try(_), Phase::Trying(_)) => run_buttons(ui, state, playing, commands),
            _ => {}
        }
    });
    let next = match (is_over, play.phase()) {
        (true, _) if state.learn.lesson(play.lesson().number + 1).is_none() => Word::Leave,
        (true, _) => Word::NextLesson,
        (false, Phase::Asking) => Word::Answer,
        (false, _) => Word::Next,
    };
    foot(ui, state, answers, next, commands);
}

/// Returns true if there are widgets to the right of the text.
fn has_answers(playing: &Playing) -> bool {
    matches!(playing.play.phase(), Phase::Asking | Phase::Trying(_))
}

fn is_asking(playing: &Playing) -> bool {
    *playing.play.phase() == Phase::Asking
}

fn warning(ui: &mut Ui, text: &str) {
    let red = Palette::of(ui).stall;
    paragraph(ui, text, size::BODY, red);
}

fn show_text(ui: &mut Ui, state: &State, text: &str) {
    let ink = Palette::of(ui).text;
    paragraph(ui, text, body(state), ink);
}

fn show_prediction(ui: &mut Ui, state: &State, playing: &Playing, question: &Question) {
    let palette = Palette::of(ui);
    match playing.play.phase() {
        Phase::Answered(judged) => {
            paragraph(ui, &question.ask, size::BODY, palette.weak);
            judgement(ui, state, judged);
            if let Some(changes) = playing.play.changes() {
                let words = Word::ShownWith.text(playing.play.lesson().language);
                let text = format!("{words} `{}`", python(changes));
                paragraph(ui, &text, size::BODY, palette.weak);
            }
            // The text explains the replay, so it appears after it.
            if playing.stage.replay.is_none() {
                show_text(ui, state, &question.why);
            }
        }
        // In a lecture, the answer replaces the question.
        Phase::Reading => show_text(ui, state, &question.why),
        Phase::Asking | Phase::Trying(_) | Phase::Reached | Phase::Finished => {
            show_text(ui, state, &question.ask);
        }
    }
}

/// Shows whether the answer is right, and the right answer.
pub fn judgement(ui: &mut Ui, state: &State, judged: &Judgement) {
    let language = state.prefs.learned.language;
    let points = body(state);
    ui.horizontal_wrapped(|ui| {
        result_icon(ui, judged.is_right);
        let text = match judged.is_right {
            true => format!("{}: {}", Word::Right.text(language), judged.text),
            false => format!(
                "{}. {}: {}",
                Word::Wrong.text(language),
                Word::TheAnswer.text(language),
                judged.text
            ),
        };
        line(ui, &text.replace('`', ""), points);
    });
}

/// Draws a tick or a cross.
fn result_icon(ui: &mut Ui, is_right: bool) {
    let palette = Palette::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::hover());
    let at = |x: f32, y: f32| -> Pos2 { pos2(rect.left() + x, rect.top() + y) };
    let stroke = Stroke::new(2.0, palette.strong);
    match is_right {
        true => {
            let points = vec![at(2.0, 11.0), at(6.0, 15.0), at(13.0, 6.0)];
            ui.painter().add(Shape::line(points, stroke));
        }
        false => {
            ui.painter()
                .line_segment([at(3.0, 6.0), at(12.0, 15.0)], stroke);
            ui.painter()
                .line_segment([at(12.0, 6.0), at(3.0, 15.0)], stroke);
        }
    }
}

fn show_trial(ui: &mut Ui, state: &State, playing: &Playing, trial: &Trial) {
    let palette = Palette::of(ui);
    let language = playing.play.lesson().language;
    match playing.play.phase() {
        Phase::Reached => {
            ui.horizontal(|ui| {
                result_icon(ui, true);
                line(ui, Word::Reached.text(language), body(state));
            });
            show_text(ui, state, &trial.why);
            return;
        }
        // A lecture shows the goal and why the solution reaches it.
        Phase::Reading => {
            show_text(ui, state, &trial.text);
            show_text(ui, state, &trial.why);
            return;
        }
        Phase::Asking | Phase::Answered(_) | Phase::Trying(_) | Phase::Finished => {}
    }
    show_text(ui, state, &trial.text);
    match &playing.tried {
        Some(TrialResult::NotYet) => {
            let found = playing.found.iter().filter_map(|(goal, found)| {
                let found = found.as_ref()?.label(language);
                Some(format!("`{goal}` → {found}"))
            });
            let found: Vec<String> = found.collect();
            let text = format!("{}: {}", Word::NotYet.text(language), found.join(", "));
            paragraph(ui, &text, size::BODY, palette.strong);
        }
        Some(TrialResult::Changed(names)) => {
            let text = format!("{}: {}", Word::Keep.text(language), names.join(", "));
            line(ui, &text, size::BODY);
        }
        Some(TrialResult::Reached | TrialResult::NoTrial) | None => {}
    }
    if let Some(hint) = playing.play.hint() {
        let text = format!("{}: {hint}", Word::Hint.text(language));
        paragraph(ui, &text, size::BODY, palette.text);
    }
}

fn run_buttons(ui: &mut Ui, state: &State, playing: &Playing, commands: &mut Vec<Command>) {
    let language = playing.play.lesson().language;
    remark(ui, Word::Goal.text(language));
    ui.horizontal_wrapped(|ui| {
        button(ui, state, Action::Simulate, Word::Simulate, commands);
        if obstacle(state, Action::Run).is_none() {
            button(ui, state, Action::Run, Word::Run, commands);
        }
    });
    if let Some(solution) = playing.play.solution() {
        ui.add_space(space::GAP);
        let text = Word::Solution.text(language);
        let is_set = solution
            .apply(playing.play.options())
            .is_ok_and(|options| options == state.prefs.options);
        let button = ui.add_enabled(!is_set, Button::new(text));
        if button.clicked() {
            commands.push(LearnCommand::Solution.into());
        }
        let text = format!("`{}`", python(solution));
        let ink = Palette::of(ui).text;
        paragraph(ui, &text, size::BODY, ink);
    }
}

/// Formats options in Python syntax.
fn python(changes: &Changes) -> String {
    let text = changes.text().replace("=true", "=True");
    text.replace("=false", "=False").replace("=none", "=None")
}

fn finished(ui: &mut Ui, state: &State, playing: &Playing) {
    let language = playing.play.lesson().language;
    ui.horizontal(|ui| {
        result_icon(ui, true);
        line(ui, Word::Finished.text(language), body(state));
    });
    show_text(ui, state, &playing.play.lesson().goal);
    let progress = playing.play.progress();
    let of = progress.right + progress.wrong;
    if of > 0 {
        remark(ui, &result(language, progress.right, of));
    }
}

/// Returns, for example, `3 / 4 right answers`.
pub fn result(language: Language, right: u32, of: u32) -> String {
    format!("{right} / {of} {}", Word::RightAnswers.text(language))
}
