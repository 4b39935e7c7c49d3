//! Tests that the window hides answers while a question is open or a case is unsolved.

use loadscope_lessons::cases::{Case, Culprit, Remedy};
use loadscope_model::view::Workspace;
use loadscope_ui::panels::marked;

use super::pictures::to_step;
use super::*;
use crate::texts::texts;

/// Regression test: the counters below the pipeline showed the answer.
#[test]
fn counters_are_hidden_while_a_question_is_open() {
    let size = Vec2::new(1920.0, 1080.0);
    let mut window = lesson(5, Language::En, Theme::Dark, size);
    to_step(&mut window, 1);
    assert_eq!(*playing(&window).play.phase(), Phase::Asking);
    let names = ["send_idx", "prefetch window"];
    let is_written = |window: &Harness<'static, App>, name: &str| {
        let seen = texts(window);
        seen.iter().any(|text| text == name)
    };
    for name in names {
        assert!(!is_written(&window, name), "{name}");
    }
    let given = right(&window);
    answer(&mut window, &given);
    settle(&mut window);
    for name in names {
        assert!(is_written(&window, name), "{name}");
    }
}

/// Returns true if a button of the Sampling workspace is disabled.
fn is_disabled(window: &Harness<'static, App>, name: &str) -> bool {
    // The options at the left may have a button with the same name.
    let first = window.get_by_role_and_label(Role::Button, "This run");
    let left = first.rect().left();
    let nodes: Vec<_> = window
        .query_all_by_role_and_label(Role::Button, name)
        .filter(|node| node.rect().left() > left)
        .collect();
    assert_eq!(nodes.len(), 1, "{name}");
    nodes.iter().all(|node| node.accesskit_node().is_disabled())
}

/// Regression test: the order of the next run showed the answer.
#[test]
fn order_prediction_is_off_while_a_question_is_open() {
    let size = Vec2::new(1100.0, 700.0);
    let mut window = lesson(3, Language::En, Theme::Dark, size);
    to_step(&mut window, 3);
    assert_eq!(*playing(&window).play.phase(), Phase::Asking);
    for name in ["Next epoch", "Next run"] {
        assert!(is_disabled(&window, name), "{name}");
    }
    let given = right(&window);
    answer(&mut window, &given);
    settle(&mut window);
    for name in ["Next epoch", "Next run"] {
        assert!(!is_disabled(&window, name), "{name}");
    }
}

/// Regression test: the Sampling workspace named the cause of a case.
#[test]
fn sampling_names_no_cause_before_a_case_is_solved() {
    let is_it = |number: &u32| {
        let case = Case::of(1, *number).expect("it can be made");
        case.solve(&[], &[]).causes == [Culprit::RepeatedSamples]
    };
    let number = (1..=8).find(is_it).expect("a case with this cause");
    let mut window = Window::new().open();
    command(&mut window, LearnCommand::Case(1, number));
    settle(&mut window);
    for is_solved in [false, true] {
        if is_solved {
            // The run stays the same, and its cause is named.
            command(&mut window, LearnCommand::Name(Culprit::RepeatedSamples));
            command(&mut window, LearnCommand::Choose(Remedy::Nothing));
            command(&mut window, Action::GoOn);
            settle(&mut window);
        }
        let detecting = window.state().state.learn.detecting().expect("a case");
        assert_eq!(detecting.solved.is_some(), is_solved);
        command(&mut window, Action::ShowSampling);
        wait(&mut window, finds_the_cause);
        window.run_steps(4);
        let workspace = window.state().state.prefs.workspace;
        assert_eq!(workspace, Workspace::Sampling);
        let seen = texts(&window);
        let is_shown = seen.iter().any(|text| text.contains(CAUSE));
        assert_eq!(is_shown, is_solved, "{seen:?}");
        let marks = marked(&window.ctx);
        let is_marked = marks.iter().any(|(part, _)| *part == Part::Findings);
        assert_eq!(is_marked, is_solved);
    }
}

/// Part of the finding that names the cause.
const CAUSE: &str = "workers yielded";

/// Returns true once the order is analyzed.
fn finds_the_cause(app: &App) -> bool {
    let answers = app.state.session.results.sampling.answers.as_ref();
    answers.is_some_and(|answers| {
        let mut findings = answers.findings.iter();
        findings.any(|finding| finding.says.contains(CAUSE))
    })
}
