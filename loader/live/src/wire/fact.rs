//! Records of facts about loaders, workers and samples.

use loadscope_trace::{Difference, Nanos, Sent, SentAttribute, StartMethod, WorkerId, brief};
use serde_json::Value;

use super::line::{fields, parse_batch_ref};
use super::{BatchRef, WireError};

/// Maximum number of attribute names in a `changed` record.
const MOST_ATTRIBUTES: usize = 16;

/// A fact about a loader, a worker or a sample. Times are as in [`Record`](super::Record).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum FactRecord {
    /// Workers of an iterator that started before the recording. They send nothing.
    Earlier {
        at: i64,
        iterator: u32,
        workers: u32,
    },
    /// Length of an iterable-style loader: `len(loader)`, in batches.
    Length { at: i64, loader: u32, batches: u64 },
    /// Attributes of the dataset that the program changed between two epochs.
    Changed {
        at: i64,
        loader: u32,
        attributes: Vec<String>,
    },
    /// Stream of a worker that ended although nothing in it called `get_worker_info()`.
    Undivided { at: i64, generation: u32 },
    /// Data that the main process pickled for the new workers of an iterator.
    Sent {
        at: i64,
        iterator: u32,
        sent: Box<Sent>,
    },
    /// Attribute of the dataset with most of the Python objects.
    Objects {
        at: i64,
        iterator: u32,
        attribute: String,
        objects: u64,
    },
    /// Path of the file of a sample.
    File {
        at: i64,
        of: BatchRef,
        position: u32,
        file: String,
    },
    /// A sample that could not be collated with the other samples of its batch.
    Misfit {
        at: i64,
        of: BatchRef,
        position: u32,
        mismatch: Box<CollateMismatch>,
    },
}

/// The difference between a sample and the others of its batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CollateMismatch {
    pub field: String,
    pub by: Difference,
    pub got: String,
    pub usual: String,
    pub alike: u32,
}

impl FactRecord {
    /// Parses a line. Returns `None` if `name` is not the name of a fact.
    pub(super) fn read(name: &str, text: &str) -> Result<Option<Self>, WireError> {
        type Name = String;
        Ok(Some(match name {
            "earlier" => {
                let (_, at, iterator, workers): (Name, _, _, _) = fields(text)?;
                let workers = u32::min(workers, WorkerId::MAX.into());
                Self::Earlier {
                    at,
                    iterator,
                    workers,
                }
            }
            "length" => {
                let (_, at, loader, batches): (Name, _, _, _) = fields(text)?;
                Self::Length {
                    at,
                    loader,
                    batches,
                }
            }
            "changed" => {
                let (_, at, loader, names): (Name, _, _, Vec<String>) = fields(text)?;
                let names = names.into_iter().take(MOST_ATTRIBUTES);
                Self::Changed {
                    at,
                    loader,
                    attributes: names.map(brief).collect(),
                }
            }
            "undivided" => {
                let (_, at, generation): (Name, _, _) = fields(text)?;
                Self::Undivided { at, generation }
            }
            "sent" => sent(text)?,
            "objects" => {
                let (_, at, iterator, attribute, objects): (Name, _, _, _, _) = fields(text)?;
                Self::Objects {
                    at,
                    iterator,
                    attribute: brief(attribute),
                    objects,
                }
            }
            "file" => {
                type Line = (Name, i64, Option<u32>, u32, u64, u32, String);
                let (_, at, iterator, a, b, position, file): Line = fields(text)?;
                Self::File {
                    at,
                    of: parse_batch_ref(iterator, a, b)?,
                    position,
                    file: brief(file),
                }
            }
            "misfit" => misfit(text)?,
            _ => return Ok(None),
        }))
    }

    pub(crate) fn at(&self) -> i64 {
        match self {
            Self::Earlier { at, .. }
            | Self::Length { at, .. }
            | Self::Changed { at, .. }
            | Self::Undivided { at, .. }
            | Self::Sent { at, .. }
            | Self::Objects { at, .. }
            | Self::File { at, .. }
            | Self::Misfit { at, .. } => *at,
        }
    }

    /// Returns the batch of the fact. Returns `None` for a fact about a loader, an iterator or a worker.
    pub(crate) fn batch_ref(&self) -> Option<BatchRef> {
        match self {
            Self::File { of, .. } | Self::Misfit { of, .. } => Some(*of),
            Self::Earlier { .. }
            | Self::Length { .. }
            | Self::Changed { .. }
            | Self::Undivided { .. }
            | Self::Sent { .. }
            | Self::Objects { .. } => None,
        }
    }

    pub(super) fn is_of_worker(&self) -> bool {
        match self {
            Self::Undivided { .. } => true,
            _ => matches!(self.batch_ref(), Some(BatchRef::Worker { .. })),
        }
    }

    /// Returns the length of its texts, bytes.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::File { file, .. } => file.len(),
            Self::Misfit { mismatch, .. } => {
                mismatch.field.len() + mismatch.got.len() + mismatch.usual.len()
            }
            Self::Changed { attributes, .. } => attributes.iter().map(String::len).sum(),
            Self::Sent { sent, .. } => sent.attribute.as_ref().map_or(0, |a| a.name.len()),
            Self::Objects { attribute, .. } => attribute.len(),
            Self::Earlier { .. } | Self::Length { .. } | Self::Undivided { .. } => 0,
        }
    }
}

/// Parses a `sent` record.
fn sent(text: &str) -> Result<FactRecord, WireError> {
    type Line = (
        String,
        i64,
        u32,
        i64,
        u32,
        StartMethod,
        u64,
        i64,
        Option<String>,
        Option<u64>,
    );
    let (_, at, iterator, start, workers, method, bytes, pickling, name, size): Line =
        fields(text)?;
    let attribute = name.zip(size).map(|(name, bytes)| SentAttribute {
        name: brief(name),
        bytes,
    });
    let sent = Sent {
        workers,
        method,
        bytes,
        took: Nanos(at.saturating_sub(start).max(0)),
        pickling: Nanos(pickling),
        attribute,
    };
    Ok(FactRecord::Sent {
        at,
        iterator,
        sent: Box::new(sent),
    })
}

/// Parses a `misfit` record.
fn misfit(text: &str) -> Result<FactRecord, WireError> {
    type Line = (
        String,
        i64,
        Option<u32>,
        u32,
        u64,
        u32,
        String,
        Value,
        String,
        String,
        u32,
    );
    let (_, at, iterator, a, b, position, field, by, got, usual, alike): Line = fields(text)?;
    let by = serde_json::from_value(by).map_err(WireError::of)?;
    Ok(FactRecord::Misfit {
        at,
        of: parse_batch_ref(iterator, a, b)?,
        position,
        mismatch: Box::new(CollateMismatch {
            field: brief(field),
            by,
            got: brief(got),
            usual: brief(usual),
            alike,
        }),
    })
}
