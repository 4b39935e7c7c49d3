//! Records of a stream, one per line. `WIRE.md` defines their meaning. A line is untrusted data: it is never executed, and each value
//! is checked before use.

use loadscope_trace::{AsideKind, Field, WorkerId};
use serde::Deserialize;

mod batch_ref;
mod error;
mod fact;
mod introduction;
mod lenient;
mod line;
mod read;
mod sender;
mod weight;

pub use batch_ref::BatchRef;
pub use error::WireError;
pub use fact::FactRecord;
pub use introduction::Introduction;

/// Arguments and properties of a `DataLoader`, as the probe reports them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct About {
    #[serde(deserialize_with = "lenient::field")]
    pub dataset: String,
    #[serde(deserialize_with = "lenient::field")]
    pub iterable: bool,
    #[serde(deserialize_with = "lenient::maybe")]
    pub batch_size: Option<usize>,
    #[serde(deserialize_with = "lenient::field")]
    pub num_workers: usize,
    #[serde(deserialize_with = "lenient::maybe")]
    pub prefetch_factor: Option<usize>,
    #[serde(deserialize_with = "lenient::field")]
    pub drop_last: bool,
    #[serde(deserialize_with = "lenient::field")]
    pub in_order: bool,
    #[serde(deserialize_with = "lenient::field")]
    pub pin_memory: bool,
    #[serde(deserialize_with = "lenient::field")]
    pub pins: bool,
    #[serde(deserialize_with = "lenient::field")]
    pub persistent_workers: bool,
    #[serde(deserialize_with = "lenient::field")]
    pub timeout: f64,
    #[serde(deserialize_with = "lenient::field")]
    pub sampler: String,
    #[serde(deserialize_with = "lenient::maybe")]
    pub batch_sampler: Option<String>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub multiprocessing_context: Option<String>,
    /// Start method of the workers, or of processes in general if there are no workers.
    #[serde(deserialize_with = "lenient::maybe")]
    pub start_method: Option<String>,
    /// CPU time for importing PyTorch, which a worker needs again unless it is forked, ns. `None` if unknown or never needed.
    #[serde(deserialize_with = "lenient::maybe")]
    pub import_ns: Option<u64>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub dataset_len: Option<u64>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub batches: Option<u64>,
    #[serde(deserialize_with = "lenient::field")]
    pub shuffle: bool,
    #[serde(deserialize_with = "lenient::field")]
    pub replacement: bool,
    #[serde(deserialize_with = "lenient::maybe")]
    pub num_samples: Option<u64>,
    /// Rank from `torch.distributed`. `None` if unknown.
    #[serde(deserialize_with = "lenient::maybe")]
    pub rank: Option<u32>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub world_size: Option<u32>,
    /// `num_replicas` of the sampler. `None` if unknown.
    #[serde(deserialize_with = "lenient::maybe")]
    pub replicas: Option<u32>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub replica: Option<u32>,
    #[serde(deserialize_with = "lenient::field")]
    pub sampler_drop_last: bool,
    #[serde(deserialize_with = "lenient::maybe")]
    pub seed: Option<u64>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub global_seed: Option<u64>,
    #[serde(deserialize_with = "lenient::names")]
    pub classes: Vec<String>,
    /// Arguments that Loadscope overrode, as text. Empty if none.
    #[serde(deserialize_with = "lenient::field")]
    pub set: String,
    /// Error that prevented the override of arguments. Empty if there was none.
    #[serde(deserialize_with = "lenient::field")]
    pub not_set: String,
    /// Class name, if it is a subclass of `DataLoader`.
    #[serde(deserialize_with = "lenient::field")]
    pub class: String,
    /// Role in the program (`train`, `val`), as a framework reports it. Empty if unknown.
    #[serde(deserialize_with = "lenient::field")]
    pub role: String,
    /// Other arguments of the call, as source text: `collate_fn=pad`.
    #[serde(deserialize_with = "lenient::names")]
    pub arguments: Vec<String>,
    /// Absolute path of the source file that creates the loader. `line` is the line, and `place` is the short form of both.
    #[serde(deserialize_with = "lenient::field")]
    pub file: String,
    #[serde(deserialize_with = "lenient::field")]
    pub line: u32,
    #[serde(deserialize_with = "lenient::field")]
    pub place: String,
}

/// Result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Fetched,
    Failed,
    /// End of the dataset's stream of samples.
    Ended,
}

/// A worker process that the main process started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Started {
    /// Process id.
    pub pid: u64,
    /// Seed of the worker's random generators. `None` if unknown.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Time at which the fork of the worker returned, ns. `None` if unknown: only forked workers have it.
    #[serde(default)]
    pub at: Option<i64>,
}

/// Digests of the states of a worker's random generators. `None` for a generator that the worker does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Digests {
    /// State of `numpy.random`.
    #[serde(default)]
    pub numpy: Option<u64>,
    /// State of Python's `random`.
    #[serde(default)]
    pub python: Option<u64>,
}

/// One record of a stream. Times are ns on the monotonic clock of the sending process.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Record {
    Loader {
        at: i64,
        loader: u32,
        about: Box<About>,
    },
    Epoch {
        at: i64,
        loader: u32,
        iterator: u32,
        epoch: u32,
    },
    Workers {
        at: i64,
        iterator: u32,
        workers: Vec<Started>,
    },
    Dispatch {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        worker: Option<WorkerId>,
        count: u64,
        indices: Vec<u64>,
        /// True if the task had negative indices, which a recording cannot store.
        unnamed: bool,
    },
    /// A call of `next`. `step` is the CPU use of the step before it, `None` if unknown.
    Wait {
        at: i64,
        iterator: u32,
        step: Option<CpuUse>,
    },
    Arrive {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        how: Arrival,
        pinned: Option<(i64, i64)>,
    },
    Ready {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
    },
    Yield {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
    },
    /// The end of a step, because the program iterated another loader.
    Step {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        cpu_use: Option<CpuUse>,
    },
    /// The end of other work (checkpoint, evaluation, another loader) in the step on this batch.
    Aside {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        start: i64,
        kind: AsideKind,
    },
    /// The wait for this batch was measured on the device.
    Device {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        waited: i64,
        idle: i64,
    },
    /// An uncaught error in the step on this batch, which ended the program.
    Raised {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        text: String,
    },
    Gone {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
    },
    Fail {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: Option<u32>,
        text: String,
    },
    EndEpoch {
        at: i64,
        iterator: u32,
        epoch: u32,
    },
    /// The stop of the program that the request asked for.
    Stop {
        at: i64,
        iterator: u32,
        epoch: u32,
    },
    Left {
        at: i64,
        iterator: u32,
        workers: Vec<(WorkerId, i64)>,
    },
    /// A worker created its fetcher. `generators` has digests of its random generators other than PyTorch's. `None` if not reported.
    Fetcher {
        at: i64,
        generation: u32,
        generators: Option<Digests>,
    },
    Begin {
        at: i64,
        of: BatchRef,
    },
    Collate {
        at: i64,
        of: BatchRef,
    },
    Fetch(Box<Fetch>),
    Pin {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        end: i64,
    },
    Content {
        at: i64,
        of: BatchRef,
        fields: Vec<Field>,
    },
    /// A fact about a loader, a worker or a sample.
    Fact(FactRecord),
    /// The import of another library that loads data.
    Other {
        at: i64,
        name: String,
    },
    Lost {
        at: i64,
        count: u64,
    },
    Trouble {
        at: i64,
        text: String,
    },
    Bye {
        at: i64,
        troubles: u64,
    },
}

/// State of a batch when the main process received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// The batch was the awaited one.
    Ready,
    /// The main process awaited another batch and holds this one.
    Held,
    /// The worker's stream of samples has ended: this is not a batch.
    End,
}

/// A completed fetch. `at` is its start and `end` its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    pub at: i64,
    pub of: BatchRef,
    /// Start of collation, ns. `None` if an earlier record reported it, or collation never started.
    pub collating: Option<i64>,
    pub end: i64,
    pub outcome: Outcome,
    /// Start of each sample and the end of the last one, ns. Empty if not measured.
    pub times: Vec<i64>,
    /// The same instants on the CPU clock, ns.
    pub cpus: Vec<i64>,
    pub stages: Vec<(String, Vec<i64>)>,
    /// CPU use of the fetch. `None` if not measured.
    pub cpu_use: Option<CpuUse>,
}

/// CPU use of a part of the work on a batch. Times are ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuUse {
    pub cpu: i64,
    /// Time in which the thread was runnable but waited for a core. `None` if not measured.
    pub core_wait: Option<i64>,
    /// CPU time of the other threads of the process since the part before. `None` if not measured.
    pub beside: Option<i64>,
}

impl Record {
    /// Returns the time of the record on the clock of its process, ns. A fetch has the time of its end.
    pub(crate) fn at(&self) -> i64 {
        match self {
            Self::Loader { at, .. }
            | Self::Epoch { at, .. }
            | Self::Workers { at, .. }
            | Self::Dispatch { at, .. }
            | Self::Wait { at, .. }
            | Self::Arrive { at, .. }
            | Self::Ready { at, .. }
            | Self::Yield { at, .. }
            | Self::Step { at, .. }
            | Self::Aside { at, .. }
            | Self::Device { at, .. }
            | Self::Raised { at, .. }
            | Self::Gone { at, .. }
            | Self::Fail { at, .. }
            | Self::EndEpoch { at, .. }
            | Self::Stop { at, .. }
            | Self::Left { at, .. }
            | Self::Fetcher { at, .. }
            | Self::Begin { at, .. }
            | Self::Collate { at, .. }
            | Self::Pin { at, .. }
            | Self::Content { at, .. }
            | Self::Other { at, .. }
            | Self::Lost { at, .. }
            | Self::Trouble { at, .. }
            | Self::Bye { at, .. } => *at,
            Self::Fetch(fetch) => fetch.end,
            Self::Fact(fact) => fact.at(),
        }
    }
}
