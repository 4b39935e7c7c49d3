//! Sentences about transitions.

use crate::format::capital;
use loadscope_trace::{
    BatchId, Collate, HeldBatch, Lane, Nanos, Origin, Run, Stage, Transition, WorkerId,
};
use loadscope_words::say;

/// Describes `t`, a transition of `run`, in one sentence.
pub fn narrate(run: &Run, t: &Transition) -> String {
    let row = t.batch as usize;
    let Some(batch) = run.batches().get(row) else {
        return String::new();
    };
    let id = batch.id;
    let name = capital(&id.to_string());
    let who = fetcher(batch.worker);
    let took = |stage| match run.path(row).iter().find(|s| s.stage == stage) {
        Some(step) => say!(" in {}", t.at - step.start),
        None => String::new(),
    };
    let before = stage_before(run, t);
    match t.stage {
        Stage::Queued => match batch.worker {
            Some(w) => say!("{name} is dispatched to worker {w}"),
            None => say!("The sampler passes {id} to the main process"),
        },
        Stage::Fetching => say!("{} begins to fetch {id}", capital(&who)),
        Stage::Collating => say!(
            "{} has fetched {id}{} and collates it",
            capital(&who),
            took(Stage::Fetching)
        ),
        Stage::Returning if before == Some(Stage::Pinning) => {
            say!("{name} is pinned and put into the data queue")
        }
        Stage::Returning if ends_stream(run, t) => say!(
            "{} puts the end of its stream into the result queue, in answer to {id}",
            capital(&who)
        ),
        Stage::Returning => say!("{} puts {id} into the result queue", capital(&who)),
        Stage::Pinning => match batch.worker {
            Some(_) => say!("The pin thread copies {id} to page-locked memory"),
            None => say!("The main process copies {id} to page-locked memory"),
        },
        Stage::Held => match pipeline_at(run, t).awaited().filter(|b| b.id != id) {
            Some(missing) => say!("{name} arrived before {} and is held", missing.id),
            None => say!("{name} arrived early and is held"),
        },
        Stage::Ready => ready(run, t, id, before),
        Stage::Training => trained(run, t, id),
        Stage::Done => say!("The trainer finished {id}{}", took(Stage::Training)),
        Stage::Failed => say!("{name} failed, and its error is raised in the training loop"),
        Stage::Discarded => discarded(run, t, id, before),
    }
}

/// Describes a discarded batch: its stream is exhausted, its task gets no result, or the epoch is stopped early.
fn discarded(run: &Run, t: &Transition, id: BatchId, before: Option<Stage>) -> String {
    let name = capital(&id.to_string());
    let worker = run.batches().get(t.batch as usize).and_then(|b| b.worker);
    match before {
        _ if is_over(run, t.batch, t.at) => {
            say!("{name} is discarded because the epoch ended before it was requested")
        }
        Some(Stage::Fetching | Stage::Returning) => {
            say!(
                "{} has no data left for {id}: its part of the dataset is exhausted",
                capital(&fetcher(worker))
            )
        }
        _ => say!("{name} is canceled because {} has ended", fetcher(worker)),
    }
}

/// Returns true if the batch of `t` has no data because its worker's stream is exhausted.
fn ends_stream(run: &Run, t: &Transition) -> bool {
    let path = run.path(t.batch as usize);
    path.last()
        .is_some_and(|last| last.stage == Stage::Discarded && !is_over(run, t.batch, last.start))
}

/// Returns true if the epoch of a batch has ended by `at`.
fn is_over(run: &Run, batch: u32, at: Nanos) -> bool {
    let Some(id) = run.batches().get(batch as usize).map(|b| b.id) else {
        return false;
    };
    let epoch = run.epochs().iter().rev().find(|e| e.epoch == id.epoch);
    epoch.is_some_and(|e| e.end.is_some_and(|end| end <= at))
}

/// Describes the consequence of `t`. Returns `None` if it needs no explanation.
pub fn consequence(run: &Run, t: &Transition) -> Option<String> {
    let in_order = run.info.options.keeps_order();
    let before = || stage_before(run, t);
    let text = match t.stage {
        Stage::Queued => return dispatch_reason(run, t),
        Stage::Fetching => return None,
        Stage::Collating => collation(run),
        Stage::Returning if before() == Some(Stage::Pinning) => {
            say!("The GPU can copy it asynchronously")
        }
        Stage::Returning => say!("The main process reads this queue only when next() is called"),
        Stage::Pinning => say!("One batch at a time, in the order of arrival"),
        Stage::Held => say!("With in_order=False, it would be yielded now"),
        Stage::Ready if !in_order => {
            say!("With in_order=False, the first batch to arrive is yielded")
        }
        Stage::Ready => return None,
        Stage::Training => match wait_around(run, t.at).map(|since| t.at - since) {
            Some(waited) if waited >= Nanos(1_000) => {
                say!("The training loop was blocked until now")
            }
            _ => say!("The loader is ahead of the trainer"),
        },
        Stage::Done if is_last(run, t) => say!("It was the last batch"),
        Stage::Done => say!("The trainer requests the next batch"),
        Stage::Failed => say!("Without try/except, the training loop ends here"),
        Stage::Discarded
            if matches!(before(), Some(Stage::Fetching | Stage::Returning))
                && !is_over(run, t.batch, t.at) =>
        {
            say!("It gets no more tasks in this epoch")
        }
        Stage::Discarded => say!("The work on it is wasted"),
    };
    Some(text.to_owned())
}

/// Describes the work of the collate function.
fn collation(run: &Run) -> &'static str {
    let (info, options) = (&run.info, &run.info.options);
    let is_own = (info.arguments.iter()).any(|argument| argument.starts_with("collate_fn="));
    let function = match &info.origin {
        // Without batches, PyTorch only converts the samples. Custom batch samplers also have no batch size.
        _ if is_own || options.batch_size.is_none() => None,
        Origin::Engine | Origin::Simulation => Some(options.collate.resolve(&options.dataset)),
        Origin::Pytorch(_) => Some(Collate::Stack),
        Origin::Import(_) => None,
    };
    match function {
        Some(Collate::Fitting | Collate::Stack) => {
            say!("Samples are stacked into one tensor per field")
        }
        Some(Collate::List) => say!("Samples are collected in one list per field"),
        Some(Collate::Pad(_)) => {
            say!("Samples are padded to the same size and stacked into one tensor per field")
        }
        Some(Collate::Concat) => say!("Samples are concatenated into one tensor per field"),
        None => say!("collate_fn turns the samples into one batch"),
    }
}

/// Returns true if `t` belongs to the last batch that the trainer received in its epoch. With in_order=False, that is
/// not always the highest index.
fn is_last(run: &Run, t: &Transition) -> bool {
    let Some(id) = run.batches().get(t.batch as usize).map(|b| b.id) else {
        return false;
    };
    let epoch = run.epochs().iter().rev().find(|e| e.epoch == id.epoch);
    let Some(end) = epoch.and_then(|e| e.end) else {
        return false;
    };
    let all = run.transitions();
    let after = all.partition_point(|other| other.at < t.at);
    let mut after = all
        .range(after..)
        .iter()
        .skip_while(|other| *other != t)
        .skip(1);
    let asked_for = |t: &Transition| matches!(t.stage, Stage::Training | Stage::Failed);
    let is_of_epoch = |t: &Transition| {
        let batch = run.batches().get(t.batch as usize);
        batch.is_some_and(|b| b.id.epoch == id.epoch)
    };
    // The search is short: a later batch is among the next transitions, and few transitions follow the last batch.
    !after
        .by_ref()
        .take_while(|t| t.at <= end)
        .any(|t| asked_for(t) && is_of_epoch(t))
}

/// Returns the reason of a dispatch. The first tasks fill the prefetch window, later ones follow a yielded batch.
fn dispatch_reason(run: &Run, t: &Transition) -> Option<String> {
    let batch = run.batches().get(t.batch as usize)?;
    batch.worker?;
    let (idx, window) = (u64::from(batch.id.idx), run.info.options.window() as u64);
    Some(match window {
        0 => return None,
        window if idx < window => say!("Fills the prefetch window: {} of {window}", idx + 1),
        _ => say!("One new task for each batch yielded").to_owned(),
    })
}

/// Describes the location of a batch: `Fetching in worker 0`, `In the result queue`.
pub fn describe_location(batch: &HeldBatch) -> String {
    let stage = batch.stage.label();
    match (batch.stage, batch.lane) {
        (Stage::Queued, Some(Lane::IndexQueue(w))) => say!("Queued for worker {w}"),
        (_, Some(Lane::Worker(w))) => say!("{stage} in worker {w}"),
        (_, Some(Lane::Main)) => say!("{stage} in the main process"),
        (Stage::Returning, Some(lane)) => say!("In the {lane}"),
        (Stage::Pinning, _) => say!("In the pin thread").to_owned(),
        (Stage::Ready, _) => say!("Ready in the reorder buffer").to_owned(),
        (Stage::Held, _) => say!("Held in the reorder buffer").to_owned(),
        _ => stage.to_owned(),
    }
}

/// Returns `worker 0` or `the main process`.
pub fn fetcher(worker: Option<WorkerId>) -> String {
    worker.map_or_else(
        || say!("the main process").to_owned(),
        |w| say!("worker {w}"),
    )
}

fn ready(run: &Run, t: &Transition, id: BatchId, before: Option<Stage>) -> String {
    let name = capital(&id.to_string());
    let wait = wait_around(run, t.at);
    if before == Some(Stage::Held) {
        say!("{name} is no longer held and is next")
    } else if let Some(since) = wait {
        say!(
            "{name} arrives after the trainer waited {} for it",
            t.at - since
        )
    } else {
        say!("{name} arrives and is next")
    }
}

fn trained(run: &Run, t: &Transition, id: BatchId) -> String {
    // Waits under 1 µs are the cost of the call.
    match wait_around(run, t.at).map(|since| t.at - since) {
        Some(waited) if waited >= Nanos(1_000) => {
            say!("The trainer receives {id} after a wait of {waited}")
        }
        _ => say!("The trainer receives {id} without a wait"),
    }
}

/// Returns the start of the wait that contains `at`. The last instant of a wait is included.
fn wait_around(run: &Run, at: Nanos) -> Option<Nanos> {
    let after = run.waits().partition_point(|w| w.start <= at);
    let wait = run.waits().range(..after).last()?;
    (at <= wait.end).then_some(wait.start)
}

fn stage_before(run: &Run, t: &Transition) -> Option<Stage> {
    let path = run.path(t.batch as usize);
    let at = path
        .iter()
        .position(|s| s.stage == t.stage && s.start == t.at)?;
    path.get(at.checked_sub(1)?).map(|s| s.stage)
}

/// Returns the pipeline just after `t`. Other transitions can have the same time.
fn pipeline_at<'a>(run: &'a Run, t: &Transition) -> loadscope_trace::Pipeline<'a> {
    let all = run.transitions();
    let first = all.partition_point(|other| other.at < t.at);
    let found = all.range(first..).iter().position(|other| other == t);
    run.pipeline_after(found.map_or(all.len(), |k| first + k + 1))
}

#[cfg(test)]
mod tests;
