//! Beginnings: of the run, and of each epoch.

use super::survey::Kind;
use super::{Evidence, Finding, Severity, Survey};
use crate::{Cause, Epoch, Nanos, count, percent};

/// It takes so many times what a usual batch takes.
const MUCH_LONGER: i64 = 3;

/// How long an epoch took to hand out its first batch, beyond what a batch takes.
fn late(survey: &Survey, epoch: &Epoch) -> Option<(Nanos, Nanos)> {
    let yields = survey.run.yields();
    let first = *yields.all().get(yields.before(epoch.start))?;
    // Where nobody tells what a batch takes, there is nothing to hold it against.
    if survey.usual_work <= Nanos::ZERO {
        return None;
    }
    if epoch.end.is_some_and(|end| first > end) {
        return None;
    }
    let took = first - epoch.start;
    (took.0 > survey.usual_work.0.saturating_mul(MUCH_LONGER))
        .then(|| (took - survey.usual_work, first))
}

/// The first batch of the run comes late: workers start, the dataset opens its files.
pub(super) fn slow_first_batch(survey: &Survey) -> Option<Finding> {
    let epoch = survey.run.epochs().first()?;
    let (cost, first) = late(survey, epoch)?;
    let severity = Severity::of_share(survey.share(cost))?;
    let started = survey.run.workers().iter().map(|w| w.start);
    let started = started.filter(|at| *at <= first).max();
    let what = match started.map(|at| at - epoch.start) {
        Some(start) if start.0 > cost.0 / 2 => {
            format!("; until the last worker ran, {} passed", survey.say(start))
        }
        _ => String::new(),
    };
    Some(Finding {
        id: "slow_first_batch",
        text: format!(
            "The first batch came after {}, where a batch takes {}{what}",
            survey.say(first - epoch.start),
            survey.usual_work
        ),
        severity,
        evidence: Evidence::Range(epoch.start, first),
        remedy: "Open files and build tables in worker_init_fn lazily or once before the loader is made, and keep the \
                 dataset object small: it is sent to every worker"
            .to_owned(),
        cost: Some(cost),
    })
}

/// Every epoch begins with a wait, because workers end and start again.
pub(super) fn refill(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let later = run.epochs().get(1..).unwrap_or_default();
    if later.is_empty() || survey.workers == 0 {
        return None;
    }
    let gaps: Vec<(Nanos, Nanos, Nanos)> = (later.iter())
        .filter_map(|e| late(survey, e).map(|(cost, first)| (cost, e.start, first)))
        .collect();
    // The iterator ends its workers before it returns.
    let ending = survey.sum(|w| match w.kind {
        Kind::End => w.took,
        _ => Nanos::ZERO,
    });
    let cost = gaps.iter().fold(ending, |sum, (cost, ..)| sum + *cost);
    let severity = Severity::of_share(survey.share(cost))?;
    let (_, start, first) = *gaps.iter().max_by_key(|(cost, ..)| *cost)?;
    let starting = survey.blame.of(Cause::Starting).unwrap_or_default();
    let remedy = if run.info.options.persistent_workers {
        "The workers are kept, so the sampler or the dataset's __iter__ takes the time: prepare there only once"
    } else {
        "persistent_workers=True keeps the workers, and what they have opened, between epochs"
    };
    let what = if starting.0 > 0 && !run.info.options.persistent_workers {
        ", while workers started anew"
    } else {
        ""
    };
    Some(Finding {
        id: "epoch_refill",
        text: format!(
            "{} of {} epochs began with a gap of {} before the first batch{what}: {} in all ({})",
            count(gaps.len() as u64),
            count(run.epochs().len() as u64),
            survey.say(first - start),
            survey.say(cost),
            percent(survey.share(cost))
        ),
        severity,
        evidence: Evidence::Range(start, first),
        remedy: remedy.to_owned(),
        cost: Some(cost),
    })
}
