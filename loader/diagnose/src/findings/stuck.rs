//! Finding about a worker that is stuck on a batch.

use std::cmp::Reverse;

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Nanos, Run, Stage, WorkerId, count, list};
use loadscope_words::say;

/// Minimum ratio of the time on the unfinished batch to the longest time on any other batch.
const MIN_RATIO: i64 = 10;
/// Minimum time on the unfinished batch if the program continues, or did not wait for the batch.
const MIN_TIME: Nanos = Nanos::from_millis(5_000);
/// Minimum time on the unfinished batch if the last epoch ended while training waited for the batch.
const MIN_TIME_AT_END: Nanos = Nanos::from_millis(1_000);
/// Maximum number of samples in the finding.
const MAX_NAMED: usize = 8;

/// Batch that its worker started but did not finish.
struct Unfinished {
    row: usize,
    worker: WorkerId,
    since: Nanos,
    took: Nanos,
}

/// Reports a worker that did not finish a batch until the recording ended, or until the epoch ended.
pub(super) fn worker(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let awaited = awaited(run);
    let is_long = |batch: &Unfinished| {
        let ended = run.epochs().last().is_some_and(|epoch| epoch.end.is_some());
        match ended && awaited == Some(batch.row) {
            true => batch.took >= MIN_TIME_AT_END,
            false => batch.took >= MIN_TIME,
        }
    };
    let rows = 0..run.batches().len();
    let unfinished = rows.filter_map(|row| unfinished(run, row));
    let found = unfinished.filter(is_long).min_by_key(|b| Reverse(b.took))?;
    let others = survey.work.iter().enumerate();
    let others = others.filter(|(row, _)| *row != found.row);
    let longest = others.map(|(_, work)| *work).max().unwrap_or(Nanos::ZERO);
    if found.took.0 < longest.0.saturating_mul(MIN_RATIO) {
        return None;
    }
    let id = run.batches()[found.row].id;
    let batch = format!("{id}{}", samples(run, found.row));
    let others = match longest.0 {
        0 => String::new(),
        _ => say!(" Other batches took {longest} at most, so this is not a slow batch."),
    };
    Some(Finding {
        id: FindingId::SilentWorker,
        text: say!(
            "Worker {} has been stuck on {batch} since {}. The batch is unfinished after {}.{others}",
            found.worker,
            survey.format_time(found.since),
            found.took
        ),
        severity: Severity::Critical,
        evidence: Evidence::Batch(id),
        remedy: remedy(run),
        cost: None,
    })
}

fn remedy(run: &Run) -> String {
    let find = say!(
        "To find the cause, run `loadscope dump PID` while the program hangs, or record it with `--alarm 60s`."
    );
    match run.info.options.timeout > 0.0 {
        true => find.to_owned(),
        false => format!(
            "{find} {}",
            say!("With timeout=60, a hang raises an error.")
        ),
    }
}

/// Returns the position of the batch that training waited for last. Returns `None` if that wait ended with a batch.
fn awaited(run: &Run) -> Option<usize> {
    let wait = run.waits().last().filter(|wait| wait.batch.is_none())?;
    run.awaited_in(wait)
}

/// Returns the batch at `row` if its worker started but never finished it. Otherwise `None`.
fn unfinished(run: &Run, row: usize) -> Option<Unfinished> {
    let batch = &run.batches()[row];
    let is_over = |at: Nanos| run.epochs().iter().any(|e| e.end == Some(at));
    let mut back = run.steps_back(row).map(|(_, transition)| transition);
    let last = back.next()?;
    let (before, until) = match last.stage {
        Stage::Discarded if is_over(last.at) => (back.next()?, last.at),
        stage if !stage.is_final() => (last, run.end()),
        _ => return None,
    };
    let is_working = matches!(before.stage, Stage::Fetching | Stage::Collating);
    // The time of the worker includes fetching and collating.
    let began = match before.stage {
        Stage::Collating => run.entered(row, Stage::Fetching).unwrap_or(before.at),
        _ => before.at,
    };
    is_working.then_some(Unfinished {
        row,
        worker: batch.worker?,
        since: began,
        took: until - began,
    })
}

/// Returns the samples of the batch at `row` as text, such as ` (samples 20 to 23)`. Empty if unknown.
fn samples(run: &Run, row: usize) -> String {
    let indices = run.indices(row);
    let follow = indices
        .pairs()
        .all(|[index, next]| index.checked_add(1) == Some(*next));
    match (indices.first(), indices.last()) {
        (Some(one), _) if indices.len() == 1 => say!(" (sample {})", count(*one)),
        (Some(first), Some(last)) if follow => {
            say!(" (samples {} to {})", count(*first), count(*last))
        }
        (Some(_), _) => {
            let names: Vec<String> = indices.iter().map(|index| count(*index)).collect();
            say!(" (samples {})", list(&names, MAX_NAMED))
        }
        (None, _) => String::new(),
    }
}
