//! The lines of a stream. What they mean is in `WIRE.md`. A line is data: nothing in it is run, and nothing in it is believed
//! without being checked.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadscope_trace::{Field, WorkerId};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The version of the streams that is understood.
const VERSION: u64 = 1;

/// Samples of a batch at most; more is damage.
const MOST_SAMPLES: usize = 1 << 22;

/// Why a line is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError(pub String);

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WireError {}

/// The first line of a stream: who writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Introduction {
    loadscope_stream: u64,
    /// What was handed over in the environment.
    #[serde(default)]
    pub token: String,
    /// Process id.
    pub pid: u64,
    /// Process id of the parent.
    #[serde(default)]
    pub parent: u64,
    /// The monotonic clock, ns, at the same moment as `realtime`.
    pub monotonic: i64,
    /// Ns since 1970.
    pub realtime: i64,
    /// Name of the machine.
    #[serde(default)]
    pub host: String,
    /// Names the time since the machine was started: within it all monotonic clocks agree.
    #[serde(default)]
    pub boot: String,
    /// Version of Python.
    #[serde(default)]
    pub python: String,
    /// Version of PyTorch.
    #[serde(default)]
    pub torch: String,
    /// Name of the script.
    #[serde(default)]
    pub program: String,
    /// Rank within the training job.
    #[serde(default)]
    pub rank: Option<u32>,
    /// Number of ranks.
    #[serde(default)]
    pub world_size: Option<u32>,
    /// Rank within the machine.
    #[serde(default)]
    pub local_rank: Option<u32>,
    /// Processor cores that the process may use.
    #[serde(default)]
    pub cores: Option<u32>,
}

impl Introduction {
    /// Reads the first line of a stream.
    ///
    /// # Errors
    /// If it is none, or one of another version.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let introduction: Self = serde_json::from_slice(line)
            .map_err(|e| WireError(format!("it does not begin as a stream of the probe: {e}")))?;
        match introduction.loadscope_stream {
            VERSION => Ok(introduction),
            other => Err(WireError(format!(
                "it is a stream of version {other}; this program understands version {VERSION}"
            ))),
        }
    }

    /// How far the wall clock is ahead of the monotonic one, ns.
    pub(crate) fn wall_ahead(&self) -> i64 {
        self.realtime.saturating_sub(self.monotonic)
    }
}

/// What a loader says of itself: the arguments of `DataLoader`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct About {
    pub dataset: String,
    pub iterable: bool,
    pub batch_size: Option<usize>,
    pub num_workers: usize,
    pub prefetch_factor: Option<usize>,
    pub drop_last: bool,
    pub in_order: bool,
    pub pin_memory: bool,
    pub pins: bool,
    pub persistent_workers: bool,
    pub timeout: f64,
    pub sampler: String,
    pub batch_sampler: Option<String>,
    pub multiprocessing_context: Option<String>,
    pub start_method: Option<String>,
    pub dataset_len: Option<u64>,
    pub batches: Option<u64>,
    pub shuffle: bool,
    pub replacement: bool,
    pub num_samples: Option<u64>,
    pub replicas: Option<u32>,
    pub replica: Option<u32>,
    pub sampler_drop_last: bool,
    pub seed: Option<u64>,
    pub global_seed: Option<u64>,
    pub classes: Vec<String>,
}

/// Which batch a fetch is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// The main process knows.
    Batch {
        iterator: u32,
        epoch: u32,
        batch: u32,
    },
    /// The `count`-th fetch since this worker made its fetcher for the `generation`-th time; both count from 0.
    Worker { generation: u32, count: u64 },
}

/// How a fetch came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Fetched,
    Failed,
    /// The stream of samples has ended.
    Ended,
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
        workers: Vec<(u64, Option<u64>)>,
    },
    Dispatch {
        at: i64,
        iterator: u32,
        epoch: u32,
        batch: u32,
        worker: Option<WorkerId>,
        count: u64,
        indices: Vec<u64>,
    },
    Wait {
        at: i64,
        iterator: u32,
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
    Left {
        at: i64,
        iterator: u32,
        workers: Vec<(WorkerId, i64)>,
    },
    Fetcher {
        at: i64,
        generation: u32,
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
    /// When the collating began; `None` if it was told before, or never began.
    pub collating: Option<i64>,
    pub end: i64,
    pub outcome: Outcome,
    /// When each sample began, and when the last one was there; empty if it was not measured.
    pub times: Vec<i64>,
    /// The same on the clock of the processor.
    pub cpus: Vec<i64>,
    pub stages: Vec<(String, Vec<i64>)>,
}

impl Record {
    /// Reads a line.
    ///
    /// # Errors
    /// If it is not understood.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let text = std::str::from_utf8(line).map_err(|_| WireError("it is no text".to_owned()))?;
        let text = text.trim_ascii();
        let name = text
            .strip_prefix("[\"")
            .and_then(|rest| rest.split_once('"'))
            .map(|(name, _)| name)
            .ok_or_else(|| WireError("it is no record".to_owned()))?;
        read(name, text)
    }

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
            | Self::Gone { at, .. }
            | Self::Fail { at, .. }
            | Self::EndEpoch { at, .. }
            | Self::Left { at, .. }
            | Self::Fetcher { at, .. }
            | Self::Begin { at, .. }
            | Self::Collate { at, .. }
            | Self::Pin { at, .. }
            | Self::Content { at, .. }
            | Self::Lost { at, .. }
            | Self::Trouble { at, .. }
            | Self::Bye { at, .. } => *at,
            Self::Fetch(fetch) => fetch.end,
        }
    }
}

type Name = String;

fn fields<T: DeserializeOwned>(text: &str) -> Result<T, WireError> {
    serde_json::from_str(text).map_err(|e| WireError(e.to_string()))
}

fn read(name: &str, text: &str) -> Result<Record, WireError> {
    Ok(match name {
        "loader" => {
            let (_, at, loader, about): (Name, _, _, _) = fields(text)?;
            Record::Loader { at, loader, about }
        }
        "epoch" => {
            let (_, at, loader, iterator, epoch): (Name, _, _, _, _) = fields(text)?;
            Record::Epoch {
                at,
                loader,
                iterator,
                epoch,
            }
        }
        "workers" => {
            let (_, at, iterator, workers): (Name, _, _, _) = fields(text)?;
            Record::Workers {
                at,
                iterator,
                workers,
            }
        }
        "dispatch" => {
            type Line = (Name, i64, u32, u32, u32, Option<WorkerId>, u64, String);
            let (_, at, iterator, epoch, batch, worker, count, indices): Line = fields(text)?;
            // Python allows negative indices; a recording has no name for them.
            let indices = unpacked(&indices)?.into_iter().map(u64::try_from);
            let indices = indices.collect::<Result<_, _>>().unwrap_or_default();
            Record::Dispatch {
                at,
                iterator,
                epoch,
                batch,
                worker,
                count,
                indices,
            }
        }
        "wait" => {
            let (_, at, iterator): (Name, _, _) = fields(text)?;
            Record::Wait { at, iterator }
        }
        "arrive" => {
            type Line = (Name, i64, u32, u32, u32, Arrival, String, i64, i64);
            let (_, at, iterator, epoch, batch, how, pin, start, end): Line = fields(text)?;
            let pinned = (pin == "pin").then_some((start, end));
            Record::Arrive {
                at,
                iterator,
                epoch,
                batch,
                how,
                pinned,
            }
        }
        "fail" => {
            let (_, at, iterator, epoch, batch, text): (Name, _, _, _, _, _) = fields(text)?;
            Record::Fail {
                at,
                iterator,
                epoch,
                batch,
                text,
            }
        }
        "end" => {
            let (_, at, iterator, epoch): (Name, _, _, _) = fields(text)?;
            Record::EndEpoch {
                at,
                iterator,
                epoch,
            }
        }
        "left" => {
            let (_, at, iterator, workers): (Name, _, _, _) = fields(text)?;
            Record::Left {
                at,
                iterator,
                workers,
            }
        }
        "fetcher" => {
            let (_, at, generation): (Name, _, _) = fields(text)?;
            Record::Fetcher { at, generation }
        }
        "lost" => {
            let (_, at, count): (Name, _, _) = fields(text)?;
            Record::Lost { at, count }
        }
        "trouble" => {
            let (_, at, text): (Name, _, _) = fields(text)?;
            Record::Trouble { at, text }
        }
        "bye" => {
            let (_, at, troubles): (Name, _, _) = fields(text)?;
            Record::Bye { at, troubles }
        }
        "pin" => {
            let (_, at, iterator, epoch, batch, end): (Name, _, _, _, _, _) = fields(text)?;
            Record::Pin {
                at,
                iterator,
                epoch,
                batch,
                end,
            }
        }
        "ready" | "yield" | "gone" => {
            let (_, at, iterator, epoch, batch): (Name, _, _, _, _) = fields(text)?;
            match name {
                "ready" => Record::Ready {
                    at,
                    iterator,
                    epoch,
                    batch,
                },
                "yield" => Record::Yield {
                    at,
                    iterator,
                    epoch,
                    batch,
                },
                _ => Record::Gone {
                    at,
                    iterator,
                    epoch,
                    batch,
                },
            }
        }
        "begin" | "collate" | "content" | "fetch" => read_of_fetch(name, text)?,
        other => return Err(WireError(format!("`{other}` is no record"))),
    })
}

fn read_of_fetch(name: &str, text: &str) -> Result<Record, WireError> {
    match name {
        "content" => {
            type Line = (Name, i64, Option<u32>, u32, u64, Vec<Field>);
            let (_, at, iterator, a, b, fields): Line = fields(text)?;
            let of = place(iterator, a, b)?;
            Ok(Record::Content { at, of, fields })
        }
        "fetch" => {
            type Line = (
                (Name, i64, Option<u32>, u32, u64),
                (i64, i64, u8, String, String, Vec<(String, String)>),
            );
            let ((_, at, iterator, a, b), (collating, end, outcome, times, cpus, stages)): Line =
                flat(text)?;
            let stages = stages
                .into_iter()
                .map(|(name, walls)| Ok((name, unpacked(&walls)?)));
            Ok(Record::Fetch(Box::new(Fetch {
                at,
                of: place(iterator, a, b)?,
                collating: (collating > 0).then_some(collating),
                end,
                outcome: match outcome {
                    0 => Outcome::Fetched,
                    1 => Outcome::Failed,
                    2 => Outcome::Ended,
                    other => return Err(WireError(format!("{other} is no outcome"))),
                },
                times: unpacked(&times)?,
                cpus: unpacked(&cpus)?,
                stages: stages.collect::<Result<_, WireError>>()?,
            })))
        }
        _ => {
            let (_, at, iterator, a, b): (Name, _, _, _, _) = fields(text)?;
            let of = place(iterator, a, b)?;
            Ok(match name {
                "begin" => Record::Begin { at, of },
                _ => Record::Collate { at, of },
            })
        }
    }
}

/// A line of five and of six entries: serde's tuples end at sixteen entries, and one so long could not be read by people.
fn flat<A, B>(text: &str) -> Result<(A, B), WireError>
where
    A: DeserializeOwned,
    B: DeserializeOwned,
{
    let mut values: Vec<serde_json::Value> = fields(text)?;
    if values.len() != 11 {
        return Err(WireError(format!("it has {} entries", values.len())));
    }
    let rest = values.split_off(5);
    let read = |values| serde_json::Value::Array(values);
    let failed = |e: serde_json::Error| WireError(e.to_string());
    Ok((
        serde_json::from_value(read(values)).map_err(failed)?,
        serde_json::from_value(read(rest)).map_err(failed)?,
    ))
}

fn place(iterator: Option<u32>, a: u32, b: u64) -> Result<Where, WireError> {
    Ok(match iterator {
        None => Where::Worker {
            generation: a,
            count: b,
        },
        Some(iterator) => Where::Batch {
            iterator,
            epoch: a,
            batch: u32::try_from(b)
                .map_err(|_| WireError("no batch has this number".to_owned()))?,
        },
    })
}

/// Little-endian 64-bit integers in base64.
fn unpacked(text: &str) -> Result<Vec<i64>, WireError> {
    if text.len() > MOST_SAMPLES * 11 {
        return Err(WireError("a batch has too many samples".to_owned()));
    }
    let bytes = STANDARD
        .decode(text)
        .map_err(|e| WireError(e.to_string()))?;
    let (numbers, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(WireError("a list of numbers is cut off".to_owned()));
    }
    Ok(numbers
        .iter()
        .map(|number| i64::from_le_bytes(*number))
        .collect())
}
