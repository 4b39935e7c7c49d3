//! Random histories of batches.

#![allow(dead_code, reason = "each test program uses a part of it")]

use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Nanos, Run, RunId, RunInfo, SampleTiming, Stage,
    StageTiming,
};
use proptest::prelude::*;

/// Step of a history: a batch, its next stage, and the time since the previous step.
#[derive(Clone, Debug)]
pub struct Move {
    wait_ns: i64,
    batch: usize,
    stage: usize,
    consumer: Option<bool>,
}

pub fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = (
        0..5_000i64,
        0..12usize,
        0..11usize,
        prop::option::weighted(0.1, any::<bool>()),
    )
        .prop_map(|(wait_ns, batch, stage, consumer)| Move {
            wait_ns,
            batch,
            stage,
            consumer,
        });
    prop::collection::vec(one, 1..900)
}

/// Converts moves to events. With `wild`, impossible events are included.
pub fn history(moves: &[Move], wild: bool) -> Vec<Event> {
    let mut at = 0;
    let mut events = Vec::new();
    let mut push = |at, kind| {
        events.push(Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    };
    push(0, EventKind::RunStarted(Box::default()));
    push(0, EventKind::EpochStarted { epoch: 0 });
    let mut next = 0;
    let mut live: Vec<(BatchId, Stage)> = Vec::new();
    for m in moves {
        at += m.wait_ns;
        if let Some(waiting) = m.consumer {
            push(at, EventKind::Consumer { waiting });
            continue;
        }
        if m.batch >= live.len() {
            let id = BatchId {
                epoch: 0,
                idx: next,
            };
            next += 1;
            live.push((id, Stage::Queued));
            let worker = (id.idx % 3 != 2).then_some((id.idx % 3) as u16);
            push(
                at,
                EventKind::dispatched(id, worker, [u64::from(id.idx) * 7, 3]),
            );
            continue;
        }
        let (id, stage) = live[m.batch];
        let to = Stage::ALL[m.stage];
        // There is only one trainer.
        let second = to == Stage::Training && live.iter().any(|(_, s)| *s == Stage::Training);
        if !wild && (!stage.may_enter(to) || second) {
            continue;
        }
        push(
            at,
            EventKind::Entered {
                batch: id,
                stage: to,
            },
        );
        if to == Stage::Collating {
            push(at, fetched(id, at));
        }
        live[m.batch].1 = to;
        if to.is_final() {
            live.remove(m.batch);
        }
    }
    push(at + 1, EventKind::EpochEnded { epoch: 0 });
    push(at + 2, EventKind::RunEnded);
    events
}

fn fetched(batch: BatchId, at: i64) -> EventKind {
    let sample = |k: i64| SampleTiming {
        start: Nanos(at - 10 + k),
        wall: Nanos(5),
        cpu: (k == 0).then_some(Nanos(4)),
    };
    EventKind::Fetched(Box::new(Fetched {
        batch,
        samples: vec![sample(0), sample(5)],
        stages: vec![StageTiming {
            name: "decode".to_owned(),
            walls: vec![Nanos(3), Nanos(2)],
        }],
    }))
}

pub fn fold(events: &[Event]) -> Run {
    let mut run = Run::new(RunInfo::default());
    events.iter().for_each(|e| run.apply(e));
    run
}
