//! Tests of the detective cases: twelve per seed, equal on all platforms. The diagnosis finds the hidden
//! cause, and a remedy helps.

use std::collections::HashSet;

use loadscope_lessons::Language;
use loadscope_lessons::cases::{CASES, Case, CaseError, Culprit, Remedy};

/// Number of seeds whose simulated cases are tested. The recordings are tested for one seed.
const SEEDS: u64 = 12;
const SIMULATED: u32 = 8;

fn case(seed: u64, number: u32) -> Case {
    match Case::of(seed, number) {
        Ok(case) => case,
        Err(error) => panic!("seed {seed}: {error}"),
    }
}

fn last(seed: u64) -> u32 {
    if seed == 0 { CASES } else { SIMULATED }
}

#[test]
fn every_case_can_be_solved_and_its_remedies_are_offered() {
    let mut hidden = HashSet::new();
    for seed in 0..SEEDS {
        for number in 1..=last(seed) {
            let case = case(seed, number);
            let nothing = case.solve(&[], &[Remedy::Nothing]);
            let name = format!("seed {seed}, case {number}, {:?}", nothing.causes);
            assert_eq!(nothing.causes.len(), case.count(), "{name}");
            assert!(
                nothing.best.iter().all(|best| case.remedies.contains(best)),
                "{name}"
            );
            assert!(
                case.remedies.contains(&Remedy::Nothing) && case.remedies.len() >= 4,
                "{name}: {:?}",
                case.remedies
            );
            let best = nothing.best.clone();
            let solved = case.solve(&nothing.causes, &best);
            assert!(
                solved.is_named && solved.score == 100,
                "{name}: {} with {best:?}",
                solved.score
            );
            let is_fine = nothing.causes == [Culprit::TrainingBound];
            assert_eq!(nothing.score, if is_fine { 100 } else { 0 }, "{name}");
            assert!(!nothing.is_named);
            hidden.extend(nothing.causes);
        }
    }
    assert_eq!(hidden, HashSet::from(Culprit::ALL));
}

#[test]
fn the_diagnosis_names_the_hidden_cause_first() {
    for seed in 0..SEEDS {
        for number in 1..=last(seed) {
            let case = case(seed, number);
            let found = Culprit::of(&case.run);
            let hidden = case.solve(&[], &[]).causes;
            let name = format!("seed {seed}, case {number}");
            match case.program {
                // A real program also has other, smaller problems.
                Some(program) => assert_eq!(found.first(), hidden.first(), "{name}, {program}"),
                None => assert_eq!(
                    found.iter().collect::<HashSet<_>>(),
                    hidden.iter().collect::<HashSet<_>>(),
                    "{name}"
                ),
            }
        }
    }
}

#[test]
fn equal_seeds_give_equal_cases_and_other_seeds_differ() {
    for number in 1..=CASES {
        let (one, again) = (case(7, number), case(7, number));
        assert_eq!(one.run.info, again.run.info);
        assert_eq!(one.remedies, again.remedies);
    }
    let differ =
        (1..=CASES).filter(|n| case(7, *n).run.info.options != case(8, *n).run.info.options);
    assert!(differ.count() >= 8);
    assert!(matches!(Case::of(7, 0), Err(CaseError::Number(0))));
    assert!(matches!(Case::of(7, CASES + 1), Err(CaseError::Number(_))));
}

#[test]
fn cases_9_to_12_are_recordings_and_6_to_8_have_two_causes() {
    for number in 1..=CASES {
        let case = case(3, number);
        assert_eq!(case.program.is_some(), number > 8, "{number}");
        assert_eq!(
            case.count(),
            if (6..=8).contains(&number) { 2 } else { 1 },
            "{number}"
        );
        if case.program.is_some() {
            assert!(case.run.info.origin.label().starts_with("PyTorch 2.13"));
            assert!(
                case.run.info.host.is_empty(),
                "the recording names its host"
            );
        }
    }
}

#[test]
fn a_wrong_remedy_scores_less_than_the_right_one() {
    let mut compared = 0;
    for number in 9..=CASES {
        let case = case(1, number);
        let best = case.solve(&[], &[]).best;
        for remedy in case.remedies.iter().filter(|remedy| !best.contains(remedy)) {
            let score = case.solve(&[], &[*remedy]).score;
            let right = case.solve(&[], &best).score;
            assert!(
                score <= right,
                "case {number}: {remedy:?} {score} against {best:?} {right}"
            );
            compared += 1;
        }
    }
    assert!(compared > 8);
}

#[test]
fn causes_and_remedies_have_names_in_both_languages() {
    for culprit in Culprit::ALL {
        assert_ne!(culprit.label(Language::En), culprit.label(Language::Zh));
    }
    assert_eq!(Remedy::Workers(4).label(Language::Zh), "num_workers=4");
}

#[test]
fn every_cause_is_explained_in_two_sentences_in_both_languages() {
    for culprit in Culprit::ALL {
        let en = culprit.explanation(Language::En);
        let sentences = en.split_inclusive(". ").count();
        assert!(sentences == 2 && en.ends_with('.'), "{culprit:?}: {en}");
        let zh = culprit.explanation(Language::Zh);
        let sentences = zh.matches('。').count();
        assert!(sentences == 2 && zh.ends_with('。'), "{culprit:?}: {zh}");
    }
}

/// The name of a recorded program reveals the cause, so the run must not contain it.
#[test]
fn a_recorded_case_does_not_name_its_program() {
    for seed in 0..SEEDS {
        for number in SIMULATED + 1..=CASES {
            let case = case(seed, number);
            let program = case.program.expect("it is a recording");
            let name = program.trim_end_matches(".py");
            let info = serde_json::to_string(&case.run.info).expect("it is written");
            assert!(!info.contains(name), "{name}: {info}");
            for (_, message) in case.run.messages() {
                assert!(!message.text.contains(name), "{name}: {}", message.text);
            }
        }
    }
}
