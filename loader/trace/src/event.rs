//! Events: what an origin (the embedded engine, a simulation, a recording, a PyTorch program) tells about itself.

mod gauge;

pub use gauge::{Gauge, GaugeKind};

use serde::{Deserialize, Serialize};

use crate::{
    Aside, BatchContent, BatchId, Fact, Level, Message, Nanos, Retention, RunId, RunInfo, Stage,
    Sums, WorkerId,
};

/// Something that happened. At most 32 bytes: large payloads are boxed.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, in nanoseconds since the run's clock anchor.
    pub at: Nanos,
    /// To which loader.
    pub run: RunId,
    /// What.
    pub kind: EventKind,
}

impl Event {
    /// A warning about a run as a whole, in whole sentences.
    pub fn warning(run: RunId, at: Nanos, text: String) -> Self {
        let message = Message {
            level: Level::Warning,
            text,
            about: None,
            worker: None,
            sample: None,
        };
        let kind = EventKind::Message(Box::new(message));
        Self { at, run, kind }
    }

    /// Moves it to another clock, which shows `by` more.
    pub fn shift(&mut self, by: Nanos) {
        self.at += by;
        match &mut self.kind {
            EventKind::Fetched(fetched) => fetched.samples.iter_mut().for_each(|s| s.start += by),
            EventKind::Aside(aside) => aside.start += by,
            EventKind::RunStarted(info) => info.shift(by),
            EventKind::Retention(retention) => retention.info.shift(by),
            EventKind::Summed(sums) => (sums.from, sums.to) = (sums.from + by, sums.to + by),
            EventKind::Kept(kept) => {
                kept.wait = kept.wait.map(|(start, end)| (start + by, end + by));
                kept.events.iter_mut().for_each(|e| e.shift(by));
            }
            EventKind::State(state) => state.events.iter_mut().for_each(|e| e.shift(by)),
            _ => {}
        }
    }

    /// What a loader says about itself, if this is where it does.
    pub fn introduction(&mut self) -> Option<&mut RunInfo> {
        match &mut self.kind {
            EventKind::RunStarted(info) => Some(info),
            EventKind::Retention(retention) => Some(&mut retention.info),
            EventKind::State(state) => state.events.iter_mut().find_map(Self::introduction),
            _ => None,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A loader introduces itself. The first event of a run.
    RunStarted(Box<RunInfo>),
    /// `iter(loader)`.
    EpochStarted {
        /// Epoch, counted from 0.
        epoch: u32,
    },
    /// The iterator is exhausted or was dropped; what is still in flight is discarded.
    EpochEnded {
        /// Epoch, counted from 0.
        epoch: u32,
    },
    /// Nothing more will come.
    RunEnded,
    /// A worker runs.
    WorkerStarted(Box<WorkerInfo>),
    /// A worker ended.
    WorkerEnded {
        /// Which worker.
        worker: WorkerId,
        /// Why.
        reason: EndReason,
        /// Which of those with its number, if an older one lives on beside a newer one; as in [`WorkerInfo`], where it has so few bits.
        os_id: Option<u32>,
    },
    /// A worker is set up: what its random numbers begin with.
    WorkerSeeded(Box<Generators>),
    /// A batch was put into an index queue: it enters [`Stage::Queued`].
    Dispatched(Box<Dispatch>),
    /// A batch entered a stage.
    Entered {
        /// Which batch.
        batch: BatchId,
        /// The stage it is in from now on.
        stage: Stage,
    },
    /// How long the samples of a batch took; sent once, when the last one has been fetched.
    Fetched(Box<Fetched>),
    /// What the fetch of a batch, or the training step on it, needed of the processor; at most once each.
    Processor(Box<ProcessorTime>),
    /// Other work of the program in a training step; sent at its end.
    Aside(Box<Aside>),
    /// What is inside a batch.
    Content(Box<BatchContent>),
    /// The trainer starts or stops waiting for a batch.
    Consumer {
        /// True from the call of `next` until it returns.
        waiting: bool,
    },
    /// A measured quantity.
    Gauge(Box<Gauge>),
    /// An error, a warning or a note.
    Message(Box<Message>),
    /// The observer lost events.
    Dropped {
        /// How many since the last report.
        count: u64,
    },
    /// The recording begins in the middle of an epoch.
    EpochContinued {
        /// Epoch, counted from 0.
        epoch: u32,
        /// The first batch that is recorded; those before it are over.
        first: u32,
    },
    /// Of the far past of this run, sums are kept.
    Retention(Box<Retention>),
    /// What a minute of the run came to.
    Summed(Box<Sums>),
    /// Something of the far past that is kept in full.
    Kept(Box<Kept>),
    /// How the run stood where a part of the recording begins.
    State(Box<State>),
    /// A fact about the loader, learned after its start.
    Fact(Box<Fact>),
}

impl EventKind {
    /// A [`EventKind::Dispatched`].
    pub fn dispatched(
        batch: BatchId,
        worker: Option<WorkerId>,
        indices: impl Into<Vec<u64>>,
    ) -> Self {
        Self::Dispatched(Box::new(Dispatch {
            batch,
            worker,
            indices: indices.into(),
        }))
    }
}

/// Something of the far past that is kept in full: a long wait, a slow batch, an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Number of the part of the recording that it was in.
    pub part: u32,
    /// From when until when the trainer waited, if it is a wait.
    pub wait: Option<(Nanos, Nanos)>,
    /// What happened to the batch until then, in order of time, or the message.
    pub events: Vec<Event>,
}

impl Kept {
    /// The batch that it is about.
    pub fn batch(&self) -> Option<BatchId> {
        self.events.iter().find_map(|event| match &event.kind {
            EventKind::Dispatched(dispatch) => Some(dispatch.batch),
            _ => None,
        })
    }

    /// The message, if it is one.
    pub fn message(&self) -> Option<(Nanos, &Message)> {
        self.events.iter().find_map(|event| match &event.kind {
            EventKind::Message(message) => Some((event.at, &**message)),
            _ => None,
        })
    }
}

/// How a run stood where a part of a recording begins: who reads on from there needs nothing from before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Number of the part.
    pub part: u32,
    /// The loader, what lasts, and what happened to the batches in flight, each when it happened.
    pub events: Vec<Event>,
}

/// A batch given to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Which batch.
    pub batch: BatchId,
    /// To whom; `None` when the main thread fetches by itself (`num_workers=0`).
    pub worker: Option<WorkerId>,
    /// Dataset indices of its samples; empty for iterable datasets.
    pub indices: Vec<u64>,
}

/// A worker introduces itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Id, `0..num_workers`.
    pub worker: WorkerId,
    /// `get_worker_info().seed`; `None` if it could not be observed.
    pub seed: Option<u64>,
    /// Thread or process id, as the operating system names it.
    pub os_id: Option<u64>,
}

/// Digests of the states of a worker's random generators beside PyTorch's, after `worker_init_fn`. Two that are equal draw the same
/// numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generators {
    /// Which worker.
    pub worker: WorkerId,
    /// As in [`WorkerInfo`].
    pub os_id: Option<u64>,
    /// Of `numpy.random`, if the worker has it.
    pub numpy: Option<u64>,
    /// Of Python's `random`, if the worker has it.
    pub python: Option<u64>,
}

/// Why a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// It was asked to, or its part of an iterable dataset is exhausted.
    Finished,
    /// It died.
    Died,
}

/// How long the samples of a batch took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Which batch.
    pub batch: BatchId,
    /// One entry a sample, in the order of the indices.
    pub samples: Vec<SampleTiming>,
    /// Named stages inside `dataset[index]`, if the dataset names any.
    pub stages: Vec<StageTiming>,
}

/// How long one sample took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleTiming {
    /// When its fetch began.
    pub start: Nanos,
    /// Wall time, ns.
    pub wall: Nanos,
    /// CPU time of the worker, ns; `None` if it was not measured.
    pub cpu: Option<Nanos>,
}

/// A named stage of all samples of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageTiming {
    /// `decode`, `resize`, …
    pub name: String,
    /// Wall time per sample, ns; as long as the list of samples.
    pub walls: Vec<Nanos>,
}

/// What a part of the work on a batch needed of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    /// Which batch.
    pub batch: BatchId,
    /// Which part.
    pub part: Part,
    /// Processor time of the thread that does it, ns; of a training step that of all threads of its process.
    pub cpu: Nanos,
    /// For how long that thread could have run and waited for a core, ns; `None` if it was not measured.
    pub core_wait: Option<Nanos>,
    /// Processor time of the other threads of the process since the part before, ns: of a worker mostly what sending its
    /// batches takes. `None` if it was not measured.
    pub beside: Option<Nanos>,
}

/// A part of the work on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Fetching and collating it.
    Fetch,
    /// The training step on it.
    Step,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_fits_32_bytes() {
        assert!(size_of::<Event>() <= 32, "{}", size_of::<Event>());
    }
}
