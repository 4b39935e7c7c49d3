//! Tests of lessons in the window: every step in both languages, with right and wrong answers.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use loadscope::window::App;
use loadscope_lessons::{Answer, Kind, Language, Part, Phase, Target, Task};
use loadscope_model::command::{Action, Command, LearnCommand};
use loadscope_model::state::Source;
use loadscope_model::state::learn::{LessonView, Playing};

use crate::fixture::{Window, wait};

mod covered;
mod keys;
mod pictures;
mod quiz;
mod runs;
mod seen;
mod steps;
mod walk;

/// Opens a window at the first step of this lesson.
fn lesson(number: u32, language: Language, theme: Theme, size: Vec2) -> Harness<'static, App> {
    let mut window = Window {
        size,
        theme,
        ..Window::new()
    };
    window.prefs.learned.language = language;
    let mut window = window.open();
    command(&mut window, LearnCommand::Lesson(number));
    settle(&mut window);
    window
}

fn command(window: &mut Harness<'static, App>, command: impl Into<Command>) {
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, command.into());
}

/// Waits until the step is prepared and drawn.
fn settle(window: &mut Harness<'static, App>) {
    window.run_steps(1);
    wait(window, |app| {
        let is_running = matches!(
            app.state.session.source,
            Source::Simulating | Source::Live { .. }
        );
        app.state.learn.wanted.is_none() && !is_running
    });
    window.run_steps(4);
}

fn playing<'a>(window: &'a Harness<'static, App>) -> &'a Playing {
    let learn = &window.state().state.learn;
    learn.playing().expect("a lesson is open")
}

fn stage<'a>(window: &'a Harness<'static, App>) -> &'a LessonView {
    let learn = &window.state().state.learn;
    learn.stage().expect("something is open")
}

fn key(window: &mut Harness<'static, App>, key: Key) {
    window.key_press(key);
    window.run_steps(2);
}

/// Returns the right answer to the open question.
fn right(window: &Harness<'static, App>) -> Answer {
    let learn = &window.state().state.learn;
    let question = learn.question().expect("a question is open");
    let truth = stage(window).truth.as_ref().expect("the run has an answer");
    let language = window.state().state.prefs.learned.language;
    let right = question.right_answer(truth, language);
    right.expect("it can be given")
}

/// Returns a wrong answer of the same kind.
fn wrong(window: &Harness<'static, App>, right: &Answer) -> Answer {
    let learn = &window.state().state.learn;
    let question = learn.question().expect("a question is open");
    match (right, &question.kind) {
        (Answer::Number(number), _) => Answer::Number(number + 1000.0),
        (Answer::Choice(at), Kind::Choice(all)) => Answer::Choice((at + 1) % all.len()),
        (Answer::Order(order), _) => Answer::Order(order.iter().rev().copied().collect()),
        (right, _) => {
            let all = loadscope_model::update::candidates(&window.state().state);
            let mut others = all.into_iter().map(Answer::Click);
            others
                .find(|other| other != right)
                .expect("others to click")
        }
    }
}

/// Gives an answer by keyboard.
fn answer(window: &mut Harness<'static, App>, answer: &Answer) {
    match answer {
        Answer::Number(number) => {
            let field = window.get_by_role(Role::TextInput);
            field.type_text(&number.to_string());
            window.run_steps(2);
            key(window, Key::Enter);
        }
        Answer::Choice(at) => {
            key(window, digit(*at));
            key(window, Key::Enter);
        }
        Answer::Order(order) => {
            for at in order {
                key(window, digit(*at));
            }
            key(window, Key::Enter);
        }
        Answer::Click(target) => {
            let all = loadscope_model::update::candidates(&window.state().state);
            let at = all.iter().position(|other| other == target);
            key(window, digit(at.expect("it can be clicked")));
            key(window, Key::Enter);
        }
    }
}

fn digit(at: usize) -> Key {
    let keys = [
        Key::Num1,
        Key::Num2,
        Key::Num3,
        Key::Num4,
        Key::Num5,
        Key::Num6,
        Key::Num7,
        Key::Num8,
        Key::Num9,
    ];
    keys[at]
}

/// Clicks a part in the window itself.
fn click_part(window: &mut Harness<'static, App>, part: &Part, language: Language) {
    let label = part.label(language);
    let nodes: Vec<_> = window.get_all_by_label(&label).collect();
    // The button in the player has the same name. It comes first, because edge panels are drawn before the middle.
    let node = nodes.last().expect("it is in the window");
    assert_eq!(node.accesskit_node().role(), Role::Button);
    node.click();
    window.run_steps(3);
}
