//! Conversion of database columns to cells.

use std::collections::HashMap;
use std::sync::Arc;

use loadscope_words::say;

use super::query::Query;
use crate::buffer::Buffer;
use crate::cell::{Cell, Picture, PictureMode};
use crate::error::{FormatError, Place};

/// Use of a column in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Plain,
    Image,
    Text,
    Label,
}

/// Value from a database.
pub(super) enum Raw<'a> {
    Int(i64),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// Value that is already a cell: null, bool, list or document.
    Cell(Cell),
}

/// Columns of a query.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    columns: Arc<[(Arc<str>, Role)]>,
    /// Name of the database for messages.
    source: Arc<str>,
    classes: HashMap<Arc<str>, i64>,
}

impl Columns {
    /// Creates the columns.
    ///
    /// # Errors
    /// If two have the same name, or a column in the options is missing.
    pub(super) fn new(
        names: &[String],
        query: &Query,
        source: Arc<str>,
    ) -> Result<Self, FormatError> {
        let place = || Place::named(&*source);
        for (at, name) in names.iter().enumerate() {
            if names.iter().skip(at + 1).any(|other| other == name) {
                bail!(InvalidOption, place().key(name), say!("the query has two columns of this name");
                    say!("Give one of them another name: SELECT … AS name"));
            }
        }
        let wanted = [
            ("index", &query.index),
            ("image", &query.image),
            ("text", &query.text_column),
            ("label", &query.label),
        ];
        for (option, column) in wanted {
            if let Some(column) = column.as_ref().filter(|c| !names.contains(c)) {
                bail!(NoSuchKey, place().key(column), say!("the query has no such column; it has {}", format_names(names));
                    say!("Write one of these columns in {option}="));
            }
        }
        let role = |name: &String| match Some(name) {
            n if n == query.image.as_ref() => Role::Image,
            n if n == query.text_column.as_ref() => Role::Text,
            n if n == query.label.as_ref() => Role::Label,
            _ => Role::Plain,
        };
        let columns = names.iter().map(|name| (name.as_str().into(), role(name)));
        Ok(Self {
            columns: columns.collect(),
            source,
            classes: HashMap::new(),
        })
    }

    /// Sets the class names. A label is then a name or a number.
    pub(super) fn with_classes(self, classes: &[String]) -> Self {
        let numbered = (0..).zip(classes);
        Self {
            classes: numbered
                .map(|(at, name)| (name.as_str().into(), at))
                .collect(),
            ..self
        }
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(n, _)| &**n == name)
    }

    /// Returns true if the column exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(n, _)| &**n == name)
    }

    /// Converts a value of a single column.
    pub(super) fn value(
        &self,
        name: &str,
        row: u64,
        raw: Result<Raw<'_>, String>,
    ) -> Result<Cell, FormatError> {
        let role = self.columns.iter().find(|(n, _)| &**n == name);
        let role = role.map_or(Role::Plain, |(_, role)| *role);
        let cell = raw.and_then(|raw| self.cell(raw, role, name, row));
        cell.map_err(|reason| self.wrong(name, row, reason))
    }

    fn wrong(&self, name: &str, row: u64, reason: String) -> FormatError {
        fault!(WrongType, Place::named(&*self.source).row(row).key(name), reason;
            say!("Correct the row, or choose another column"))
    }

    /// Converts a row. `value` returns each column.
    pub(super) fn row<'a>(
        &self,
        row: u64,
        mut value: impl FnMut(usize) -> Result<Raw<'a>, String>,
    ) -> Result<Cell, FormatError> {
        let mut fields = Vec::with_capacity(self.columns.len());
        for (at, (name, role)) in self.columns.iter().enumerate() {
            let cell = value(at).and_then(|raw| self.cell(raw, *role, name, row));
            let cell = cell.map_err(|reason| self.wrong(name, row, reason))?;
            fields.push((Arc::clone(name), cell));
        }
        Ok(Cell::Map(fields))
    }

    /// Converts a value by the role of its column. The error is a reason.
    fn cell(&self, raw: Raw<'_>, role: Role, name: &str, row: u64) -> Result<Cell, String> {
        Ok(match (role, raw) {
            (Role::Image, Raw::Bytes(bytes)) => Cell::Picture(Picture {
                bytes: Buffer::from(bytes.to_vec()),
                origin: say!("column {name} of row {row} of {}", self.source).into(),
                mode: PictureMode::Color,
            }),
            (Role::Image, Raw::Cell(Cell::Null)) => {
                return Err(say!("the image is null").to_owned());
            }
            (Role::Image, _) => {
                return Err(say!("an image must be a BLOB").to_owned());
            }
            (Role::Text, Raw::Bytes(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => return Err(say!("these bytes are not text in UTF-8").to_owned()),
            },
            (Role::Text, Raw::Int(number)) => number.to_string().into(),
            (Role::Text, Raw::Float(number)) => format!("{number:?}").into(),
            (Role::Label, Raw::Text(text)) if !self.classes.is_empty() => {
                match self.classes.get(text) {
                    Some(class) => Cell::Int(*class),
                    None => {
                        return Err(say!(
                            "the class {text:?} did not exist when the database was opened"
                        ));
                    }
                }
            }
            (_, Raw::Int(number)) => Cell::Int(number),
            (_, Raw::Float(number)) => Cell::Float(number),
            (_, Raw::Text(text)) => text.into(),
            (_, Raw::Bytes(bytes)) => Cell::Bytes(bytes.to_vec().into()),
            (_, Raw::Cell(cell)) => cell,
        })
    }
}

/// Formats the first names for a message.
fn format_names(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut shown = names
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        shown += &say!(" and {} more", names.len() - SHOWN);
    }
    shown
}
