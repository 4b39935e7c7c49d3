//! Messages of Arrow files: their positions and the checks of their sizes.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch as Table};
use arrow_buffer::Buffer as ArrowBuffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader, MetadataVersion, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use bytes::Bytes;
use loadscope_words::say;

use crate::buffer::Buffer;
use crate::columns::{Block, Decoded, guarded};
use crate::error::{Fault, FormatError, Place};

/// Magic number at the start and the end of the file format.
const MAGIC: &[u8] = b"ARROW1";

/// Length of the magic number and the two zeros after it, bytes.
const BEGIN: usize = 8;

/// Length of the footer size and the magic number at the end, bytes.
const TAIL: usize = 10;

/// Approximate memory of a record batch whose buffers are mapped, bytes.
const MAPPED: usize = 4096;

/// Decompressed size up to which a buffer is accepted at any compression ratio, bytes.
const MAX_UNCHECKED: u64 = 256 << 20;

/// Largest accepted compression ratio above [`MAX_UNCHECKED`].
const MOST_PACKED: u64 = 1024;

/// Number of rows that a record batch of any size may have, because nulls take no bytes.
const MOST_EMPTY: u64 = 1 << 20;

/// A file and its schema.
#[derive(Debug)]
pub(super) struct IpcFile {
    bytes: ArrowBuffer,
    pub(super) schema: SchemaRef,
    version: MetadataVersion,
    pub(super) place: Place,
}

/// A record batch in a file.
#[derive(Debug)]
pub struct Batch {
    pub(super) file: Arc<IpcFile>,
    message: MessageAt,
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
    rows: usize,
    packed: bool,
}

/// Position of a message in its file.
#[derive(Clone, Debug)]
struct MessageAt {
    header: Range<usize>,
    body: Range<usize>,
}

/// Owner of the bytes of a mapped file.
struct Mapped(Buffer);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn damaged(place: &Place, at: usize, reason: impl Into<String>) -> FormatError {
    let place = place.clone().byte(at as u64);
    let remedy = say!("It is truncated, damaged or of another format: copy or save it again");
    FormatError::new(Fault::Damaged, place, reason, remedy)
}

impl IpcFile {
    /// Opens a file and adds its record batches. The flag is true if the end mark is present.
    pub(super) fn open(
        path: &Path,
        batches: &mut Vec<Batch>,
    ) -> Result<(Arc<Self>, bool), FormatError> {
        let place = Place::file(path);
        let mapped = Buffer::map(path).map_err(|e| FormatError::reading(path, &e))?;
        let bytes = ArrowBuffer::from(Bytes::from_owner(Mapped(mapped)));
        let mut walk = Walk::new(&bytes, &place)?;
        let Some(first) = walk.next()? else {
            return Err(damaged(&place, walk.at, say!("it contains no schema")));
        };
        let (schema, version) = guarded(&place, || schema(&bytes, &first))?;
        let file = Arc::new(Self {
            bytes: bytes.clone(),
            schema,
            version,
            place: place.clone(),
        });
        let mut dictionaries = Arc::new(HashMap::new());
        while let Some(at) = walk.next()? {
            let message = message(&bytes, &at, &place)?;
            if let Some(batch) = message.header_as_record_batch() {
                let packed = file.check(&batch, &at)?;
                batches.push(Batch {
                    file: Arc::clone(&file),
                    rows: file.rows(&batch, &at)?,
                    message: at,
                    dictionaries: Arc::clone(&dictionaries),
                    packed,
                });
            } else if let Some(dictionary) = message.header_as_dictionary_batch() {
                if let Some(batch) = dictionary.data() {
                    file.check(&batch, &at)?;
                }
                let known = Arc::make_mut(&mut dictionaries);
                let body = file.body(&at);
                guarded(&place, || {
                    read_dictionary(&body, dictionary, &file.schema, known, &file.version)
                })?;
            } else if message.header_type() != MessageHeader::NONE {
                return Err(damaged(
                    &place,
                    at.header.start,
                    say!("a message has no rows"),
                ));
            }
        }
        Ok((file, walk.ended))
    }

    fn body(&self, at: &MessageAt) -> ArrowBuffer {
        // `Walk` checked that both ends are within the file.
        self.bytes.slice_with_length(at.body.start, at.body.len())
    }

    /// Returns the number of rows of a record batch.
    fn rows(&self, batch: &RecordBatch<'_>, at: &MessageAt) -> Result<usize, FormatError> {
        let runs = |field: &Arc<arrow_schema::Field>| {
            matches!(field.data_type(), DataType::RunEndEncoded(..))
        };
        // Each row takes at least a bit, unless it is null or repeated.
        let most = match self.schema.fields().iter().any(runs) {
            true => u64::MAX >> 20,
            false => (at.body.len() as u64)
                .saturating_mul(8 * MOST_PACKED)
                .max(MOST_EMPTY),
        };
        let rows = u64::try_from(batch.length())
            .ok()
            .filter(|rows| *rows <= most);
        let rows = rows.and_then(|rows| usize::try_from(rows).ok());
        rows.ok_or_else(|| {
            let reason = say!(
                "a batch of {} bytes declares {} rows",
                at.body.len(),
                batch.length()
            );
            damaged(&self.place, at.header.start, reason)
        })
    }

    /// Checks the positions and sizes of the buffers of a record batch, because the decoder does not. Returns true if they are compressed.
    fn check(&self, batch: &RecordBatch<'_>, at: &MessageAt) -> Result<bool, FormatError> {
        let wrong = |reason: &str| damaged(&self.place, at.header.start, reason);
        let body = self.bytes.get(at.body.clone()).unwrap_or_default();
        let packed = batch.compression().is_some();
        for part in batch.buffers().into_iter().flatten() {
            let begin = usize::try_from(part.offset()).ok();
            let range = begin.and_then(|begin| {
                Some(begin..begin.checked_add(usize::try_from(part.length()).ok()?)?)
            });
            let Some(bytes) = range.and_then(|range| body.get(range)) else {
                return Err(wrong(say!("a buffer of a batch is outside the batch")));
            };
            if packed && !bytes.is_empty() {
                let Some((length, rest)) = bytes.split_first_chunk() else {
                    return Err(wrong(say!("a compressed buffer of a batch has no length")));
                };
                let length = i64::from_le_bytes(*length);
                let most = (rest.len() as u64)
                    .saturating_mul(MOST_PACKED)
                    .max(MAX_UNCHECKED);
                // A length of -1 marks an uncompressed buffer.
                if length < -1 || u64::try_from(length).is_ok_and(|length| length > most) {
                    return Err(wrong(say!(
                        "a compressed buffer of a batch declares an impossible size"
                    )));
                }
            }
        }
        for node in batch.nodes().into_iter().flatten() {
            if node.length() < 0 || node.null_count() < 0 || node.null_count() > node.length() {
                return Err(wrong(say!(
                    "a column has a negative length, or more nulls than rows"
                )));
            }
        }
        Ok(packed)
    }
}

fn message<'a>(bytes: &'a [u8], at: &MessageAt, place: &Place) -> Result<Message<'a>, FormatError> {
    let header = bytes.get(at.header.clone()).unwrap_or_default();
    arrow_ipc::root_as_message(header)
        .map_err(|_| damaged(place, at.header.start, say!("a message is damaged")))
}

fn schema(
    bytes: &[u8],
    at: &MessageAt,
) -> Result<(SchemaRef, MetadataVersion), arrow_schema::ArrowError> {
    use arrow_schema::ArrowError;
    let header = bytes.get(at.header.clone()).unwrap_or_default();
    let message = arrow_ipc::root_as_message(header)
        .map_err(|_| ArrowError::ParseError(say!("its first message is damaged").to_owned()))?;
    let Some(schema) = message.header_as_schema() else {
        return Err(ArrowError::ParseError(
            say!("its first message is not a schema").to_owned(),
        ));
    };
    if !schema.endianness().equals_to_target_endianness() {
        return Err(ArrowError::ParseError(
            say!("it has the byte order of another CPU").to_owned(),
        ));
    }
    let schema = arrow_ipc::convert::try_fb_to_schema(schema)?;
    Ok((Arc::new(schema), message.version()))
}

/// Iterator over the messages of a file.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    /// True after the end mark, or if the file has a footer.
    ended: bool,
    place: &'a Place,
}

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8], place: &'a Place) -> Result<Self, FormatError> {
        let mut walk = Self {
            bytes,
            at: 0,
            end: bytes.len(),
            ended: false,
            place,
        };
        if !bytes.starts_with(MAGIC) {
            return Ok(walk);
        }
        // The file format is a stream between a magic number and a footer.
        let tail = bytes
            .len()
            .checked_sub(TAIL)
            .filter(|_| bytes.ends_with(MAGIC));
        let footer = tail.and_then(|tail| {
            let length = bytes.get(tail..)?.first_chunk()?;
            let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
            tail.checked_sub(length).filter(|footer| *footer >= BEGIN)
        });
        let Some(footer) = footer else {
            return Err(damaged(place, bytes.len(), say!("it has no footer")));
        };
        walk.at = BEGIN;
        walk.end = footer;
        walk.ended = true;
        Ok(walk)
    }

    fn number(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..self.end)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }

    fn next(&mut self) -> Result<Option<MessageAt>, FormatError> {
        const CONTINUATION: u32 = u32::MAX;
        if self.at >= self.end {
            return Ok(None);
        }
        let cut = |at| damaged(self.place, at, say!("it is truncated inside a message"));
        let (mut at, mut length) = (self.at, self.number(self.at));
        // Since Arrow 0.15, a continuation marker precedes the length of a message.
        if length == Some(CONTINUATION) {
            at += 4;
            length = self.number(at);
        }
        at += 4;
        let length = length
            .and_then(|length| usize::try_from(length).ok())
            .ok_or_else(|| cut(at))?;
        if length == 0 {
            self.ended = true;
            self.at = self.end;
            return Ok(None);
        }
        let header_end = at.checked_add(length).filter(|end| *end <= self.end);
        let header = at..header_end.ok_or_else(|| cut(at))?;
        let mut found = MessageAt {
            body: header.end..header.end,
            header,
        };
        let body = message(self.bytes, &found, self.place)?.bodyLength();
        let end = usize::try_from(body)
            .ok()
            .and_then(|body| found.header.end.checked_add(body));
        found.body.end = end.filter(|end| *end <= self.end).ok_or_else(|| cut(at))?;
        self.at = found.body.end;
        Ok(Some(found))
    }
}

impl Batch {
    /// Reads some columns of the record batch, or all with `None`.
    fn read(&self, columns: Option<&[usize]>) -> Result<Table, FormatError> {
        let file = &self.file;
        let wrong = |reason| damaged(&file.place, self.message.header.start, reason);
        let message = message(&file.bytes, &self.message, &file.place)?;
        let header = message.header_as_record_batch();
        let header = header.ok_or_else(|| wrong(say!("a message has no rows")))?;
        let body = file.body(&self.message);
        let batch = guarded(&file.place, || {
            let schema = Arc::clone(&file.schema);
            let known = &self.dictionaries;
            read_record_batch(&body, header, schema, known, columns, &file.version)
        })?;
        if batch.num_rows() != self.rows {
            return Err(wrong(say!(
                "the number of rows in a batch differs from its header"
            )));
        }
        Ok(batch)
    }
}

impl Block for Batch {
    const IS_LARGE: bool = false;

    fn place(&self) -> &Place {
        &self.file.place
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn decode(&self) -> Result<Decoded, FormatError> {
        let batch = self.read(None)?;
        let bytes = match self.packed {
            true => batch.get_array_memory_size(),
            false => MAPPED,
        };
        Ok(Decoded { batch, bytes })
    }

    fn column(&self, index: usize) -> Result<Table, FormatError> {
        self.read(Some(&[index]))
    }
}
