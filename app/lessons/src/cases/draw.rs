//! Random runs with hidden causes. A run is accepted only if the diagnosis finds exactly these causes.

use loadscope_trace::{LogReader, Nanos, OnError, Run, RunOptions, Sorter};
use oorandom::Rand64;

use super::Culprit;
use crate::query::simulated;

/// Causes of cases with one cause.
const SINGLE: [Culprit; 7] = [
    Culprit::NoWorkers,
    Culprit::TooFewWorkers,
    Culprit::SlowSamples,
    Culprit::TrainingBound,
    Culprit::RepeatedSamples,
    Culprit::SameOrder,
    Culprit::BrokenSample,
];

/// Causes of cases with two causes.
const PAIRS: [[Culprit; 2]; 5] = [
    [Culprit::TooFewWorkers, Culprit::SameOrder],
    [Culprit::SlowSamples, Culprit::SameOrder],
    [Culprit::NoWorkers, Culprit::SameOrder],
    [Culprit::TooFewWorkers, Culprit::RepeatedSamples],
    [Culprit::NoWorkers, Culprit::BrokenSample],
];

/// Number of cases with one cause. Cases with two causes follow.
const ALONE: usize = 5;

/// Maximum number of attempts to draw a run that the diagnosis confirms.
const TRIES: usize = 40;

/// Returns the random generator for a case of a seed.
pub(super) fn random(seed: u64, number: u32) -> Rand64 {
    Rand64::new((u128::from(seed) << 32) | u128::from(number))
}

pub(super) fn shuffled<T: Clone>(all: &[T], random: &mut Rand64) -> Vec<T> {
    let mut all = all.to_vec();
    for at in (1..all.len()).rev() {
        let other = random.rand_range(0..at as u64 + 1);
        all.swap(at, usize::try_from(other).unwrap_or_default());
    }
    all
}

/// Returns the causes of the simulated case at position `at`, from 0. The cases of a seed differ.
pub(super) fn causes(seed: u64, at: usize) -> Vec<Culprit> {
    // All cases of a seed draw from the same shuffled lists.
    let mut random = random(seed, 0);
    let mut singles = shuffled(&SINGLE, &mut random);
    // The first case has a fault.
    if singles.first() == Some(&Culprit::TrainingBound) {
        singles.swap(0, 1);
    }
    let pairs = shuffled(&PAIRS, &mut random);
    match at.checked_sub(ALONE) {
        None => singles.get(at).map(|one| vec![*one]),
        Some(at) => pairs.get(at).map(|pair| pair.to_vec()),
    }
    .unwrap_or_default()
}

/// Draws a run in which the diagnosis finds exactly these causes.
pub(super) fn run(causes: &[Culprit], random: &mut Rand64) -> Option<Run> {
    let mut wanted = causes.to_vec();
    wanted.sort_unstable();
    (0..TRIES).find_map(|_| {
        let options = options(causes, random);
        let run = simulated(&options).ok()?;
        let mut found = Culprit::of(&run);
        found.sort_unstable();
        (found == wanted).then_some(run)
    })
}

fn options(causes: &[Culprit], random: &mut Rand64) -> RunOptions {
    let has = |cause| causes.contains(&cause);
    let mut pick = |low: u64, high: u64| random.rand_range(low..high + 1);
    let batch_size = pick(2, 6);
    let step = pick(12, 30);
    let len = batch_size * pick(50, 70);
    let mut workers = pick(2, 4);
    // Cost per sample without waits, with 40 % idle time for the workers.
    let mut cost = (step as f64 * workers as f64 * 0.6) / batch_size as f64;
    if has(Culprit::NoWorkers) {
        workers = 0;
        cost = step as f64 * pick(1, 3) as f64 / batch_size as f64;
    }
    if has(Culprit::TooFewWorkers) {
        workers = pick(1, 2);
        cost = step as f64 * workers as f64 * (pick(18, 35) as f64 / 10.0) / batch_size as f64;
    }
    let mut dataset = format!("len={len},cost_ms={:.1}", cost.max(0.1));
    if has(Culprit::SlowSamples) {
        let slow: Vec<String> = (0..pick(3, 5))
            .map(|_| format!("{}:{}", pick(len / 8, len - 1), step * pick(25, 45)))
            .collect();
        dataset.push_str(&format!(",slow={}", slow.join(";")));
    }
    if has(Culprit::BrokenSample) {
        dataset.push_str(&format!(",fail={}", pick(len / 2, len * 3 / 4)));
    }
    let stream = has(Culprit::RepeatedSamples);
    if stream {
        workers = workers.max(2);
    }
    let same_order = has(Culprit::SameOrder);
    let kind = if stream { "stream" } else { "synthetic" };
    RunOptions {
        dataset: format!("{kind}:{dataset}"),
        batch_size: usize::try_from(batch_size).ok(),
        num_workers: usize::try_from(workers).unwrap_or_default(),
        step_ms: step as f64,
        sampler: if same_order { "distributed" } else { "" }.to_owned(),
        world_size: if same_order { 2 } else { 1 },
        set_epoch: !same_order,
        shuffle: !stream && !same_order,
        epochs: if same_order { 2 } else { 1 },
        seed: Some(pick(0, 1000)),
        on_error: OnError::Stop,
        ..RunOptions::default()
    }
}

/// Recordings of PyTorch programs with their causes, two per program.
pub(super) const RECORDINGS: [(&str, Culprit, [&[u8]; 2]); 4] = [
    (
        "no_workers.py",
        Culprit::NoWorkers,
        [
            include_bytes!("../../../../assets/lessons/cases/no_workers_0.jsonl.zst"),
            include_bytes!("../../../../assets/lessons/cases/no_workers_1.jsonl.zst"),
        ],
    ),
    (
        "late_workers.py",
        Culprit::LateWorkers,
        [
            include_bytes!("../../../../assets/lessons/cases/late_workers_0.jsonl.zst"),
            include_bytes!("../../../../assets/lessons/cases/late_workers_1.jsonl.zst"),
        ],
    ),
    (
        "slow_samples.py",
        Culprit::SlowSamples,
        [
            include_bytes!("../../../../assets/lessons/cases/slow_samples_0.jsonl.zst"),
            include_bytes!("../../../../assets/lessons/cases/slow_samples_1.jsonl.zst"),
        ],
    ),
    (
        "few_workers.py",
        Culprit::TooFewWorkers,
        [
            include_bytes!("../../../../assets/lessons/cases/few_workers_0.jsonl.zst"),
            include_bytes!("../../../../assets/lessons/cases/few_workers_1.jsonl.zst"),
        ],
    ),
];

/// Name of the program in every case.
const NEUTRAL: &str = "train.py";

/// Reads an embedded recording. The name of its program reveals the cause, so it is replaced.
pub(super) fn recorded(program: &str, log: &'static [u8]) -> Option<Run> {
    let mut run = Run::default();
    let mut sorter = Sorter::new(Nanos::ZERO);
    for event in LogReader::new(log).ok()? {
        sorter.push(event.ok()?);
    }
    while let Some(event) = sorter.flush() {
        run.apply(&event);
    }
    let info = &mut run.info;
    let neutral = |text: &mut String| *text = text.replace(program, NEUTRAL);
    neutral(&mut info.dataset);
    neutral(&mut info.recording);
    neutral(&mut info.class);
    if let Some(made_at) = &mut info.made_at {
        neutral(&mut made_at.file);
        neutral(&mut made_at.name);
    }
    Some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_case_of_every_seed_has_a_problem() {
        for seed in 0..200 {
            let singles: Vec<Culprit> = (0..ALONE).flat_map(|at| causes(seed, at)).collect();
            assert_ne!(singles[0], Culprit::TrainingBound, "seed {seed}");
            let mut others = singles.clone();
            others.sort_unstable();
            others.dedup();
            assert_eq!(others.len(), ALONE, "seed {seed}: {singles:?}");
        }
    }
}
