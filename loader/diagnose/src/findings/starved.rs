//! Supply and demand: workers that cannot keep up, and a trainer that is never kept waiting.

use std::cmp::Reverse;

use super::host::free_cores;
use super::survey::{Kind, Waited};
use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Nanos, ProcessCost, percent, plural};
use loadscope_words::say;

/// What the workers' being too few costs: the waits for usual batches that were being worked on.
pub(super) fn cost(survey: &Survey) -> Nanos {
    survey.sum(|w| match w.kind {
        Kind::Usual => (w.working - w.in_slow_samples).max(Nanos::ZERO),
        _ => Nanos::ZERO,
    })
}

/// The workers make batches more slowly than the trainer takes them; or there are none, and the trainer makes them itself.
pub(super) fn starved(survey: &Survey) -> Option<Finding> {
    let workers = survey.workers;
    let cost = cost(survey);
    let severity = Severity::of_share(survey.share(cost))?;
    if workers > 0 && !survey.is_short_of_workers() {
        return None;
    }
    if workers == 0 && !is_worth_starting(survey, cost) {
        return None;
    }
    let needed = survey
        .needed_workers()
        .map(|n| n.min(survey.most_workers()));
    let cores = free_cores(survey).unwrap_or(0);
    let is_computing = survey.samples.cpu_share().is_some_and(|share| share > 0.5);
    let said = survey.say_cost(cost);
    let (work, step) = (survey.plain_work, survey.step);
    let text = match workers {
        0 => say!(
            "Training stops while the main process loads each batch (num_workers=0): {said}. Loading a batch takes {work}, a training step {step}."
        ),
        1 => say!(
            "The only worker is slower than training: {said}. A batch arrives every {work}, and a training step takes {step}."
        ),
        n => say!(
            "{n} workers are slower than training: {said}. A batch arrives every {}, and a training step takes {step}.",
            Nanos(work.0 / n as i64)
        ),
    };
    let remedy = match needed {
        Some(n) if is_computing && cores > workers.max(1) && n > cores => say!(
            "Use num_workers={cores}, one per free core. Loading is CPU-bound, so more workers do not help."
        ),
        Some(n) if is_computing && cores > 0 && n > cores => say!(
            "Simplify or precompute the transforms. Loading is CPU-bound, and the host has {}, so more workers do not help.",
            usable(survey, cores)
        ),
        Some(n) => say!("Use num_workers={n}"),
        None if workers == 0 => say!("Use num_workers=2 or more").to_owned(),
        None if is_computing && cores > 0 && workers >= cores => say!(
            "Simplify the transforms or cache their output: training is much faster than {} can load",
            usable(survey, cores)
        ),
        None => say!("Add workers, simplify the transforms or cache their output: training is much faster than loading")
            .to_owned(),
    };
    Some(Finding {
        id: if workers == 0 {
            FindingId::NoWorkers
        } else {
            FindingId::StarvedWorkers
        },
        text,
        severity,
        evidence: longest(survey),
        remedy,
        cost: Some(cost),
    })
}

/// The number of cores, which are called free if other programs use the rest.
fn usable(survey: &Survey, cores: usize) -> String {
    let (one, many) = match cores < survey.run.info.cores as usize {
        true => (say!(n: "free core"), say!(n: "free cores")),
        false => (say!(n: "core"), say!(n: "cores")),
    };
    plural(cores as u64, one, many)
}

/// True if an epoch waits longer than it would take to start and end a worker for it.
fn is_worth_starting(survey: &Survey, cost: Nanos) -> bool {
    let epochs = survey.run.epochs().len().max(1);
    let each = Nanos(cost.0 / i64::try_from(epochs).unwrap_or(i64::MAX));
    ProcessCost::assumed(&survey.run.info.origin).is_none_or(|process| each > process.of(1))
}

/// One slow batch, then `num_workers - 1` fast ones.
pub(super) fn sawtooth(survey: &Survey) -> Option<Finding> {
    /// So much of a round's waiting falls on one batch of it.
    const ON_ONE: f64 = 0.8;
    const FEW_ROUNDS: usize = 3;
    let workers = survey.workers;
    let cost = cost(survey);
    let severity = Severity::of_share(survey.share(cost))?;
    if workers < 2 || !survey.is_short_of_workers() {
        return None;
    }
    let usual = survey.waits.iter().filter(|w| w.kind == Kind::Usual);
    let took: Vec<i64> = usual.map(|w| w.took.0).collect();
    let rounds = took.chunks_exact(workers);
    if rounds.len() < FEW_ROUNDS {
        return None;
    }
    let highest = rounds
        .clone()
        .map(|r| i128::from(r.iter().copied().max().unwrap_or(0)));
    let highest: i128 = highest.sum();
    let all: i128 = rounds.flatten().map(|t| i128::from(*t)).sum();
    if all <= 0 || (highest as f64) < ON_ONE * all as f64 {
        return None;
    }
    let needed = survey
        .needed_workers()
        .map(|n| n.min(survey.most_workers()));
    let needed = needed.filter(|n| *n > workers);
    Some(Finding {
        id: FindingId::Sawtooth,
        text: say!(
            "{} of the waiting occurs once per {workers} batches, because the {workers} workers finish at the same time",
            match highest as f64 / all as f64 {
                share if share > 0.95 => say!("Nearly all").to_owned(),
                share => percent(share),
            }
        ),
        severity,
        evidence: longest(survey),
        remedy: match needed {
            Some(n) => say!("Use num_workers={n}"),
            None => say!("Reduce the cost per sample. A larger prefetch_factor hardly helps.")
                .to_owned(),
        },
        // The same waiting as that of workers that are too few, seen from another side.
        cost: Some(cost),
    })
}

/// The trainer hardly waits, or its steps take nearly all of the time.
pub(super) fn trainer(survey: &Survey) -> Option<Finding> {
    /// Steps that take this share of the time are what limits the run, whatever is waited beside.
    const MOST: f64 = 0.75;
    let share = survey.share(survey.blame.waited);
    let trained = survey.share(survey.trained);
    let hardly_waits = share < Severity::WARNING_SHARE;
    if survey.yielded == 0 || (!hardly_waits && trained < MOST) {
        return None;
    }
    Some(Finding {
        id: FindingId::TrainingBound,
        text: match hardly_waits {
            true => say!(
                "Training is the bottleneck: the trainer waited for {} of the time, and a step takes {}",
                percent(share),
                survey.step
            ),
            false => say!(
                "Training is the bottleneck: steps take {} of the time ({} each), and waiting takes {}",
                percent(trained),
                survey.step,
                percent(share)
            ),
        },
        severity: Severity::Note,
        evidence: Evidence::Run,
        remedy: match survey.run.info.world_size {
            0 | 1 if !hardly_waits => say!("Optimize the training step, which takes most of the time").to_owned(),
            0 | 1 => say!("Leave the loader unchanged: it keeps up with training").to_owned(),
            _ => say!("If steps wait for other ranks (all_reduce), look at the rank that waits longest for data. The loader of this rank keeps up.").to_owned(),
        },
        cost: None,
    })
}

/// The longest wait for a usual batch.
fn longest(survey: &Survey) -> Evidence {
    let usual = |w: &&Waited| w.kind == Kind::Usual;
    let waits = survey.waits.iter().filter(usual);
    // Ties go to the first.
    let longest = waits.min_by_key(|w| Reverse(w.took));
    match longest.and_then(|w| w.row) {
        Some(row) => Evidence::Batch(survey.run.batches()[row].id),
        None => Evidence::Run,
    }
}
