//! Pages of an environment. Every offset is checked before its use.

use loadscope_words::say;

use crate::buffer::Buffer;
use crate::error::{FormatError, Place};

/// Magic number of an LMDB file.
const MAGIC: u32 = 0xBEEF_C0DE;
/// Supported version of the file format.
const VERSION: u32 = 1;
/// Length of the page header, bytes.
const HEAD: usize = 16;
/// Offset of the main database's descriptor in the first two pages.
const MAIN: usize = 88;

/// Type of a page, from the flags in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Branch,
    Leaf,
    Overflow,
    Meta,
}

impl Kind {
    fn of(flags: u16) -> Option<Self> {
        // Leaves of fixed-size values (0x20) occur only in databases with several values per key.
        match flags & 0x2f {
            0x01 => Some(Self::Branch),
            0x02 => Some(Self::Leaf),
            0x04 => Some(Self::Overflow),
            0x08 => Some(Self::Meta),
            _ => None,
        }
    }
}

/// Pages of a file.
#[derive(Debug)]
pub(super) struct Pages {
    map: Buffer,
    size: usize,
    place: Place,
}

/// Value of an entry.
#[derive(Debug)]
pub(super) enum Value {
    /// Bytes in the page itself.
    Inline(Buffer),
    /// Bytes in separate overflow pages.
    Overflow { page: u64, len: usize },
    /// Descriptor of a database.
    Database(Description),
    /// Several values of one key, which are not supported.
    Duplicates,
}

/// Entry of a page.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) key: Buffer,
    pub(super) value: Value,
    page: u64,
}

/// Page with entries.
pub(super) struct Page<'a> {
    pages: &'a Pages,
    bytes: Buffer,
    number: u64,
}

/// Reads a little-endian number of `N` bytes at offset `at`.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let found = bytes.get(at..at.checked_add(N)?)?;
    Some(
        found
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)),
    )
}

impl Pages {
    /// Opens the pages of a file.
    ///
    /// # Errors
    /// If the file is not LMDB.
    pub(super) fn new(map: Buffer, place: Place) -> Result<Self, FormatError> {
        let mut pages = Self {
            map,
            size: 4096,
            place,
        };
        let begin = |at| number::<4>(&pages.map, at);
        if begin(HEAD) != Some(u64::from(MAGIC)) {
            return Err(pages.damaged(
                0,
                say!("it is not an LMDB file, or its first pages are damaged"),
            ));
        }
        if let Some(version) = begin(HEAD + 4).filter(|version| *version != u64::from(VERSION)) {
            return Err(pages.damaged(
                0,
                say!("it is an LMDB file of version {version}, and only version {VERSION} is supported"),
            ));
        }
        let size = begin(HEAD + 24).unwrap_or_default() as usize;
        if !size.is_power_of_two() || !(256..=65_536).contains(&size) {
            return Err(pages.damaged(0, say!("its pages cannot have {size} bytes")));
        }
        pages.size = size;
        Ok(pages)
    }

    /// Returns the number of pages in the file.
    pub(super) fn count(&self) -> u64 {
        (self.map.len() / self.size) as u64
    }

    /// Returns the place of a page for messages.
    pub(super) fn place(&self, page: u64) -> Place {
        self.place
            .clone()
            .byte(page.saturating_mul(self.size as u64))
    }

    pub(super) fn damaged(&self, page: u64, reason: impl Into<String>) -> FormatError {
        fault!(Damaged, self.place(page), reason;
            say!("Copy it again, with mdb_copy while no one writes to it"))
    }

    /// Returns the main database after the last complete transaction.
    pub(super) fn main(&self) -> Result<Description, FormatError> {
        let states = [0, 1].map(|page| {
            let bytes = self.page(page, Kind::Meta).ok()?;
            let magic = number::<4>(&bytes, HEAD)?;
            let main = bytes.get(MAIN..).and_then(Description::read)?;
            (magic == u64::from(MAGIC)).then_some((number::<8>(&bytes, 144)?, main))
        });
        let newest = states
            .into_iter()
            .flatten()
            .max_by_key(|(transaction, _)| *transaction);
        newest.map(|(_, of)| of).ok_or_else(|| {
            self.damaged(
                0,
                say!("neither of its first two pages describes a database"),
            )
        })
    }

    /// Returns a page of the given type.
    fn page(&self, page: u64, kind: Kind) -> Result<Buffer, FormatError> {
        let begin = usize::try_from(page)
            .ok()
            .and_then(|page| page.checked_mul(self.size));
        let range = begin.and_then(|begin| Some(begin..begin.checked_add(self.size)?));
        let Some(bytes) = range.and_then(|range| self.map.slice(range)) else {
            return Err(self.damaged(
                page,
                say!("page {page} does not exist: the file has {}", self.count()),
            ));
        };
        match number::<2>(&bytes, 10).and_then(|flags| Kind::of(flags as u16)) {
            Some(found) if found == kind => Ok(bytes),
            Some(found) => Err(self.damaged(
                page,
                say!("found a {found:?} page in place of a {kind:?} page"),
            )),
            None => Err(self.damaged(page, say!("it has no intact page"))),
        }
    }

    /// Returns the child pages of a branch.
    pub(super) fn children(&self, page: u64) -> Result<Vec<u64>, FormatError> {
        let branch = Page {
            pages: self,
            bytes: self.page(page, Kind::Branch)?,
            number: page,
        };
        let children = (0..branch.count()?).map(|entry| {
            let at = branch.entry(entry)?;
            let low = number::<4>(&branch.bytes, at);
            let high = number::<2>(&branch.bytes, at + 4);
            match (low, high) {
                (Some(low), Some(high)) => Ok(low | high << 32),
                _ => Err(self.damaged(page, say!("an entry of a page is beyond the page's end"))),
            }
        });
        children.collect()
    }

    /// Returns a page of entries.
    pub(super) fn leaf(&self, page: u64) -> Result<Page<'_>, FormatError> {
        let bytes = self.page(page, Kind::Leaf)?;
        Ok(Page {
            pages: self,
            bytes,
            number: page,
        })
    }

    /// Returns the bytes of a value.
    pub(super) fn value(&self, node: &Node) -> Result<Buffer, FormatError> {
        match &node.value {
            Value::Inline(bytes) => Ok(bytes.clone()),
            Value::Overflow { page, len } => self.overflow(*page, *len),
            Value::Database(_) | Value::Duplicates => Err(self.damaged(
                node.page,
                say!("a key has several values, or a database as its value"),
            )),
        }
    }

    /// Returns a value in overflow pages.
    fn overflow(&self, page: u64, len: usize) -> Result<Buffer, FormatError> {
        let head = self.page(page, Kind::Overflow)?;
        let pages = number::<4>(&head, 12).unwrap_or_default() as usize;
        let room = pages.saturating_mul(self.size).saturating_sub(HEAD);
        let begin = page as usize * self.size + HEAD;
        let bytes = begin
            .checked_add(len)
            .and_then(|end| self.map.slice(begin..end));
        match bytes {
            Some(bytes) if len <= room => Ok(bytes),
            _ => Err(self.damaged(
                page,
                say!("a value of {len} bytes exceeds its {pages} pages or the end of the file"),
            )),
        }
    }
}

impl Page<'_> {
    fn past_end_error(&self) -> FormatError {
        self.pages.damaged(
            self.number,
            say!("an entry of a page is beyond the page's end"),
        )
    }

    /// Returns the number of entries of the page.
    pub(super) fn count(&self) -> Result<usize, FormatError> {
        let lower = number::<2>(&self.bytes, 12).unwrap_or_default() as usize;
        match lower.checked_sub(HEAD) {
            Some(room) if lower <= self.bytes.len() => Ok(room / 2),
            _ => Err(self.pages.damaged(
                self.number,
                say!("the list of entries of a page is damaged"),
            )),
        }
    }

    /// Returns the offset of an entry.
    fn entry(&self, entry: usize) -> Result<usize, FormatError> {
        let count = self.count()?;
        let at = number::<2>(&self.bytes, HEAD + 2 * entry).filter(|_| entry < count);
        let at = at
            .map(|at| at as usize)
            .filter(|at| *at >= HEAD + 2 * count);
        at.ok_or_else(|| self.past_end_error())
    }

    /// Reads an entry.
    pub(super) fn node(&self, entry: usize) -> Result<Node, FormatError> {
        let at = self.entry(entry)?;
        self.read(at).ok_or_else(|| self.past_end_error())
    }

    fn read(&self, at: usize) -> Option<Node> {
        const BIG: u64 = 1;
        const DATABASE: u64 = 2;
        const DUPLICATES: u64 = 4;
        let len = usize::try_from(number::<4>(&self.bytes, at)?).ok()?;
        let flags = number::<2>(&self.bytes, at + 4)?;
        let key_len = number::<2>(&self.bytes, at + 6)? as usize;
        let begin = at + 8 + key_len;
        let value = match flags & 7 {
            0 => Value::Inline(self.bytes.slice(begin..begin.checked_add(len)?)?),
            BIG => Value::Overflow {
                page: number::<8>(&self.bytes, begin)?,
                len,
            },
            DATABASE => Value::Database(Description::read(self.bytes.get(begin..)?)?),
            flags if flags & DUPLICATES != 0 => Value::Duplicates,
            _ => return None,
        };
        Some(Node {
            key: self.bytes.slice(at + 8..begin)?,
            value,
            page: self.number,
        })
    }
}

/// Descriptor of a database, with the root of its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Description {
    flags: u64,
    /// Number of levels of the tree.
    pub(super) depth: u64,
    pub(super) entries: u64,
    /// Root page of the tree, or `None` without entries.
    pub(super) root: Option<u64>,
}

impl Description {
    /// Reads the descriptor from its 48 bytes.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        const NO_PAGE: u64 = u64::MAX;
        let number = |at: usize, len: usize| {
            let found = bytes.get(at..at + len)?;
            Some(
                found
                    .iter()
                    .rev()
                    .fold(0, |number, byte| number << 8 | u64::from(*byte)),
            )
        };
        Some(Self {
            flags: number(4, 2)?,
            depth: number(6, 2)?,
            entries: number(32, 8)?,
            root: Some(number(40, 8)?).filter(|root| *root != NO_PAGE),
        })
    }

    /// Returns true if a key may have several values.
    pub(super) fn has_duplicates(self) -> bool {
        const DUPSORT: u64 = 4;
        self.flags & DUPSORT != 0
    }
}
