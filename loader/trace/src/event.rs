//! Events: what an origin (the embedded engine, a simulation, a recording, a PyTorch program) tells about itself.

use serde::{Deserialize, Serialize};

use crate::{BatchContent, BatchId, Lane, Level, Message, Nanos, RunId, RunInfo, Stage, WorkerId};

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
            EventKind::RunStarted(info) if info.started_unix_ns != 0 => {
                info.started_unix_ns = info.started_unix_ns.saturating_sub(by.0);
            }
            _ => {}
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

/// A measured quantity at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Of which lane; `None` for the whole program.
    pub lane: Option<Lane>,
    /// Of which part of a pipeline that has other parts than a `DataLoader`, by the name its tool gives it.
    pub part: Option<String>,
    /// What was measured.
    pub what: GaugeKind,
    /// The value, in the unit of `what`.
    pub value: f64,
}

/// What a gauge measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GaugeKind {
    /// Resident memory, bytes.
    Rss,
    /// Proportional share of memory, bytes.
    Pss,
    /// Memory that no other process shares, bytes.
    Uss,
    /// Processor use, cores.
    Cpu,
    /// Shared memory in `/dev/shm`, bytes: of all programs of the host, or of the container.
    Shm,
    /// What is left of it, bytes.
    ShmLeft,
    /// Memory that the program may still take, bytes: of the host, or of its control group.
    MemoryLeft,
    /// Open file descriptors.
    Descriptors,
    /// Page-locked memory, bytes.
    PinnedBytes,
    /// Share of the time in which a queue was not empty, 0 to 1.
    Occupancy,
    /// What goes through, items per second.
    Throughput,
    /// Mean time of a task, seconds.
    TaskTime,
    /// Tasks that failed.
    Failures,
    /// How many wait on average for something to come out of a queue.
    WaitingToGet,
    /// How many wait on average for room in a queue.
    WaitingToPut,
}

impl GaugeKind {
    /// Its name in recordings and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Rss => "rss",
            Self::Pss => "pss",
            Self::Uss => "uss",
            Self::Cpu => "cpu",
            Self::Shm => "shm",
            Self::ShmLeft => "shm_left",
            Self::MemoryLeft => "memory_left",
            Self::Descriptors => "descriptors",
            Self::PinnedBytes => "pinned_bytes",
            Self::Occupancy => "occupancy",
            Self::Throughput => "throughput",
            Self::TaskTime => "task_time",
            Self::Failures => "failures",
            Self::WaitingToGet => "waiting_to_get",
            Self::WaitingToPut => "waiting_to_put",
        }
    }

    /// The unit of its values, in tables.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Rss
            | Self::Pss
            | Self::Uss
            | Self::Shm
            | Self::ShmLeft
            | Self::MemoryLeft
            | Self::PinnedBytes => "bytes",
            Self::Cpu => "cores",
            Self::Occupancy => "share",
            Self::Throughput => "1/s",
            Self::TaskTime => "s",
            Self::Descriptors | Self::Failures | Self::WaitingToGet | Self::WaitingToPut => "count",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_have_one_name() {
        for kind in [
            GaugeKind::PinnedBytes,
            GaugeKind::WaitingToGet,
            GaugeKind::MemoryLeft,
        ] {
            let text = serde_json::to_string(&kind).expect("a word");
            assert_eq!(text, format!("\"{}\"", kind.id()));
        }
    }

    #[test]
    fn an_event_fits_32_bytes() {
        assert!(size_of::<Event>() <= 32, "{}", size_of::<Event>());
    }
}
