//! A POSIX tar archive whose files are grouped into samples by key.
//!
//! Such a dataset is a [`WebDataset`](crate::webdataset::WebDataset) of one shard. This module reads plain or gzip archives
//! in sequence, with long names of pax and GNU.
//! A truncated archive is an error. In contrast, Python's `tarfile` treats a damaged header as the end.

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

use crate::error::{FormatError, Place};
use header::{Extensions, Header, Kind};
use input::Input;
use loadscope_words::say;

/// Size of a block, bytes.
const BLOCK: usize = 512;
/// Maximum size of a file in an archive, and of all files of a sample, bytes.
const MOST_BYTES: u64 = 1 << 30;
/// Maximum size of a long name or of pax records, bytes.
const MOST_HEADER: u64 = 1 << 20;

/// A file of an archive.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Offset of the header in the uncompressed archive.
    pub(crate) begin: u64,
}

/// Sequential reader of an archive.
pub(crate) struct Archive {
    path: PathBuf,
    input: Input,
    /// pax records for all following files.
    global: Extensions,
}

impl Archive {
    /// Opens an archive.
    ///
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
        fault!(Damaged, self.place(begin), reason; say!("Copy or write the archive again"))
    }

    /// Returns the next regular file whose name `wanted` accepts, or `None` at the end. The file has at most `room` bytes.
    ///
    /// # Errors
    /// If the archive is damaged or truncated, or the file is larger than `room`. The archive is unusable afterwards.
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

    /// Reads the next header, or `None` at the end.
    fn header(&mut self, begin: u64) -> Result<Option<Header>, FormatError> {
        let mut block = [0; BLOCK];
        let read = self.read(&mut block, begin)?;
        match read {
            // Python also accepts an archive without its two final blocks.
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
            bail!(Damaged, self.place(begin), say!("it is compressed with {kind}, and only gzip is supported");
                say!("Decompress it, or compress it with gzip"));
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

    /// Reads the content of an extension header.
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

    /// Reads the bytes of a file and skips the padding.
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

    /// Returns a wanted regular file. Skips any other file, and returns `None` for it.
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
                bail!(Damaged, self.place(begin).key(header.name), say!("it is stored as a sparse file, which is not supported");
                    say!("Write the archive without --sparse"));
            }
            _ => {
                self.skip(header.size, begin, &what)?;
                self.skip(padding(header.size), begin, &what)?;
                return Ok(None);
            }
        }
        if header.size > room {
            bail!(TooLarge, self.place(begin).key(header.name),
                say!("it has {} bytes, but a sample may have at most {MOST_BYTES}", header.size);
                say!("Write smaller samples"));
        }
        Ok(Some(Member {
            bytes: self.content(header.size, begin, &what)?,
            name: header.name,
            begin,
        }))
    }
}

/// Content of an extension header.
struct Content(Vec<u8>);

impl Content {
    fn long_name(&self) -> String {
        let name = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }
}

/// Returns the padding to a whole block, bytes.
fn padding(size: u64) -> u64 {
    (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64
}
