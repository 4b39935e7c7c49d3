//! Lessons: their list, the player below the run, and the outlines of a step.
//!
//! Lessons refer to the real window. Panels mark the parts that lessons name (`kit::parts`), and the player never draws its own pipeline.

mod answer;
mod case;
mod code;
mod contents;
mod highlight;
mod lesson;
mod nav;
mod quiz;
mod text;
mod words;

pub use contents::show as contents;
pub use highlight::{begin_frame, show as highlight};

use egui::{Ui, UiBuilder, Vec2, vec2};
use loadscope_lessons::{Kind, Phase, Question, Task};
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::state::learn::Page;
use text::width_of_answers;

/// Maximum width of a lesson, for readable lines, points.
const WIDEST: f32 = 1240.0;
/// Maximum width of a lesson with a program and its output, points.
const WIDEST_CODE: f32 = 1600.0;

/// Returns the height of the player in a window of this size. Returns `None` if no player is open.
pub fn height(state: &State, window: Vec2) -> Option<f32> {
    let page = state.learn.page.as_ref()?;
    let usual = match (window.y < 560.0, window.y < 900.0) {
        (true, _) => 168.0,
        (false, true) => 196.0,
        (false, false) => 216.0,
    };
    let most = (window.y * 0.56).clamp(200.0, 460.0);
    Some(match page {
        Page::Contents => return None,
        Page::Lesson(playing) => match (&playing.play.step().task, playing.play.phase()) {
            (_, Phase::Finished) => usual,
            (Task::Code { .. }, _) => most.min(window.y * 0.52),
            (Task::Predict { question, .. }, _) if !state.prefs.learned.lecture => {
                usual.max(needed(question, window.x)).min(most)
            }
            _ if state.prefs.learned.lecture => usual + 40.0,
            _ => usual,
        },
        Page::Quiz(quizzing) => match quizzing.entry() {
            None => most,
            Some(entry) => usual.max(needed(&entry.question, window.x)).min(most),
        },
        Page::Case(detecting) if detecting.solved.is_some() => usual,
        // With room for two columns, there are only four rows of buttons.
        Page::Case(_) if window.x >= 1000.0 => most.min(252.0),
        Page::Case(_) => most.min(300.0),
    })
}

/// Returns the height of the answers with the lines above and below them, points.
fn needed(question: &Question, width: f32) -> f32 {
    let (Kind::Choice(all) | Kind::Order(all)) = &question.kind else {
        return 0.0;
    };
    let around = nav::HEAD + nav::FOOT + 28.0;
    // Chinese characters are about twice as wide.
    let wide = |text: &str| -> f32 {
        let of = |c: char| if c.is_ascii() { 7.2 } else { 13.5 };
        text.chars().map(of).sum()
    };
    let room = width_of_answers(width.min(WIDEST)) - 52.0;
    let one = |text: &str| (wide(text) / room).ceil().max(1.0) * 19.0 + 16.0;
    let choices: f32 = all.iter().map(|choice| one(&choice.text)).sum();
    let order = matches!(question.kind, Kind::Order(_));
    around + choices + if order { 24.0 } else { 0.0 }
}

/// Returns true if the side panels would leave no room for a program.
pub fn hides_sides(state: &State, window: Vec2) -> bool {
    is_code(state) && window.y < 560.0
}

/// Returns true while a program is shown.
fn is_code(state: &State) -> bool {
    state.learn.playing().is_some_and(|playing| {
        let is_over = *playing.play.phase() == Phase::Finished;
        matches!(playing.play.step().task, Task::Code { .. }) && !is_over
    })
}

/// Draws the player in all of `ui`.
pub fn player(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut room = ui.available_rect_before_wrap();
    let widest = match is_code(state) {
        true => WIDEST_CODE,
        false => WIDEST,
    };
    let surplus = (room.width() - widest).max(0.0);
    room = room.shrink2(vec2((surplus / 2.0).floor(), 0.0));
    ui.scope_builder(UiBuilder::new().max_rect(room), |ui| {
        match &state.learn.page {
            Some(Page::Lesson(playing)) => lesson::show(ui, state, playing, &mut commands),
            Some(Page::Quiz(quizzing)) => quiz::show(ui, state, quizzing, &mut commands),
            Some(Page::Case(detecting)) => case::show(ui, state, detecting, &mut commands),
            Some(Page::Contents) | None => {}
        }
    });
    ui.allocate_rect(ui.available_rect_before_wrap(), egui::Sense::hover());
    commands
}
