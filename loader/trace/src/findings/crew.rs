//! What ends a run: an error, a worker that died, or one that is not heard of any more.

use super::{Evidence, Finding, FindingId, Severity, Survey};
use crate::words::list;
use crate::{EndReason, Level, Message, Nanos, Run, Stage, WorkerId, brief};
use loadscope_words::say;

/// A worker ended without being asked to.
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
    let had = pipeline.batches().find(|b| {
        let is_its = run.batches()[b.row].worker == Some(worker);
        is_its && matches!(b.stage, Stage::Fetching | Stage::Collating)
    });
    let what = match had {
        Some(batch) => say!(" while it worked on {}", batch.id),
        None => String::new(),
    };
    let which = match dead.len() {
        1 => how(run, worker, at).unwrap_or_else(|| say!("Worker {worker} died")),
        _ => say!("Workers {} died, first worker {worker}", list(&names, 4)),
    };
    Some(Finding {
        id: FindingId::DeadWorker,
        text: say!("{which} at {}{what}", survey.say(at)),
        severity: Severity::Critical,
        evidence: match had {
            Some(batch) => Evidence::Batch(batch.id),
            None => Evidence::Worker(worker),
        },
        remedy: say!("Load that batch with num_workers=0, and check the system log for an out-of-memory kill. Fewer workers or smaller batches use less memory.")
            .to_owned(),
        cost: None,
    })
}

/// `Worker 1 (process 2572) was killed by signal 9`, if that was recorded: the last error
/// of the worker at the time of its end, without a batch.
fn how(run: &Run, worker: WorkerId, at: Nanos) -> Option<String> {
    let said = run.messages().iter().rev();
    let mut said = said.filter(|(when, m)| *when == at && m.level == Level::Error);
    let of_no_batch = |m: &Message| m.about.is_none() && m.sample.is_none();
    let found = said.find(|(_, m)| m.worker == Some(worker) && of_no_batch(m));
    found.map(|(_, m)| brief(m.first_line().to_owned()))
}

/// An error ended the run.
pub(super) fn failed(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let (at, message) = run.failure()?;
    let place = message.place();
    let place = place.map_or(String::new(), |place| say!(" in {place}"));
    let line = message.first_line();
    // A single sentence has no period here.
    let sentence = line.trim_end_matches('.');
    let is_single = !sentence.contains(". ");
    let text = brief(if is_single { sentence } else { line }.to_owned());
    let batch = message.about.filter(|id| run.batch(*id).is_some());
    let position = message.sample.zip(batch).and_then(|(sample, id)| {
        let row = run.row(id)?;
        let all = run.indices(row).iter();
        all.copied().position(|index| index == sample)
    });
    let remedy = match message.about {
        Some(_) => {
            say!(
                "Catch the error in __getitem__ and return another sample, or exclude this sample. To debug, set num_workers=0."
            )
        }
        None => say!("To debug, set num_workers=0"),
    };
    Some(Finding {
        id: FindingId::Failed,
        text: say!(
            "The run ended with an error at {}{place}: {text}",
            survey.say(at)
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

/// A worker took a batch and gave no sign for very long, until the end of the recording.
pub(super) fn silent(survey: &Survey) -> Option<Finding> {
    /// So many times the longest that any other batch took,
    const MANY: i64 = 10;
    /// and at least so long.
    const LONG: Nanos = Nanos::from_millis(5_000);
    let run = survey.run;
    let is_over = |at: Nanos| run.epochs().iter().any(|e| e.end == Some(at));
    let silent = run.batches().iter().enumerate().filter_map(|(row, batch)| {
        let path = run.transitions.get(batch.last as usize)?;
        let (stage, since, until) = match path.stage {
            s if !s.is_final() => (s, path.at, run.end()),
            Stage::Discarded if is_over(path.at) => {
                let before = run.transitions.get(run.previous(batch.last) as usize)?;
                (before.stage, before.at, path.at)
            }
            _ => return None,
        };
        let worker = batch.worker?;
        let is_working = matches!(stage, Stage::Fetching | Stage::Collating);
        (is_working && until - since >= LONG).then_some((row, worker, until - since))
    });
    let (row, worker, took) = silent.max_by_key(|(_, _, took)| *took)?;
    let others = survey.work.iter().enumerate().filter(|(k, _)| *k != row);
    let longest = others.map(|(_, work)| work.0).max().unwrap_or(0);
    if took.0 < longest.saturating_mul(MANY) {
        return None;
    }
    let id = run.batches()[row].id;
    Some(Finding {
        id: FindingId::SilentWorker,
        text: say!(
            "Worker {worker} appears stuck: {took} on {id} so far. No other batch took more than {}.",
            Nanos(longest)
        ),
        severity: Severity::Critical,
        evidence: Evidence::Batch(id),
        remedy: say!("Set timeout=60 to get an error instead of a hang. Likely causes: a lock held during fork (try multiprocessing_context='spawn'), or a hanging file system.")
            .to_owned(),
        cost: None,
    })
}
