//! LMDB environments: bytes by key.
//!
//! This module parses the pages itself. The C library follows offsets in a file without bounds checks, so a damaged file crashes the
//! process. The file is mapped to memory and not copied. The reader takes no lock and needs none without a concurrent writer. During a
//! write, it may read pages of two states, as with `lmdb.open(…, lock=False)`.

mod page;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::buffer::Buffer;
use crate::cell::{Cell, Picture, PictureMode};
use crate::error::{FormatError, Place};
use crate::npy;
use crate::rows::Rows;
use crate::stages::Stages;

pub use loadscope_plan::dataset::Decode;
use loadscope_words::say;
use page::{Description, Node, Pages, Value};
use tree::Leaves;

/// Options of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Interpretation of the values.
    pub decode: Decode,
    /// Name of the database for `env.open_db(name)`, or `None` for the main one.
    pub database: Option<String>,
}

/// Entries of a database in key order, as from `txn.cursor()`. A sample is a `dict` of `key` and `value`. Keys are texts, or bytes if the
/// first or the last key is not a text.
pub struct Lmdb {
    pages: Pages,
    leaves: Leaves,
    options: Options,
    has_texts: bool,
    place: Place,
}

impl Lmdb {
    /// Opens a `data.mdb` file or its folder, and indexes the entries.
    ///
    /// # Errors
    /// If the file is missing, is not LMDB or is damaged, or if the database does not exist.
    pub fn open(path: &Path, options: Options) -> Result<Self, FormatError> {
        let path = file(path)?;
        let place = Place::file(&path);
        let map = Buffer::map(&path).map_err(|e| FormatError::reading(&path, &e))?;
        let pages = Pages::new(map, place.clone())?;
        let main = pages.main()?;
        let database = match &options.database {
            None => main,
            Some(name) => named(&pages, main, name)?,
        };
        if database.has_duplicates() {
            bail!(InvalidOption, place, say!("its keys may have several values (dupsort), which is not supported");
                say!("Write the entries to a database without dupsort"));
        }
        let leaves = Leaves::of(database, &pages)?;
        if leaves.len() == 0 {
            bail!(Damaged, place, say!("the database has no entries");
                say!("Choose another folder, or name a database in it with db=NAME"));
        }
        let mut opened = Self {
            pages,
            leaves,
            options,
            has_texts: true,
            place,
        };
        for index in [0, opened.leaves.len() - 1] {
            let node = opened.node(index)?;
            opened.has_texts &= is_text(&node.key);
            opened.refuse_database(&node)?;
        }
        Ok(opened)
    }

    fn node(&self, index: usize) -> Result<Node, FormatError> {
        let Some((page, entry)) = self.leaves.find(index) else {
            bail!(OutOfRange, self.place.clone().row(index as u64), say!("the database has {} entries", self.leaves.len());
                say!("Choose an index below this number"));
        };
        self.pages.leaf(page)?.node(entry)
    }

    /// Refuses a named database as an entry of the main one.
    fn refuse_database(&self, node: &Node) -> Result<(), FormatError> {
        match node.value {
            Value::Database(_) => {
                let name = String::from_utf8_lossy(&node.key).into_owned();
                bail!(InvalidOption, self.place.clone().key(name), say!("this is a named database, not an entry");
                    say!("Open it with db=NAME"))
            }
            Value::Inline(_) | Value::Overflow { .. } | Value::Duplicates => Ok(()),
        }
    }

    fn value(&self, bytes: Buffer, key: &[u8], index: usize) -> Result<Cell, FormatError> {
        let place = || {
            let key = String::from_utf8_lossy(key).into_owned();
            self.place.clone().row(index as u64).key(key)
        };
        let wrong =
            |reason: &str| fault!(WrongType, place(), reason; say!("Choose another decode="));
        let decode = match self.options.decode {
            Decode::Auto if bytes.starts_with(b"\x93NUMPY") => Decode::Npy,
            Decode::Auto if is_picture(&bytes) => Decode::Picture,
            Decode::Auto => Decode::Bytes,
            decode => decode,
        };
        Ok(match decode {
            Decode::Picture => Cell::Picture(Picture {
                bytes,
                origin: place().to_string().into(),
                mode: PictureMode::Color,
            }),
            Decode::Npy => {
                let whole = npy::array(&bytes, &place())?.whole();
                whole.ok_or_else(|| wrong(say!("the elements of the array cannot be read")))?
            }
            Decode::Text => match std::str::from_utf8(&bytes) {
                Ok(text) => text.into(),
                Err(_) => return Err(wrong(say!("the value is not text in UTF-8"))),
            },
            Decode::Auto | Decode::Bytes => Cell::Bytes(bytes),
        })
    }
}

/// Returns the file of an environment.
fn file(path: &Path) -> Result<PathBuf, FormatError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let file = path.join("data.mdb");
    if file.exists() {
        return Ok(file);
    }
    bail!(Missing, Place::file(path), say!("the folder has no data.mdb");
        say!("Give the folder of an LMDB environment"))
}

/// Finds a database by its name.
fn named(pages: &Pages, main: Description, name: &str) -> Result<Description, FormatError> {
    let leaves = Leaves::of(main, pages)?;
    let mut others = Vec::new();
    for index in 0..leaves.len() {
        let Some((page, entry)) = leaves.find(index) else {
            break;
        };
        let node = pages.leaf(page)?.node(entry)?;
        if let Value::Database(database) = node.value {
            if *node.key == *name.as_bytes() {
                return Ok(database);
            }
            others.push(String::from_utf8_lossy(&node.key).into_owned());
        }
    }
    let has = match others.as_slice() {
        [] => say!("it has no named database").to_owned(),
        names => say!("it has {}", names.get(..20).unwrap_or(names).join(", ")),
    };
    bail!(NoSuchKey, pages.place(0).key(name), say!("there is no such database; {has}");
        say!("Name another database with db=NAME, or remove db="))
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(char::is_control))
}

/// Returns true if bytes begin like an image file.
fn is_picture(bytes: &[u8]) -> bool {
    let begins: [&[u8]; 5] = [
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"GIF8",
        b"II*\0",
        b"MM\0*",
    ];
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    is_webp || begins.iter().any(|begin| bytes.starts_with(begin))
}

impl Rows for Lmdb {
    fn len(&self) -> usize {
        self.leaves.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        let node = self.node(index)?;
        self.refuse_database(&node)?;
        let bytes = self.pages.value(&node)?;
        stages.enter("decode");
        let value = self.value(bytes, &node.key, index)?;
        let key = match std::str::from_utf8(&node.key) {
            Ok(text) if self.has_texts => text.into(),
            _ => Cell::Bytes(node.key),
        };
        let name = |name: &str| -> Arc<str> { name.into() };
        Ok(Cell::Map(vec![(name("key"), key), (name("value"), value)]))
    }
}
