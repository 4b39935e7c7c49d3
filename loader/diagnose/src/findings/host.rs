//! Busy hosts: CPU cores that other programs use.

use super::threads::core_wait;
use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{percent, plural};
use loadscope_words::say;

/// Minimum share of the host's cores that other programs use.
const NOTICEABLE: f64 = 0.1;

/// Finds other programs that used at least 10 % of the cores during the recording.
pub(super) fn busy(survey: &Survey) -> Option<Finding> {
    let cores = survey.run.info.cores;
    let taken = survey.run.taken_cores()?;
    if cores == 0 || taken < NOTICEABLE * f64::from(cores) {
        return None;
    }
    let all = plural(u64::from(cores), say!(n: "core"), say!(n: "cores"));
    let text = say!(
        "Other programs used {taken:.1} of {all} during the recording, so loading may be slower than on an idle host"
    );
    Some(Finding {
        id: FindingId::BusyHost,
        text: match core_wait(survey).map(percent) {
            Some(waits) => say!(
                "{text}. The threads that load samples wait for a core for {waits} of their time."
            ),
            None => text,
        },
        severity: Severity::Note,
        evidence: Evidence::Run,
        remedy: say!("Record again on an idle host before you choose num_workers. Forecasts assume the same load.").to_owned(),
        cost: None,
    })
}

/// Returns the number of cores that other programs did not use, at least 1. Returns `None` if the number of cores is unknown.
pub(super) fn free_cores(survey: &Survey) -> Option<usize> {
    let cores = survey.run.info.cores as usize;
    let taken = survey.run.taken_cores().unwrap_or(0.0).round() as usize;
    (cores > 0).then(|| cores.saturating_sub(taken).max(1))
}
