//! JSON Lines, or the items of one JSON array.

use std::ops::Range;
use std::path::Path;

use loadscope_words::say;

use crate::buffer::Buffer;
use crate::cell::Cell;
use crate::decompress;
use crate::error::{Fault, FormatError, Place};
use crate::file::line_and_column;
use crate::index::{Lines, RowIndex};
use crate::json::{self, Json, JsonError, JsonErrorKind};
use crate::rows::Rows;
use crate::slices::out_of_range;
use crate::stages::{Stages, Untimed};

/// `pandas` and `datasets` also skip blank lines.
const LINES: Lines = Lines { skip_blank: true };

/// Maximum length of a line, bytes.
const LONGEST: usize = 256 << 20;

/// A JSON Lines file. Sample i is `json.loads` of the i-th line that is not blank, with nested `dict`, `list`, `str`, `int`, `float`,
/// `bool` and `None`. The file is mapped to memory and scanned once for line ends.
///
/// If the file is one JSON array of several lines or of objects only, the samples are the items of the array.
#[derive(Debug)]
pub struct JsonLines {
    file: Buffer,
    layout: Layout,
    place: Place,
    notes: Vec<String>,
}

/// Positions of the values.
#[derive(Debug)]
enum Layout {
    Lines(RowIndex),
    Items(Vec<Range<usize>>),
}

impl JsonLines {
    /// Opens a file. Lines are parsed only on access.
    ///
    /// # Errors
    /// If the file cannot be opened or decompressed, or is a damaged array of several lines.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let place = Place::file(path);
        let file = decompress::open(path)?;
        let mut notes = Vec::new();
        let layout = match items(&file, &place)? {
            Some(items) => {
                notes.push(format!(
                    "{place}: it is one JSON array, so its items are the samples. Lines of JSON load faster."
                ));
                Layout::Items(items)
            }
            None => Layout::Lines(RowIndex::build(&file, 0, &LINES)?.0),
        };
        Ok(Self {
            file,
            layout,
            place,
            notes,
        })
    }

    /// Returns the text of a value and its offset.
    fn find(&self, index: usize) -> Option<(&[u8], usize)> {
        match &self.layout {
            Layout::Lines(lines) => LINES.row(&self.file, lines, index),
            Layout::Items(items) => {
                let part = items.get(index)?.clone();
                let start = part.start;
                Some((self.file.get(part)?, start))
            }
        }
    }

    /// Returns the place of byte `at`.
    fn at(&self, at: usize, index: usize) -> Place {
        let (mut line, column) = line_and_column(&self.file, at);
        if let Layout::Lines(lines) = &self.layout {
            line = lines.line(&self.file, at);
        }
        (self.place.clone().line(line).column(column)).row(index as u64)
    }

    /// Returns the error for the value at offset `at`.
    fn wrong(&self, text: &[u8], at: usize, index: usize, error: JsonError) -> FormatError {
        let place = self.at(at + error.at, index);
        let rest = self.file.get(at + text.len()..).unwrap_or_default();
        let goes_on = !rest.iter().all(u8::is_ascii_whitespace);
        if error.kind == JsonErrorKind::Truncated && goes_on {
            return fault!(Damaged, place, say!("the JSON value continues on the next line");
                say!("Write one value per line, for example with json.dumps(value)"));
        }
        FormatError::new(Fault::Damaged, place, error.reason(), error.remedy())
    }
}

/// Returns the items of the array in the file, or `None` if the file has one value per line.
fn items(text: &[u8], place: &Place) -> Result<Option<Vec<Range<usize>>>, FormatError> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    let (Some(b'['), Ok(mut json)) = (first, Json::new(text)) else {
        return Ok(None);
    };
    let (mut items, mut are_objects) = (Vec::new(), true);
    let read = json
        .list(|json| {
            are_objects &= json.peek() == Some(b'{');
            items.push(json.skip()?);
            Ok::<_, JsonError>(())
        })
        .and_then(|()| json.end());
    let mut lines = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let line = lines.next().unwrap_or_default();
    let is_whole_line = Json::new(line).and_then(|mut json| json.skip()).is_ok();
    match read {
        Ok(()) if !items.is_empty() && (are_objects || !is_whole_line) => Ok(Some(items)),
        Err(error) if !is_whole_line && lines.next().is_some() => {
            let (line, column) = line_and_column(text, error.at);
            let place = place.clone().line(line).column(column);
            Err(fault!(Damaged, place, error.reason(); error.remedy()))
        }
        _ => Ok(None),
    }
}

impl Rows for JsonLines {
    fn len(&self) -> usize {
        match &self.layout {
            Layout::Lines(lines) => lines.len(),
            Layout::Items(items) => items.len(),
        }
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        let Some((text, at)) = self.find(index) else {
            return Err(out_of_range(&self.place, index, self.len()));
        };
        if text.len() > LONGEST {
            bail!(TooLarge, self.at(at, index), say!("the line has more than {} MB", LONGEST >> 20);
                say!("Write one value per line"));
        }
        stages.enter("decode");
        json::parse(text).map_err(|error| self.wrong(text, at, index, error))
    }

    /// Returns the value of each line under this key. A line without the key has a null.
    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        let has_it = |row: &Cell| matches!(row, Cell::Map(fields) if fields.iter().any(|(key, _)| **key == *name));
        let first = self.row(0, &mut Untimed).ok()?;
        if !has_it(&first) {
            return None;
        }
        let value = |index| {
            Ok(match self.row(index, &mut Untimed)? {
                Cell::Map(fields) => {
                    let found = fields.into_iter().find(|(key, _)| **key == *name);
                    found.map_or(Cell::Null, |(_, value)| value)
                }
                _ => Cell::Null,
            })
        };
        Some((0..self.len()).map(value).collect())
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], row: usize) -> Result<Cell, FormatError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        #[allow(clippy::disallowed_methods, reason = "a file of a test")]
        std::fs::write(&path, text).unwrap();
        JsonLines::open(&path)?.row(row, &mut Untimed)
    }

    #[test]
    fn each_line_is_read_as_a_json_value() {
        let text = "{\"a\": [1, 2.5, null]}\n\n \"ä\"\r\n18446744073709551615".as_bytes();
        let list = Cell::List(vec![1.into(), 2.5.into(), Cell::Null]);
        assert_eq!(read(text, 0), Ok(crate::cell::fields([("a", list)])));
        assert_eq!(read(text, 1), Ok("ä".into()));
        assert_eq!(read(text, 2), Ok(Cell::BigInt(i128::from(u64::MAX))));
    }

    #[test]
    fn a_key_is_read_as_a_column() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        #[allow(clippy::disallowed_methods, reason = "a file of a test")]
        std::fs::write(&path, "{\"a\": 1, \"b\": 2}\n{\"b\": \"x\"}\n3\n").unwrap();
        let lines = JsonLines::open(&path).unwrap();
        let values = lines.column("b").unwrap().unwrap();
        assert_eq!(values, [Cell::Int(2), "x".into(), Cell::Null]);
        assert!(lines.column("c").is_none());
    }

    #[test]
    fn errors_name_the_broken_line() {
        let says = |text: &[u8], row| read(text, row).unwrap_err().to_string();
        let error = says("1\n\n{\"ä\": tru}\n".as_bytes(), 1);
        assert!(
            error.contains("a.jsonl, line 3, column 7, row 1: a JSON value is missing"),
            "{error}"
        );
        assert!(
            says(b"{\"a\": \"\xff\"}", 0)
                .contains("line 1, column 8, row 0: the JSON is not UTF-8")
        );
        assert!(says(b"{\"a\": 1", 0).contains("ends in the middle of a value"));
        assert!(
            says(b"{\n \"a\": 1\n}\n", 0)
                .contains("line 1, column 2, row 0: the JSON value continues")
        );
        assert!(says(b"1 2", 0).contains("another value after its end"));
        assert!(says(&b"[".repeat(100_000), 0).contains("more than 128 levels"));
        assert!(says(b"1", 1).contains("beyond its 1 rows"));
    }

    #[test]
    fn items_of_a_json_array_are_samples() {
        let rows = |text: &str| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.jsonl");
            #[allow(clippy::disallowed_methods, reason = "a file of a test")]
            std::fs::write(&path, text).unwrap();
            JsonLines::open(&path).map(|all| (all.len(), all.notes().len()))
        };
        assert_eq!(rows("[{\"a\": 1}, {\"a\": 2}]\n"), Ok((2, 1)));
        assert_eq!(rows("\n[\n1,\n[2]\n]\n"), Ok((2, 1)));
        // Lists that are samples.
        assert_eq!(rows("[1, 2, 3]\n"), Ok((1, 0)));
        assert_eq!(rows("[{}]\n[{}]\n"), Ok((2, 0)));
        assert_eq!(rows("[]\n"), Ok((1, 0)));
        let error = rows("[\n{\"a\": 1},\n{\"a\": 2\n").unwrap_err().to_string();
        assert!(
            error.contains("line 4, column 1: the JSON ends in the middle"),
            "{error}"
        );
        let second = read(b"[\n{\"a\": 1},\n {\"a\": \"\\ud800\"}]", 1).unwrap_err();
        assert!(
            second
                .to_string()
                .contains("line 3, column 9, row 1: the JSON has a lone"),
            "{second}"
        );
    }
}
