//! Parser of records. Each line is a JSON array whose first entry is the name of the record.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadscope_trace::{Field, WorkerId, brief};
use loadscope_words::say;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::line::{fields, parse_batch_ref};
use super::{Arrival, CpuUse, Digests, FactRecord, Fetch, Outcome, Record, WireError};

/// Maximum number of samples in a batch. A longer list is treated as damage.
const MOST_SAMPLES: usize = 1 << 22;

type Name = String;

/// Fields of `wait`. Fields with a default are missing in streams of older probes, here and in the structs below.
#[derive(Deserialize)]
struct Wait(
    IgnoredAny,
    i64,
    u32,
    #[serde(default)] Option<i64>,
    #[serde(default)] Option<i64>,
);

#[derive(Deserialize)]
struct FetcherMade(IgnoredAny, i64, u32, #[serde(default)] Option<Digests>);

#[derive(Deserialize)]
struct Step(
    IgnoredAny,
    i64,
    u32,
    u32,
    u32,
    #[serde(default)] Option<i64>,
    #[serde(default)] Option<i64>,
);

type Stages = Vec<(String, String)>;

#[derive(Deserialize)]
struct FetchLine(
    IgnoredAny,
    i64,
    Option<u32>,
    u32,
    u64,
    i64,
    i64,
    u8,
    String,
    String,
    Stages,
    #[serde(default)] Option<i64>,
    #[serde(default)] Option<i64>,
    #[serde(default)] Option<i64>,
);

fn cpu_use(cpu: Option<i64>, core_wait: Option<i64>, beside: Option<i64>) -> Option<CpuUse> {
    Some(CpuUse {
        cpu: cpu?,
        core_wait,
        beside,
    })
}

impl Record {
    /// Parses one line.
    ///
    /// # Errors
    /// Returns an error if the line is not UTF-8, has an unknown name or has invalid fields.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let text = std::str::from_utf8(line)
            .map_err(|_| WireError(say!("it is not UTF-8 text").to_owned()))?;
        let text = text.trim_ascii();
        let name = text
            .strip_prefix("[\"")
            .and_then(|rest| rest.split_once('"'))
            .map(|(name, _)| name)
            .ok_or_else(|| WireError(say!("it is not a record").to_owned()))?;
        read(name, text)
    }
}

/// Parses a line whose fields after the name and in this order are those of a variant of [`Record`].
macro_rules! record {
    ($text:expr => $variant:ident($($field:ident),*)) => {{
        let (name, $($field),*) = fields($text)?;
        let _: Name = name;
        Record::$variant { $($field),* }
    }};
}

/// Parses a record of a loader or of the process. Passes all other names on.
fn read(name: &str, text: &str) -> Result<Record, WireError> {
    Ok(match name {
        "loader" => record!(text => Loader(at, loader, about)),
        "epoch" => record!(text => Epoch(at, loader, iterator, epoch)),
        "end" => record!(text => EndEpoch(at, iterator, epoch)),
        "stop" => record!(text => Stop(at, iterator, epoch)),
        "workers" => record!(text => Workers(at, iterator, workers)),
        "left" => record!(text => Left(at, iterator, workers)),
        "fetcher" => {
            let FetcherMade(_, at, generation, generators) = fields(text)?;
            Record::Fetcher {
                at,
                generation,
                generators,
            }
        }
        "other" => {
            let (_, at, name): (Name, _, String) = fields(text)?;
            let name = brief(name);
            Record::Other { at, name }
        }
        "lost" => record!(text => Lost(at, count)),
        "trouble" => record!(text => Trouble(at, text)),
        "bye" => record!(text => Bye(at, troubles)),
        _ => match FactRecord::read(name, text)? {
            Some(fact) => Record::Fact(fact),
            None => read_of_batch(name, text)?,
        },
    })
}

/// Parses a record of the main process about the path of a batch.
fn read_of_batch(name: &str, text: &str) -> Result<Record, WireError> {
    Ok(match name {
        "dispatch" => {
            type Line = (Name, i64, u32, u32, u32, Option<WorkerId>, u64, String);
            let (_, at, iterator, epoch, batch, worker, count, indices): Line = fields(text)?;
            let (indices, unnamed) = drop_negative_indices(unpacked(&indices)?);
            Record::Dispatch {
                at,
                iterator,
                epoch,
                batch,
                worker,
                count,
                indices,
                unnamed,
            }
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
        "fail" => record!(text => Fail(at, iterator, epoch, batch, text)),
        "pin" => record!(text => Pin(at, iterator, epoch, batch, end)),
        _ => read_of_step(name, text)?,
    })
}

/// Parses a record of the training loop in the main process.
fn read_of_step(name: &str, text: &str) -> Result<Record, WireError> {
    Ok(match name {
        "wait" => {
            let Wait(_, at, iterator, cpu, core_wait) = fields(text)?;
            let step = cpu_use(cpu, core_wait, None);
            Record::Wait { at, iterator, step }
        }
        "step" => {
            let Step(_, at, iterator, epoch, batch, cpu, core_wait) = fields(text)?;
            Record::Step {
                at,
                iterator,
                epoch,
                batch,
                cpu_use: cpu_use(cpu, core_wait, None),
            }
        }
        "aside" => record!(text => Aside(at, iterator, epoch, batch, start, kind)),
        "device" => record!(text => Device(at, iterator, epoch, batch, waited, idle)),
        "raised" => record!(text => Raised(at, iterator, epoch, batch, text)),
        "ready" => record!(text => Ready(at, iterator, epoch, batch)),
        "yield" => record!(text => Yield(at, iterator, epoch, batch)),
        "gone" => record!(text => Gone(at, iterator, epoch, batch)),
        _ => read_of_fetch(name, text)?,
    })
}

/// Converts indices to unsigned. With a negative index, which a recording cannot store, returns an empty list and true.
fn drop_negative_indices(indices: Vec<i64>) -> (Vec<u64>, bool) {
    let indices: Result<Vec<u64>, _> = indices.into_iter().map(u64::try_from).collect();
    let unnamed = indices.is_err();
    (indices.unwrap_or_default(), unnamed)
}

/// Parses a record of a process that fetches a batch: the worker or, without workers, the main process.
fn read_of_fetch(name: &str, text: &str) -> Result<Record, WireError> {
    match name {
        "content" => {
            type Line = (Name, i64, Option<u32>, u32, u64, Vec<Field>);
            let (_, at, iterator, a, b, fields): Line = fields(text)?;
            let of = parse_batch_ref(iterator, a, b)?;
            Ok(Record::Content { at, of, fields })
        }
        "fetch" => {
            let line: FetchLine = fields(text)?;
            let FetchLine(_, at, iterator, a, b, collating, end, outcome, times, cpus, stages, ..) =
                line;
            let cpu_use = cpu_use(line.11, line.12, line.13);
            let stages = stages
                .into_iter()
                .map(|(name, walls)| Ok((name, unpacked(&walls)?)));
            Ok(Record::Fetch(Box::new(Fetch {
                at,
                of: parse_batch_ref(iterator, a, b)?,
                collating: (collating > 0).then_some(collating),
                end,
                outcome: match outcome {
                    0 => Outcome::Fetched,
                    1 => Outcome::Failed,
                    2 => Outcome::Ended,
                    other => return Err(WireError(say!("{other} is not a known outcome"))),
                },
                times: unpacked(&times)?,
                cpus: unpacked(&cpus)?,
                stages: stages.collect::<Result<_, WireError>>()?,
                cpu_use,
            })))
        }
        "begin" | "collate" => {
            let (_, at, iterator, a, b): (Name, _, _, _, _) = fields(text)?;
            let of = parse_batch_ref(iterator, a, b)?;
            Ok(match name {
                "begin" => Record::Begin { at, of },
                _ => Record::Collate { at, of },
            })
        }
        other => Err(WireError(brief(say!("`{other}` is not a known record")))),
    }
}

/// Decodes base64 into little-endian 64-bit integers.
fn unpacked(text: &str) -> Result<Vec<i64>, WireError> {
    if text.len() > MOST_SAMPLES * 11 {
        return Err(WireError(say!("a batch has too many samples").to_owned()));
    }
    let bytes = STANDARD
        .decode(text)
        .map_err(|e| WireError(e.to_string()))?;
    let (numbers, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(WireError(say!("a list of numbers is truncated").to_owned()));
    }
    Ok(numbers
        .iter()
        .map(|number| i64::from_le_bytes(*number))
        .collect())
}
