//! Tests that play the lessons with right answers, with wrong answers, and as lectures.

use loadscope_lessons::{
    Answer, BuiltInPrograms, Changes, Kind, Language, Moment, Phase, Play, Progress, QueryContext,
    Question, Target, Task, TrialResult, Unanswerable, simulated,
};
use loadscope_trace::{Run, RunOptions};

use crate::lessons::lessons;

fn run_of(options: &RunOptions) -> Run {
    simulated(options).expect("sound options")
}

fn right(question: &Question, run: &Run, language: Language) -> Answer {
    let about = QueryContext::at(run, question.at, &BuiltInPrograms).expect("the moment is there");
    let truth = question.truth(about).expect("it has an answer");
    question
        .right_answer(&truth, language)
        .expect("it can be given")
}

/// Returns a wrong answer of the right kind.
fn wrong(question: &Question, right: &Answer) -> Answer {
    match (right, &question.kind) {
        (Answer::Number(number), _) => Answer::Number(number + 1000.0),
        (Answer::Choice(at), Kind::Choice(all)) => Answer::Choice((at + 1) % all.len()),
        (Answer::Order(order), _) => Answer::Order(order.iter().rev().copied().collect()),
        _ => Answer::Click(Target::Part(loadscope_lessons::Part::Messages)),
    }
}

/// Answers the open question of a step.
fn answer(play: &mut Play, run: &Run, is_right: bool) {
    let step = play.step().clone();
    let Task::Predict { question, .. } = &step.task else {
        return;
    };
    assert!(!play.can_advance());
    let language = play.lesson().language;
    let right = right(question, run, language);
    let given = if is_right {
        right
    } else {
        wrong(question, &right)
    };
    let asked_at = play.place(run);
    let judged = play
        .answer(run, &BuiltInPrograms, &given)
        .expect("it is judged");
    assert_eq!(judged.is_right, is_right, "{}: {given:?}", question.ask);
    assert!(!judged.text.is_empty());
    assert!(asked_at.is_some() && play.place(run).is_some() && play.can_advance());
    assert_eq!(
        play.answer(run, &BuiltInPrograms, &given),
        Err(Unanswerable::NotOpen)
    );
}

/// Reaches the goal of a step with its solution, after this number of failures.
fn reach(play: &mut Play, start: &Run, failures: u32) {
    let Task::Try(trial) = play.step().task.clone() else {
        return;
    };
    for failed in 1..=failures {
        assert_eq!(
            play.check_trial(start, &BuiltInPrograms),
            TrialResult::NotYet
        );
        assert_eq!(play.hint().is_some(), failed >= 2, "after {failed}");
        assert_eq!(play.solution().is_some(), failed >= 4, "after {failed}");
    }
    assert!(!play.can_advance());
    let solved = run_of(&trial.solution.apply(play.options()).expect("sound"));
    assert_eq!(
        play.check_trial(&solved, &BuiltInPrograms),
        TrialResult::Reached
    );
    assert_eq!(
        play.check_trial(start, &BuiltInPrograms),
        TrialResult::NotYet
    );
    assert_eq!(
        play.phase(),
        &Phase::Reached,
        "what was reached stays reached"
    );
}

#[test]
fn lessons_finish_with_right_and_with_wrong_answers() {
    for language in Language::ALL {
        for lesson in lessons(language) {
            for is_right in [true, false] {
                let mut play = Play::of(&lesson);
                let questions = lesson
                    .steps()
                    .iter()
                    .filter(|step| step.task.name() == "predict")
                    .count() as u32;
                for at in 0..lesson.steps().len() {
                    assert_eq!(play.position(), (at, lesson.steps().len()));
                    let run = run_of(play.options());
                    assert!(
                        play.place(&run).is_some(),
                        "lesson {} step {at}",
                        lesson.number
                    );
                    answer(&mut play, &run, is_right);
                    reach(&mut play, &run, if is_right { 0 } else { 4 });
                    assert!(play.can_advance());
                    play.forward();
                }
                assert_eq!(play.phase(), &Phase::Finished);
                let progress = play.progress();
                assert!(progress.done);
                let expected = if is_right {
                    (questions, 0)
                } else {
                    (0, questions)
                };
                assert_eq!((progress.right, progress.wrong), expected);
            }
        }
    }
}

#[test]
fn a_lecture_goes_forward_through_all_steps() {
    for lesson in lessons(Language::En) {
        let mut play = Play::of(&lesson);
        play.set_lecture(true);
        for _ in lesson.steps() {
            assert!(play.can_advance() && play.phase() == &Phase::Reading);
            play.forward();
        }
        assert_eq!(play.phase(), &Phase::Finished);
        assert_eq!(play.progress().wrong, 0);
    }
}

#[test]
fn a_try_that_changes_the_workload_does_not_count() {
    let lesson = &lessons(Language::En)[3];
    let mut play = Play::from(lesson, lesson.steps().len() - 1);
    let faster = Changes::read("step_ms=1000 num_workers=2").expect("sound");
    let run = run_of(&faster.apply(play.options()).expect("sound"));
    assert_eq!(
        play.check_trial(&run, &BuiltInPrograms),
        TrialResult::Changed(vec!["step_ms".to_owned()])
    );
    assert_eq!(play.phase(), &Phase::Trying(0));
}

#[test]
fn a_lesson_keeps_its_step_when_the_language_changes() {
    let (en, zh) = (&lessons(Language::En)[6], &lessons(Language::Zh)[6]);
    let mut play = Play::from(en, 3);
    play.replace_lesson(zh);
    assert_eq!(play.position().0, 3);
    assert_eq!(play.lesson().language, Language::Zh);
    play.back();
    assert_eq!(play.position().0, 2);
    assert_eq!(Play::from(en, 99).position().0, en.steps().len() - 1);
}

#[test]
fn progress_keeps_the_best_results_and_round_trips() {
    let lesson = &lessons(Language::En)[0];
    let mut play = Play::of(lesson);
    let mut progress = Progress::default();
    play.set_lecture(true);
    lesson.steps().iter().for_each(|_| play.forward());
    progress.keep(lesson.number, play.progress().clone());
    progress.keep(lesson.number, Play::of(lesson).progress().clone());
    assert_eq!(
        progress.lessons_done(),
        1,
        "begun again, it was finished once all the same"
    );
    progress.keep_case(7, 1, 40);
    progress.keep_case(7, 1, 90);
    progress.keep_case(7, 1, 10);
    assert_eq!(progress.cases, [(7, 1, 90)]);
    (0..30).for_each(|seed| progress.keep_quiz(seed, 18, 20));
    assert_eq!(progress.quizzes.len(), 20);
    let text = serde_json::to_string(&progress).expect("it is a value");
    assert_eq!(
        serde_json::from_str::<Progress>(&text).expect("it is read"),
        progress
    );
    assert_eq!(
        serde_json::from_str::<Progress>("{}").expect("what is missing is empty"),
        Progress::default()
    );
}

#[test]
fn a_number_is_right_within_its_tolerance() {
    let lesson = &lessons(Language::En)[3];
    let Task::Predict { question, .. } = &lesson.steps()[1].task else {
        panic!("the second step asks for a number");
    };
    let run = run_of(&lesson.scenes()[0].options);
    let about = QueryContext::at(&run, Moment::End, &BuiltInPrograms).expect("it has an end");
    for (number, expected) in [
        (60.0, true),
        (64.9, true),
        (55.1, true),
        (65.2, false),
        (0.0, false),
    ] {
        let judged = question
            .judge(about, &Answer::Number(number), Language::En)
            .expect("it is judged");
        assert_eq!(judged.is_right, expected, "{number}");
    }
    let other = question.judge(about, &Answer::Choice(0), Language::En);
    assert_eq!(other, Err(Unanswerable::OtherKind));
}
