//! Lecture mode, a preview of a lesson, and the run of a what-if.

use super::*;

#[test]
fn a_lecture_hides_the_questions_and_shows_the_answers() {
    let mut state = lesson(7);
    ask(&mut state, Action::ToggleLecture);
    assert!(state.prefs.learned.lecture && playing(&state).play.is_lecture());
    let steps = playing(&state).play.lesson().steps().to_vec();
    for (at, one) in steps.iter().enumerate() {
        assert_eq!(step(&state), at);
        assert_eq!(*phase(&state), Phase::Reading);
        assert!(state.learn.question().is_none() && !state.hides_future());
        assert_eq!(state.learn.parts(), one.parts_after_answer());
        if let Task::Predict { until, .. } = &one.task {
            let shown = stage(&state).until;
            let place = until.resolve(&state.session.run, &state.session.landmarks);
            assert_eq!(shown, place, "the answer is shown at once");
        }
        ask(&mut state, Action::GoOn);
    }
    assert_eq!(*phase(&state), Phase::Finished);
    let kept = &state.prefs.learned.progress.lessons[&7];
    assert_eq!((kept.right, kept.wrong, kept.done), (0, 0, false));
    // Outside lecture mode the step asks again.
    let mut state = lesson(7);
    ask(&mut state, Action::ToggleLecture);
    ask(&mut state, Action::GoOn);
    ask(&mut state, Action::ToggleLecture);
    assert_eq!((step(&state), phase(&state)), (1, &Phase::Asking));
}

#[test]
fn a_lecture_leaves_the_learning_progress_unchanged() {
    let mut state = lesson(7);
    ask(&mut state, Action::GoOn);
    let given = right(&state);
    ask(&mut state, LearnCommand::Answer(given));
    let before = state.prefs.learned.progress.clone();
    ask(&mut state, Action::ToggleLecture);
    while *phase(&state) != Phase::Finished {
        ask(&mut state, Action::GoOn);
    }
    assert_eq!(state.prefs.learned.progress, before);
}

#[test]
fn a_lesson_preview_reloads_and_stores_no_progress() {
    let mut state = still();
    let path = std::path::PathBuf::from("x.en.toml");
    let course = loadscope_lessons::Course::built_in(Language::En).expect("sound lessons");
    let file = course.lessons()[6].clone();
    let preview = |read| LearnCommand::Preview(path.clone(), read);
    ask(&mut state, preview(Err("line 3".to_owned())));
    assert!(state.learn.playing().is_none() && state.session.notices.len() == 1);
    ask(&mut state, preview(Ok(Box::new(file.clone()))));
    ask(&mut state, Action::GoOn);
    ask(&mut state, preview(Err("line 4".to_owned())));
    assert_eq!(playing(&state).mistake.as_deref(), Some("line 4"));
    ask(&mut state, preview(Ok(Box::new(file))));
    assert_eq!(playing(&state).mistake, None);
    assert_eq!((step(&state), phase(&state)), (1, &Phase::Asking));
    let given = right(&state);
    ask(&mut state, LearnCommand::Answer(given));
    assert!(state.prefs.learned.progress.lessons.is_empty());
}

#[test]
fn a_what_if_answer_shows_the_changed_run() {
    let mut seen = 0;
    for number in 1..=loadscope_lessons::LESSONS as u32 {
        let mut state = lesson(number);
        while *phase(&state) != Phase::Finished {
            let changed = state.learn.question().and_then(|question| {
                let changes = question.query.changes()?;
                changes.apply(playing(&state).play.options()).ok()
            });
            if state.learn.question().is_some() {
                let given = right(&state);
                ask(&mut state, LearnCommand::Answer(given));
            }
            if let Some(changed) = changed {
                let shown = simulated(&changed).expect("sound options");
                let name = format!("lesson {number}, step {}", step(&state));
                assert_eq!(state.session.run.info.options, shown.info.options, "{name}");
                assert_eq!(
                    state.prefs.options.num_workers, changed.num_workers,
                    "{name}"
                );
                assert!(!state.hides_future(), "{name}");
                seen += 1;
            }
            let action = match playing(&state).play.can_advance() {
                true => Action::GoOn,
                false => Action::SkipStep,
            };
            ask(&mut state, action);
        }
    }
    assert!(seen >= 8, "{seen}");
}
