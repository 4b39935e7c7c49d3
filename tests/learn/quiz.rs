//! Tests of the quiz and the detective cases in the window.

use eframe::egui::Event;
use loadscope_insight::sampling::{Choice, OrderSource};
use loadscope_lessons::cases::{Case, Culprit};
use loadscope_model::update::obstacle;
use loadscope_model::view::Workspace;

use super::*;

fn window(language: Language) -> Harness<'static, App> {
    let mut window = Window::new();
    window.prefs.learned.language = language;
    window.open()
}

/// Every third answer is wrong, and one question is skipped.
#[test]
fn a_completed_quiz_explains_the_wrong_answers() {
    for language in Language::ALL {
        let mut window = window(language);
        command(&mut window, LearnCommand::Quiz(3));
        let (mut right_ones, mut whys) = (0, Vec::new());
        for at in 0..loadscope_lessons::QUIZ_LENGTH {
            settle(&mut window);
            let quizzing = window.state().state.learn.quizzing().expect("a quiz");
            assert_eq!(quizzing.answers.len(), at);
            let entry = quizzing.entry().expect("a question").clone();
            let right = right(&window);
            match at % 3 {
                0 => {
                    let given = wrong(&window, &right);
                    whys.push(entry.question.why);
                    answer(&mut window, &given);
                }
                1 if at == 4 => {
                    whys.push(entry.question.why);
                    window.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
                    window.run_steps(2);
                }
                _ => {
                    right_ones += 1;
                    answer(&mut window, &right);
                }
            }
        }
        window.run_steps(4);
        let quizzing = window.state().state.learn.quizzing().expect("a quiz");
        assert!(quizzing.entry().is_none());
        assert_eq!(quizzing.right(), right_ones);
        let kept = &window.state().state.prefs.learned.progress.quizzes;
        assert_eq!(kept, &[(3, right_ones as u32, 20)]);
        // Only wrong answers are explained.
        for why in &whys {
            let text = why.replace('`', "");
            assert!(
                window.query_all_by_label_contains(&text).next().is_some()
                    || window.query_all_by_label_contains(why).next().is_some(),
                "{why}"
            );
        }
        key(&mut window, Key::Enter);
        assert!(window.state().state.learn.shows_contents());
    }
}

#[test]
fn a_case_hides_the_diagnosis_until_it_is_solved() {
    let mut window = window(Language::En);
    command(&mut window, LearnCommand::Case(1, 1));
    settle(&mut window);
    let state = &window.state().state;
    let case = state.learn.detecting().expect("a case").case.clone();
    let case = case.expect("it was made");
    assert!(obstacle(state, Action::ShowDiagnose).is_some());
    assert!(window.query_by_label_contains("Next step").is_none());
    key(&mut window, Key::Num3);
    assert_eq!(window.state().state.prefs.workspace, Workspace::Debug);
    let solved = case.solve(&[], &[]);
    for culprit in &solved.causes {
        window.get_by_label(culprit.label(Language::En)).click();
        window.run_steps(2);
    }
    assert!(obstacle(&window.state().state, Action::GoOn).is_some());
    for remedy in &solved.best {
        window.get_by_label(&remedy.label(Language::En)).click();
        window.run_steps(2);
    }
    key(&mut window, Key::Enter);
    settle(&mut window);
    let state = &window.state().state;
    let outcome = state.learn.detecting().expect("a case").solved.as_ref();
    let outcome = outcome.expect("it is solved");
    assert!(outcome.is_named && outcome.score == 100, "{outcome:?}");
    assert_eq!(state.prefs.learned.progress.cases, [(1, 1, 100)]);
    // The run with the remedies is shown.
    let after = outcome.after.as_ref().expect("a simulated case");
    assert_eq!(state.session.run.info.options, after.info.options);
    assert!(obstacle(state, Action::ShowDiagnose).is_none());
}

/// A case has a fixed number of causes. Naming one more removes the first.
#[test]
fn naming_too_many_causes_removes_the_first() {
    let mut window = window(Language::Zh);
    command(&mut window, LearnCommand::Case(1, 1));
    settle(&mut window);
    for culprit in Culprit::ALL {
        window.get_by_label(culprit.label(Language::Zh)).click();
        window.run_steps(2);
    }
    let detecting = window.state().state.learn.detecting().expect("a case");
    let count = detecting.case.as_ref().expect("it was made").count();
    assert_eq!(detecting.named.len(), count);
    assert_eq!(detecting.named.last(), Culprit::ALL.last());
}

/// Regression test: "4 workers yield 800 samples, 200 of them unique" named the cause before the case was solved.
#[test]
fn the_next_epoch_does_not_reveal_the_cause_of_a_case() {
    let mut all = (1..20).flat_map(|seed| (1..=5).map(move |number| (seed, number)));
    let found = all.find(|(seed, number)| {
        let case = Case::of(*seed, *number).expect("a case");
        case.solve(&[], &[]).causes == [Culprit::RepeatedSamples]
    });
    let (seed, number) = found.expect("a case of repeated samples");
    let mut window = window(Language::En);
    command(&mut window, LearnCommand::Case(seed, number));
    settle(&mut window);
    command(&mut window, Action::ShowSampling);
    let next = Choice {
        of: OrderSource::Next,
        ..Choice::default()
    };
    command(&mut window, Command::Sampling(next));
    wait(&mut window, |app| {
        let answers = app.state.session.results.sampling.answers.as_ref();
        answers.is_some_and(|answers| answers.sharing.is_some())
    });
    window.run_steps(4);
    let mut shown = window.query_all_by_label_contains("Class balance");
    assert!(shown.next().is_some());
    let mut named = window.query_all_by_label_contains("of them unique");
    assert!(named.next().is_none());
}

/// Opens a quiz at its first question of this kind.
fn quiz_at(is_it: fn(&Kind) -> bool) -> Harness<'static, App> {
    let mut window = window(Language::En);
    command(&mut window, LearnCommand::Quiz(3));
    settle(&mut window);
    for _ in 0..loadscope_lessons::QUIZ_LENGTH {
        let question = window.state().state.learn.question();
        if question.is_some_and(|question| is_it(&question.kind)) {
            return window;
        }
        command(&mut window, Action::SkipStep);
        settle(&mut window);
    }
    panic!("no question asks in this way");
}

/// Returns the number of answered questions of the quiz.
fn answers(window: &Harness<'static, App>) -> usize {
    let quizzing = window.state().state.learn.quizzing();
    quizzing.expect("a quiz").answers.len()
}

#[test]
fn a_digit_alone_answers_no_quiz_question() {
    let mut window = quiz_at(|kind| matches!(kind, Kind::Choice(_)));
    let before = answers(&window);
    let workspace = window.state().state.prefs.workspace;
    for digit in [Key::Num2, Key::Num1] {
        key(&mut window, digit);
        assert_eq!(answers(&window), before);
        assert_eq!(window.state().state.prefs.workspace, workspace);
    }
    assert_eq!(stage(&window).draft.chosen, Some(0));
}

#[test]
fn an_empty_number_field_of_the_quiz_keeps_the_focus() {
    let mut window = quiz_at(|kind| matches!(kind, Kind::Number { .. }));
    let before = answers(&window);
    for _ in 0..2 {
        key(&mut window, Key::Enter);
        let field = window.get_by_role(Role::TextInput);
        assert!(field.accesskit_node().is_focused());
    }
    window.event(Event::Text("7".to_owned()));
    window.run_steps(2);
    assert_eq!(stage(&window).draft.number, "7");
    assert_eq!(answers(&window), before);
}
