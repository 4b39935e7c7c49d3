//! The prefetch window: too small to bridge slow batches, or larger than it is ever used.

use std::cmp::Reverse;

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Severity, Survey, starved};
use loadscope_trace::{Nanos, Stage};
use loadscope_words::say;

/// What a larger prefetch_factor may be advised up to.
const LARGEST: i64 = 16;
/// The workers must have so much to spare that a larger window fills at all.
const SPARE: f64 = 0.95;

/// The workers could keep up, but stand still while the window is full, and then are late.
pub(super) fn too_small(survey: &Survey) -> Option<Finding> {
    let options = &survey.run.info.options;
    let (workers, step) = (survey.workers as i64, survey.step.0);
    let supply = survey.mean_work.0 as f64 / workers.max(1) as f64;
    if workers == 0 || step <= 0 || supply > SPARE * step as f64 {
        return None;
    }
    // What slow samples cost is theirs.
    let cost = starved::cost(survey);
    let severity = Severity::of_share(survey.share(cost))?;
    let usual = survey.waits.iter().filter(|w| w.kind == Kind::Usual);
    let longest = usual.min_by_key(|w| Reverse(w.working))?;
    // That many more batches would be ready at the longest wait.
    let more = (longest.working.0 / step).saturating_add(1);
    let factor = (more / workers)
        .saturating_add(1)
        .saturating_add_unsigned(options.prefetch() as u64);
    if factor > LARGEST {
        return None;
    }
    Some(Finding {
        id: FindingId::WindowTooSmall,
        text: say!(
            "The prefetch window of {} batches is too small to hide slow batches: {}. A batch arrives every {}, and a training step takes {}.",
            options.window(),
            survey.say_cost(cost),
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

/// Half of the window is never needed.
pub(super) fn too_large(survey: &Survey) -> Option<Finding> {
    /// Batches that may lie ready for nothing.
    const SOME: usize = 8;
    const HARDLY: f64 = 0.01;
    let run = survey.run;
    let window = run.info.options.window();
    let usual = survey.sum(|w| match w.kind {
        Kind::Usual | Kind::Slow => w.took,
        _ => Nanos::ZERO,
    });
    if survey.share(usual) > HARDLY || run.info.options.prefetch() <= 2 {
        return None;
    }
    let least = least_ready(survey)?;
    if least < SOME || least * 2 < window {
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

/// The fewest batches that were finished and not yielded whenever one was, between the filling of the window and the last
/// dispatch of an epoch.
fn least_ready(survey: &Survey) -> Option<usize> {
    let run = survey.run;
    let window = run.info.options.window();
    let mut least = None;
    let mut finished = vec![false; run.batches().len()];
    let (mut ready, mut flying) = (0usize, 0usize);
    let mut yielded = 0usize;
    let mut epoch = None;
    for t in run.transitions() {
        let row = t.batch as usize;
        let of = run.batches()[row].id.epoch;
        if epoch != Some(of) {
            (epoch, ready, flying, yielded) = (Some(of), 0, 0, 0);
        }
        match t.stage {
            Stage::Queued => flying += 1,
            Stage::Training | Stage::Failed | Stage::Discarded => {
                flying = flying.saturating_sub(1);
                if std::mem::replace(&mut finished[row], false) {
                    ready = ready.saturating_sub(1);
                }
                yielded += 1;
                // Near its end an epoch has nothing more to give to the window.
                if yielded / 2 > window && flying + 1 >= window {
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
