//! Where a batch waited and for whom, in sentences.

use loadscope_trace::{Batch, HeldBatch, Lane, Nanos, PathStep, Run, Stage};

/// Sentences about the waiting of the batch at `row`, the longest wait first.
pub fn story(run: &Run, row: usize, now: Nanos) -> Vec<String> {
    let Some(batch) = run.batches().get(row) else {
        return Vec::new();
    };
    let path = run.path(row);
    let mut told: Vec<(Nanos, String)> = Vec::new();
    for (k, step) in path.iter().enumerate().filter(|(_, s)| s.start <= now) {
        let lasted = step.end.unwrap_or(now).min(now) - step.start;
        let sentence = match step.stage {
            Stage::Held => Some(held(run, step, lasted)),
            Stage::Queued => queued(run, row, batch, step, lasted),
            Stage::Returning => Some(returning(&path, k, lasted)),
            Stage::Ready => ready(lasted),
            _ => None,
        };
        told.extend(sentence.map(|s| (lasted, s)));
    }
    told.extend(awaited(run, row, &path, now));
    // What took no time worth a word is left out, unless nothing else can be said.
    told.retain(|(lasted, _)| *lasted >= Nanos(100_000));
    told.sort_by_key(|(lasted, _)| std::cmp::Reverse(*lasted));
    told.truncate(3);
    if told.is_empty() && batch.stage.has_arrived() {
        return vec!["It waited for nothing".to_owned()];
    }
    told.into_iter().map(|(_, sentence)| sentence).collect()
}

fn held(run: &Run, step: &PathStep, lasted: Nanos) -> String {
    let pipeline = run.pipeline_at(step.start);
    match pipeline.awaited() {
        Some(missing) if missing.stage != Stage::Held => {
            format!("Held {lasted} behind {}, {}", missing.id, which(&missing))
        }
        _ => format!("Held {lasted} behind a batch that was missing"),
    }
}

/// What a batch was at: `which worker 0 was fetching`.
fn which(batch: &HeldBatch) -> String {
    let by = match batch.lane {
        Some(Lane::Worker(w) | Lane::IndexQueue(w)) => format!("worker {w}"),
        _ => "the main thread".to_owned(),
    };
    match batch.stage {
        Stage::Queued => format!("which waited in the queue of {by}"),
        Stage::Fetching => format!("which {by} was fetching"),
        Stage::Collating => format!("which {by} was collating"),
        Stage::Pinning => "which was being pinned".to_owned(),
        _ => "which was on its way".to_owned(),
    }
}

fn queued(run: &Run, row: usize, batch: &Batch, step: &PathStep, lasted: Nanos) -> Option<String> {
    let worker = batch.worker?;
    let pipeline = run.pipeline_at(step.start);
    let busy = pipeline
        .in_lane(Lane::Worker(worker))
        .find(|b| b.row != row);
    let before = pipeline
        .in_lane(Lane::IndexQueue(worker))
        .take_while(|b| b.row != row);
    let ahead: Vec<String> = busy
        .into_iter()
        .chain(before)
        .map(|b| b.id.idx.to_string())
        .collect();
    Some(match ahead.as_slice() {
        [] => format!("Queued {lasted} until worker {worker} took it"),
        [one] => format!("Queued {lasted} for worker {worker}, behind batch {one}"),
        more => format!(
            "Queued {lasted} for worker {worker}, behind batches {}",
            more.join(", ")
        ),
    })
}

/// Results are only taken from the queue while the trainer asks for a batch.
fn returning(path: &[PathStep], at: usize, lasted: Nanos) -> String {
    let stage = |k: usize| path.get(k).map(|s| s.stage);
    let was_pinned = at > 0 && stage(at - 1) == Some(Stage::Pinning);
    let queue = if was_pinned {
        "pinned queue"
    } else {
        "result queue"
    };
    match stage(at + 1) {
        Some(Stage::Pinning) => format!("In the {queue} {lasted} until the pin thread took it"),
        Some(_) => format!("In the {queue} {lasted} until the main thread took it"),
        None => format!("In the {queue} for {lasted}"),
    }
}

fn ready(lasted: Nanos) -> Option<String> {
    (lasted >= Nanos(100_000)).then(|| format!("Ready {lasted} before the trainer took it"))
}

/// The trainer's waiting that this batch ended.
fn awaited(run: &Run, row: usize, path: &[PathStep], now: Nanos) -> Option<(Nanos, String)> {
    let wait = run
        .waits()
        .iter()
        .find(|w| w.batch.is_some_and(|b| b as usize == row))?;
    if wait.start > now {
        return None;
    }
    let lasted = wait.end.min(now) - wait.start;
    let slowest = path
        .iter()
        .filter(|s| s.stage < Stage::Ready)
        .filter_map(|s| Some((s.end? - s.start, s.stage)))
        .max()?;
    let because = match slowest {
        (time, Stage::Fetching) => format!("fetching it took {time}"),
        (time, Stage::Collating) => format!("collating it took {time}"),
        (time, Stage::Pinning) => format!("pinning it took {time}"),
        (time, stage) => format!("it was {} for {time}", stage.label().to_lowercase()),
    };
    Some((
        lasted,
        format!("The trainer waited {lasted} for it: {because}"),
    ))
}
