//! Grouping of an archive's files into samples.

use std::path::Path;
use std::sync::Arc;

use loadscope_words::say;

use super::key::{base_plus_ext, is_meta};
use super::order::Order;
use super::{Archive, MOST_BYTES, Member};
use crate::error::{FormatError, Place};
use crate::stages::Stages;

/// Maximum number of files of a sample.
const MOST_FIELDS: usize = 1 << 16;

/// Consecutive files with the same name up to the first dot.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) key: String,
    /// Name of the archive.
    pub(crate) url: Arc<str>,
    /// Lowercase name and content of each file.
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    pub(super) order: Arc<Order>,
    bytes: u64,
}

/// Iterator over the samples of an archive.
pub(crate) struct Samples {
    archive: Archive,
    url: Arc<str>,
    order: Arc<Order>,
    /// First file of the next sample.
    ahead: Option<Sample>,
    is_over: bool,
}

impl Samples {
    pub(crate) fn open(path: &Path) -> Result<Self, FormatError> {
        Ok(Self {
            archive: Archive::open(path)?,
            url: path.display().to_string().into(),
            order: Arc::new(Order::new(path)),
            ahead: None,
            is_over: false,
        })
    }

    /// Returns the next sample. After an error there are no more, because files after damage cannot be assigned to a sample.
    pub(crate) fn next(&mut self, stages: &mut dyn Stages) -> Option<Result<Sample, FormatError>> {
        if self.is_over {
            return None;
        }
        stages.enter("read");
        let next = self.gather().map_err(|mut error| {
            error.reason += say!(" (the samples after it in this archive are not read)");
            error
        });
        self.is_over |= next.is_err();
        next.transpose()
    }

    /// Collects files until one has another key, and keeps this file for the next sample.
    fn gather(&mut self) -> Result<Option<Sample>, FormatError> {
        let mut sample = self.ahead.take();
        loop {
            let taken = sample.as_ref().map_or(0, |sample| sample.bytes);
            // The next file may belong to another sample. Then both samples are in memory.
            let member = self.archive.next(MOST_BYTES, |name| !is_meta(name))?;
            let Some(member) = member else {
                self.is_over = true;
                return Ok(sample);
            };
            let Some((key, field)) = base_plus_ext(&member.name) else {
                continue;
            };
            let (key, field) = (key.to_owned(), field.to_lowercase());
            match &mut sample {
                Some(sample) if sample.key == key => {
                    let room = MOST_BYTES.saturating_sub(taken);
                    add(sample, field, member, room)?;
                }
                _ => {
                    let mut next = Sample {
                        key,
                        url: Arc::clone(&self.url),
                        fields: Vec::new(),
                        order: Arc::clone(&self.order),
                        bytes: 0,
                    };
                    add(&mut next, field, member, MOST_BYTES)?;
                    match sample.replace(next) {
                        Some(whole) => {
                            self.ahead = sample;
                            return Ok(Some(whole));
                        }
                        None => continue,
                    }
                }
            }
        }
    }
}

/// Adds a file to its sample.
fn add(sample: &mut Sample, field: String, member: Member, room: u64) -> Result<(), FormatError> {
    let place = || {
        Place::named(&*sample.url)
            .byte(member.begin)
            .key(&member.name)
    };
    let is_there = sample.fields.iter().any(|(name, _)| *name == field);
    if is_there || field == "__key__" || field == "__url__" {
        bail!(Damaged, place(), say!("the sample {:?} has a second file {field:?}", sample.key);
            say!("Give one of the files another name"));
    }
    let size = member.bytes.len() as u64;
    if size > room || sample.fields.len() >= MOST_FIELDS {
        bail!(TooLarge, place(), say!("the sample {:?} has more than {MOST_BYTES} bytes or {MOST_FIELDS} files", sample.key);
            say!("Write smaller samples"));
    }
    sample.bytes += size;
    sample.fields.push((field, member.bytes));
    Ok(())
}
