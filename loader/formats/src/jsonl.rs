//! A JSON value a line.

pub(crate) mod value;

use std::path::Path;

use loadscope_words::say;

use crate::buffer::Buffer;
use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};
use crate::index::{Lines, RowIndex};
use crate::rows::Rows;
use crate::slices::out_of_range;
use crate::stages::{Stages, Untimed};

/// Lines of nothing but white space are left out, as `pandas` and `datasets` do it.
const LINES: Lines = Lines { skip_blank: true };

/// No line may have more bytes than that.
const LONGEST: usize = 256 << 20;

/// A JSON value a line. Sample i is `json.loads` of the i-th line that is not blank: `dict`, `list`, `str`, `int`, `float`, `bool`
/// and `None`, nested as they are. The file is mapped to memory, and looked through once for the ends of its lines.
#[derive(Debug)]
pub struct JsonLines {
    file: Buffer,
    index: RowIndex,
    place: Place,
}

impl JsonLines {
    /// Opens a file. Whether its lines are JSON is seen when they are asked for.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let file = Buffer::map(path).map_err(|e| FormatError::reading(path, &e))?;
        let (index, _) = RowIndex::build(&file, 0, &LINES)?;
        Ok(Self {
            file,
            index,
            place: Place::file(path),
        })
    }

    /// What is wrong with the line that begins at `at`.
    fn wrong(
        &self,
        line: &[u8],
        at: usize,
        index: usize,
        error: &serde_json::Error,
    ) -> FormatError {
        let place = self.place.clone().line(self.index.line(&self.file, at));
        // The column is counted in bytes there.
        let before = line.get(..error.column()).unwrap_or(line);
        let column = String::from_utf8_lossy(before).chars().count() as u64;
        let place = place.column(column.max(1)).row(index as u64);
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or(&said);
        let remedy = match line.get(error.column().saturating_sub(1)..) {
            Some([b'N' | b'I', ..] | [b'a' | b'n', b'N' | b'f', ..]) => {
                say!("NaN and Infinity are not valid JSON: write null")
            }
            _ => say!("Correct or remove the line"),
        };
        FormatError::new(
            Fault::Damaged,
            place,
            say!("it is not JSON ({said})"),
            remedy,
        )
    }
}

impl Rows for JsonLines {
    fn len(&self) -> usize {
        self.index.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        let Some((line, at)) = LINES.row(&self.file, &self.index, index) else {
            return Err(out_of_range(&self.place, index, self.len()));
        };
        if line.len() > LONGEST {
            return Err(FormatError::new(
                Fault::TooLarge,
                self.place
                    .clone()
                    .line(self.index.line(&self.file, at))
                    .row(index as u64),
                say!("the line has more than {} MB", LONGEST >> 20),
                say!("Write one value per line"),
            ));
        }
        stages.enter("decode");
        value::parse(line).map_err(|error| self.wrong(line, at, index, &error))
    }

    /// What each line has under this key; a line without it has `None`.
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
    fn lines_are_values() {
        let text = "{\"a\": [1, 2.5, null]}\n\n \"ä\"\r\n18446744073709551615".as_bytes();
        let list = Cell::List(vec![1.into(), 2.5.into(), Cell::Null]);
        assert_eq!(read(text, 0), Ok(crate::cell::fields([("a", list)])));
        assert_eq!(read(text, 1), Ok("ä".into()));
        assert_eq!(read(text, 2), Ok(Cell::BigInt(i128::from(u64::MAX))));
    }

    #[test]
    fn a_key_is_a_column() {
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
    fn broken_lines_are_named() {
        let says = |text: &[u8], row| read(text, row).unwrap_err().to_string();
        let error = says("1\n\n{\"ä\": tru}\n".as_bytes(), 1);
        assert!(
            error.contains("a.jsonl, line 3, column 10, row 1: it is not JSON (expected ident)"),
            "{error}"
        );
        assert!(
            says(b"{\"a\": NaN}", 0).ends_with("NaN and Infinity are not valid JSON: write null")
        );
        assert!(says(b"{\"a\": -Infinity}", 0).ends_with("are not valid JSON: write null"));
        assert!(says(b"{\"a\": \"\xff\"}", 0).contains("invalid unicode"));
        assert!(says(b"{\"a\": 1", 0).contains("EOF while parsing an object"));
        assert!(says(b"1 2", 0).contains("trailing characters"));
        assert!(says(&b"[".repeat(100_000), 0).contains("recursion limit"));
        assert!(says(b"1", 1).contains("beyond its 1 rows"));
        assert!(says(b"1e999", 0).contains("out of range"));
    }
}
