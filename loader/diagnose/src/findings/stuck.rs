//! A worker that does not finish a batch.

use std::cmp::Reverse;

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Nanos, Run, Stage, WorkerId, count, list};
use loadscope_words::say;

/// Multiple of the longest time of any other batch.
const MANY: i64 = 10;
/// While the program continues, or does not wait for the batch.
const LONG: Nanos = Nanos::from_millis(5_000);
/// The program waited for the batch when it ended.
const LONG_AT_END: Nanos = Nanos::from_millis(1_000);
/// Samples that are named.
const NAMED: usize = 8;

/// A batch that its worker began and did not finish.
struct Unfinished {
    row: usize,
    worker: WorkerId,
    since: Nanos,
    took: Nanos,
}

/// A worker began a batch and did not finish it until the recording ended, or until the program gave up.
pub(super) fn worker(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let awaited = awaited(run);
    let is_long = |batch: &Unfinished| {
        let ended = run.epochs().last().is_some_and(|epoch| epoch.end.is_some());
        match ended && awaited == Some(batch.row) {
            true => batch.took >= LONG_AT_END,
            false => batch.took >= LONG,
        }
    };
    let rows = 0..run.batches().len();
    let unfinished = rows.filter_map(|row| unfinished(run, row));
    let found = unfinished.filter(is_long).min_by_key(|b| Reverse(b.took))?;
    let others = survey.work.iter().enumerate();
    let others = others.filter(|(row, _)| *row != found.row);
    let longest = others.map(|(_, work)| *work).max().unwrap_or(Nanos::ZERO);
    if found.took.0 < longest.0.saturating_mul(MANY) {
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
            survey.say(found.since),
            found.took
        ),
        severity: Severity::Critical,
        evidence: Evidence::Batch(id),
        remedy: remedy(run),
        cost: None,
    })
}

fn remedy(run: &Run) -> String {
    let causes = say!(
        "Try multiprocessing_context='spawn', because another thread of the main process may have held a lock at the fork. Otherwise, check for a hanging file system."
    );
    match run.info.options.timeout > 0.0 {
        true => causes.to_owned(),
        false => format!(
            "{causes} {}",
            say!("With timeout=60, a hang raises an error.")
        ),
    }
}

/// Position of the batch that the trainer waits for, or waited for at the end.
fn awaited(run: &Run) -> Option<usize> {
    let wait = run.waits().last().filter(|wait| wait.batch.is_none())?;
    run.awaited_in(wait)
}

/// The batch at `row`, if its worker never finished it.
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
    // Fetching and collating count together.
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

/// ` (samples 20 to 23)`; empty if they are not known.
fn samples(run: &Run, row: usize) -> String {
    let indices = run.indices(row);
    let follow = indices
        .windows(2)
        .all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    match indices {
        [] => String::new(),
        [one] => say!(" (sample {})", count(*one)),
        [first, .., last] if follow => say!(" (samples {} to {})", count(*first), count(*last)),
        many => {
            let names: Vec<String> = many.iter().map(|index| count(*index)).collect();
            say!(" (samples {})", list(&names, NAMED))
        }
    }
}
