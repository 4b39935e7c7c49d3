//! Playing a lesson: opening, answering, trials, translation, leaving.

use super::*;

#[test]
fn leaving_a_lesson_restores_the_window_state() {
    let mut state = still();
    let own = RunOptions {
        num_workers: 7,
        ..RunOptions::default()
    };
    state.prefs.options = own.clone();
    state.prefs.workspace = Workspace::Sampling;
    state.prefs.inspector_open = true;
    state.prefs.variables_open = true;
    ask(&mut state, LearnCommand::Lesson(7));
    assert_eq!(state.session.lesson_run, Some(LessonRunKind::Given));
    let options = playing(&state).play.options();
    assert_eq!(state.session.run.info.options.dataset, options.dataset);
    assert_eq!(state.prefs.options.num_workers, 2);
    assert_eq!(state.prefs.workspace, Workspace::Debug);
    assert!(!state.prefs.inspector_open && !state.prefs.variables_open);
    assert_eq!(
        stage(&state).home.map(|home| home.cursor),
        Some(state.session.cursor)
    );
    // Leaving goes to the list first, and then to the user's window.
    assert_eq!(ask(&mut state, Action::LeaveLesson), None);
    assert!(state.learn.shows_contents());
    assert_eq!(ask(&mut state, Action::LeaveLesson), Some(Effect::Close));
    assert!(state.learn.page.is_none() && state.learn.user_window.is_none());
    assert_eq!(state.prefs.options, own);
    assert_eq!(state.prefs.workspace, Workspace::Sampling);
    assert!(state.prefs.inspector_open && state.prefs.variables_open);
}

/// Results for a step that is no longer shown change nothing. Errors of a job are reported.
#[test]
fn results_for_a_step_no_longer_shown_are_ignored() {
    let mut state = still();
    update(&mut state, Command::from(LearnCommand::Lesson(7)));
    let first = state.learn.wanted.clone().expect("a run is wanted");
    update(&mut state, Command::from(LearnCommand::Lesson(1)));
    let prepared = Prepared {
        number: first.number,
        outcome: work_out(&first.what),
    };
    assert!(!takes_place(&state, &prepared));
    update(&mut state, Message::Prepared(prepared));
    assert_eq!(state.session.lesson_run, None);
    let second = state.learn.wanted.clone().expect("a run is wanted");
    assert_ne!(first.number, second.number);
    let prepared = Prepared {
        number: second.number,
        outcome: Err("no run".to_owned()),
    };
    assert!(!takes_place(&state, &prepared));
    update(&mut state, Message::Prepared(prepared));
    assert_eq!(stage(&state).trouble.as_deref(), Some("no run"));
    assert!(state.learn.wanted.is_none());
    // Opening the lesson again requests its run again.
    ask(&mut state, LearnCommand::Lesson(1));
    assert_eq!(stage(&state).trouble, None);
    assert_eq!(state.session.lesson_run, Some(LessonRunKind::Given));
}

#[test]
fn right_and_wrong_answers_are_counted_and_stored() {
    let mut state = lesson(7);
    ask(&mut state, Action::GoOn);
    assert!(refused(&state, Action::GoOn).is_some());
    let given = right(&state);
    ask(&mut state, LearnCommand::Answer(given.clone()));
    assert!(matches!(phase(&state), Phase::Answered(judged) if judged.is_right));
    // A second answer does not count.
    ask(&mut state, LearnCommand::Answer(given));
    ask(&mut state, Action::GoOn);
    ask(&mut state, LearnCommand::Answer(Answer::Number(99.0)));
    assert!(matches!(phase(&state), Phase::Answered(judged) if !judged.is_right));
    let kept = &state.prefs.learned.progress.lessons[&7];
    assert_eq!(
        (kept.right, kept.wrong, kept.step, kept.done),
        (1, 1, 2, false)
    );
    // An answer of another kind is refused with an error.
    ask(&mut state, Action::GoOn);
    ask(&mut state, LearnCommand::Answer(Answer::Choice(0)));
    assert!(stage(&state).trouble.is_some() && *phase(&state) == Phase::Asking);
}

#[test]
fn a_typed_number_is_submitted_by_the_continue_key() {
    let mut state = lesson(7);
    to_step(&mut state, 2);
    for (typed, is_number) in [("", false), ("two", false), ("1e999", false), ("1,5", true)] {
        let draft = Draft {
            number: typed.to_owned(),
            ..Draft::default()
        };
        ask(&mut state, LearnCommand::Draft(draft));
        assert_eq!(
            refused(&state, Action::GoOn).is_none(),
            is_number,
            "{typed}"
        );
    }
    ask(&mut state, Action::GoOn);
    assert!(matches!(phase(&state), Phase::Answered(_)));
    assert_eq!(step(&state), 2);
}

#[test]
fn a_lane_click_answers_an_open_click_question() {
    use crate::view::Item;
    use loadscope_trace::Lane;

    let mut state = lesson(7);
    ask(&mut state, Action::GoOn);
    assert!(matches!(state.learn.click(), Some(Value::Part(_))));
    ask(&mut state, Command::Select(Some(Item::Lane(Lane::Trainer))));
    assert!(matches!(phase(&state), Phase::Answered(judged) if !judged.is_right));
    let trainer = Some(Item::Lane(Lane::Trainer));
    assert_ne!(state.session.selection, trainer);
    // After the answer, a click selects.
    ask(&mut state, Command::Select(trainer));
    assert_eq!(state.session.selection, trainer);
}

/// The panels of the answer replace the panels of the question.
#[test]
fn the_workspace_changes_with_the_answer() {
    let mut state = lesson(12);
    to_step(&mut state, 2);
    assert_eq!(state.prefs.workspace, Workspace::Debug);
    let given = right(&state);
    ask(&mut state, LearnCommand::Answer(given));
    assert_eq!(state.prefs.workspace, Workspace::Sampling);
    assert!(!has_wandered(&state));
}

/// Before a question is answered, no panel shows later events or the verdict.
#[test]
fn an_open_question_hides_the_future_and_the_verdict() {
    let mut state = lesson(14);
    // The second step asks about the cause, so the first one does not name it.
    for _ in 0..2 {
        assert!(state.learn.hides_verdict() && state.hides_future());
        assert!(refused(&state, Action::ShowDiagnose).is_some());
        let shown = state.session.run.transitions().len();
        assert!(shown < state.session.run.whole().transitions().len());
        ask(&mut state, Action::GoOn);
    }
    let given = right(&state);
    ask(&mut state, LearnCommand::Answer(given));
    assert!(!state.learn.hides_verdict() && !state.hides_future());
    assert_eq!(refused(&state, Action::ShowDiagnose), None);
}

#[test]
fn playback_to_the_answer_stops_when_the_cursor_is_moved() {
    let mut state = State::default();
    ask(&mut state, LearnCommand::Lesson(7));
    ask(&mut state, Action::GoOn);
    let (from, given) = (state.now(), right(&state));
    ask(&mut state, LearnCommand::Answer(given));
    assert!(stage(&state).replay.is_some() && state.learn.is_moving());
    let frame = |ms: i64| Message::Frame {
        elapsed: Nanos::from_millis(ms),
        search: std::time::Duration::ZERO,
    };
    update(&mut state, frame(500));
    let on_the_way = state.now();
    assert!(on_the_way > from && state.hides_future());
    // The key for continuing first finishes the playback, and only then continues.
    ask(&mut state, Action::GoOn);
    assert!(stage(&state).replay.is_none() && state.now() > on_the_way);
    assert_eq!(step(&state), 1);
    // The playback does not move a cursor that the learner moved.
    let mut state = State::default();
    ask(&mut state, LearnCommand::Lesson(7));
    ask(&mut state, Action::GoOn);
    let given = right(&state);
    ask(&mut state, LearnCommand::Answer(given));
    update(&mut state, frame(100));
    ask(&mut state, Command::Cursor(Cursor::Step(1)));
    update(&mut state, frame(5000));
    assert!(stage(&state).replay.is_none());
    assert_eq!(state.session.cursor, Cursor::Step(1));
}

#[test]
fn return_to_step_restores_cursor_and_workspace() {
    let mut state = lesson(7);
    assert!(!has_wandered(&state) && refused(&state, Action::ReturnToStep).is_some());
    let home = state.session.cursor;
    ask(&mut state, Command::Cursor(Cursor::Step(3)));
    assert!(has_wandered(&state));
    ask(&mut state, Action::ShowSampling);
    ask(&mut state, Action::ReturnToStep);
    assert!(!has_wandered(&state));
    assert_eq!(state.session.cursor, home);
    assert_eq!(state.prefs.workspace, Workspace::Debug);
}

#[test]
fn back_skip_and_continue_move_through_the_lessons() {
    let mut state = lesson(1);
    assert!(refused(&state, Action::PreviousPage).is_some());
    assert!(refused(&state, Action::SkipStep).is_some());
    let last = playing(&state).play.position().1 - 1;
    to_step(&mut state, last);
    assert!(matches!(phase(&state), Phase::Trying(0)));
    ask(&mut state, Action::PreviousPage);
    assert_eq!(step(&state), last - 1);
    ask(&mut state, Action::GoOn);
    ask(&mut state, Action::SkipStep);
    assert_eq!(*phase(&state), Phase::Finished);
    assert!(state.prefs.learned.progress.lessons[&1].done);
    assert!(state.learn.parts().is_empty());
    // From the end, back goes to the last step. Forward goes to the next lesson.
    ask(&mut state, Action::PreviousPage);
    assert_eq!((step(&state), phase(&state)), (last, &Phase::Trying(0)));
    ask(&mut state, Action::SkipStep);
    ask(&mut state, Action::GoOn);
    assert_eq!(playing(&state).play.lesson().number, 2);
    // An unfinished lesson continues. A finished one starts again.
    to_step(&mut state, 2);
    ask(&mut state, LearnCommand::Lesson(1));
    assert_eq!(step(&state), 0);
    ask(&mut state, LearnCommand::Lesson(2));
    assert_eq!(step(&state), 2);
    // After the last lesson, the list is shown.
    ask(&mut state, LearnCommand::Lesson(14));
    while *phase(&state) != Phase::Finished {
        ask(&mut state, Action::GoOn);
        ask(&mut state, Action::SkipStep);
    }
    ask(&mut state, Action::GoOn);
    assert!(state.learn.shows_contents());
}

#[test]
fn a_language_change_keeps_the_open_question() {
    let mut state = lesson(7);
    ask(&mut state, Action::GoOn);
    let truth = stage(&state).truth.clone();
    ask(&mut state, LearnCommand::Language(Language::Zh));
    assert_eq!(playing(&state).play.lesson().language, Language::Zh);
    assert_eq!((step(&state), phase(&state)), (1, &Phase::Asking));
    assert_eq!(stage(&state).truth, truth);
    let given = right(&state);
    ask(&mut state, LearnCommand::Answer(given));
    assert!(matches!(phase(&state), Phase::Answered(judged) if judged.is_right));
}

#[test]
fn a_try_counts_runs_and_offers_hint_and_solution() {
    let mut state = lesson(4);
    let last = playing(&state).play.position().1 - 1;
    to_step(&mut state, last);
    assert!(refused(&state, Action::GoOn).is_some() && state.prefs.options_open);
    for failures in 1..=4 {
        run_it(&mut state);
        assert_eq!(state.session.lesson_run, Some(LessonRunKind::Trial));
        assert_eq!(*phase(&state), Phase::Trying(failures));
        assert_eq!(playing(&state).play.hint().is_some(), failures >= 2);
        assert_eq!(playing(&state).play.solution().is_some(), failures >= 4);
    }
    // Options outside the task were changed, so the run does not count.
    let mut other = state.prefs.options.clone();
    other.step_ms = 1000.0;
    ask(&mut state, Command::Edit(Box::new(other)));
    run_it(&mut state);
    assert!(matches!(
        playing(&state).tried,
        Some(loadscope_lessons::TrialResult::Changed(_))
    ));
    assert_eq!(*phase(&state), Phase::Trying(4));
    // The solution reverts them and reaches the goal.
    ask(&mut state, LearnCommand::Solution);
    run_it(&mut state);
    assert_eq!(*phase(&state), Phase::Reached);
    assert!(
        playing(&state)
            .found
            .iter()
            .all(|(_, value)| value.is_some())
    );
    ask(&mut state, Action::GoOn);
    assert_eq!(*phase(&state), Phase::Finished);
}

#[test]
fn only_reached_steps_can_be_opened() {
    let mut state = lesson(7);
    to_step(&mut state, 3);
    ask(&mut state, LearnCommand::Step(5));
    assert_eq!(step(&state), 3, "step 5 was not reached yet");
    ask(&mut state, LearnCommand::Step(0));
    assert_eq!(step(&state), 0);
    ask(&mut state, LearnCommand::Step(3));
    assert_eq!(step(&state), 3);
    // A lesson that was left continues at its step. One click goes to its start.
    ask(&mut state, LearnCommand::Lesson(1));
    ask(&mut state, LearnCommand::Lesson(7));
    assert_eq!(step(&state), 3);
    ask(&mut state, LearnCommand::Step(0));
    assert_eq!(step(&state), 0);
}

/// No panel other than the outlined ones shows an answer while a question is open.
#[test]
fn an_open_question_covers_panels_with_its_answer() {
    use loadscope_lessons::Pane;

    for number in 1..=loadscope_lessons::LESSONS as u32 {
        let mut state = lesson(number);
        while *phase(&state) != Phase::Finished {
            if state.learn.question().is_some() {
                let parts = state.learn.parts().to_vec();
                for (action, pane) in [
                    (Action::ShowSampling, Pane::Sampling),
                    (Action::ToggleVariables, Pane::Variables),
                ] {
                    let is_outlined = parts.iter().any(|part| part.pane() == pane);
                    assert_eq!(
                        refused(&state, action).is_none(),
                        is_outlined,
                        "lesson {number}"
                    );
                }
                // The end of the axis is a round number, so it does not reveal the answer either.
                let whole = state.whole();
                let air = (whole.end - whole.start).0 / 62;
                let length = (whole.end - whole.start).0 - 2 * air;
                let first = length.to_string().trim_end_matches('0').parse::<u32>();
                assert!(state.hides_answer(), "lesson {number}");
                assert!(whole.end > state.session.run.whole().end());
                let is_round = first.is_ok_and(|first| [1, 2, 5].contains(&first));
                assert!(is_round, "lesson {number}: {length} ns");
            }
            let action = match playing(&state).play.can_advance() {
                true => Action::GoOn,
                false => Action::SkipStep,
            };
            ask(&mut state, action);
        }
    }
}
