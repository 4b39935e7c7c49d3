//! Screenshots of each kind of step.

use egui_kittest::SnapshotResults;

use super::*;
use crate::texts::Picture as _;

/// Advances to a step without answering.
pub(super) fn to_step(window: &mut Harness<'static, App>, step: usize) {
    while playing(window).play.position().0 < step {
        let action = match playing(window).play.can_advance() {
            true => Action::GoOn,
            false => Action::SkipStep,
        };
        command(window, action);
        settle(window);
    }
    window.run_steps(12);
}

/// Lesson number, language, step and screenshot name.
const STEPS: [(u32, Language, usize, &str); 7] = [
    (7, Language::En, 0, "look"),
    (7, Language::En, 1, "click"),
    (7, Language::En, 2, "number"),
    (7, Language::Zh, 4, "choice"),
    (1, Language::En, 3, "order"),
    (7, Language::Zh, 6, "code"),
    (7, Language::En, 7, "try"),
];

#[test]
fn each_kind_of_lesson_step_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (theme, width, height) in [
        (Theme::Dark, 1100.0, 700.0),
        (Theme::Light, 1920.0, 1080.0),
        (Theme::Light, 760.0, 480.0),
    ] {
        for (number, language, step, name) in STEPS {
            let mut window = lesson(number, language, theme, Vec2::new(width, height));
            to_step(&mut window, step);
            window.picture(format!("learn_{name}-{width:.0}"));
            results.extend_harness(&mut window);
        }
    }
}

#[test]
fn answers_and_tries_match_their_images() {
    let mut results = SnapshotResults::new();
    for (theme, width, height) in [(Theme::Light, 1100.0, 700.0), (Theme::Dark, 1920.0, 1080.0)] {
        let size = Vec2::new(width, height);
        let mut window = lesson(7, Language::En, theme, size);
        to_step(&mut window, 3);
        let given = wrong(&window, &right(&window));
        answer(&mut window, &given);
        settle(&mut window);
        window.picture(format!("learn_answered-{width:.0}"));
        to_step(&mut window, 7);
        for _ in 0..4 {
            window.key_press_modifiers(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::R);
            window.run_steps(2);
            settle(&mut window);
        }
        window.picture(format!("learn_solution-{width:.0}"));
        results.extend_harness(&mut window);
        let mut window = lesson(7, Language::Zh, theme, size);
        command(&mut window, Action::ToggleLecture);
        settle(&mut window);
        window.picture(format!("learn_lecture-{width:.0}"));
        results.extend_harness(&mut window);
    }
}

#[test]
fn the_lesson_list_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (theme, language, width, height) in [
        (Theme::Dark, Language::En, 1100.0, 700.0),
        (Theme::Light, Language::Zh, 1920.0, 1080.0),
        (Theme::Light, Language::En, 760.0, 480.0),
    ] {
        let mut window = lesson(2, language, theme, Vec2::new(width, height));
        key(&mut window, Key::Enter);
        settle(&mut window);
        command(&mut window, Action::LeaveLesson);
        window.run_steps(4);
        window.picture(format!("learn_list-{width:.0}"));
        results.extend_harness(&mut window);
    }
}

/// Advances to the first question with choices, or else with a number.
fn to_question(window: &mut Harness<'static, App>, has_choices: bool) {
    for _ in 0..loadscope_lessons::QUIZ_LENGTH {
        let question = window.state().state.learn.question().expect("a question");
        if matches!(question.kind, Kind::Choice(_)) == has_choices {
            break;
        }
        command(window, Action::SkipStep);
        settle(window);
    }
    window.run_steps(12);
}

/// Opens an empty window for screenshots. The tests of the Chinese window draw the Chinese ones.
fn empty() -> Harness<'static, App> {
    Window {
        size: Vec2::new(1100.0, 700.0),
        theme: Theme::Dark,
        ..Window::new()
    }
    .open()
}

#[test]
fn the_quiz_matches_its_images() {
    let mut results = SnapshotResults::new();
    let mut window = empty();
    command(&mut window, LearnCommand::Quiz(3));
    settle(&mut window);
    to_question(&mut window, true);
    window.picture("quiz_choice");
    to_question(&mut window, false);
    window.picture("quiz_number");
    let mut at = 0;
    while window.state().state.learn.question().is_some() {
        let right = right(&window);
        let given = match at % 5 {
            0 => wrong(&window, &right),
            _ => right,
        };
        command(&mut window, LearnCommand::Answer(given));
        settle(&mut window);
        at += 1;
    }
    window.run_steps(12);
    window.picture("quiz_result");
    results.extend_harness(&mut window);
}

/// A simulated case before and after its solution, and a case recorded from a program.
#[test]
fn cases_match_their_images() {
    let mut results = SnapshotResults::new();
    let mut window = empty();
    command(&mut window, LearnCommand::Case(1, 1));
    settle(&mut window);
    window.run_steps(12);
    window.picture("case_open");
    let detecting = window.state().state.learn.detecting().expect("a case");
    let case = detecting.case.clone().expect("it was made");
    let solved = case.solve(&[], &[]);
    for culprit in solved.causes {
        command(&mut window, LearnCommand::Name(culprit));
    }
    for remedy in solved.best {
        command(&mut window, LearnCommand::Choose(remedy));
    }
    command(&mut window, Action::GoOn);
    settle(&mut window);
    crate::fixture::until(&mut window, "Forecast accuracy");
    window.picture("case_solved");
    command(&mut window, LearnCommand::Case(1, 12));
    settle(&mut window);
    window.run_steps(12);
    window.picture("case_recorded");
    results.extend_harness(&mut window);
}
