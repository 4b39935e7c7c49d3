//! Errors in data, with their place, reason and remedy.

use std::path::Path;
use std::{fmt, io};

use loadscope_files::ReadError;
use loadscope_words::{cause, say};

/// Creates an error from its kind, place and reason, and from the remedy after a semicolon.
macro_rules! fault {
    ($fault:ident, $place:expr, $reason:expr; $remedy:expr) => {
        $crate::error::FormatError::new($crate::error::Fault::$fault, $place, $reason, $remedy)
    };
}

/// Returns [`fault!`] from a function.
macro_rules! bail {
    ($($fault:tt)+) => { return Err(fault!($($fault)+)) };
}

/// Kind of error, by the type of Python's exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Missing file or folder: `FileNotFoundError`.
    Missing,
    /// Unreadable or truncated data: `OSError`.
    Unreadable,
    /// Damaged or unexpected data: `ValueError`.
    Damaged,
    /// Another type than requested: `TypeError`.
    WrongType,
    /// Missing key, column or field: `KeyError`.
    NoSuchKey,
    /// Index past the end: `IndexError`.
    OutOfRange,
    /// Data above the memory limit: `MemoryError`.
    TooLarge,
    /// Unreachable or lost server: `ConnectionError`.
    Disconnected,
    /// Locked database or slow answer: `TimeoutError`.
    Locked,
    /// Invalid query or option: `ValueError`.
    InvalidOption,
}

impl Fault {
    /// Returns the name of Python's exception.
    pub fn exception(self) -> &'static str {
        match self {
            Self::Missing => "FileNotFoundError",
            Self::Unreadable => "OSError",
            Self::Damaged | Self::InvalidOption => "ValueError",
            Self::WrongType => "TypeError",
            Self::NoSuchKey => "KeyError",
            Self::OutOfRange => "IndexError",
            Self::TooLarge => "MemoryError",
            Self::Disconnected => "ConnectionError",
            Self::Locked => "TimeoutError",
        }
    }
}

/// Place in the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File, archive member, database or server, never with a password.
    pub source: String,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Column in the line in characters, from 1.
    pub column: Option<u64>,
    /// Row or sample, from 0.
    pub row: Option<u64>,
    /// Byte offset, from 0.
    pub byte: Option<u64>,
    /// Key, field or column of a table.
    pub key: Option<String>,
}

impl Place {
    /// Creates the place of a file or folder.
    pub fn file(path: &Path) -> Self {
        Self::named(path.display().to_string())
    }

    /// Creates a place with a name. A URL must have no password.
    pub fn named(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            ..Self::default()
        }
    }

    /// Adds a line, from 1.
    #[must_use]
    pub fn line(self, line: u64) -> Self {
        Self {
            line: Some(line),
            ..self
        }
    }

    /// Adds a column of the line, from 1.
    #[must_use]
    pub fn column(self, column: u64) -> Self {
        Self {
            column: Some(column),
            ..self
        }
    }

    /// Adds a row, from 0.
    #[must_use]
    pub fn row(self, row: u64) -> Self {
        Self {
            row: Some(row),
            ..self
        }
    }

    /// Adds a byte offset, from 0.
    #[must_use]
    pub fn byte(self, byte: u64) -> Self {
        Self {
            byte: Some(byte),
            ..self
        }
    }

    /// Adds a key, field or column of a table.
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

/// Error in data. Its text is `PLACE: REASON. REMEDY.` and contains no password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", say!("{}: {}. {}.", line(&.place.to_string()), line(.reason), line(.remedy).trim_end_matches(['.', '。'])))]
pub struct FormatError {
    /// Kind of error.
    pub fault: Fault,
    /// Place of the error.
    pub place: Box<Place>,
    /// Reason as a clause without a full stop, such as `it ends in the middle of an object`.
    pub reason: String,
    /// Remedy as an instruction without a full stop, such as `Copy it again`.
    pub remedy: String,
}

/// Maximum length of a text in an error message, characters. Quoted data may have any length.
const LONGEST: usize = 500;

/// Escapes control characters, so that the text fits one line. Names and keys may contain any characters.
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
    /// Creates an error.
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

    /// Creates the error for a missing file or folder.
    pub fn missing(path: &Path) -> Self {
        Self::io(path, &io::ErrorKind::NotFound.into())
    }

    /// Creates the error for a path that is not a folder.
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

    /// Creates an error from an I/O error.
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

    /// Creates the error for a file that cannot be read.
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
