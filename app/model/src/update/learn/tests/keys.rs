//! Every lesson can be finished with keys alone.

use super::*;

/// What a key does: a digit answers, every other key is that of an action.
fn press(state: &mut State, modifiers: Modifiers, key: Key) -> Option<Effect> {
    let digit = key.name().parse().ok().filter(|_| modifiers.is_none());
    if let Some(command) = digit.and_then(|digit| by_digit(state, digit)) {
        return ask(state, command);
    }
    let shortcut = KeyboardShortcut::new(modifiers, key);
    let all = Action::shortcuts();
    let found = all.iter().find(|(other, _)| *other == shortcut);
    let (_, action) = found.unwrap_or_else(|| panic!("{key:?} is the key of nothing"));
    assert_eq!(refused(state, *action), None, "{action:?}");
    ask(state, *action)
}

fn digit(state: &mut State, at: usize) {
    let key = Key::from_name(&(at + 1).to_string()).expect("at most nine can be chosen by digits");
    press(state, Modifiers::NONE, key);
}

/// Answers with keys: digits for a choice, an order and a click, digits into the field for a number.
fn answer(state: &mut State, given: &Answer) {
    match given {
        Answer::Number(number) => {
            // The field has the keyboard: what is typed is the draft.
            let draft = Draft {
                number: number.to_string(),
                ..Draft::default()
            };
            ask(state, LearnCommand::Draft(draft));
            press(state, Modifiers::NONE, Key::Enter);
        }
        Answer::Choice(at) => digit(state, *at),
        Answer::Order(order) => {
            order.iter().for_each(|at| digit(state, *at));
            press(state, Modifiers::NONE, Key::Enter);
        }
        Answer::Click(target) => {
            let at = candidates(state).iter().position(|other| other == target);
            digit(state, at.expect("it can be clicked"));
        }
    }
}

/// Reaches the goal of a try: the options of its solution are set, and simulated.
fn reach(state: &mut State) {
    for _ in 0..4 {
        run_it(state);
    }
    assert!(playing(state).play.solution().is_some());
    ask(state, LearnCommand::Solution);
    run_it(state);
    assert_eq!(*phase(state), Phase::Reached);
}

#[test]
fn every_lesson_is_finished_with_keys() {
    for language in Language::ALL {
        let mut state = still();
        state.prefs.learned.language = language;
        ask(&mut state, LearnCommand::Lesson(1));
        for number in 1..=loadscope_lessons::LESSONS as u32 {
            assert_eq!(playing(&state).play.lesson().number, number);
            let steps = playing(&state).play.lesson().steps().len();
            for at in 0..steps {
                assert_eq!(step(&state), at, "lesson {number}");
                assert_eq!(stage(&state).trouble, None, "lesson {number}, step {at}");
                match playing(&state).play.step().task.clone() {
                    Task::Predict { .. } => {
                        let given = right(&state);
                        answer(&mut state, &given);
                        assert!(
                            matches!(phase(&state), Phase::Answered(judged) if judged.is_right),
                            "lesson {number}, step {at}: {given:?}"
                        );
                    }
                    Task::Try(_) => reach(&mut state),
                    Task::Look { .. } | Task::Code { .. } => {}
                }
                press(&mut state, Modifiers::NONE, Key::Enter);
            }
            assert_eq!(*phase(&state), Phase::Finished);
            assert!(state.prefs.learned.progress.lessons[&number].done);
            press(&mut state, Modifiers::NONE, Key::Enter);
        }
        assert!(state.learn.shows_contents());
    }
}

/// No question has more answers than there are digits, and Shift+Enter skips every question and every try.
#[test]
fn digits_reach_every_choice_and_one_key_skips() {
    for number in 1..=loadscope_lessons::LESSONS as u32 {
        let mut state = lesson(number);
        let mut questions = 0;
        while *phase(&state) != Phase::Finished {
            if let Some(question) = state.learn.question() {
                let truth = stage(&state).truth.clone().expect("an answer");
                let choices = match &question.kind {
                    Kind::Choice(all) => all.len(),
                    Kind::Order(_) => question.items(&truth, Language::En).len(),
                    Kind::Click => candidates(&state).iter().position(|target| {
                        matches!((target, right(&state)), (Target::Part(part), Answer::Click(Target::Part(right))) if *part == right)
                    }).map_or(0, |at| at + 1),
                    Kind::Number { .. } => 0,
                };
                assert!(choices <= 9, "lesson {number}: {}", question.ask);
                assert_eq!(by_digit(&state, 0), None);
                questions += 1;
            }
            let is_open = matches!(phase(&state), Phase::Asking | Phase::Trying(_));
            let modifiers = match is_open {
                true => Modifiers::SHIFT,
                false => Modifiers::NONE,
            };
            press(&mut state, modifiers, Key::Enter);
        }
        let kept = &state.prefs.learned.progress.lessons[&number];
        // A question that is skipped counts as one that was not answered right.
        assert_eq!(
            (kept.right, kept.wrong, kept.done),
            (0, questions, true),
            "lesson {number}"
        );
    }
}
