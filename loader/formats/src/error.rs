//! What is wrong with data: where, what, and what to do.

use std::path::Path;
use std::{fmt, io};

use loadscope_files::ReadError;
use loadscope_words::{cause, say};

/// What kind of fault it is, as Python's types of exceptions tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A file or folder is missing: `FileNotFoundError`.
    Missing,
    /// It cannot be read, or is truncated: `OSError`.
    Unreadable,
    /// It is not what it should be, or damaged: `ValueError`.
    Damaged,
    /// It has another type than was asked for: `TypeError`.
    WrongType,
    /// A key, a column or a field that is not there: `KeyError`.
    NoSuchKey,
    /// An index beyond the end: `IndexError`.
    OutOfRange,
    /// It takes more memory than is allowed: `MemoryError`.
    TooLarge,
    /// A server is away or has gone away: `ConnectionError`.
    Away,
    /// It is locked, or an answer took too long: `TimeoutError`.
    Locked,
    /// A query or an option is wrong: `ValueError`.
    Asked,
}

impl Fault {
    /// The name of Python's exception.
    pub fn exception(self) -> &'static str {
        match self {
            Self::Missing => "FileNotFoundError",
            Self::Unreadable => "OSError",
            Self::Damaged | Self::Asked => "ValueError",
            Self::WrongType => "TypeError",
            Self::NoSuchKey => "KeyError",
            Self::OutOfRange => "IndexError",
            Self::TooLarge => "MemoryError",
            Self::Away => "ConnectionError",
            Self::Locked => "TimeoutError",
        }
    }
}

/// Where in the data something is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, the member of an archive, the database or server. Never with a password.
    pub source: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column of a line in characters, from 1.
    pub column: Option<u64>,
    /// The row or the sample, from 0.
    pub row: Option<u64>,
    /// The byte, from 0.
    pub byte: Option<u64>,
    /// The key, the field or the column of a table.
    pub key: Option<String>,
}

impl Place {
    /// A file or folder.
    pub fn file(path: &Path) -> Self {
        Self::named(path.display().to_string())
    }

    /// Anything that has a name. A URL has to come without its password.
    pub fn named(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            ..Self::default()
        }
    }

    /// A line of it, from 1.
    #[must_use]
    pub fn line(self, line: u64) -> Self {
        Self {
            line: Some(line),
            ..self
        }
    }

    /// A column of the line, from 1.
    #[must_use]
    pub fn column(self, column: u64) -> Self {
        Self {
            column: Some(column),
            ..self
        }
    }

    /// A row of it, from 0.
    #[must_use]
    pub fn row(self, row: u64) -> Self {
        Self {
            row: Some(row),
            ..self
        }
    }

    /// A byte of it, from 0.
    #[must_use]
    pub fn byte(self, byte: u64) -> Self {
        Self {
            byte: Some(byte),
            ..self
        }
    }

    /// A key, field or column of a table.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        Self {
            key: Some(key.into()),
            ..self
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        let parts = [
            self.line.map(|n| say!(", line {n}")),
            self.column.map(|n| say!(", column {n}")),
            self.row.map(|n| say!(", row {n}")),
            self.byte.map(|n| say!(", byte {n}")),
            self.key.as_ref().map(|key| say!(", '{key}'")),
        ];
        parts
            .iter()
            .flatten()
            .try_for_each(|part| f.write_str(part))
    }
}

/// A fault of the data. Reads as `PLACE: REASON. REMEDY.`; a password is in none of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", say!("{}: {}. {}.", line(&.place.to_string()), line(.reason), line(.remedy).trim_end_matches(['.', '。'])))]
pub struct FormatError {
    /// The kind of fault.
    pub fault: Fault,
    /// Where.
    pub place: Box<Place>,
    /// What is wrong, as a clause without a full stop: `it ends in the middle of an object`.
    pub reason: String,
    /// What to do, as a sentence without a full stop: `Copy it again`.
    pub remedy: String,
}

/// No text has more characters in a message: what is quoted may be of any length.
const LONGEST: usize = 500;

/// A text as a part of one line: names and keys may hold anything.
fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(LONGEST));
    for (at, character) in text.chars().enumerate() {
        if at == LONGEST {
            shown.push('…');
            break;
        }
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

impl FormatError {
    /// A fault at a place.
    pub fn new(
        fault: Fault,
        place: Place,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            fault,
            place: Box::new(place),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }

    /// A file or folder that does not exist.
    pub fn missing(path: &Path) -> Self {
        Self::io(path, &io::ErrorKind::NotFound.into())
    }

    /// A path where a folder is needed and not found.
    pub(crate) fn no_folder(path: &Path) -> Self {
        match path.exists() {
            false => Self::missing(path),
            true => Self::new(
                Fault::Unreadable,
                Place::file(path),
                say!("it is a file, not a folder"),
                say!("Give the name of a folder"),
            ),
        }
    }

    /// A file or folder that the system does not open or read.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        let (fault, remedy) = match error.kind() {
            io::ErrorKind::NotFound => (Fault::Missing, say!("Check the path")),
            io::ErrorKind::PermissionDenied => (
                Fault::Unreadable,
                say!("Check the owner and the permissions"),
            ),
            _ => (Fault::Unreadable, say!("Check the disk, or copy it again")),
        };
        Self::new(fault, Place::file(path), cause(error), remedy)
    }

    /// A file that could not be opened or read.
    pub fn reading(path: &Path, error: &ReadError) -> Self {
        let place = Place::file(path);
        match error {
            ReadError::Io { cause, .. } => Self::io(path, cause),
            ReadError::NotAFile { what, .. } => Self::new(
                Fault::Unreadable,
                place,
                say!("it is {what}, not a regular file"),
                say!("Give the name of a file"),
            ),
            ReadError::TooLarge { limit, .. } => Self::new(
                Fault::TooLarge,
                place,
                say!("it has more than {limit} bytes, the limit"),
                say!("Choose a smaller file"),
            ),
            ReadError::NotText(_) => Self::new(
                Fault::Damaged,
                place,
                say!("it is not text in UTF-8"),
                say!("Save it in UTF-8"),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        let place = Place::named("a.csv").line(3).column(7).key("price");
        let error = FormatError::new(
            Fault::Damaged,
            place,
            "'x' is not a number",
            "Write a number there",
        );
        assert_eq!(
            error.to_string(),
            "a.csv, line 3, column 7, 'price': 'x' is not a number. Write a number there."
        );
        assert_eq!(error.fault.exception(), "ValueError");
    }

    #[test]
    fn an_error_is_one_line_of_bounded_length() {
        let place = Place::named("a\nb").key("\u{7}".repeat(10_000));
        let error = FormatError::new(Fault::Damaged, place, "x".repeat(10_000), "Do it");
        let text = error.to_string();
        assert!(text.starts_with("a\\nb, '\\u{7}"), "{text}");
        assert!(text.ends_with("…. Do it.") && text.len() < 6000, "{text}");
    }
}
