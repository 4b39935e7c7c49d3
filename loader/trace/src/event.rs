//! Events of an origin: the embedded engine, a simulation, a recording or a PyTorch program.

mod gauge;
mod stacks;

pub use gauge::{Gauge, GaugeKind};
pub use stacks::{Function, Stack, StackSamples, Stacks, is_user_file};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Aside, BatchContent, BatchId, Fact, Level, Message, Nanos, Retention, RunId, RunInfo, Stage,
    Sums, WorkerId,
};

/// One event. At most 32 bytes, so large payloads are boxed.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Nanoseconds since the start of the run's clock.
    pub at: Nanos,
    /// Loader of the event.
    pub run: RunId,
    /// Kind and payload.
    pub kind: EventKind,
}

impl Event {
    /// Creates a warning about a whole run. `text` consists of complete sentences.
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

    /// Adds `by` to all times, to convert to another clock.
    pub fn shift(&mut self, by: Nanos) {
        self.at += by;
        match &mut self.kind {
            EventKind::Fetched(fetched) => fetched.samples.iter_mut().for_each(|s| s.start += by),
            EventKind::Aside(aside) => aside.start += by,
            EventKind::Stacks(stacks) => stacks.start += by,
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

    /// Returns the loader's description, if the event contains one.
    pub fn run_info_mut(&mut self) -> Option<&mut RunInfo> {
        match &mut self.kind {
            EventKind::RunStarted(info) => Some(info),
            EventKind::Retention(retention) => Some(&mut retention.info),
            EventKind::State(state) => state.events.iter_mut().find_map(Self::run_info_mut),
            _ => None,
        }
    }
}

/// Kind of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Description of a loader. The first event of a run.
    RunStarted(Box<RunInfo>),
    /// Call of `iter(loader)`.
    EpochStarted {
        /// Epoch, counted from 0.
        epoch: u32,
    },
    /// The iterator is exhausted or was dropped. Batches in flight are discarded.
    EpochEnded {
        /// Epoch, counted from 0.
        epoch: u32,
    },
    /// No more events follow.
    RunEnded,
    /// A worker has started.
    WorkerStarted(Box<WorkerInfo>),
    /// A worker has ended.
    WorkerEnded {
        /// Worker that ended.
        worker: WorkerId,
        /// Regular end or crash.
        reason: EndReason,
        /// Low 32 bits of [`WorkerInfo::os_id`]. It separates two workers with one number, because a worker can end after its successor
        /// started.
        os_id: Option<u32>,
    },
    /// A worker is set up. The event contains its initial random states.
    WorkerSeeded(Box<RandomStates>),
    /// A batch was put into an index queue and enters [`Stage::Queued`].
    Dispatched(Box<Dispatch>),
    /// A batch entered a stage.
    Entered {
        /// Batch that entered the stage.
        batch: BatchId,
        /// New stage.
        stage: Stage,
    },
    /// Times of the samples of a batch, sent once after the last sample was fetched.
    Fetched(Box<Fetched>),
    /// CPU time of the fetch of a batch or of the training step on it. At most one event each.
    Processor(Box<ProcessorTime>),
    /// Other work of the program in a training step, sent at its end.
    Aside(Box<Aside>),
    /// A wait of the trainer that was measured on the device. It becomes known when the device has done its earlier work.
    DeviceWait(Box<DeviceWait>),
    /// Contents of a batch. They are large, so copies of the event share them.
    Content(Arc<BatchContent>),
    /// The trainer starts or stops waiting for a batch.
    Consumer {
        /// True from the call of `next` until it returns.
        waiting: bool,
    },
    /// Sampled stacks of a process.
    Stacks(Box<Stacks>),
    /// A measured quantity.
    Gauge(Box<Gauge>),
    /// An error, a warning or a note.
    Message(Box<Message>),
    /// The recorder dropped events.
    Dropped {
        /// Number of events dropped since the previous report.
        count: u64,
    },
    /// The recording begins in the middle of an epoch.
    EpochContinued {
        /// Epoch, counted from 0.
        epoch: u32,
        /// First recorded batch. Earlier batches are finished.
        first: u32,
    },
    /// Older events of this run are reduced to sums.
    Retention(Box<Retention>),
    /// Sums of one minute of the run.
    Summed(Box<Sums>),
    /// Older events that are kept in full.
    Kept(Box<Kept>),
    /// State of the run at the beginning of a part of the recording.
    State(Box<State>),
    /// A fact about the loader, learned after its start.
    Fact(Box<Fact>),
}

impl EventKind {
    /// Creates an [`EventKind::Dispatched`].
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

    /// Returns the batch, if the event is about one. A message is about a whole run.
    pub fn batch(&self) -> Option<BatchId> {
        match self {
            Self::Dispatched(dispatch) => Some(dispatch.batch),
            Self::Entered { batch, .. } => Some(*batch),
            Self::Fetched(fetched) => Some(fetched.batch),
            Self::Processor(time) => Some(time.batch),
            Self::Aside(aside) => Some(aside.batch),
            Self::DeviceWait(wait) => Some(wait.batch),
            Self::Content(content) => Some(content.batch),
            Self::Fact(fact) => fact.batch(),
            Self::RunStarted(_)
            | Self::EpochStarted { .. }
            | Self::EpochEnded { .. }
            | Self::RunEnded
            | Self::WorkerStarted(_)
            | Self::WorkerEnded { .. }
            | Self::WorkerSeeded(_)
            | Self::Consumer { .. }
            | Self::Stacks(_)
            | Self::Gauge(_)
            | Self::Message(_)
            | Self::Dropped { .. }
            | Self::EpochContinued { .. }
            | Self::Retention(_)
            | Self::Summed(_)
            | Self::Kept(_)
            | Self::State(_) => None,
        }
    }
}

/// Older events that are kept in full: a long wait, a slow batch or an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Number of the part that contained the events.
    pub part: u32,
    /// Start and end of the trainer's wait. `None` for a slow batch or a message.
    pub wait: Option<(Nanos, Nanos)>,
    /// Events of the batch up to then, in order of time, or the message.
    pub events: Vec<Event>,
}

impl Kept {
    /// Returns the batch, if any.
    pub fn batch(&self) -> Option<BatchId> {
        self.events.iter().find_map(|event| match &event.kind {
            EventKind::Dispatched(dispatch) => Some(dispatch.batch),
            _ => None,
        })
    }

    /// Returns the message and its time, if any.
    pub fn message(&self) -> Option<(Nanos, &Message)> {
        self.events.iter().find_map(|event| match &event.kind {
            EventKind::Message(message) => Some((event.at, &**message)),
            _ => None,
        })
    }
}

/// State of a run at the beginning of a part, so that the part is readable without earlier parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Number of the part.
    pub part: u32,
    /// Description of the loader, lasting state, and the events of the batches in flight with their original times.
    pub events: Vec<Event>,
}

/// Batch that was sent to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Epoch and number.
    pub batch: BatchId,
    /// Worker, `None` if the main process fetches the batch (`num_workers=0`).
    pub worker: Option<WorkerId>,
    /// Dataset indices of the samples, empty for iterable-style datasets.
    pub indices: Vec<u64>,
}

/// Description of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Number, `0..num_workers`.
    pub worker: WorkerId,
    /// `get_worker_info().seed`, `None` if unknown.
    pub seed: Option<u64>,
    /// Thread or process id of the operating system.
    pub os_id: Option<u64>,
}

/// Digests of a worker's NumPy and Python random states after `worker_init_fn`. Workers with equal digests draw equal numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RandomStates {
    /// Number, `0..num_workers`.
    pub worker: WorkerId,
    /// Thread or process id, as in [`WorkerInfo`].
    pub os_id: Option<u64>,
    /// Digest of the state of `numpy.random`, if the worker uses it.
    pub numpy: Option<u64>,
    /// Digest of the state of Python's `random`, if the worker uses it.
    pub python: Option<u64>,
}

/// Reason why a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Regular end: the main process asked for it, or the worker's part of an iterable-style dataset is exhausted.
    Finished,
    /// Crash or kill.
    Died,
}

/// Times of the samples of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Batch of the samples.
    pub batch: BatchId,
    /// One entry per sample, in the order of the indices.
    pub samples: Vec<SampleTiming>,
    /// Named stages inside `dataset[index]`, if the dataset names any.
    pub stages: Vec<StageTiming>,
}

/// Times of one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleTiming {
    /// Start of the fetch.
    pub start: Nanos,
    /// Wall time, ns.
    pub wall: Nanos,
    /// CPU time of the worker, ns. `None` if not measured.
    pub cpu: Option<Nanos>,
}

/// Named stage of all samples of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageTiming {
    /// Name, such as `decode` or `resize`.
    pub name: String,
    /// Wall time per sample, ns. It has one entry per sample.
    pub walls: Vec<Nanos>,
}

/// CPU time of a part of the work on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    /// Batch that was worked on.
    pub batch: BatchId,
    /// Part of the work.
    pub part: Part,
    /// CPU time of the working thread, ns. For a training step, CPU time of all threads of the process.
    pub cpu: Nanos,
    /// Time in which that thread was runnable and waited for a core, ns. `None` if not measured.
    pub core_wait: Option<Nanos>,
    /// CPU time of the process's other threads since the same part of the previous batch, ns. In a worker, this is mostly the time for
    /// sending batches. `None` if not measured.
    pub other_threads: Option<Nanos>,
}

/// Wait of the trainer, measured on the device by events in its current stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceWait {
    /// Batch that ended the wait.
    pub batch: BatchId,
    /// Length of the wait, ns.
    pub waited: Nanos,
    /// Time in which the device had no work, ns. It had earlier work during the rest.
    pub idle: Nanos,
}

/// Part of the work on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Fetching and collating.
    Fetch,
    /// Training step.
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
