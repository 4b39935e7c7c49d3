//! Sentences about the waits of a batch.

use loadscope_trace::{Batch, HeldBatch, Lane, Nanos, PathStep, Run, Stage, Wait};
use loadscope_words::say;

/// Describes the waits of the batch at `row`, the longest wait first.
pub fn batch_history(run: &Run, row: usize, now: Nanos) -> Vec<String> {
    let Some(batch) = run.batches().get(row) else {
        return Vec::new();
    };
    // Later steps are unknown at this instant.
    let mut path = run.path(row);
    path.retain(|step| step.start <= now);
    let mut told: Vec<(Nanos, String)> = Vec::new();
    for (k, step) in path.iter().enumerate() {
        let lasted = step.end.unwrap_or(now).min(now) - step.start;
        let sentence = match step.stage {
            Stage::Held => Some(held(run, step, lasted)),
            Stage::Queued => queued(run, row, batch, step, lasted),
            Stage::Returning => Some(returning(&path, k, lasted)),
            Stage::Ready => ready(lasted, step.end.is_some_and(|end| end <= now)),
            _ => None,
        };
        told.extend(sentence.map(|s| (lasted, s)));
    }
    told.extend(awaited(run, row, &path, now));
    // Negligible times are omitted.
    told.retain(|(lasted, _)| *lasted >= Nanos(100_000));
    told.sort_by_key(|(lasted, _)| std::cmp::Reverse(*lasted));
    told.truncate(3);
    let has_arrived = path.iter().any(|step| step.stage.has_arrived());
    if told.is_empty() && has_arrived {
        return vec![say!("The batch did not wait").to_owned()];
    }
    told.into_iter().map(|(_, sentence)| sentence).collect()
}

fn held(run: &Run, step: &PathStep, lasted: Nanos) -> String {
    let pipeline = run.pipeline_at(step.start);
    match pipeline.awaited() {
        Some(missing) if missing.stage != Stage::Held => {
            say!(
                "Held {lasted}, waiting for {}: {}",
                missing.id,
                which(&missing)
            )
        }
        _ => say!("Held {lasted}, waiting for an earlier batch"),
    }
}

/// Describes the state of a batch: `worker 0 was fetching it`.
fn which(batch: &HeldBatch) -> String {
    let by = match batch.lane {
        Some(Lane::Worker(w) | Lane::IndexQueue(w)) => say!("worker {w}"),
        _ => say!("the main process").to_owned(),
    };
    match batch.stage {
        Stage::Queued => say!("it was queued for {by}"),
        Stage::Fetching => say!("{by} was fetching it"),
        Stage::Collating => say!("{by} was collating it"),
        Stage::Pinning => say!("it was being pinned").to_owned(),
        _ => say!("it was in flight").to_owned(),
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
        [] => say!("Queued {lasted} until worker {worker} took it"),
        [one] => say!("Queued {lasted} for worker {worker}, after batch {one}"),
        more => say!(
            "Queued {lasted} for worker {worker}, after batches {}",
            more.join(say!(", "))
        ),
    })
}

/// Describes the time in a queue. The main process takes results from the queue only while the trainer asks for a batch.
fn returning(path: &[PathStep], at: usize, lasted: Nanos) -> String {
    let stage = |k: usize| path.get(k).map(|s| s.stage);
    let was_pinned = at > 0 && stage(at - 1) == Some(Stage::Pinning);
    let queue = if was_pinned {
        say!("data queue (pinned)")
    } else {
        say!("result queue")
    };
    match stage(at + 1) {
        Some(Stage::Pinning) => say!("In the {queue} for {lasted} until the pin thread took it"),
        Some(_) => say!("In the {queue} for {lasted} until the main process took it"),
        None => say!("In the {queue} for {lasted}"),
    }
}

fn ready(lasted: Nanos, is_over: bool) -> Option<String> {
    let told = match is_over {
        true => say!("Ready for {lasted} before the trainer took it"),
        false => say!("Ready for {lasted}"),
    };
    (lasted >= Nanos(100_000)).then_some(told)
}

/// Describes the trainer's wait that this batch ends.
fn awaited(run: &Run, row: usize, path: &[PathStep], now: Nanos) -> Option<(Nanos, String)> {
    let begun = run.waits().partition_point(|w| w.start <= now);
    let (open, ended): (Vec<&Wait>, Vec<&Wait>) = (run.waits().range(..begun).iter())
        .filter(|w| w.end > now || w.batch.is_some_and(|b| b as usize == row))
        .partition(|w| w.end > now);
    // An open wait does not name its batch. Only the order determines it.
    let is_awaited = || {
        let awaited = run.pipeline_at(now).awaited();
        run.info.options.keeps_order() && awaited.is_some_and(|b| b.row == row)
    };
    let wait =
        (ended.first().copied()).or_else(|| open.first().copied().filter(|_| is_awaited()))?;
    let lasted = wait.end.min(now) - wait.start;
    // An unfinished stage has only its time so far.
    let so_far = |s: &PathStep| s.end.unwrap_or(now).min(now) - s.start;
    let is_over = |s: &PathStep| s.end.is_some_and(|end| end <= now);
    let slowest = path
        .iter()
        .filter(|s| s.stage < Stage::Ready && s.start <= now)
        .max_by_key(|s| so_far(s))?;
    let (time, over) = (so_far(slowest), is_over(slowest));
    let failed_in = PathStep::failed_in(path, now).map(|stage| stage.label().to_lowercase());
    let because = match (slowest.stage, over) {
        _ if failed_in.is_some() => say!("{} failed", failed_in.unwrap_or_default()),
        (Stage::Fetching, true) => say!("fetching took {time}"),
        (Stage::Fetching, false) => say!("fetching for {time} so far"),
        (Stage::Collating, true) => say!("collating took {time}"),
        (Stage::Collating, false) => say!("collating for {time} so far"),
        (Stage::Pinning, true) => say!("pinning took {time}"),
        (Stage::Pinning, false) => say!("pinning for {time} so far"),
        (stage, true) => say!("{} for {time}", stage.label().to_lowercase()),
        (stage, false) => say!("{} for {time} so far", stage.label().to_lowercase()),
    };
    let waits = if wait.end <= now {
        say!("waited")
    } else {
        say!("has waited")
    };
    let sentence = say!("The trainer {waits} {lasted} for it: {because}");
    let idle = run.device_idle(row).filter(|_| wait.end <= now);
    let sentence = match idle.map(|idle| say!("The device had no work for {idle} of it")) {
        Some(device) => say!("{sentence}. {device}"),
        None => sentence,
    };
    Some((lasted, sentence))
}

#[cfg(test)]
mod tests {
    use loadscope_plan::dataset::SyntheticCatalog;
    use loadscope_plan::simulate::simulate;
    use loadscope_trace::RunOptions;

    use super::*;

    /// Regression test: the text was "Fetching it took 1.33 s" while the batch was still being fetched.
    #[test]
    fn a_batch_story_at_an_instant_ignores_later_events() {
        let options = RunOptions {
            dataset: "synthetic:len=12,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 20.0,
            ..RunOptions::default()
        };
        let events = simulate(&options, &SyntheticCatalog).expect("sound options");
        let mut whole = Run::default();
        events.iter().for_each(|e| whole.apply(e));
        let mut told = 0;
        for ms in (0..whole.end().0 / 1_000_000).step_by(37) {
            let now = Nanos::from_millis(ms);
            let mut until = Run::default();
            events
                .iter()
                .filter(|e| e.at <= now)
                .for_each(|e| until.apply(e));
            for row in 0..until.batches().len() {
                let now_known = batch_history(&until, row, now);
                assert_eq!(
                    batch_history(&whole, row, now),
                    now_known,
                    "batch {row} at {ms} ms"
                );
                told += now_known.iter().filter(|s| s.contains("so far")).count();
            }
        }
        assert!(told > 5, "{told}");
    }

    /// Regression test: the text was "Fetching it took 32.9 ms" for a batch that failed in collation.
    #[test]
    fn the_story_of_a_failed_batch_names_the_failed_stage() {
        use loadscope_trace::{BatchId, Event, EventKind, Level, Message, RunId};

        for (last, expected) in [
            (Stage::Fetching, "fetching failed"),
            (Stage::Collating, "collating failed"),
        ] {
            let id = BatchId::default();
            let enter = |stage| EventKind::Entered { batch: id, stage };
            let error = EventKind::Message(Box::new(Message {
                level: Level::Error,
                text: "RuntimeError: stack expects each tensor to be equal size".to_owned(),
                about: Some(id),
                worker: Some(0),
                sample: None,
            }));
            let mut run = Run::default();
            let mut events = vec![
                (0, EventKind::EpochStarted { epoch: 0 }),
                (0, EventKind::dispatched(id, Some(0), [3, 4])),
                (0, EventKind::Consumer { waiting: true }),
                (1, enter(Stage::Fetching)),
            ];
            if last == Stage::Collating {
                events.push((34, enter(Stage::Collating)));
            }
            events.extend([
                (35, error),
                (35, enter(Stage::Failed)),
                (36, EventKind::EpochEnded { epoch: 0 }),
            ]);
            for (ms, kind) in events {
                let (at, of) = (Nanos::from_millis(ms), RunId(0));
                run.apply(&Event { at, run: of, kind });
            }
            let told = batch_history(&run, 0, run.end()).join(" ");
            assert!(told.contains(expected), "{told}");
            assert!(!told.contains("fetching took"), "{told}");
        }
    }
}
