//! Every lesson can be completed with keys alone.

use super::*;

/// Performs the effect of a key: digits answer, all other keys perform actions.
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

/// Answers with keys: digits for a choice, an order or a click, and a typed number.
fn answer(state: &mut State, given: &Answer) {
    match given {
        Answer::Number(number) => {
            // The field has the keyboard focus, so the typed text is the draft.
            let draft = Draft {
                number: number.to_string(),
                ..Draft::default()
            };
            ask(state, LearnCommand::Draft(draft));
            press(state, Modifiers::NONE, Key::Enter);
        }
        Answer::Choice(at) => {
            digit(state, *at);
            press(state, Modifiers::NONE, Key::Enter);
        }
        Answer::Order(order) => {
            order.iter().for_each(|at| digit(state, *at));
            press(state, Modifiers::NONE, Key::Enter);
        }
        Answer::Click(target) => {
            let at = candidates(state).iter().position(|other| other == target);
            digit(state, at.expect("it can be clicked"));
            press(state, Modifiers::NONE, Key::Enter);
        }
    }
}

/// Reaches the goal of a trial by simulating the options of its solution.
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
fn every_lesson_can_be_finished_by_keyboard() {
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

/// No question has more answers than there are digits. Shift+Enter skips every question and trial.
#[test]
fn digits_select_every_choice_and_one_key_skips() {
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
                if !matches!(question.kind, Kind::Number { .. }) {
                    assert_eq!(by_digit(&state, 0), None);
                }
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
        // A skipped question counts as answered wrong.
        assert_eq!(
            (kept.right, kept.wrong, kept.done),
            (0, questions, true),
            "lesson {number}"
        );
    }
}

/// A digit only selects or is typed. It submits no answer, changes no step and switches no workspace.
#[test]
fn a_digit_selects_but_submits_no_answer() {
    for number in 1..=loadscope_lessons::LESSONS as u32 {
        let mut state = lesson(number);
        while *phase(&state) != Phase::Finished {
            let before = (step(&state), state.prefs.workspace, phase(&state).clone());
            assert!(takes_digits(&state));
            for digit in [2, 1, 9, 0, 3] {
                if let Some(command) = by_digit(&state, digit) {
                    ask(&mut state, command);
                }
                let now = (step(&state), state.prefs.workspace, phase(&state).clone());
                assert_eq!(now, before, "lesson {number}, digit {digit}");
            }
            if let Some(question) = state.learn.question() {
                if matches!(question.kind, Kind::Number { .. }) {
                    assert_eq!(stage(&state).draft.number, "21903");
                }
                ask(&mut state, Action::SkipStep);
            } else if playing(&state).play.can_advance() {
                ask(&mut state, Action::GoOn);
            } else {
                ask(&mut state, Action::SkipStep);
            }
        }
    }
}

/// Regression test: Esc, Ctrl+L and the workspace keys did not leave the list of lessons.
#[test]
fn run_and_workspace_keys_close_the_lesson_list() {
    use crate::view::LowerPanel;

    let own = || {
        let mut state = still();
        state.prefs.workspace = Workspace::Sampling;
        state.look.lower = LowerPanel::Plots;
        state.prefs.options_open = false;
        let first = state.prefs.options.clone();
        ask(&mut state, Action::Learn);
        assert!(state.learn.shows_contents());
        (state, first)
    };
    let shown = |state: &State| (state.prefs.workspace, state.look.lower);
    let keys = [
        (Modifiers::NONE, Key::Escape, Workspace::Sampling),
        (Modifiers::COMMAND, Key::L, Workspace::Sampling),
        (
            Modifiers::COMMAND.plus(Modifiers::SHIFT),
            Key::L,
            Workspace::Sampling,
        ),
        (Modifiers::NONE, Key::Num1, Workspace::Debug),
        (Modifiers::NONE, Key::Num2, Workspace::Sampling),
        (Modifiers::NONE, Key::Num3, Workspace::Diagnose),
    ];
    for (modifiers, key, workspace) in keys {
        let (mut state, options) = own();
        press(&mut state, modifiers, key);
        assert!(state.learn.page.is_none(), "{key:?} leaves the list");
        assert_eq!(shown(&state), (workspace, LowerPanel::Plots), "{key:?}");
        assert_eq!(state.prefs.options, options);
        assert!(!state.prefs.options_open, "panels come back");
    }
    for (key, lower) in [
        (Key::T, LowerPanel::Timeline),
        (Key::B, LowerPanel::Batches),
        (Key::G, LowerPanel::Plots),
    ] {
        let (mut state, _) = own();
        press(&mut state, Modifiers::NONE, key);
        assert!(state.learn.page.is_none(), "{key:?} leaves the list");
        assert_eq!(state.look.lower, lower);
    }
    // Every key that leaves also removes the run of the lesson.
    for key in [Key::Escape, Key::Num1] {
        let mut state = lesson(2);
        ask(&mut state, Action::LeaveLesson);
        assert!(state.learn.shows_contents());
        let effect = press(&mut state, Modifiers::NONE, key);
        assert_eq!(effect, Some(Effect::Close), "{key:?}");
    }
    // The help sheet above the list closes first.
    let (mut state, _) = own();
    ask(&mut state, Action::Help);
    press(&mut state, Modifiers::NONE, Key::Escape);
    assert!(state.learn.shows_contents() && !state.overlay.help_open);
}
