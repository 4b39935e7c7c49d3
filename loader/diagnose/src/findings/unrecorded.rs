//! Finding about workers that started before the recording.

use super::{Evidence, Finding, FindingId, Survey};
use crate::Cause;
use loadscope_trace::{Nanos, plural};
use loadscope_words::say;

/// Reports waits for workers whose work is not recorded.
pub(super) fn workers(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let cost = survey.blame.time_of(Cause::InWorker)?;
    let severity = survey.severity(cost)?;
    let count = run.workers().iter().filter(|w| !w.is_recorded).count() as u64;
    let workers = plural(count, say!(n: "worker"), say!(n: "workers"));
    let each = Nanos(survey.total().0 / i64::try_from(survey.yielded.max(1)).unwrap_or(i64::MAX));
    Some(Finding {
        id: FindingId::UnrecordedWorkers,
        text: say!(
            "{workers} started before the recording, so their work was not measured. A batch arrives every {each}, and a training step takes {}: {}.",
            survey.step,
            survey.format_cost(cost)
        ),
        severity,
        evidence: Evidence::Run,
        remedy: say!("To measure the workers, start the recording before the first epoch of this loader, or create the DataLoader again: its new workers are recorded").to_owned(),
        cost: Some(cost),
    })
}

/// Returns true if the work of at least one worker is not recorded.
pub(super) fn has_unrecorded_worker(survey: &Survey) -> bool {
    survey.run.workers().iter().any(|w| !w.is_recorded)
}
