//! Reader that presents a recording in parts as one text: header, data kept from dropped parts, existing parts.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use loadscope_words::say;
use serde::Deserialize;

use super::counting_reader::CountingReader;
use super::decompress::ZstdReader;
use super::multipart::{PartFile, folder};
use super::{MAX_HEADER, MAX_LINE, ZSTD_MAGIC};
use crate::LogError;

/// Size of a block of text, bytes.
const BLOCK: usize = 256 << 10;

type Input = BufReader<Box<dyn Read + Send>>;

/// Text of a recording in parts.
pub(super) struct PartsReader {
    /// Text that was produced and not yet read.
    out: Vec<u8>,
    at: usize,
    /// Beginning of an incomplete line.
    rest: Vec<u8>,
    kept_data: Vec<KeptDataReader>,
    /// Number of the first existing part.
    first: u32,
    parts: VecDeque<(String, File)>,
    current: Option<(String, Input)>,
    consumed: Arc<AtomicU64>,
    /// True if a file is truncated.
    cut: bool,
    truncation_reported: bool,
    /// Total size of all files, bytes.
    pub size: u64,
}

/// File with data kept from dropped parts.
struct KeptDataReader {
    name: String,
    input: Input,
    line: Vec<u8>,
    /// Time of the line's event.
    at: i64,
}

/// Fields of a line that determine its position.
#[derive(Deserialize)]
struct LinePosition {
    t: Option<i64>,
    in_part: Option<u32>,
}

impl PartsReader {
    /// Opens all files in the folder `name` next to `path`. `header` is the header of `path`.
    pub fn open(
        path: &Path,
        name: &str,
        header: &[u8],
        consumed: Arc<AtomicU64>,
    ) -> Result<Self, LogError> {
        let Some(folder) = folder(path, name) else {
            let why = say!("its parts are not in a folder next to it");
            return Err(LogError::NotALog {
                why: why.to_owned(),
            });
        };
        let (parts, kept_data) = files(&folder)?;
        let first = parts.front().map_or(u32::MAX, |(number, ..)| *number);
        let sizes = parts
            .iter()
            .map(|(.., file)| file)
            .chain(kept_data.iter().map(|(_, file)| file));
        let size = sizes
            .map(|file| file.metadata().map_or(0, |m| m.len()))
            .sum();
        let mut out = header.trim_ascii_end().to_vec();
        out.push(b'\n');
        let mut reader = Self {
            out,
            at: 0,
            rest: Vec::new(),
            kept_data: Vec::new(),
            first,
            parts: parts
                .into_iter()
                .map(|(_, name, file)| (name, file))
                .collect(),
            current: None,
            consumed,
            cut: false,
            truncation_reported: false,
            size,
        };
        for (name, file) in kept_data {
            reader
                .open_kept_data(name, file)
                .map_err(|cause| LogError::from_read(cause, 1, true))?;
        }
        Ok(reader)
    }

    fn open_kept_data(&mut self, name: String, file: File) -> io::Result<()> {
        let input = decompressed(file, &self.consumed).map_err(|e| with_file_name(&name, e))?;
        let mut kept = KeptDataReader {
            name,
            input,
            line: Vec::new(),
            at: 0,
        };
        if kept.advance(self.first)? {
            self.kept_data.push(kept);
        }
        Ok(())
    }

    /// Produces more text. Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.out.clear();
        self.at = 0;
        // The kept data is merged in order of time.
        while let Some(k) = (0..self.kept_data.len()).min_by_key(|k| self.kept_data[*k].at) {
            self.out.append(&mut self.kept_data[k].line);
            if !self.kept_data[k].advance(self.first)? {
                self.kept_data.remove(k);
            }
            if self.out.len() >= BLOCK {
                return Ok(true);
            }
        }
        if !self.out.is_empty() {
            return Ok(true);
        }
        loop {
            if self.current.is_none() && !self.open_next()? {
                return Ok(false);
            }
            if self.read_part()? {
                return Ok(true);
            }
        }
    }

    /// Opens the next part and reads its header. Returns false if there is none.
    fn open_next(&mut self) -> io::Result<bool> {
        while let Some((name, file)) = self.parts.pop_front() {
            let mut input =
                decompressed(file, &self.consumed).map_err(|e| with_file_name(&name, e))?;
            let mut header = Vec::new();
            let limit = MAX_HEADER as u64 + 1;
            match (&mut input).take(limit).read_until(b'\n', &mut header) {
                Ok(_) if header.ends_with(b"\n") => {
                    self.current = Some((name, input));
                    return Ok(true);
                }
                Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => {
                    return Err(with_file_name(&name, e));
                }
                // The recorder was killed just after creating this part.
                _ => self.cut = true,
            }
        }
        Ok(false)
    }

    /// Reads whole lines from the open part. Returns false if there are none.
    fn read_part(&mut self) -> io::Result<bool> {
        let Some((name, input)) = &mut self.current else {
            return Ok(false);
        };
        self.out.append(&mut self.rest);
        loop {
            let start = self.out.len();
            self.out.resize(start + BLOCK, 0);
            let read = input.read(&mut self.out[start..]);
            self.out.truncate(start + read.as_ref().map_or(0, |n| *n));
            let is_cut = match read {
                Ok(0) => false,
                Ok(_) => {
                    let end = self.out.iter().rposition(|b| *b == b'\n');
                    let Some(end) = end else {
                        if self.out.len() > MAX_LINE {
                            return Ok(true);
                        }
                        continue;
                    };
                    self.rest.extend_from_slice(&self.out[end + 1..]);
                    self.out.truncate(end + 1);
                    return Ok(true);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => true,
                Err(e) => return Err(with_file_name(name, e)),
            };
            self.current = None;
            self.cut |= is_cut;
            if !self.parts.is_empty() && !self.out.is_empty() {
                // An incomplete line is followed by another part, so it is skipped.
                self.out.clear();
                self.cut = true;
            }
            return Ok(!self.out.is_empty());
        }
    }
}

impl Read for PartsReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at == self.out.len() && !self.fill()? {
            // Truncation is reported after all text before it has been read.
            if self.cut && !std::mem::replace(&mut self.truncation_reported, true) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            return Ok(0);
        }
        let text = &self.out[self.at..];
        let n = text.len().min(buf.len());
        buf[..n].copy_from_slice(&text[..n]);
        self.at += n;
        Ok(n)
    }
}

impl KeptDataReader {
    /// Advances to the next line about a part before `first`. Returns false if there is none.
    fn advance(&mut self, first: u32) -> io::Result<bool> {
        loop {
            self.line.clear();
            let limit = MAX_LINE as u64 + 1;
            match (&mut self.input)
                .take(limit)
                .read_until(b'\n', &mut self.line)
            {
                Ok(_) if self.line.ends_with(b"\n") => {}
                // An incomplete last line concerns a part that still exists.
                Ok(_) => return Ok(false),
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                Err(e) => return Err(with_file_name(&self.name, e)),
            }
            let place: LinePosition = match serde_json::from_slice(&self.line) {
                Ok(place) => place,
                // The line parser reports this error.
                Err(_) => return Ok(true),
            };
            if let (Some(at), Some(_)) = (place.t, place.in_part.filter(|part| *part < first)) {
                self.at = at;
                return Ok(true);
            }
        }
    }
}

type Parts = VecDeque<(u32, String, File)>;

/// Opens the newest consecutive parts, and the files with data kept from dropped parts.
fn files(folder: &Path) -> Result<(Parts, Vec<(String, File)>), LogError> {
    let failed = |cause| LogError::Parts {
        folder: folder.to_owned(),
        cause,
    };
    let mut members = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        members.extend(name.to_str().and_then(PartFile::parse));
    }
    members.sort_unstable();
    let open = |member: PartFile| open(folder, member);
    let mut parts = VecDeque::new();
    // The newest part is opened first, because a running recorder can drop the oldest parts meanwhile.
    for member in members.iter().rev() {
        let PartFile::Part(number) = *member else {
            continue;
        };
        let next = parts.front().map(|(next, ..): &(u32, String, File)| *next);
        if next.is_some_and(|next| next.checked_sub(1) != Some(number)) {
            break;
        }
        match open(*member)? {
            Some(file) => parts.push_front((number, member.name(), file)),
            None => break,
        }
    }
    let newest = members
        .iter()
        .rev()
        .find(|m| matches!(m, PartFile::Course(_)));
    let others = members
        .iter()
        .filter(|m| matches!(m, PartFile::Waits(_) | PartFile::Kept));
    let mut kept_data = Vec::new();
    for member in newest.into_iter().chain(others) {
        kept_data.extend(open(*member)?.map(|file| (member.name(), file)));
    }
    Ok((parts, kept_data))
}

/// Opens a file in the folder. Returns `None` if it no longer exists.
fn open(folder: &Path, member: PartFile) -> Result<Option<File>, LogError> {
    let path: PathBuf = folder.join(member.name());
    match File::open(&path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(LogError::Open { path, cause }),
    }
}

fn decompressed(file: File, consumed: &Arc<AtomicU64>) -> io::Result<Input> {
    let counted = CountingReader::new(file, Arc::clone(consumed));
    let mut input = BufReader::with_capacity(64 << 10, counted);
    let packed = input.fill_buf()?.starts_with(&ZSTD_MAGIC);
    let plain: Box<dyn Read + Send> = match packed {
        true => Box::new(ZstdReader::new(input)?),
        false => Box::new(input),
    };
    Ok(BufReader::with_capacity(64 << 10, plain))
}

/// Adds the file name to an error.
fn with_file_name(name: &str, error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("{name}: {}", loadscope_words::cause(&error)),
    )
}
