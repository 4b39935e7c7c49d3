//! One POSIX tar archive, its files grouped into samples by key.
//!
//! It is a [`WebDataset`](crate::webdataset::WebDataset) of one shard. This module reads the archives: plain or compressed by gzip,
//! with the long names of pax and GNU, one file after the other. What is cut off is an error, also where Python's `tarfile` takes it
//! for the end: behind a header that is damaged.

mod field;
mod group;
mod header;
mod input;
mod key;
mod order;

use std::path::{Path, PathBuf};

pub use field::Decoding;
pub(crate) use field::decode;
pub(crate) use group::{Sample, Samples};
pub use key::base_plus_ext;
pub(crate) use order::early_split;

use crate::error::{Fault, FormatError, Place};
use header::{Extensions, Header, Kind};
use input::Input;
use loadscope_words::say;

/// Bytes of a block.
const BLOCK: usize = 512;
/// Most bytes of a file in an archive, and of all files of a sample.
const MOST_BYTES: u64 = 1 << 30;
/// Most bytes of a header that holds a long name or pax records.
const MOST_HEADER: u64 = 1 << 20;

/// A file of an archive.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Where its header begins in the archive, uncompressed.
    pub(crate) begin: u64,
}

/// An archive that is read from its begin to its end.
pub(crate) struct Archive {
    path: PathBuf,
    input: Input,
    /// pax records that hold for all files that follow.
    global: Extensions,
}

impl Archive {
    /// # Errors
    /// If the file cannot be opened.
    pub(crate) fn open(path: &Path) -> Result<Self, FormatError> {
        Ok(Self {
            path: path.to_owned(),
            input: Input::open(path)?,
            global: Extensions::default(),
        })
    }

    fn place(&self, begin: u64) -> Place {
        Place::file(&self.path).byte(begin)
    }

    fn damaged(&self, begin: u64, reason: impl Into<String>) -> FormatError {
        FormatError::new(
            Fault::Damaged,
            self.place(begin),
            reason,
            say!("Copy or write the archive again"),
        )
    }

    /// The next regular file that `wanted` wants by its name; `None`: the end. At most `room` bytes are taken.
    ///
    /// # Errors
    /// If the archive is damaged, ends in the middle, or holds more than there is room for. It cannot be read on then.
    pub(crate) fn next(
        &mut self,
        room: u64,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Member>, FormatError> {
        let mut own = Extensions::default();
        loop {
            let begin = self.input.position();
            let Some(header) = self.header(begin)? else {
                return Ok(None);
            };
            match header.kind {
                Kind::LongName => own.path = Some(self.extension(&header, begin)?.long_name()),
                Kind::Local => own.records(&self.extension(&header, begin)?.0),
                Kind::Global => {
                    let records = self.extension(&header, begin)?.0;
                    self.global.records(&records);
                }
                Kind::File | Kind::Sparse | Kind::Other => {
                    let records = own.over(&self.global);
                    own = Extensions::default();
                    let header = header.with(records);
                    if let Some(member) = self.member(header, begin, room, &wanted)? {
                        return Ok(Some(member));
                    }
                }
            }
        }
    }

    /// The next header; `None`: the end.
    fn header(&mut self, begin: u64) -> Result<Option<Header>, FormatError> {
        let mut block = [0; BLOCK];
        let read = self.read(&mut block, begin)?;
        match read {
            // An archive without its last two blocks is taken as it is, as by Python.
            0 if begin > 0 => return Ok(None),
            0 => return Err(self.damaged(begin, say!("it is empty"))),
            BLOCK => {}
            _ if begin == 0 => {
                return Err(self.damaged(
                    begin,
                    say!("it is not a tar archive: it is too short for one"),
                ));
            }
            _ => return Err(self.damaged(begin, say!("it is truncated inside a header"))),
        }
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let compressed = input::compression(&block).filter(|_| begin == 0);
        if let Some(kind) = compressed {
            return Err(FormatError::new(
                Fault::Damaged,
                self.place(begin),
                say!("it is compressed with {kind}, and only gzip is supported"),
                say!("Decompress it, or compress it with gzip"),
            ));
        }
        Header::read(&block).map(Some).map_err(|reason| {
            let of = if begin == 0 {
                say!("it is not a tar archive: ")
            } else {
                ""
            };
            self.damaged(begin, format!("{of}{reason}"))
        })
    }

    fn read(&mut self, block: &mut [u8], begin: u64) -> Result<usize, FormatError> {
        self.input.fill(block).map_err(|e| {
            let (fault, what) = input::broken(&e);
            FormatError::new(
                fault,
                self.place(begin),
                what,
                say!("Copy or write the archive again"),
            )
        })
    }

    /// The content of a header of its own.
    fn extension(&mut self, header: &Header, begin: u64) -> Result<Content, FormatError> {
        if header.size > MOST_HEADER {
            return Err(self.damaged(
                begin,
                say!(
                    "a name or record of {} bytes exceeds the limit of {MOST_HEADER} bytes",
                    header.size
                ),
            ));
        }
        self.content(header.size, begin, say!("a long name"))
            .map(Content)
    }

    /// The bytes of a file, and the blanks behind them.
    fn content(&mut self, size: u64, begin: u64, what: &str) -> Result<Vec<u8>, FormatError> {
        let bytes = self.input.take(size).map_err(|e| {
            let (fault, what) = input::broken(&e);
            FormatError::new(
                fault,
                self.place(begin),
                what,
                say!("Copy or write the archive again"),
            )
        })?;
        if (bytes.len() as u64) < size {
            return Err(self.damaged(
                begin,
                say!(
                    "it is truncated inside {what}, after {} of {size} bytes",
                    bytes.len()
                ),
            ));
        }
        self.skip(padding(size), begin, what)?;
        Ok(bytes)
    }

    fn skip(&mut self, size: u64, begin: u64, what: &str) -> Result<(), FormatError> {
        let skipped = self.input.skip(size).map_err(|e| {
            let (fault, what) = input::broken(&e);
            FormatError::new(
                fault,
                self.place(begin),
                what,
                say!("Copy or write the archive again"),
            )
        })?;
        if skipped < size {
            return Err(self.damaged(begin, say!("it is truncated inside {what}")));
        }
        Ok(())
    }

    fn member(
        &mut self,
        header: Header,
        begin: u64,
        room: u64,
        wanted: &impl Fn(&str) -> bool,
    ) -> Result<Option<Member>, FormatError> {
        let what = say!("the file {:?}", header.name);
        match header.kind {
            Kind::File if wanted(&header.name) => {}
            Kind::Sparse => {
                return Err(FormatError::new(
                    Fault::Damaged,
                    self.place(begin).key(header.name),
                    say!("it is stored as a sparse file, which is not supported"),
                    say!("Write the archive without --sparse"),
                ));
            }
            _ => {
                self.skip(header.size, begin, &what)?;
                self.skip(padding(header.size), begin, &what)?;
                return Ok(None);
            }
        }
        if header.size > room {
            return Err(FormatError::new(
                Fault::TooLarge,
                self.place(begin).key(header.name),
                say!(
                    "it has {} bytes, but a sample may have at most {MOST_BYTES}",
                    header.size
                ),
                say!("Write smaller samples"),
            ));
        }
        Ok(Some(Member {
            bytes: self.content(header.size, begin, &what)?,
            name: header.name,
            begin,
        }))
    }
}

/// The content of a header of its own.
struct Content(Vec<u8>);

impl Content {
    fn long_name(&self) -> String {
        let name = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }
}

/// What is missing to a whole block.
fn padding(size: u64) -> u64 {
    (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64
}
