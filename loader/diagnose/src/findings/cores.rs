//! CPU oversubscription: more workers than cores.

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Survey, starved};
use loadscope_trace::{Nanos, percent, plural};
use loadscope_words::say;

/// Maximum CPU time per wall time of samples. Above, each worker has a core most of the time.
const MAX_CPU_SHARE: f64 = 0.75;
/// Minimum share of all cores that the workers use. Below, cores are free.
const MIN_CORE_USE: f64 = 0.6;

/// Finds CPU-bound workers that outnumber the cores and share them.
pub(super) fn oversubscribed(survey: &Survey) -> Option<Finding> {
    let cores = survey.run.info.cores as usize;
    let share = survey.samples.cpu_share()?;
    let used = survey.share(survey.samples.cpu) / cores.max(1) as f64;
    if cores == 0 || survey.workers <= cores || share > MAX_CPU_SHARE || used < MIN_CORE_USE {
        return None;
    }
    // The thread that sends a batch waits for a core, too.
    let sending = survey.sum(|wait| match wait.kind {
        Kind::Usual => wait.on_its_way,
        Kind::First | Kind::Slow | Kind::End => Nanos::ZERO,
    });
    let cost = starved::cost(survey) + sending;
    let severity = survey.severity(cost)?;
    Some(Finding {
        id: FindingId::Oversubscribed,
        text: say!(
            "{} workers share {}: {}. Each sample runs on a core for only {} of its loading time.",
            survey.workers,
            plural(cores as u64, say!(n: "core"), say!(n: "cores")),
            survey.format_cost(cost),
            percent(share)
        ),
        severity,
        evidence: Evidence::Run,
        remedy: say!(
            "Use num_workers={cores}, which is as fast. Beyond that, only simpler transforms or more cores help."
        ),
        cost: Some(cost),
    })
}
