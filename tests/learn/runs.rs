//! Tests that the user's own run and options return after a lesson.

use loadscope_model::view::{Cursor, Workspace};
use loadscope_trace::RunOptions;

use super::*;

fn options() -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=40,cost_ms=20".to_owned(),
        batch_size: Some(2),
        num_workers: 3,
        step_ms: 10.0,
        ..RunOptions::default()
    }
}

/// Regression test: a lesson changed the options of the next run, and its runs replaced the user's own.
#[test]
fn leaving_a_lesson_restores_the_users_run_and_options() {
    let mut window = Window::new();
    window.prefs.options = options();
    let mut window = window.open();
    command(&mut window, Action::Simulate);
    settle(&mut window);
    command(&mut window, Command::Cursor(Cursor::Step(7)));
    let events = window.state().state.session.run.events();
    command(&mut window, Action::Learn);
    window.run_steps(3);
    window.get_by_label("3  Samplers and seeds").click();
    window.run_steps(2);
    settle(&mut window);
    assert_ne!(window.state().state.session.run.events(), events);
    assert_eq!(window.state().state.prefs_to_keep().options, options());
    // The many runs of lessons are not listed.
    for _ in 0..3 {
        command(&mut window, Action::SkipStep);
        command(&mut window, Action::GoOn);
        settle(&mut window);
    }
    assert_eq!(window.state().state.runs.all().len(), 1);
    command(&mut window, Action::LeaveLesson);
    command(&mut window, Action::LeaveLesson);
    window.run_steps(3);
    let state = &window.state().state;
    assert!(state.learn.page.is_none() && state.runs.all().is_empty());
    assert_eq!(state.session.run.events(), events);
    assert_eq!(state.session.cursor, Cursor::Step(7));
    assert_eq!(state.prefs.options, options());
}

#[test]
fn one_key_returns_to_the_step() {
    let mut window = lesson(7, Language::En, Theme::Dark, Vec2::new(1100.0, 700.0));
    let home = window.state().state.session.cursor;
    assert!(window.query_by_label("Return to the step").is_none());
    command(&mut window, Command::Cursor(Cursor::Step(3)));
    command(&mut window, Action::ShowSampling);
    window.run_steps(3);
    window.get_by_label("Return to the step");
    key(&mut window, Key::R);
    let state = &window.state().state;
    assert_eq!(state.session.cursor, home);
    assert_eq!(state.prefs.workspace, Workspace::Debug);
}

/// After an answer, the run plays to the instant that shows it, and stops when the user continues.
#[test]
fn an_answer_plays_the_run_to_its_instant() {
    let mut window = Window {
        moves: true,
        ..Window::new()
    }
    .open();
    command(&mut window, LearnCommand::Lesson(7));
    settle(&mut window);
    key(&mut window, Key::Enter);
    settle(&mut window);
    let before = window.state().state.now();
    let answered = right(&window);
    let all = loadscope_model::update::candidates(&window.state().state);
    let Answer::Click(target) = answered else {
        panic!("the second step of lesson 7 asks for a click");
    };
    assert!(all.contains(&target));
    command(&mut window, LearnCommand::Target(target));
    std::thread::sleep(std::time::Duration::from_millis(60));
    window.run_steps(4);
    let on_the_way = window.state().state.now();
    assert!(stage(&window).replay.is_some() && on_the_way > before);
    key(&mut window, Key::Enter);
    let state = &window.state().state;
    assert!(stage(&window).replay.is_none() && state.now() > on_the_way);
    assert_eq!(playing(&window).play.position().0, 1, "it is shown first");
}

/// After a restart, a lesson continues at the step reached, in the chosen language.
#[test]
fn lesson_progress_is_stored_in_the_preferences() {
    let mut window = lesson(3, Language::Zh, Theme::Dark, Vec2::new(1100.0, 700.0));
    key(&mut window, Key::Enter);
    settle(&mut window);
    let step = playing(&window).play.position().0;
    assert_eq!(step, 1);
    let prefs = window.state().state.prefs_to_keep();
    let mut again = Window {
        prefs,
        ..Window::new()
    }
    .open();
    command(&mut again, LearnCommand::Lesson(3));
    settle(&mut again);
    assert_eq!(playing(&again).play.position().0, step);
    assert_eq!(playing(&again).play.lesson().language, Language::Zh);
}

/// A lesson file under development is reloaded at the current step, and its errors are shown.
#[test]
fn a_changed_lesson_file_is_reloaded() {
    use loadscope::window::preview::LearnTarget;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("07.en.toml");
    let file = crate::fixture::repository("assets/lessons/07.en.toml");
    let text = std::fs::read_to_string(file).expect("a lesson");
    std::fs::write(&path, &text).expect("a folder of our own");
    let mut window = Window {
        learn: Some(LearnTarget::File(path.clone())),
        ..Window::new()
    }
    .open();
    wait(&mut window, |app| app.state.learn.playing().is_some());
    settle(&mut window);
    key(&mut window, Key::Enter);
    settle(&mut window);
    let changed = text.replace(
        "Worker 1 will finish batch 5 long before",
        "Batch 5 is ready before",
    );
    assert_ne!(changed, text);
    std::fs::write(&path, changed).expect("a folder of our own");
    wait(&mut window, |app| {
        let playing = app.state.learn.playing();
        let question = playing.and_then(|playing| playing.play.open_question().ok());
        question.is_some_and(|question| question.ask.contains("Batch 5 is ready"))
    });
    assert_eq!(playing(&window).play.position().0, 1);
    std::fs::write(&path, text.replace("longest wait", "longest weight")).expect("our own");
    wait(&mut window, |app| {
        let playing = app.state.learn.playing();
        playing.is_some_and(|playing| playing.mistake.is_some())
    });
    let mistake = playing(&window).mistake.clone().expect("there is one");
    assert!(
        mistake.contains("07.en.toml") && mistake.contains("longest weight"),
        "{mistake}"
    );
    // A preview leaves no progress.
    assert!(
        window
            .state()
            .state
            .prefs
            .learned
            .progress
            .lessons
            .is_empty()
    );
}
