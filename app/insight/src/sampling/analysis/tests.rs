//! Tests with real orders of the samplers.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use loadscope_plan::LoaderError;
use loadscope_plan::dataset::{Catalog, DatasetSpec, Entry, SyntheticCatalog};
use loadscope_trace::RandomStates;

use super::*;
use crate::sampling::balance::Reference;

mod weighted;

fn options(dataset: &str) -> RunOptions {
    RunOptions {
        dataset: dataset.to_owned(),
        batch_size: Some(32),
        seed: Some(7),
        ..RunOptions::default()
    }
}

fn question(options: RunOptions, epoch: u32) -> Question {
    Question {
        options,
        epoch,
        is_complete: true,
        is_known: true,
        is_of_engine: true,
        datasets: Datasets(&Labelled),
        ..Question::default()
    }
}

fn ask(question: &Question) -> OrderAnalysis {
    let answers = answer(question, &Progress::default()).expect("it is wanted");
    answers.expect("the engine does not refuse")
}

fn says(answers: &OrderAnalysis, part: &str) -> bool {
    answers.findings.iter().any(|f| f.says.contains(part))
}

#[test]
fn a_shuffled_epoch_has_no_findings() {
    let shuffled = RunOptions {
        shuffle: true,
        num_workers: 2,
        ..options("digits")
    };
    let answers = ask(&question(shuffled, 1));
    assert_eq!(answers.order.epoch, 1);
    assert_eq!(answers.coverage.times, [0, 1797, 0, 0, 0, 0]);
    assert!((answers.shuffle.as_ref().unwrap().quality() - 1.0).abs() < 0.06);
    let balance = answers.balance.as_ref().unwrap();
    assert_eq!(balance.against, Reference::Dataset);
    assert_eq!(balance.test.unwrap().statistic, 0.0);
    assert_eq!(balance.classes[0].name, "0");
    assert_eq!(answers.findings, []);
    assert!(!answers.is_unseeded);
}

#[test]
fn the_predicted_order_is_compared_with_the_recorded_one() {
    let o = RunOptions {
        shuffle: true,
        ..options("synthetic:len=500")
    };
    let before = ask(&question(o.clone(), 0));
    let mut next = question(o, 1);
    next.digests = vec![Digest::of(&before.order)];
    assert_eq!(ask(&next).agrees, Some(true));
    next.options.seed = Some(8);
    assert_eq!(ask(&next).agrees, Some(false));
    next.options.seed = None;
    assert!(ask(&next).is_unseeded);
}

#[test]
fn a_missing_set_epoch_is_reported() {
    let mut o = RunOptions {
        sampler: "distributed".to_owned(),
        world_size: 4,
        set_epoch: false,
        num_workers: 2,
        ..options("synthetic:len=1003")
    };
    let answers = ask(&question(o.clone(), 1));
    assert!(says(
        &answers,
        "Epochs 0 and 1 have the same order of 251 indices"
    ));
    assert!(says(
        &answers,
        "1 index is repeated so that 4 ranks get 251 each"
    ));
    assert!(says(
        &answers,
        "The workers of ranks 0, 1, 2 and 3 start with the same seeds"
    ));
    let ranks = answers.ranks.as_ref().unwrap();
    assert_eq!((ranks.padding, ranks.left_out), (1, 0));
    o.set_epoch = true;
    o.sampler_drop_last = true;
    let answers = ask(&question(o, 1));
    assert!(!says(&answers, "the same order"));
    assert!(says(
        &answers,
        "3 samples are dropped so that 4 ranks get 250 each"
    ));
    assert_eq!(answers.ranks.unwrap().left_out, 3);
}

/// Regression test: 874 repeated draws were called padding, and the indices that one rank misses were reported for the epoch.
#[test]
fn repeated_draws_of_several_ranks_are_no_padding() {
    let options = |world_size| RunOptions {
        sampler: "weighted:balanced".to_owned(),
        replacement: true,
        world_size,
        num_workers: 2,
        ..options("digits")
    };
    let of = |world_size| Question {
        len: Some(1797),
        ..question(options(world_size), 0)
    };
    let answers = ask(&of(2));
    assert!(says(
        &answers,
        "are not drawn for rank 0 of 2 in this epoch, because"
    ));
    let ranks = answers.ranks.as_ref().expect("two ranks");
    // 1,797 draws for two ranks.
    let lens: Vec<u64> = ranks.shares.iter().map(|s| s.len).collect();
    assert_eq!((lens, ranks.padding), (vec![899, 899], 1));
    assert!(
        ranks.drawn_again.is_some_and(|again| again > 300),
        "{ranks:?}"
    );
    assert!(says(&ask(&of(1)), "are not drawn in this epoch, because"));
}

#[test]
fn a_stream_that_every_worker_yields_is_found() {
    let mut o = RunOptions {
        num_workers: 3,
        batch_size: Some(4),
        ..options("stream:len=20")
    };
    let answers = ask(&question(o.clone(), 0));
    assert!(says(
        &answers,
        "3 workers yield 60 samples, 20 of them distinct: 20 are yielded by several"
    ));
    o.dataset = "stream:len=20,shard=true".to_owned();
    assert_eq!(ask(&question(o, 0)).findings, []);
}

#[test]
fn dropped_samples_and_sorted_classes_are_reported() {
    let o = RunOptions {
        drop_last: true,
        ..options("digits")
    };
    let mut asked = question(o, 0);
    asked.len = Some(1797);
    let answers = ask(&asked);
    assert!(says(&answers, "drop_last=True drops 5 of 1,797 samples"));
    assert_eq!(answers.coverage.missing, [(1792, 1797)]);
    assert_eq!(answers.shuffle.as_ref().unwrap().quality(), 0.0);

    let mut asked = question(options("synthetic:len=400"), 0);
    asked.labels = (0..400).map(|i| (i, (i / 100) as u32)).collect();
    let answers = ask(&asked);
    assert!(says(&answers, "A batch has 1."), "{:?}", answers.findings);
    assert!(answers.findings[0].remedy.contains("shuffle=True"));
}

#[test]
fn replacement_leaves_about_a_third_out() {
    let o = RunOptions {
        sampler: "random".to_owned(),
        replacement: true,
        ..options("synthetic:len=10000")
    };
    let mut asked = question(o, 0);
    asked.len = Some(10_000);
    let answers = ask(&asked);
    let share = answers.coverage.missed() as f64 / 1e4;
    assert!((share - (-1f64).exp()).abs() < 0.02, "{share}");
    assert!(says(&answers, "because the sampler draws with replacement"));
    assert!((answers.shuffle.unwrap().quality() - 1.0).abs() < 0.05);
}

#[test]
fn classes_are_tested_against_the_weights() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("weights.txt");
    let weights: Vec<String> = (0..1797)
        .map(|i| if i % 3 == 0 { "2" } else { "1" }.to_owned())
        .collect();
    std::fs::write(&path, weights.join("\n")).expect("there is room");
    let o = RunOptions {
        sampler: format!("weighted:{}", path.display()),
        replacement: true,
        ..options("digits")
    };
    let answers = ask(&question(o, 0));
    let balance = answers.balance.unwrap();
    assert_eq!(balance.against, Reference::Weights);
    let test = balance.test.unwrap();
    assert!(test.degrees == 9 && test.p > 0.001, "{test:?}");
}

#[test]
fn seeds_that_collide_are_reported() {
    let o = RunOptions {
        num_workers: 2,
        ..options("synthetic:len=8")
    };
    let mut asked = question(o, 0);
    asked.recorded = Some(Arc::new(Order::default()));
    asked.is_complete = false;
    let seed = |epoch, worker, seed| WorkerSeed {
        epoch,
        worker,
        seed,
    };
    asked.seeds = vec![seed(0, 0, 5), seed(0, 1, 5)];
    assert!(says(
        &ask(&asked),
        "Workers 0 and 1 start with the same seed 5"
    ));
    asked.seeds = vec![seed(0, 0, 5), seed(0, 1, 6), seed(1, 0, 5)];
    assert!(says(&ask(&asked), "in epochs 0 and 1"));
    asked.seeds = vec![seed(0, 0, 5), seed(0, 1, 6), seed(1, 0, 6)];
    assert_eq!(ask(&asked).findings, []);
}

#[test]
fn workers_with_equal_numpy_or_python_state_are_named() {
    let o = RunOptions {
        num_workers: 2,
        ..options("synthetic:len=8")
    };
    let mut asked = question(o, 0);
    asked.recorded = Some(Arc::new(Order::default()));
    asked.is_complete = false;
    let of = |epoch, worker, numpy, python| WorkerGenerators {
        epoch,
        of: RandomStates {
            worker,
            os_id: None,
            numpy,
            python,
        },
    };
    asked.generators = vec![of(0, 0, Some(5), Some(1)), of(0, 1, Some(5), Some(2))];
    let answers = ask(&asked);
    assert!(says(
        &answers,
        "Workers 0 and 1 draw the same random numbers from numpy.random"
    ));
    assert_eq!(answers.findings.len(), 1);
    asked.generators = vec![of(0, 0, None, Some(1)), of(0, 1, None, Some(1))];
    assert!(says(&ask(&asked), "from Python's random"));
    // Workers without NumPy, with another state or of another epoch cause no finding.
    asked.generators = vec![
        of(0, 0, None, Some(1)),
        of(0, 1, None, Some(2)),
        of(1, 1, None, Some(1)),
    ];
    assert_eq!(ask(&asked).findings, []);
}

#[test]
fn consecutive_passes_are_not_repeats() {
    let o = RunOptions {
        shuffle: true,
        ..options("synthetic:len=5")
    };
    let ask_of = |indices: &[u64]| {
        let mut asked = question(o.clone(), 0);
        asked.len = Some(5);
        asked.recorded = Some(Arc::new(Order {
            indices: indices.to_vec(),
            ..Order::default()
        }));
        ask(&asked)
    };
    // Index 0 is last in the first pass and first in the second.
    let twice = ask_of(&[4, 2, 1, 3, 0, 0, 1, 2, 3, 4, 2]);
    assert!(says(&twice, "goes through all 5 samples 3 times"));
    assert!(
        twice.findings.iter().all(|f| !f.is_problem),
        "{:?}",
        twice.findings
    );
    let again = ask_of(&[4, 2, 1, 3, 0, 0, 1, 2, 3, 0, 4]);
    assert!(says(&again, "more than once"));
    assert!(again.findings.iter().any(|f| f.is_problem));
}

/// By chance, a short order can look poorly shuffled.
#[test]
fn the_shuffle_of_fewer_than_100_indices_is_not_judged() {
    let sorted = |len: u64| {
        let indices: Vec<u64> = (0..len).collect();
        let mut order = Order::default();
        order.push(&indices, None, None);
        let shuffled = RunOptions {
            shuffle: true,
            ..options("synthetic:len=100")
        };
        let mut asked = question(shuffled, 0);
        asked.recorded = Some(Arc::new(order));
        asked.is_complete = false;
        ask(&asked)
    };
    assert!(!says(&sorted(99), "shuffle quality"));
    assert!(says(&sorted(100), "shuffle quality"));
}

#[test]
fn a_missing_folder_is_refused_by_name() {
    let asked = question(options("folder:/no/such/folder"), 0);
    let refused = answer(&asked, &Progress::default()).unwrap().unwrap_err();
    assert!(refused.contains("/no/such/folder"), "{refused}");
}

/// Digits dataset in which sample `i` has class `i % 10`.
struct Labelled;

impl Catalog for Labelled {
    fn look_up(&self, spec: &DatasetSpec, image_size: u32) -> Result<Entry, LoaderError> {
        let mut entry = SyntheticCatalog.look_up(spec, image_size)?;
        if matches!(spec, DatasetSpec::Digits) {
            let len = entry.len.unwrap_or_default() as u32;
            entry.labels = Some((0..len).map(|i| i % 10).collect());
        }
        Ok(entry)
    }
}

#[test]
fn a_class_drawn_too_often_is_reported() {
    let threes = (0..1797).filter(|i| i % 10 == 3 || i % 4 == 0);
    let threes: Vec<u64> = threes.collect();
    let mut order = Order::default();
    order.push(&threes, None, None);
    let mut asked = question(options("digits"), 0);
    asked.recorded = Some(Arc::new(order));
    asked.is_complete = false;
    let answers = ask(&asked);
    assert!(
        says(&answers, "Class 3 was drawn 180 times"),
        "{:?}",
        answers.findings
    );
    assert!(says(&answers, "p < 0.001"));
}

#[test]
fn duplicated_samples_of_a_recorded_stream_are_reported() {
    let asked = Question {
        recorded: Some(Arc::new(Order::default())),
        len: Some(24),
        yielded: Some((96, 4)),
        is_complete: true,
        ..Question::default()
    };
    let answers = ask(&asked);
    assert!(says(
        &answers,
        "4 workers yielded 96 samples from a dataset of 24: each sample 4.0 times"
    ));
    let shared = Question {
        yielded: Some((24, 4)),
        ..asked
    };
    assert_eq!(ask(&shared).findings, []);
}
