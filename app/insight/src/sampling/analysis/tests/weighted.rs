//! Tests of weighted samplers and of the size of their dataset.

use super::*;

/// Regression test: the largest drawn index counted as the last index, which gave 1,796 of 1,797 samples.
#[test]
fn the_size_of_a_dataset_does_not_depend_on_its_sampler() {
    for sampler in [
        "",
        "random",
        "weighted:balanced",
        "group:label",
        "equi:labels",
        "distributed",
    ] {
        for (seed, num_samples) in [(1, None), (2, Some(3)), (3, Some(3))] {
            let is_weighted = sampler.starts_with("weighted");
            let o = RunOptions {
                sampler: sampler.to_owned(),
                replacement: is_weighted,
                num_samples: num_samples.filter(|_| is_weighted || sampler == "random"),
                world_size: if sampler == "distributed" { 2 } else { 1 },
                seed: Some(seed),
                ..options("digits")
            };
            let asked = question(o, 0);
            assert_eq!(asked.len, None, "as for the next run");
            match answer(&asked, &Progress::default()).expect("it is wanted") {
                Ok(answers) => {
                    assert_eq!(answers.coverage.bound, 1797, "{sampler} {num_samples:?}");
                }
                Err(why) => panic!("{sampler}: {why}"),
            }
        }
    }
}

/// Without replacement, a weighted sampler with as many draws as samples visits each once, so its weights have no effect.
#[test]
fn missing_indices_of_a_weighted_sampler_need_no_remedy() {
    let missing = |sampler: &str| {
        let o = RunOptions {
            sampler: sampler.to_owned(),
            replacement: true,
            ..options("digits")
        };
        let answers = ask(&question(o, 0));
        let mut findings = answers.findings.into_iter();
        findings.find(|f| f.id == loadscope_diagnose::FindingId::MissingIndices)
    };
    let found = missing("weighted:balanced").expect("a third is not drawn");
    assert!(!found.is_problem, "{found:?}");
    assert!(!found.remedy.contains("replacement=False"), "{found:?}");
    assert!(found.remedy.contains("expected"), "{found:?}");
    let found = missing("random").expect("a third is not drawn");
    assert!(found.remedy.contains("replacement=False"), "{found:?}");
}
