//! The host: cores that other programs use.

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::plural;
use loadscope_words::say;

/// Share of the cores from which on it is worth a word.
const NOTICEABLE: f64 = 0.1;

/// Other programs used a part of the cores during the recording.
pub(super) fn busy(survey: &Survey) -> Option<Finding> {
    let cores = survey.run.info.cores;
    let taken = survey.run.taken_cores()?;
    if cores == 0 || taken < NOTICEABLE * f64::from(cores) {
        return None;
    }
    let all = plural(u64::from(cores), say!(n: "core"), say!(n: "cores"));
    Some(Finding {
        id: FindingId::BusyHost,
        text: say!(
            "Other programs used {taken:.1} of {all} during the recording, so loading may be slower than on an idle host"
        ),
        severity: Severity::Note,
        evidence: Evidence::Run,
        remedy: say!("Record again on an idle host before you choose num_workers. Forecasts assume the same load.").to_owned(),
        cost: None,
    })
}

/// Cores that other programs left, at least one; `None` if their number is unknown.
pub(super) fn free_cores(survey: &Survey) -> Option<usize> {
    let cores = survey.run.info.cores as usize;
    let taken = survey.run.taken_cores().unwrap_or(0.0).round() as usize;
    (cores > 0).then(|| cores.saturating_sub(taken).max(1))
}
