//! An error that left the training step.

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Nanos, Run, brief};
use loadscope_words::say;

/// Ratio to the usual length from which a step is long.
const LONG: i64 = 5;

/// An error ended the program in a training step.
pub(super) fn failed(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let (at, message, row) = run.step_failure()?;
    let id = run.batches()[row].id;
    let took = at - since(run, row).unwrap_or(at);
    let usual = survey.step;
    let length = match took.0 > usual.0.saturating_mul(LONG) && usual.0 > 0 {
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

/// When the batch at `row` was yielded.
fn since(run: &Run, row: usize) -> Option<Nanos> {
    run.entered(row, loadscope_trace::Stage::Training)
}
