//! The quiz: its pool is large, every question has an answer, and both languages ask the same.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use std::collections::BTreeSet;

use loadscope_lessons::{Answer, BuiltInCodes, DRAWN, Kind, Language, Quiz};

fn quiz(language: Language) -> Quiz {
    match Quiz::built_in(language) {
        Ok(quiz) => quiz,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_question_is_answered_right_by_its_truth_and_wrong_by_others() {
    for language in Language::ALL {
        for entry in quiz(language).entries {
            let place = format!("quiz.{}.toml:{}", language.code(), entry.line);
            let run = entry.run().expect("sound options");
            let about = entry
                .about(&run, &BuiltInCodes)
                .expect("the moment is there");
            let truth = entry
                .question
                .truth(about)
                .unwrap_or_else(|| panic!("{place}: no answer"));
            let right = entry.question.right_answer(&truth, language);
            let right = right.unwrap_or_else(|| panic!("{place}: '{}' is no choice", truth.key()));
            let judge = |answer: &Answer| {
                entry
                    .judge(&BuiltInCodes, answer, language)
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

#[test]
fn the_pool_is_about_all_lessons() {
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
            (en.lesson, &en.options),
            (zh.lesson, &zh.options),
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
        assert_eq!(different.len(), DRAWN, "seed {seed}");
        assert!(drawn.iter().all(|at| *at < en.entries.len()));
    }
    assert_ne!(en.draw(1), en.draw(2));
}
