//! The lines of a stream. What they mean is in `WIRE.md`. A line is data: nothing in it is run, and nothing in it is believed
//! without being checked.

use loadscope_trace::{AsideKind, Field, WorkerId};
use serde::Deserialize;

mod error;
mod introduction;
mod learned;
mod lenient;
mod line;
mod place;
mod read;
mod sender;
mod weight;

pub use error::WireError;
pub use introduction::Introduction;
pub use learned::Learned;
pub use place::Where;

/// What a loader says of itself: the arguments of `DataLoader`.
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
    #[serde(deserialize_with = "lenient::maybe")]
    pub start_method: Option<String>,
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
    /// What `torch.distributed` says.
    #[serde(deserialize_with = "lenient::maybe")]
    pub rank: Option<u32>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub world_size: Option<u32>,
    /// The arguments of the sampler.
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
    /// Arguments that were set in place of the program's own, in words.
    #[serde(deserialize_with = "lenient::field")]
    pub set: String,
    /// Why the arguments that were to be set could not be.
    #[serde(deserialize_with = "lenient::field")]
    pub not_set: String,
    /// Name of its class, where it is one derived from `DataLoader`.
    #[serde(deserialize_with = "lenient::field")]
    pub class: String,
    /// Role in the program (`train`, `val`), from a framework.
    #[serde(deserialize_with = "lenient::field")]
    pub role: String,
    /// Other arguments that the program gave, as they stand in a call: `collate_fn=pad`.
    #[serde(deserialize_with = "lenient::names")]
    pub arguments: Vec<String>,
    /// The line of the program that makes it: the file with its whole path, the line, and both in short.
    #[serde(deserialize_with = "lenient::field")]
    pub file: String,
    #[serde(deserialize_with = "lenient::field")]
    pub line: u32,
    #[serde(deserialize_with = "lenient::field")]
    pub place: String,
}

/// How a fetch came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Fetched,
    Failed,
    /// The stream of samples has ended.
    Ended,
}

/// A worker's process, as the main process starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Started {
    /// Its process id.
    pub pid: u64,
    /// The seed of its generators, if it is known.
    #[serde(default)]
    pub seed: Option<u64>,
    /// When the main process was through with starting it, if that was measured: where processes are forked.
    #[serde(default)]
    pub at: Option<i64>,
}

/// Digests of the states of a worker's random generators; missing where it does not have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Digests {
    /// Of `numpy.random`.
    #[serde(default)]
    pub numpy: Option<u64>,
    /// Of Python's `random`.
    #[serde(default)]
    pub python: Option<u64>,
}

/// What a line says. Times are on the monotonic clock of the process, ns.
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
        /// There were indices that a recording has no name for.
        unnamed: bool,
    },
    /// `next` was called. What the step before needed of the processor, if there was one.
    Wait {
        at: i64,
        iterator: u32,
        step: Option<Needed>,
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
    /// The program turned elsewhere: its step on this batch is over.
    Step {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        needed: Option<Needed>,
    },
    /// Other work in the step on this batch ended.
    Aside {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        start: i64,
        kind: AsideKind,
    },
    /// An error that ended the program left the step on this batch.
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
    /// The program ends here because it was asked to.
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
    /// A worker is set up. What its generators begin with, beside PyTorch's, where it tells.
    Fetcher {
        at: i64,
        generation: u32,
        generators: Option<Digests>,
    },
    Begin {
        at: i64,
        of: Where,
    },
    Collate {
        at: i64,
        of: Where,
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
        of: Where,
        fields: Vec<Field>,
    },
    /// A fact became known.
    Learned(Learned),
    /// Something else that loads data was imported.
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

/// How a batch came to the main process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// It was awaited.
    Ready,
    /// Another one was.
    Held,
    /// It is no batch: the worker's stream of samples has ended.
    End,
}

/// A fetch that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    pub at: i64,
    pub of: Where,
    /// When the collating began; `None` if it was sent before, or never began.
    pub collating: Option<i64>,
    pub end: i64,
    pub outcome: Outcome,
    /// When each sample began, and when the last one was there; empty if it was not measured.
    pub times: Vec<i64>,
    /// The same on the clock of the processor.
    pub cpus: Vec<i64>,
    pub stages: Vec<(String, Vec<i64>)>,
    /// What it needed of the processor.
    pub needed: Option<Needed>,
}

/// What a part of the work on a batch needed of the processor, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needed {
    pub cpu: i64,
    /// For how long it waited for a core; `None` if it was not measured.
    pub core_wait: Option<i64>,
    /// What other threads of the process computed meanwhile; `None` if it was not measured.
    pub beside: Option<i64>,
}

impl Record {
    /// When it was, on the clock of its process, ns.
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
            Self::Learned(learned) => learned.at(),
        }
    }
}
