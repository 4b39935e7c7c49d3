//! More runnable threads than cores.

use super::{Evidence, Finding, FindingId, Severity, Survey, starved};
use loadscope_trace::{percent, plural};
use loadscope_words::say;

/// Samples got less than this share of a core while they were computed.
const CROWDED: f64 = 0.75;
/// The workers used more than this share of all cores.
const FULL: f64 = 0.6;

/// The workers compute, and there are more of them than cores, so they take turns.
pub(super) fn oversubscribed(survey: &Survey) -> Option<Finding> {
    let cores = survey.run.info.cores as usize;
    let share = survey.samples.cpu_share()?;
    let used = survey.share(survey.samples.cpu) / cores.max(1) as f64;
    if cores == 0 || survey.workers <= cores || share > CROWDED || used < FULL {
        return None;
    }
    let cost = starved::cost(survey);
    let severity = Severity::of_share(survey.share(cost))?;
    Some(Finding {
        id: FindingId::Oversubscribed,
        text: say!(
            "{} workers share {}: {}. Each sample runs on a core for only {} of its loading time.",
            survey.workers,
            plural(cores as u64, say!(n: "core"), say!(n: "cores")),
            survey.say_cost(cost),
            percent(share)
        ),
        severity,
        evidence: Evidence::Run,
        remedy: say!(
            "Use num_workers={cores}, which is as fast, and call torch.set_num_threads(1) in each worker. Beyond that, only simpler transforms or more cores help."
        ),
        cost: Some(cost),
    })
}
