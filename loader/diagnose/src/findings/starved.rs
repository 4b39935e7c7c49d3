//! Findings about workers that are too slow for training, and about training that rarely waits.

use std::cmp::Reverse;

use super::host::free_cores;
use super::survey::{Kind, Waited};
use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Nanos, ProcessCost, percent, plural};
use loadscope_words::say;

/// Returns the waited time that too few workers cause.
///
/// It is the part of the waits for ordinary batches in which their worker was busy, without the time in slow samples.
pub(super) fn cost(survey: &Survey) -> Nanos {
    survey.sum(|w| match w.kind {
        Kind::Usual => (w.working - w.in_slow_samples).max(Nanos::ZERO),
        _ => Nanos::ZERO,
    })
}

/// Reports workers that load batches more slowly than training takes them, or a loader without workers.
pub(super) fn starved(survey: &Survey) -> Option<Finding> {
    let workers = survey.workers;
    let cost = cost(survey);
    let severity = survey.severity(cost)?;
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
    let said = survey.format_cost(cost);
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
            cores_text(survey, cores)
        ),
        Some(n) => say!("Use num_workers={n}"),
        None if workers == 0 => say!("Use num_workers=2 or more").to_owned(),
        None if is_computing && cores > 0 && workers >= cores => say!(
            "Simplify the transforms or cache their output: training is much faster than {} can load",
            cores_text(survey, cores)
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

/// Returns the number of cores as text: `3 free cores` if the host has more cores than `cores`, otherwise `4 cores`.
fn cores_text(survey: &Survey, cores: usize) -> String {
    let (one, many) = match cores < survey.run.info.cores as usize {
        true => (say!(n: "free core"), say!(n: "free cores")),
        false => (say!(n: "core"), say!(n: "cores")),
    };
    plural(cores as u64, one, many)
}

/// Returns true if the waited time per epoch exceeds the time to start and end one worker.
fn is_worth_starting(survey: &Survey, cost: Nanos) -> bool {
    let epochs = survey.run.epochs().len().max(1);
    let each = Nanos(cost.0 / i64::try_from(epochs).unwrap_or(i64::MAX));
    ProcessCost::assumed(&survey.run.info).is_none_or(|process| each > process.total_time(1))
}

/// Reports a sawtooth of waits: one long wait per round of `num_workers` batches, then `num_workers - 1` short ones.
pub(super) fn sawtooth(survey: &Survey) -> Option<Finding> {
    /// Minimum share of the waiting in the longest wait of each round.
    const MIN_SHARE: f64 = 0.8;
    const MIN_ROUNDS: usize = 3;
    let workers = survey.workers;
    let cost = cost(survey);
    let severity = survey.severity(cost)?;
    if workers < 2 || !survey.is_short_of_workers() {
        return None;
    }
    let usual = survey.waits.iter().filter(|w| w.kind == Kind::Usual);
    let took: Vec<i64> = usual.map(|w| w.took.0).collect();
    let rounds = took.chunks_exact(workers);
    if rounds.len() < MIN_ROUNDS {
        return None;
    }
    let highest = rounds
        .clone()
        .map(|r| i128::from(r.iter().copied().max().unwrap_or(0)));
    let highest: i128 = highest.sum();
    let all: i128 = rounds.flatten().map(|t| i128::from(*t)).sum();
    if all <= 0 || (highest as f64) < MIN_SHARE * all as f64 {
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
        // The cost is the same as that of `starved`.
        cost: Some(cost),
    })
}

/// Reports training as the bottleneck: training waits for less than 5 % of the time, or its steps take at least 75 %.
pub(super) fn trainer(survey: &Survey) -> Option<Finding> {
    /// Minimum share of the time in training steps that makes training the bottleneck despite waits.
    const MIN_STEP_SHARE: f64 = 0.75;
    let share = survey.share(survey.blame.waited);
    let trained = survey.share(survey.trained);
    let hardly_waits = share < Severity::WARNING_SHARE;
    if survey.yielded == 0 || (!hardly_waits && trained < MIN_STEP_SHARE) {
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

/// Returns the batch of the longest wait of kind [`Kind::Usual`], or the run without such a wait.
fn longest(survey: &Survey) -> Evidence {
    let usual = |w: &&Waited| w.kind == Kind::Usual;
    let waits = survey.waits.iter().filter(usual);
    // Ties go to the first wait.
    let longest = waits.min_by_key(|w| Reverse(w.took));
    match longest.and_then(|w| w.row) {
        Some(row) => Evidence::Batch(survey.run.batches()[row].id),
        None => Evidence::Run,
    }
}
