//! Order analysis of a recorded run: its input, and its findings for the report.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use loadscope_diagnose::{Evidence, Finding, Severity};
use loadscope_trace::{FieldData, Nanos, Origin, Run, RunOptions};

use super::analysis::{Question, answer};
use super::findings::{WorkerGenerators, WorkerSeed};
use super::order::{Digest, OrderCollector};
use crate::Datasets;
use crate::background::Progress;
use crate::platform::Budget;

/// Maximum number of batches whose contents are searched for labels, because this runs within a frame.
const LABELLED: usize = 50_000;
/// Number of distinct labels up to which they are classes, even if each sample has its own.
const ALWAYS_CLASSES: usize = 20;

/// Returns options for the engine, and whether it knows the dataset of `run`. `digests` are the orders of the run's
/// epochs.
pub fn known_options(run: &Run, digests: &[Digest]) -> (RunOptions, bool) {
    let mut options = run.info.options.clone();
    // A Python program's calls of `set_epoch` are not recorded, so they are inferred from the orders.
    if let (Origin::Pytorch(_), [first, second, ..]) = (&run.info.origin, digests)
        && options.sampler == "distributed"
    {
        options.set_epoch = !first.is_same_order(second);
    }
    let is_known = matches!(run.info.origin, Origin::Engine | Origin::Simulation);
    let has_indices = (0..run.batches().len())
        .take(1)
        .all(|row| !run.indices(row).is_empty());
    // The engine does not know a Python program's dataset. An order depends only on its length.
    if let (false, true, Some(len)) = (is_known, has_indices, run.info.dataset_len) {
        options.dataset = format!("synthetic:len={len}");
        return (options, true);
    }
    (options, is_known)
}

/// Returns the question for the gathered epoch of a run.
pub fn question(run: &Run, gathered: &OrderCollector, datasets: Datasets) -> Question {
    let (options, is_known) = known_options(run, &gathered.digests);
    let rows = &gathered.looked_at.rows;
    let epoch = gathered.looked_at.epoch;
    let position = run.epochs().iter().position(|e| e.epoch == epoch);
    Question {
        epoch,
        recorded: Some(Arc::clone(&gathered.looked_at)),
        len: run.info.dataset_len,
        is_complete: position.is_some_and(|k| is_complete(run, k)),
        digests: gathered.digests.clone(),
        epochs: gathered.epochs.clone(),
        seeds: seeds(run),
        generators: generators(run),
        yielded: yielded(run, rows),
        labels: labels(run, rows),
        names: run.info.classes.clone(),
        options,
        is_known,
        is_of_engine: matches!(run.info.origin, Origin::Engine | Origin::Simulation),
        datasets,
    }
}

/// Returns true if the epoch can receive no more indices and no event was dropped.
pub fn is_complete(run: &Run, epoch: usize) -> bool {
    let Some(epoch) = run.epochs().get(epoch) else {
        return false;
    };
    let all = match run.info.batches_per_epoch {
        Some(batches) => epoch.rows.len() as u64 >= batches,
        None => epoch.end.is_some(),
    };
    all && run.dropped() == 0
}

/// Returns the number of the epoch that is running at `at`.
fn epoch_at(run: &Run, at: Nanos) -> u32 {
    let begun = run.epochs().partition_point(|e| e.start <= at);
    let epoch = run.epochs().get(begun.saturating_sub(1));
    epoch.map_or(0, |e| e.epoch)
}

/// Returns the random generators of workers other than PyTorch's, as far as they are recorded.
pub fn generators(run: &Run) -> Vec<WorkerGenerators> {
    let generators = |w: &loadscope_trace::Worker| {
        Some(WorkerGenerators {
            epoch: epoch_at(run, w.start),
            of: w.generators?,
        })
    };
    run.workers().iter().filter_map(generators).collect()
}

/// Returns all known seeds of workers.
pub fn seeds(run: &Run) -> Vec<WorkerSeed> {
    let seed = |w: &loadscope_trace::Worker| {
        Some(WorkerSeed {
            epoch: epoch_at(run, w.start),
            worker: w.info.worker,
            seed: w.info.seed?,
        })
    };
    let mut seeds: Vec<WorkerSeed> = run.workers().iter().filter_map(seed).collect();
    // A StatefulDataLoader resumes an interrupted epoch with the same seeds.
    if run.info.class.starts_with("Stateful") {
        let mut known = BTreeSet::new();
        seeds.retain(|seed| known.insert((seed.worker, seed.seed)));
    }
    seeds
}

/// Returns the numbers of samples and of their workers. Returns `None` if the samples have indices.
pub fn yielded(run: &Run, rows: &[u32]) -> Option<(u64, usize)> {
    let rows = || rows.iter().map(|row| *row as usize);
    if rows().any(|row| !run.indices(row).is_empty()) {
        return None;
    }
    let samples = rows().map(|row| run.samples(row).len() as u64).sum();
    let came = rows().filter(|row| run.samples(*row).len() > 0);
    let workers: BTreeSet<_> = came
        .filter_map(|row| run.batches().get(row)?.worker)
        .collect();
    Some((samples, workers.len()))
}

/// Reads classes from the contents of batches: integers, one per sample.
pub fn labels(run: &Run, rows: &[u32]) -> HashMap<u64, u32> {
    let mut labels = HashMap::new();
    for row in rows.iter().take(LABELLED) {
        let row = *row as usize;
        let Some(content) = run.content(row) else {
            continue;
        };
        let indices = run.indices(row);
        let found = content.fields.iter().find_map(|f| match &f.data {
            FieldData::Numbers(values) if f.shape.len() == 1 && f.dtype.contains("int") => {
                Some(values)
            }
            _ => None,
        });
        for (index, label) in indices.iter().zip(found.into_iter().flatten()) {
            if *label >= 0.0 && *label < f64::from(u32::MAX) {
                labels.insert(*index, *label as u32);
            }
        }
    }
    // If nearly every sample has its own number, the numbers are names, not classes.
    let different: BTreeSet<u32> = labels.values().copied().collect();
    if different.len() > ALWAYS_CLASSES && different.len() * 2 > labels.len() {
        labels.clear();
    }
    labels
}

/// Number of analyzed epochs, from the first. A finding of several epochs is reported once.
const EPOCHS: usize = 4;

/// Returns the findings of the Sampling workspace for the first `EPOCHS` epochs of a run.
pub fn findings(run: &Run, datasets: Datasets) -> Vec<Finding> {
    let mut said = HashSet::new();
    let mut out = Vec::new();
    for epoch in 0..run.epochs().len().min(EPOCHS) {
        let mut gathered = OrderCollector::default();
        while gathered.update(0, run, epoch, &Budget::none()) {}
        let asked = question(run, &gathered, datasets);
        let number = asked.epoch;
        let new = of_epoch(&asked).into_iter().filter(|f| said.insert(f.id));
        out.extend(new.map(|f| Finding {
            id: f.id,
            text: f.says,
            severity: if f.is_problem {
                Severity::Warning
            } else {
                Severity::Note
            },
            evidence: match f.position {
                Some(position) => Evidence::Position(number, position),
                None => Evidence::Run,
            },
            remedy: f.remedy,
            cost: None,
        }));
    }
    out
}

fn of_epoch(asked: &Question) -> Vec<super::findings::Finding> {
    let answers = answer(asked, &Progress::default());
    // No findings if the engine cannot predict the order.
    answers
        .ok()
        .and_then(Result::ok)
        .map_or(Vec::new(), |a| a.findings)
}
