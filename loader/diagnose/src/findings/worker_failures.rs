//! Failed runs: an error in the loader, or a worker that died.

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{
    EndReason, Level, Message, Nanos, PathStep, Run, Stage, WorkerId, brief, list,
};
use loadscope_words::say;

/// Finds workers that died: their process ended without a request from the main process.
pub(super) fn dead(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let workers = run.workers().iter();
    let dead = workers.filter_map(|w| match w.end {
        Some((at, EndReason::Died)) => Some((w.info.worker, at)),
        _ => None,
    });
    let dead: Vec<_> = dead.collect();
    let (worker, at) = *dead.first()?;
    let names: Vec<String> = dead.iter().map(|(w, _)| w.to_string()).collect();
    let pipeline = run.pipeline_at(Nanos(at.0.saturating_sub(1)));
    let current = pipeline.batches().find(|b| {
        let is_of_worker = run.batches()[b.row].worker == Some(worker);
        is_of_worker && matches!(b.stage, Stage::Fetching | Stage::Collating)
    });
    let what = match current {
        Some(batch) => say!(" while it worked on {}", batch.id),
        None => String::new(),
    };
    let which = match dead.len() {
        1 => cause_of_death(run, worker, at).unwrap_or_else(|| say!("Worker {worker} died")),
        _ => say!("Workers {} died, first worker {worker}", list(&names, 4)),
    };
    Some(Finding {
        id: FindingId::DeadWorker,
        text: say!("{which} at {}{what}", survey.format_time(at)),
        severity: Severity::Critical,
        evidence: match current {
            Some(batch) => Evidence::Batch(batch.id),
            None => Evidence::Worker(worker),
        },
        remedy: say!("Load that batch with num_workers=0, and check the system log for an out-of-memory kill. After such a kill, use fewer workers or smaller batches.")
            .to_owned(),
        cost: None,
    })
}

/// Returns the recorded cause of a worker's death, as in `Worker 1 (process 2572) was killed by signal 9`. Returns `None` if not recorded.
/// It is the last error message of the worker at the time of its end that names no batch and no sample.
fn cause_of_death(run: &Run, worker: WorkerId, at: Nanos) -> Option<String> {
    let messages = run.messages().iter().rev();
    let mut messages = messages.filter(|(when, m)| *when == at && m.level == Level::Error);
    let names_no_batch = |m: &Message| m.about.is_none() && m.sample.is_none();
    let found = messages.find(|(_, m)| m.worker == Some(worker) && names_no_batch(m));
    found.map(|(_, m)| brief(m.first_line().to_owned()))
}

/// Finds the error that ended the run outside of a training step.
pub(super) fn failed(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    if run.step_failure().is_some() {
        return None;
    }
    let (at, message) = run.failure()?;
    let place = message.place();
    let place = place.map_or(String::new(), |place| say!(" in {place}"));
    let line = message.first_line();
    // The text of a finding with a single sentence has no final period.
    let sentence = line.trim_end_matches('.');
    let is_single = !sentence.contains(". ");
    let text = brief(if is_single { sentence } else { line }.to_owned());
    let batch = message.about.filter(|id| run.batch(*id).is_some());
    let position = message.sample.zip(batch).and_then(|(sample, id)| {
        let row = run.row(id)?;
        let all = run.indices(row).iter();
        all.copied().position(|index| index == sample)
    });
    let row = batch.and_then(|id| run.row(id));
    let stage = row.and_then(|row| PathStep::failed_in(&run.path(row), Nanos::MAX));
    let remedy = match (message.about, stage) {
        (Some(_), Some(Stage::Collating)) => {
            say!(
                "Make collate_fn accept this batch, or return samples of one form from __getitem__. To debug, set num_workers=0."
            )
        }
        (Some(_), _) => {
            say!(
                "Catch the error in __getitem__ and return another sample, or exclude this sample. To debug, set num_workers=0."
            )
        }
        (None, _) => say!("To debug, set num_workers=0"),
    };
    Some(Finding {
        id: FindingId::Failed,
        text: say!(
            "The run ended with an error at {}{place}: {text}",
            survey.format_time(at)
        ),
        severity: Severity::Critical,
        evidence: match (batch, position) {
            (Some(id), Some(position)) => Evidence::Sample(id, position, message.sample),
            (Some(id), None) => Evidence::Batch(id),
            (None, _) => Evidence::Range(at, at),
        },
        remedy: remedy.to_owned(),
        cost: None,
    })
}
