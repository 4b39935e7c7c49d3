//! Finding about an error in a training step.

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Nanos, Run, brief};
use loadscope_words::say;

/// Minimum ratio of a long step to the mean step.
const LONG_RATIO: i64 = 5;

/// Reports an error that ended the program in a training step.
pub(super) fn failed(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let (at, message, row) = run.step_failure()?;
    let id = run.batches()[row].id;
    let took = at - yielded_at(run, row).unwrap_or(at);
    let usual = survey.step;
    let length = match took.0 > usual.0.saturating_mul(LONG_RATIO) && usual.0 > 0 {
        true => say!("after {took}. A step usually takes {usual}."),
        false => say!("after {took}"),
    };
    let error = message.first_line().trim_end_matches('.');
    Some(Finding {
        id: FindingId::StepFailed,
        text: say!(
            "The training step on {id} raised an error: {}, {length}",
            brief(error.to_owned())
        ),
        severity: Severity::Critical,
        evidence: Evidence::Batch(id),
        remedy: match run.info.world_size {
            0 | 1 => say!("The error is not in the loader: the traceback shows the failing line"),
            _ => say!("The error is not in the loader: the traceback shows the failing line. A collective (all_reduce) that times out waits for another rank: compare the number of batches of all ranks."),
        }
        .to_owned(),
        cost: None,
    })
}

/// Returns the time at which the batch at `row` was yielded. Returns `None` if it was not.
fn yielded_at(run: &Run, row: usize) -> Option<Nanos> {
    run.entered(row, loadscope_trace::Stage::Training)
}
