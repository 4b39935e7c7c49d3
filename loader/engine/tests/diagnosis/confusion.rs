//! Tests that the verdict names the cause, with a table of the verdicts.

use super::experiment::{Score, Set, pairs, table};

/// A set of seeds to which no threshold was fitted.
const SET: u64 = 7;

#[test]
fn verdicts_name_the_cause_and_healthy_runs_have_none() {
    let set = Set::run(SET);
    let both = || set.alone.iter().chain(&set.paired);
    let wrong = both().chain(&set.healthy).filter(|t| !t.is_right);
    let wrong: Vec<String> = wrong
        .map(|t| format!("{:?}: {}", t.put, t.remark))
        .collect();
    let wrong = wrong.join("\n");
    println!("{}\n{wrong}", table(both()));
    assert!(Score::of(both()).of >= 60 && set.healthy.len() >= 20);
    for trials in [&set.alone, &set.paired] {
        let score = Score::of(trials);
        assert!(score.share() >= 0.95, "{score}\n{wrong}");
    }
    assert_eq!(Score::of(&set.healthy).share(), 1.0, "{wrong}");
}

#[test]
fn every_cause_is_paired_with_three_others() {
    let pairs = pairs();
    assert!(pairs.len() >= 60, "{}", pairs.len());
    for cause in super::scenario::Cause::ALL {
        let partners = pairs.iter().filter(|(a, b)| [*a, *b].contains(&cause));
        assert!(partners.count() >= 3, "{cause:?}");
    }
}
