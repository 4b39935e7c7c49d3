use std::collections::{BTreeMap, HashSet};

use loadscope_trace::RunOptions;

use super::*;
use crate::order::{Order, Samples, order};

/// Returns 300 samples with three classes, one of them rare, 40 groups, and lengths from 1 to 97.
fn table() -> SampleTable {
    let all = 0..300u32;
    let class = |i: u32| if i.is_multiple_of(30) { 2 } else { i % 2 };
    SampleTable {
        classes: Some(all.clone().map(class).collect()),
        groups: Some(all.clone().map(|i| i * 7 % 40).collect()),
        lengths: Some(all.map(|i| u64::from(i * 31 % 97 + 1)).collect()),
        ..SampleTable::of_len(300)
    }
}

fn options(sampler: &str) -> RunOptions {
    RunOptions {
        sampler: sampler.to_owned(),
        batch_size: Some(16),
        seed: Some(3),
        epochs: 2,
        ..RunOptions::default()
    }
}

fn orders(options: &RunOptions, table: SampleTable) -> Result<Order, LoaderError> {
    order(options, &Samples::Known(table))
}

fn sentence(options: &RunOptions, table: SampleTable) -> String {
    orders(options, table).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn classes_are_drawn_equally_often() {
    let mut o = options("weighted:balanced");
    (o.replacement, o.num_samples) = (true, Some(9000));
    let order = orders(&o, table()).unwrap();
    let classes = table().classes.unwrap();
    let mut drawn: BTreeMap<u32, usize> = BTreeMap::new();
    for index in order.epochs.iter().flatten().flatten() {
        *drawn.entry(classes[*index as usize]).or_default() += 1;
    }
    assert_eq!(drawn.values().sum::<usize>(), 18_000);
    assert!(
        drawn.values().all(|n| (5_600..6_400).contains(n)),
        "{drawn:?}"
    );
    let weights = weights(&o, &table()).unwrap().unwrap();
    assert_eq!((weights[0], weights.len()), (0.1, 300));
}

#[test]
fn batches_have_distinct_groups() {
    let mut o = options("group:patient");
    o.set_epoch = true;
    let order = orders(&o, table()).unwrap();
    let groups = table().groups.unwrap();
    assert_eq!(order.len, Some(19));
    for epoch in &order.epochs {
        for batch in epoch {
            let of: HashSet<u32> = batch.iter().map(|i| groups[*i as usize]).collect();
            assert_eq!(of.len(), batch.len());
        }
        let mut all = epoch.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..300));
    }
    assert_ne!(order.epochs[0], order.epochs[1]);
    o.drop_last = true;
    let order = orders(&o, table()).unwrap();
    assert!(order.epochs.iter().flatten().all(|batch| batch.len() == 16));
    assert_eq!(order.len, Some(18));
}

#[test]
fn batches_have_similar_lengths() {
    let order = orders(&options("bucket:len"), table()).unwrap();
    let lengths = table().lengths.unwrap();
    for batch in &order.epochs[0] {
        let of = || batch.iter().map(|i| lengths[*i as usize]);
        assert!(batch.len() < 16 || of().max().unwrap() - of().min().unwrap() <= 8);
    }
    let mut all = order.epochs[0].concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..300));
}

#[test]
fn labels_of_the_dataset_are_balanced_in_batches() {
    let order = orders(&options("equi:labels"), table()).unwrap();
    let classes = table().classes.unwrap();
    let all = order.epochs[0].concat();
    assert_eq!(all.len(), 9000 / 16 * 16);
    assert!(
        all.iter()
            .enumerate()
            .all(|(at, i)| classes[*i as usize] as usize == at % 3)
    );
}

#[test]
fn unknown_or_invalid_samplers_are_refused_with_a_message() {
    let nothing = || SampleTable::of_len(300);
    for (sampler, says) in [
        ("weighted:balanced", "needs the class of each sample"),
        ("equi:labels", "label=COLUMN"),
        ("group:patient", "needs the values of patient"),
        ("bucket:len", "needs the length of each sample"),
        ("group:", "the sampler group needs a column"),
        (
            "bucket:width",
            "the sampler bucket needs the lengths: bucket:len",
        ),
        ("bucket", "bucket:len"),
        ("weighted", "weighted:balanced"),
        ("balanced", "equi:labels, group:COLUMN and bucket:len"),
    ] {
        let said = sentence(&options(sampler), nothing());
        assert!(said.contains(says), "{sampler}: {said}");
    }
    let short = SampleTable {
        classes: Some(vec![0, 1].into()),
        ..nothing()
    };
    assert!(sentence(&options("equi:labels"), short).contains("needs the class"));
    let mut o = options("group:patient");
    o.batch_size = None;
    assert!(sentence(&o, table()).contains("needs a batch_size"));
    let mut o = options("group:patient");
    (o.batch_size, o.drop_last) = (Some(41), true);
    assert!(sentence(&o, table()).contains("only 40 groups, but drop_last needs 41"));
    let mut o = options("bucket:len");
    o.replacement = true;
    assert!(sentence(&o, table()).contains("replacement"));
    let mut o = options("bucket:len");
    o.shuffle = true;
    assert!(sentence(&o, table()).contains("batch_sampler option is mutually exclusive"));
}

#[test]
fn ranks_share_the_batches() {
    for sampler in ["group:patient", "bucket:len", "equi:labels"] {
        let whole = orders(&options(sampler), table()).unwrap();
        let parts = [0, 1].map(|rank| {
            let mut o = options(sampler);
            (o.world_size, o.rank) = (2, rank);
            orders(&o, table()).unwrap()
        });
        for (batch, whole) in whole.epochs[0].iter().enumerate() {
            let [a, b] = [0, 1].map(|rank: usize| &parts[rank].epochs[0][batch]);
            let mut both: Vec<u64> = Vec::new();
            for (at, index) in a.iter().enumerate() {
                both.push(*index);
                both.extend(b.get(at));
            }
            assert_eq!(both, *whole, "{sampler}");
        }
    }
}

/// Regression test: `len=24,fail=5` for digits was refused only after the run had begun and had replaced the previous one.
#[test]
fn extra_costs_are_checked_before_a_run_begins() {
    let refused = |dataset: &str, extra_cost: &str| {
        let options = RunOptions {
            dataset: dataset.to_owned(),
            extra_cost: extra_cost.to_owned(),
            ..RunOptions::default()
        };
        check_options(&options).err().map(|e| e.to_string())
    };
    let len = refused("digits", "len=24,fail=5").unwrap_or_default();
    assert!(
        len.contains("len cannot be set here: the dataset fixes it"),
        "{len}"
    );
    let beyond = refused("digits", "slow=1797:5").unwrap_or_default();
    assert!(beyond.contains("the last sample is 1796"), "{beyond}");
    assert!(refused("folder:/data", "cost=5").is_some());
    assert_eq!(refused("digits", "cost_ms=8,fail=5"), None);
    assert_eq!(refused("folder:/data", "slow=5000000:5"), None);
}

#[test]
fn balanced_weights_draw_with_replacement_by_default() {
    let order = orders(&options("weighted:balanced"), table()).unwrap();
    let classes = table().classes.unwrap();
    let drawn: Vec<u64> = order.epochs.iter().flatten().flatten().copied().collect();
    let rare = drawn.iter().filter(|i| classes[**i as usize] == 2).count();
    // 10 of 300 samples have that class, and a third of the 600 draws.
    assert!((150..=250).contains(&rare), "{rare} of {}", drawn.len());
}
