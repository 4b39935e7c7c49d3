//! Tests of the quiz and the detective cases.

use super::*;

/// Checks that neither a panel nor the end of the axis reveals the answer.
fn check_answer_is_covered(state: &State, at: usize) {
    for action in [Action::ShowSampling, Action::ToggleVariables] {
        let why_not = refused(state, action);
        assert!(why_not.is_some(), "question {at}: {action:?}");
    }
    assert!(state.hides_answer(), "question {at}");
    let whole = state.whole();
    let air = (whole.end - whole.start).0 / 62;
    let length = (whole.end - whole.start).0 - 2 * air;
    let first = length.to_string().trim_end_matches('0').parse::<u32>();
    let is_round = first.is_ok_and(|first| [1, 2, 5].contains(&first));
    assert!(is_round, "question {at}: {length} ns");
}

#[test]
fn a_quiz_counts_right_answers_and_stores_the_result() {
    let mut state = still();
    ask(&mut state, LearnCommand::Quiz(3));
    for at in 0..loadscope_lessons::QUIZ_LENGTH {
        let quizzing = state.learn.quizzing().expect("a quiz is open");
        assert_eq!(quizzing.answers.len(), at);
        assert!(state.learn.hides_verdict());
        // The run reveals nothing, because all of it is hidden.
        assert!(state.session.run.transitions().is_empty() && state.hides_future());
        check_answer_is_covered(&state, at);
        assert!(refused(&state, Action::GoOn).is_some());
        match at {
            0 => _ = ask(&mut state, Action::SkipStep),
            1 => {
                let wrong = match right(&state) {
                    Answer::Number(number) => Answer::Number(number + 1000.0),
                    Answer::Choice(choice) => Answer::Choice(usize::from(choice == 0)),
                    other => other,
                };
                ask(&mut state, LearnCommand::Answer(wrong));
            }
            _ => {
                let given = right(&state);
                ask(&mut state, LearnCommand::Answer(given));
            }
        }
    }
    let quizzing = state.learn.quizzing().expect("its outcome is shown");
    assert!(quizzing.entry().is_none());
    let of = loadscope_lessons::QUIZ_LENGTH as u32;
    assert_eq!(quizzing.right() as u32, of - 2);
    assert_eq!(state.prefs.learned.progress.quizzes, [(3, of - 2, of)]);
    assert!(!state.learn.hides_verdict());
    ask(&mut state, Action::GoOn);
    assert!(state.learn.shows_contents());
}

#[test]
fn a_language_change_translates_the_quiz_question() {
    let mut state = still();
    ask(&mut state, LearnCommand::Quiz(5));
    let ask_of = |state: &State| state.learn.question().map(|question| question.ask.clone());
    let english = ask_of(&state);
    ask(&mut state, LearnCommand::Language(Language::Zh));
    assert_ne!(ask_of(&state), english);
    let quizzing = state.learn.quizzing().expect("a quiz is open");
    assert!(quizzing.answers.is_empty());
}

#[test]
fn a_solved_case_is_scored_and_stored() {
    let mut state = still();
    ask(&mut state, LearnCommand::Case(1, 1));
    let detecting = state.learn.detecting().expect("a case is open");
    let case = detecting.case.clone().expect("it was made");
    assert!(state.learn.hides_verdict() && refused(&state, Action::GoOn).is_some());
    assert!(refused(&state, Action::ShowDiagnose).is_some());
    assert!(refused(&state, Action::ToggleOptions).is_some() && !state.prefs.options_open);
    let solved = case.solve(&[], &[]);
    // One cause too many removes the earliest. A second click removes a cause.
    for culprit in loadscope_lessons::cases::Culprit::ALL {
        ask(&mut state, LearnCommand::Name(culprit));
    }
    let named = state.learn.detecting().expect("a case").named.clone();
    assert_eq!(named.len(), case.count());
    for culprit in named {
        ask(&mut state, LearnCommand::Name(culprit));
    }
    assert!(state.learn.detecting().expect("a case").named.is_empty());
    for culprit in &solved.causes {
        ask(&mut state, LearnCommand::Name(*culprit));
    }
    assert!(refused(&state, Action::GoOn).is_some());
    for remedy in &solved.best {
        ask(&mut state, LearnCommand::Choose(*remedy));
    }
    ask(&mut state, Action::GoOn);
    let outcome = state.learn.detecting().expect("a case").solved.as_ref();
    assert!(outcome.is_some_and(|outcome| outcome.is_named && outcome.score == 100));
    assert_eq!(state.prefs.learned.progress.cases, [(1, 1, 100)]);
    assert!(!state.learn.hides_verdict());
    assert_eq!(refused(&state, Action::ToggleOptions), None);
    assert_eq!(state.prefs.workspace, Workspace::Diagnose);
    ask(&mut state, Action::GoOn);
    let next = state.learn.detecting().expect("the next case");
    assert_eq!((next.number, next.solved.is_none()), (2, true));
}

#[test]
fn a_new_case_seed_is_stored_in_the_preferences() {
    let mut state = still();
    assert_eq!(state.prefs.learned.cases_seed(), 1);
    ask(&mut state, LearnCommand::Seed(9));
    assert_eq!(state.prefs.learned.cases_seed(), 9);
}

/// Actions of lessons are refused with a reason if no lesson is open.
#[test]
fn lesson_actions_are_refused_without_a_lesson() {
    let state = still();
    for action in [
        Action::GoOn,
        Action::SkipStep,
        Action::PreviousPage,
        Action::ReturnToStep,
        Action::LeaveLesson,
    ] {
        assert!(refused(&state, action).is_some(), "{action:?}");
    }
    for action in [Action::Learn, Action::ToggleLecture, Action::ChangeLanguage] {
        assert_eq!(refused(&state, action), None, "{action:?}");
    }
}
