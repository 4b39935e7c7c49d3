//! Findings about a prefetch window that is too small for slow batches, or larger than needed.

use std::cmp::Reverse;

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Severity, Survey, starved};
use loadscope_trace::{Nanos, Stage};
use loadscope_words::say;

/// Largest `prefetch_factor` to advise.
const MAX_FACTOR: i64 = 16;
/// Maximum ratio of the loading time per batch to the step time. Above it, the workers are too slow to fill a larger window.
const MAX_LOAD: f64 = 0.95;

/// Reports a prefetch window that is too small.
///
/// The workers are fast enough on average, but idle while the window is full. Training then waits for slow batches.
pub(super) fn too_small(survey: &Survey) -> Option<Finding> {
    let options = &survey.run.info.options;
    let (workers, step) = (survey.workers as i64, survey.step.0);
    let supply = survey.mean_work.0 as f64 / workers.max(1) as f64;
    if workers == 0 || step <= 0 || supply > MAX_LOAD * step as f64 {
        return None;
    }
    // This cost excludes slow samples, which have their own finding.
    let cost = starved::cost(survey);
    let severity = survey.severity(cost)?;
    let usual = survey.waits.iter().filter(|w| w.kind == Kind::Usual);
    let longest = usual.min_by_key(|w| Reverse(w.working))?;
    // Number of additional finished batches that would cover the longest wait.
    let more = (longest.working.0 / step).saturating_add(1);
    let factor = (more / workers)
        .saturating_add(1)
        .saturating_add_unsigned(options.prefetch() as u64);
    if factor > MAX_FACTOR {
        return None;
    }
    Some(Finding {
        id: FindingId::WindowTooSmall,
        text: say!(
            "The prefetch window of {} batches is too small to hide slow batches: {}. A batch arrives every {}, and a training step takes {}.",
            options.window(),
            survey.format_cost(cost),
            Nanos(supply as i64),
            survey.step
        ),
        severity,
        evidence: match longest.row {
            Some(row) => Evidence::Batch(survey.run.batches()[row].id),
            None => Evidence::Run,
        },
        remedy: say!("Use prefetch_factor={factor}"),
        cost: Some(cost),
    })
}

/// Reports a prefetch window of which at least half is never needed.
pub(super) fn too_large(survey: &Survey) -> Option<Finding> {
    /// Minimum number of unneeded batches to report.
    const MIN_UNNEEDED: usize = 8;
    /// Maximum share of the time that training waits for batches other than the first of an epoch.
    const MAX_WAIT_SHARE: f64 = 0.01;
    let run = survey.run;
    let window = run.info.options.window();
    let usual = survey.sum(|w| match w.kind {
        Kind::Usual | Kind::Slow => w.took,
        _ => Nanos::ZERO,
    });
    if survey.share(usual) > MAX_WAIT_SHARE || run.info.options.prefetch() <= 2 {
        return None;
    }
    let least = least_ready(survey)?;
    if least < MIN_UNNEEDED || least * 2 < window {
        return None;
    }
    let workers = survey.workers.max(1);
    let factor = window.saturating_sub(least).div_ceil(workers).max(2);
    Some(Finding {
        id: FindingId::WindowTooLarge,
        text: say!(
            "At least {least} of {window} prefetched batches are never needed and only use memory"
        ),
        severity: Severity::Note,
        evidence: Evidence::Run,
        remedy: say!("Use prefetch_factor={factor}"),
        cost: None,
    })
}

/// Returns the minimum number of finished batches that remained after a yield. Returns `None` without a counted yield.
///
/// Yields count only after the start of an epoch, and while the prefetch window is full.
fn least_ready(survey: &Survey) -> Option<usize> {
    let run = survey.run;
    let window = run.info.options.window();
    let mut least = None;
    let mut finished = vec![false; run.batches().len()];
    let (mut ready, mut in_flight) = (0usize, 0usize);
    let mut yielded = 0usize;
    let mut epoch = None;
    for t in run.transitions() {
        let row = t.batch as usize;
        let of = run.batches()[row].id.epoch;
        if epoch != Some(of) {
            (epoch, ready, in_flight, yielded) = (Some(of), 0, 0, 0);
        }
        match t.stage {
            Stage::Queued => in_flight += 1,
            Stage::Training | Stage::Failed | Stage::Discarded => {
                in_flight = in_flight.saturating_sub(1);
                if std::mem::replace(&mut finished[row], false) {
                    ready = ready.saturating_sub(1);
                }
                yielded += 1;
                // The start of an epoch does not count, and neither does its end, when no further batch fills the window.
                if yielded / 2 > window && in_flight + 1 >= window {
                    least = Some(least.map_or(ready, |l: usize| l.min(ready)));
                }
            }
            s if s >= Stage::Returning && s < Stage::Training && !finished[row] => {
                finished[row] = true;
                ready += 1;
            }
            _ => {}
        }
    }
    least
}
