//! What just happened, in one sentence.

use crate::format::capital;
use loadscope_trace::{BatchId, HeldBatch, Lane, Nanos, Run, Stage, Transition, WorkerId};

/// One sentence about `t`, a transition of `run`.
pub fn narrate(run: &Run, t: &Transition) -> String {
    let row = t.batch as usize;
    let Some(batch) = run.batches().get(row) else {
        return String::new();
    };
    let id = batch.id;
    let name = capital(&id.to_string());
    let who = fetcher(batch.worker);
    let took = |stage| match run.path(row).iter().find(|s| s.stage == stage) {
        Some(step) => format!(" in {}", t.at - step.start),
        None => String::new(),
    };
    let before = stage_before(run, t);
    match t.stage {
        Stage::Queued => match batch.worker {
            Some(w) => format!("{name} is dispatched to worker {w}"),
            None => format!("The sampler hands {id} to the main thread"),
        },
        Stage::Fetching => format!("{} begins to fetch {id}", capital(&who)),
        Stage::Collating => format!(
            "{} has fetched {id}{} and collates it",
            capital(&who),
            took(Stage::Fetching)
        ),
        Stage::Returning if before == Some(Stage::Pinning) => {
            format!("{name} is pinned and put into the pinned queue")
        }
        Stage::Returning => format!("{} puts {id} into the result queue", capital(&who)),
        Stage::Pinning => format!("The pin thread copies {id} to page-locked memory"),
        Stage::Held => match pipeline_at(run, t).awaited().filter(|b| b.id != id) {
            Some(missing) => format!("{name} arrived before {} and is held", missing.id),
            None => format!("{name} arrived early and is held"),
        },
        Stage::Ready => ready(run, t, id, before),
        Stage::Training => trained(run, t, id),
        Stage::Done => format!("The trainer is through with {id}{}", took(Stage::Training)),
        Stage::Failed => format!("{name} failed and its error is raised in the trainer"),
        Stage::Discarded => discarded(run, t, id, before),
    }
}

/// A stream that is exhausted, a task that will get no answer, or an epoch that is stopped early.
fn discarded(run: &Run, t: &Transition, id: BatchId, before: Option<Stage>) -> String {
    let name = capital(&id.to_string());
    let worker = run.batches().get(t.batch as usize).and_then(|b| b.worker);
    match before {
        _ if is_over(run, t) => {
            format!("{name} is discarded because the epoch ended before it was asked for")
        }
        Some(Stage::Fetching) => {
            format!(
                "{} has nothing left for {id}: its stream is exhausted",
                capital(&fetcher(worker))
            )
        }
        _ => format!("{name} is given up because {} has ended", fetcher(worker)),
    }
}

/// True if the epoch of the batch of `t` has ended by then.
fn is_over(run: &Run, t: &Transition) -> bool {
    let Some(id) = run.batches().get(t.batch as usize).map(|b| b.id) else {
        return false;
    };
    let epoch = run.epochs().iter().rev().find(|e| e.epoch == id.epoch);
    epoch.is_some_and(|e| e.end.is_some_and(|end| end <= t.at))
}

/// Why what `t` tells matters; nothing where the sentence says it all.
pub fn consequence(run: &Run, t: &Transition) -> Option<String> {
    let in_order = run.info.options.keeps_order();
    let before = || stage_before(run, t);
    let text = match t.stage {
        Stage::Queued => return dispatch_reason(run, t),
        Stage::Fetching => return None,
        Stage::Collating => "The samples become one tensor a field",
        Stage::Returning if before() == Some(Stage::Pinning) => {
            "A GPU can copy it without waiting for it"
        }
        Stage::Returning => "The main thread looks there only while the trainer asks",
        Stage::Pinning => "One batch at a time, in the order of arrival",
        Stage::Held => "With in_order=False it would be yielded now",
        Stage::Ready if !in_order => "With in_order=False the first to arrive is yielded",
        Stage::Ready => return None,
        Stage::Training => match wait_around(run, t.at).map(|since| t.at - since) {
            Some(waited) if waited >= Nanos(1_000) => "While it waited, nothing was learned",
            _ => "The loader is ahead of it",
        },
        Stage::Done if is_last(run, t) => "It was the last one",
        Stage::Done => "Now it asks for the next one",
        Stage::Failed => "Without a try around it, the training loop ends here",
        Stage::Discarded if before() == Some(Stage::Fetching) && !is_over(run, t) => {
            "It gets no more tasks in this epoch"
        }
        Stage::Discarded => "Its samples were fetched for nothing, or not at all",
    };
    Some(text.to_owned())
}

/// True if the trainer got no batch of its epoch after the one of `t`. With in_order=False that need not be the one with the highest
/// index.
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
    let mut after = all[after..].iter().skip_while(|other| *other != t).skip(1);
    let asked_for = |t: &Transition| matches!(t.stage, Stage::Training | Stage::Failed);
    let is_of_epoch = |t: &Transition| {
        let batch = run.batches().get(t.batch as usize);
        batch.is_some_and(|b| b.id.epoch == id.epoch)
    };
    // It is one of the next transitions, but for the last batch, behind which there are few.
    !after
        .by_ref()
        .take_while(|t| t.at <= end)
        .any(|t| asked_for(t) && is_of_epoch(t))
}

/// Tasks are sent to fill the prefetch window, and then one for every batch that is yielded.
fn dispatch_reason(run: &Run, t: &Transition) -> Option<String> {
    let batch = run.batches().get(t.batch as usize)?;
    batch.worker?;
    let (idx, window) = (u64::from(batch.id.idx), run.info.options.window() as u64);
    Some(match window {
        0 => return None,
        window if idx < window => format!("Fills the prefetch window: {} of {window}", idx + 1),
        _ => "One task for every batch that is yielded".to_owned(),
    })
}

/// Where a batch is: `Fetching in worker 0`, `In the result queue`.
pub fn whereabouts(batch: &HeldBatch) -> String {
    let stage = batch.stage.label();
    match (batch.stage, batch.lane) {
        (Stage::Queued, Some(Lane::IndexQueue(w))) => format!("Queued for worker {w}"),
        (_, Some(Lane::Worker(w))) => format!("{stage} in worker {w}"),
        (_, Some(Lane::Main)) => format!("{stage} in the main thread"),
        (Stage::Returning, Some(lane)) => format!("In the {lane}"),
        (Stage::Pinning, _) => "In the pin thread".to_owned(),
        (Stage::Ready, _) => "Ready in the reorder buffer".to_owned(),
        (Stage::Held, _) => "Held in the reorder buffer".to_owned(),
        _ => stage.to_owned(),
    }
}

/// `worker 0` or `the main thread`.
pub fn fetcher(worker: Option<WorkerId>) -> String {
    worker.map_or_else(|| "the main thread".to_owned(), |w| format!("worker {w}"))
}

fn ready(run: &Run, t: &Transition, id: BatchId, before: Option<Stage>) -> String {
    let name = capital(&id.to_string());
    let wait = wait_around(run, t.at);
    if before == Some(Stage::Held) {
        format!("{name} is no longer held; it is next")
    } else if let Some(since) = wait {
        format!(
            "{name} arrives after the trainer waited {} for it",
            t.at - since
        )
    } else {
        format!("{name} arrives and is next")
    }
}

fn trained(run: &Run, t: &Transition, id: BatchId) -> String {
    // A millionth of a second is the cost of the call itself.
    match wait_around(run, t.at).map(|since| t.at - since) {
        Some(waited) if waited >= Nanos(1_000) => {
            format!("The trainer gets {id} after waiting {waited}")
        }
        _ => format!("The trainer gets {id} without waiting"),
    }
}

/// Since when the trainer has been waiting at `at`, the last instant of the wait included.
fn wait_around(run: &Run, at: Nanos) -> Option<Nanos> {
    let after = run.waits().partition_point(|w| w.start <= at);
    let wait = run.waits()[..after].last()?;
    (at <= wait.end).then_some(wait.start)
}

fn stage_before(run: &Run, t: &Transition) -> Option<Stage> {
    let path = run.path(t.batch as usize);
    let at = path
        .iter()
        .position(|s| s.stage == t.stage && s.start == t.at)?;
    path.get(at.checked_sub(1)?).map(|s| s.stage)
}

/// The pipeline just after `t`, which other transitions may share their instant with.
fn pipeline_at<'a>(run: &'a Run, t: &Transition) -> loadscope_trace::Pipeline<'a> {
    let all = run.transitions();
    let first = all.partition_point(|other| other.at < t.at);
    let found = all[first..].iter().position(|other| other == t);
    run.pipeline_after(found.map_or(all.len(), |k| first + k + 1))
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Event, EventKind, RunId, RunInfo, RunOptions};

    use super::*;
    use crate::simulated::simulated;

    fn id(idx: u32) -> BatchId {
        BatchId { epoch: 0, idx }
    }

    fn sentences(events: Vec<(i64, EventKind)>) -> Vec<String> {
        let mut run = Run::new(RunInfo::default());
        for (ms, kind) in events {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
        }
        let told = run.transitions().iter().map(|t| narrate(&run, t));
        told.map(|s| s.replace('\u{2009}', " ")).collect()
    }

    fn entered(idx: u32, stage: Stage) -> EventKind {
        EventKind::Entered {
            batch: id(idx),
            stage,
        }
    }

    #[test]
    fn every_stage_has_its_sentence() {
        use Stage::{Collating, Failed, Fetching, Held, Pinning, Ready, Returning, Training};
        let told = sentences(vec![
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(id(0), Some(0), [])),
            (0, EventKind::dispatched(id(1), Some(1), [])),
            (0, EventKind::Consumer { waiting: true }),
            (1, entered(0, Fetching)),
            (2, entered(1, Fetching)),
            (4, entered(1, Collating)),
            (5, entered(1, Returning)),
            (6, entered(1, Pinning)),
            (7, entered(1, Returning)),
            (8, entered(1, Held)),
            (9, entered(0, Ready)),
            (9, entered(0, Training)),
            (9, entered(1, Ready)),
            (19, EventKind::Consumer { waiting: true }),
            (19, entered(1, Training)),
            (20, EventKind::dispatched(id(2), Some(1), [])),
            (21, entered(2, Failed)),
            (22, EventKind::dispatched(id(3), Some(1), [])),
            (23, EventKind::EpochEnded { epoch: 0 }),
        ]);
        let expected = [
            "Batch 0 is dispatched to worker 0",
            "Batch 1 is dispatched to worker 1",
            "Worker 0 begins to fetch batch 0",
            "Worker 1 begins to fetch batch 1",
            "Worker 1 has fetched batch 1 in 2.00 ms and collates it",
            "Worker 1 puts batch 1 into the result queue",
            "The pin thread copies batch 1 to page-locked memory",
            "Batch 1 is pinned and put into the pinned queue",
            "Batch 1 arrived before batch 0 and is held",
            "Batch 0 arrives after the trainer waited 9.00 ms for it",
            "The trainer gets batch 0 after waiting 9.00 ms",
            "Batch 1 is no longer held; it is next",
            "The trainer is through with batch 0 in 10.0 ms",
            "The trainer gets batch 1 without waiting",
            "Batch 2 is dispatched to worker 1",
            "Batch 2 failed and its error is raised in the trainer",
            "Batch 3 is dispatched to worker 1",
            "The trainer is through with batch 1 in 4.00 ms",
            "Batch 3 is discarded because the epoch ended before it was asked for",
        ];
        assert_eq!(told, expected);
    }

    fn run_of(options: RunOptions, events: Vec<EventKind>) -> Run {
        let mut run = Run::new(RunInfo {
            options,
            ..RunInfo::default()
        });
        for (ms, kind) in events.into_iter().enumerate() {
            let at = Nanos::from_millis(ms as i64);
            let event = Event {
                at,
                run: RunId(0),
                kind,
            };
            run.apply(&event);
        }
        run
    }

    #[test]
    fn the_end_of_a_stream_differs_from_the_end_of_an_epoch() {
        use Stage::{Discarded, Fetching};
        let run = run_of(
            RunOptions::default(),
            vec![
                EventKind::EpochStarted { epoch: 0 },
                EventKind::dispatched(id(0), Some(0), []),
                EventKind::dispatched(id(1), Some(0), []),
                entered(0, Fetching),
                entered(0, Discarded),
                entered(1, Discarded),
            ],
        );
        let told: Vec<String> = run.transitions()[3..]
            .iter()
            .map(|t| narrate(&run, t))
            .collect();
        let expected = [
            "Worker 0 has nothing left for batch 0: its stream is exhausted",
            "Batch 1 is given up because worker 0 has ended",
        ];
        assert_eq!(told, expected);
        let why = consequence(&run, &run.transitions()[3]);
        assert_eq!(why.as_deref(), Some("It gets no more tasks in this epoch"));
    }

    #[test]
    fn a_dispatch_says_whether_the_window_fills_or_a_batch_was_yielded() {
        let options = RunOptions {
            num_workers: 2,
            prefetch_factor: Some(2),
            in_order: false,
            ..RunOptions::default()
        };
        let run = run_of(
            options,
            vec![
                EventKind::EpochStarted { epoch: 0 },
                EventKind::dispatched(id(0), Some(0), []),
                EventKind::dispatched(id(1), Some(1), []),
                EventKind::Consumer { waiting: true },
                entered(1, Stage::Ready),
                EventKind::dispatched(id(2), Some(1), []),
                EventKind::dispatched(id(3), Some(0), []),
                EventKind::dispatched(id(4), Some(1), []),
                entered(1, Stage::Training),
            ],
        );
        let told: Vec<Option<String>> = run
            .transitions()
            .iter()
            .map(|t| consequence(&run, t))
            .collect();
        let told: Vec<&str> = told.iter().flatten().map(String::as_str).collect();
        let expected = [
            "Fills the prefetch window: 1 of 4",
            "Fills the prefetch window: 2 of 4",
            "With in_order=False the first to arrive is yielded",
            "Fills the prefetch window: 3 of 4",
            "Fills the prefetch window: 4 of 4",
            "One task for every batch that is yielded",
            "While it waited, nothing was learned",
        ];
        assert_eq!(told, expected);
    }

    /// "Now it asks for the next one" stood behind the last batch where that was not the one with the highest index.
    #[test]
    fn the_last_batch_is_the_last_one_that_came() {
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=8,cost_ms=10,slow=2:500".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            in_order: false,
            step_ms: 5.0,
            ..RunOptions::default()
        });
        let done = run.transitions().iter().filter(|t| t.stage == Stage::Done);
        let told: Vec<(u32, Option<String>)> = done
            .map(|t| (run.batches()[t.batch as usize].id.idx, consequence(&run, t)))
            .collect();
        let (last, before) = told.split_last().expect("eight batches");
        assert_ne!(last.0, 7, "another one came last");
        assert_eq!(last.1.as_deref(), Some("It was the last one"));
        let next = Some("Now it asks for the next one".to_owned());
        assert!(before.iter().all(|(_, why)| *why == next), "{told:?}");
    }

    #[test]
    fn without_workers_in_order_has_no_effect() {
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=4,cost_ms=10".to_owned(),
            batch_size: Some(1),
            num_workers: 0,
            in_order: false,
            ..RunOptions::default()
        });
        let all = run.transitions().iter();
        let told: Vec<String> = all.filter_map(|t| consequence(&run, t)).collect();
        assert!(!told.is_empty());
        assert!(told.iter().all(|why| !why.contains("in_order")), "{told:?}");
    }

    #[test]
    fn the_main_thread_fetches_by_itself() {
        let told = sentences(vec![
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(id(0), None, [4, 2])),
            (1, entered(0, Stage::Fetching)),
        ]);
        assert_eq!(
            told,
            [
                "The sampler hands batch 0 to the main thread",
                "The main thread begins to fetch batch 0"
            ]
        );
    }
}
