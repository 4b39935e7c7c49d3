//! Conversion of events to lines: flat JSON objects, which are easy to write in any language.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{
    EndReason, Event, EventKind, Fetched, Function, Gauge, GaugeKind, Part, ProcessorTime, Stack,
};
use crate::{
    AsideKind, BatchId, Fact, Field, Level, Message, Nanos, RandomStates, Retention, RunId,
    RunInfo, Stage, Sums, WorkerId,
};

mod past;
mod reading;
mod stacks;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Name {
    #[default]
    RunStarted,
    EpochStarted,
    EpochEnded,
    RunEnded,
    WorkerStarted,
    WorkerEnded,
    WorkerSeeded,
    Dispatched,
    Entered,
    Fetched,
    Processor,
    Aside,
    DeviceWait,
    Content,
    Consumer,
    Stacks,
    Gauge,
    Message,
    Dropped,
    EpochContinued,
    Retention,
    Summed,
    Kept,
    State,
    Fact,
}

/// Line of a recording. The value of `e` determines which fields are present.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line<'a> {
    t: Nanos,
    #[serde(default, skip_serializing_if = "is_zero")]
    run: RunId,
    e: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<WorkerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    indices: Option<Cow<'a, [u64]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts: Option<Vec<Nanos>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    walls: Option<Vec<Nanos>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<Vec<Option<Nanos>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stages: Option<Vec<(String, Vec<Nanos>)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    core_wait: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<AsideKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_function: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    functions: Option<Cow<'a, [Function]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_stack: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stacks: Option<Cow<'a, [Stack]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Vec<Option<i64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    numpy: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    python: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<EndReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<GaugeKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<Level>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<Cow<'a, RunInfo>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Cow<'a, [Field]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_part: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retention: Option<Cow<'a, Retention>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sums: Option<Cow<'a, Sums>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<(Nanos, Nanos)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<Line<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<Cow<'a, Fact>>,
}

fn is_zero(run: &RunId) -> bool {
    run.0 == 0
}

impl<'a> Line<'a> {
    /// Returns a line with the fields that all events have: time, run and kind.
    fn bare(event: &Event, e: Name) -> Self {
        Self {
            t: event.at,
            run: event.run,
            e,
            ..Self::default()
        }
    }

    fn of_batch(event: &Event, e: Name, id: BatchId) -> Self {
        Self {
            epoch: Some(id.epoch),
            batch: Some(id.idx),
            ..Self::bare(event, e)
        }
    }

    fn of_worker(event: &Event, e: Name, worker: WorkerId) -> Self {
        Self {
            worker: Some(worker),
            ..Self::bare(event, e)
        }
    }

    fn of_random_states(event: &Event, of: &RandomStates) -> Self {
        Self {
            numpy: of.numpy,
            python: of.python,
            os_id: of.os_id,
            ..Self::of_worker(event, Name::WorkerSeeded, of.worker)
        }
    }

    /// Returns the line of an event. `loader/trace/FORMAT.md` defines its fields.
    pub fn of(event: &'a Event) -> Self {
        let bare = |e| Self::bare(event, e);
        match &event.kind {
            EventKind::RunStarted(info) => Self {
                info: Some(finite(info)),
                ..bare(Name::RunStarted)
            },
            EventKind::EpochStarted { epoch } => Self {
                epoch: Some(*epoch),
                ..bare(Name::EpochStarted)
            },
            EventKind::EpochEnded { epoch } => Self {
                epoch: Some(*epoch),
                ..bare(Name::EpochEnded)
            },
            EventKind::RunEnded => bare(Name::RunEnded),
            EventKind::WorkerStarted(info) => Self {
                seed: info.seed,
                os_id: info.os_id,
                ..Self::of_worker(event, Name::WorkerStarted, info.worker)
            },
            EventKind::WorkerEnded {
                worker,
                reason,
                os_id,
            } => Self {
                reason: Some(*reason),
                os_id: os_id.map(u64::from),
                ..Self::of_worker(event, Name::WorkerEnded, *worker)
            },
            EventKind::WorkerSeeded(of) => Self::of_random_states(event, of),
            EventKind::Dispatched(d) => Self {
                worker: d.worker,
                indices: Some(Cow::Borrowed(&d.indices)),
                ..Self::of_batch(event, Name::Dispatched, d.batch)
            },
            EventKind::Entered { batch, stage } => Self {
                stage: Some(*stage),
                ..Self::of_batch(event, Name::Entered, *batch)
            },
            EventKind::Fetched(f) => Self::of_fetched(event, f),
            EventKind::Processor(p) => Self::of_processor(event, p),
            EventKind::Aside(aside) => Self {
                kind: Some(aside.kind),
                start: Some(aside.start),
                ..Self::of_batch(event, Name::Aside, aside.batch)
            },
            EventKind::DeviceWait(wait) => Self {
                waited: Some(wait.waited),
                idle: Some(wait.idle),
                ..Self::of_batch(event, Name::DeviceWait, wait.batch)
            },
            EventKind::Content(content) => Self {
                fields: Some(Cow::Borrowed(&content.fields)),
                ..Self::of_batch(event, Name::Content, content.batch)
            },
            EventKind::Consumer { waiting } => Self {
                waiting: Some(*waiting),
                ..bare(Name::Consumer)
            },
            EventKind::Stacks(stacks) => Self::of_stacks(event, stacks),
            EventKind::Gauge(g) => Self::of_gauge(event, g),
            EventKind::Message(m) => Self::of_message(event, m),
            EventKind::Dropped { count } => Self {
                count: Some(*count),
                ..bare(Name::Dropped)
            },
            EventKind::EpochContinued { epoch, first } => Self {
                epoch: Some(*epoch),
                first: Some(*first),
                ..bare(Name::EpochContinued)
            },
            EventKind::Fact(fact) => Self {
                fact: Some(Cow::Borrowed(fact)),
                ..bare(Name::Fact)
            },
            EventKind::Retention(_)
            | EventKind::Summed(_)
            | EventKind::Kept(_)
            | EventKind::State(_) => Self::of_past(event),
        }
    }

    fn of_processor(event: &Event, p: &ProcessorTime) -> Self {
        Self {
            of: Some(p.part),
            cpu: Some(p.cpu),
            core_wait: p.core_wait,
            beside: p.other_threads,
            ..Self::of_batch(event, Name::Processor, p.batch)
        }
    }

    fn of_gauge(event: &'a Event, g: &'a Gauge) -> Self {
        Self {
            lane: g.lane.map(|lane| Cow::Owned(lane.key())),
            part: g.part.as_deref().map(Cow::Borrowed),
            what: Some(g.what),
            value: Some(g.value).filter(|v| v.is_finite()),
            ..Self::bare(event, Name::Gauge)
        }
    }

    fn of_message(event: &'a Event, m: &'a Message) -> Self {
        Self {
            level: Some(m.level),
            text: Some(Cow::Borrowed(&m.text)),
            epoch: m.about.map(|b| b.epoch),
            batch: m.about.map(|b| b.idx),
            worker: m.worker,
            sample: m.sample,
            ..Self::bare(event, Name::Message)
        }
    }

    fn of_fetched(event: &Event, f: &Fetched) -> Self {
        let measured = f.samples.iter().any(|s| s.cpu.is_some());
        let stages = f.stages.iter();
        Self {
            starts: Some(f.samples.iter().map(|s| s.start).collect()),
            walls: Some(f.samples.iter().map(|s| s.wall).collect()),
            cpus: measured.then(|| f.samples.iter().map(|s| s.cpu).collect()),
            stages: (!f.stages.is_empty())
                .then(|| stages.map(|s| (s.name.clone(), s.walls.clone())).collect()),
            ..Self::of_batch(event, Name::Fetched, f.batch)
        }
    }
}

/// Replaces NaN and infinities, which JSON does not have.
fn finite(info: &RunInfo) -> Cow<'_, RunInfo> {
    if info.options.step_ms.is_finite() {
        return Cow::Borrowed(info);
    }
    Cow::Owned(info.finite())
}
