//! Tests of the quiz: the pool is large, every question has an answer, and both languages have the same questions.

use std::collections::BTreeSet;

use loadscope_lessons::check::check_quiz;
use loadscope_lessons::{Answer, BuiltInPrograms, Course, Kind, Language, QUIZ_LENGTH, Quiz};

fn quiz(language: Language) -> Quiz {
    match Quiz::built_in(language) {
        Ok(quiz) => quiz,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn only_the_true_answer_of_a_question_is_right() {
    for language in Language::ALL {
        for entry in quiz(language).entries {
            let place = format!("quiz.{}.toml:{}", language.code(), entry.line);
            let run = entry.run().expect("sound options");
            let about = entry
                .about(&run, &BuiltInPrograms)
                .expect("the moment is there");
            let truth = entry
                .question
                .truth(about)
                .unwrap_or_else(|| panic!("{place}: no answer"));
            let right = entry.question.right_answer(&truth, language);
            let right = right.unwrap_or_else(|| panic!("{place}: '{}' is no choice", truth.key()));
            let judge = |answer: &Answer| {
                entry
                    .judge(&BuiltInPrograms, answer, language)
                    .expect("it is judged")
                    .is_right
            };
            assert!(judge(&right), "{place}");
            for wrong in wrong(&entry.question.kind, &right) {
                assert!(!judge(&wrong), "{place}: {wrong:?} counts as right, too");
            }
        }
    }
}

fn wrong(kind: &Kind, right: &Answer) -> Vec<Answer> {
    match (kind, right) {
        (Kind::Choice(choices), Answer::Choice(right)) => {
            let others = (0..choices.len()).filter(|at| at != right);
            others.map(Answer::Choice).collect()
        }
        (Kind::Number { tolerance, .. }, Answer::Number(right)) => {
            let off = tolerance + 1.0;
            vec![Answer::Number(right + off), Answer::Number(right - off)]
        }
        _ => Vec::new(),
    }
}

/// Each question names the step that teaches its answer.
#[test]
fn every_question_is_taught_by_a_step_of_a_lesson() {
    for language in Language::ALL {
        let course = Course::built_in(language).expect("the lessons are sound");
        let name = format!("quiz.{}.toml", language.code());
        let quiz = quiz(language);
        let checked = check_quiz(&name, &quiz, course.lessons(), &BuiltInPrograms);
        let mistakes: Vec<String> = checked.mistakes.iter().map(ToString::to_string).collect();
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
        assert_eq!(checked.facts.len(), quiz.entries.len());
    }
}

/// Mistakes of questions that no lesson teaches.
#[test]
fn a_question_that_no_lesson_teaches_is_reported() {
    let course = Course::built_in(Language::En).expect("the lessons are sound");
    let question = |lesson: u32, step: u32, query: &str, ask: &str| {
        let text = format!(
            "[[question]]\nlesson = {lesson}\nstep = {step}\nrun = {{ dataset = \"synthetic:len=8\" }}\nquery = \"{query}\"\nat = \"end\"\nanswer = \"number\"\nask = \"{ask}\"\nwhy = \"w\"\n"
        );
        let quiz = Quiz::read("quiz.en.toml", &text).expect("it can be read");
        let checked = check_quiz("quiz.en.toml", &quiz, course.lessons(), &BuiltInPrograms);
        checked.mistakes.first().map(ToString::to_string)
    };
    let line = "number in line 1 of 05_window";
    for (lesson, step, query, ask, says) in [
        (15, 1, "batches", "a", "no lesson 15"),
        (1, 0, "batches", "a", "no step 0"),
        (1, 99, "batches", "a", "no step 99"),
        (1, 1, line, "a", "does not show the program 05_window"),
        (
            1,
            1,
            "batches",
            "`prefetch_factor=4`?",
            "mentions prefetch_factor",
        ),
    ] {
        let mistake = question(lesson, step, query, ask).expect("it is found");
        assert!(mistake.contains(says), "{mistake}");
    }
    assert_eq!(
        question(5, 6, line, "`prefetch_factor=4`, `_send_idx`?"),
        None
    );
}

#[test]
fn the_questions_cover_all_lessons() {
    let quiz = quiz(Language::En);
    assert!(quiz.entries.len() >= 60, "{}", quiz.entries.len());
    let lessons: BTreeSet<u32> = quiz.entries.iter().map(|entry| entry.lesson).collect();
    assert_eq!(lessons, (1..=14).collect());
}

#[test]
fn both_languages_ask_the_same() {
    let (en, zh) = (quiz(Language::En), quiz(Language::Zh));
    assert_eq!(en.entries.len(), zh.entries.len());
    for (en, zh) in en.entries.iter().zip(&zh.entries) {
        assert_eq!(
            (en.lesson, en.step, &en.options),
            (zh.lesson, zh.step, &zh.options),
            "line {}",
            en.line
        );
        assert_eq!(
            (&en.question.query, en.question.at),
            (&zh.question.query, zh.question.at)
        );
        assert_ne!(en.question.ask, zh.question.ask);
    }
}

#[test]
fn a_seed_draws_the_same_questions_in_every_language() {
    let (en, zh) = (quiz(Language::En), quiz(Language::Zh));
    for seed in 0..50 {
        let drawn = en.draw(seed);
        assert_eq!(drawn, zh.draw(seed));
        let different: BTreeSet<usize> = drawn.iter().copied().collect();
        assert_eq!(different.len(), QUIZ_LENGTH, "seed {seed}");
        assert!(drawn.iter().all(|at| *at < en.entries.len()));
    }
    assert_ne!(en.draw(1), en.draw(2));
}
