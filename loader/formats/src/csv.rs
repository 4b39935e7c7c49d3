//! CSV tables with one record per row.

mod column;
mod kind;
mod names;
mod split;

use std::path::Path;
use std::sync::Arc;

use crate::buffer::Buffer;
use crate::cell::Cell;
use crate::decompress;
use crate::error::{Fault, FormatError, Place};
use crate::index::RowIndex;
use crate::rows::Rows;
use crate::slices::out_of_range;
use crate::stages::Stages;

use kind::{ColumnType, Kinds};
use loadscope_words::say;
use split::{Record, RecordReader, RowResult, Splitter, past_line_ends};

/// A CSV table with the values of `pandas.read_csv(path, low_memory=False)`. The first row has the names, and the types follow from whole
/// columns. Sample i is a `dict` of row i: `int`, `float`, `bool` and `str`. A missing `float` is NaN, other missing values are `None`.
/// The file is mapped to memory and scanned once on opening. Compressed files and UTF-16 are converted first.
#[derive(Debug)]
pub struct Csv {
    file: Buffer,
    columns: Vec<(Arc<str>, ColumnType)>,
    index: RowIndex,
    splitter: Splitter,
    notes: Vec<String>,
}

impl Csv {
    /// Opens a table. The default separator is a comma, or a tab for `.tsv` files.
    ///
    /// # Errors
    /// If the table cannot be opened, has no header, ends within quotes, or its first row has more fields than the header.
    pub fn open(path: &Path, separator: Option<u8>) -> Result<Self, FormatError> {
        let place = Place::file(path);
        let file = decompress::open(path)?;
        let separator = separator.unwrap_or(if has_tabs(path) { b'\t' } else { b',' });
        if matches!(separator, b'"' | b'\r' | b'\n') {
            bail!(InvalidOption, place, say!("a quote or a line break cannot separate columns");
                say!("Give the column separator, one character"));
        }
        let mut splitter = Splitter::new(separator, place);
        let (header, begin) = splitter.with_reader(|reader| header(&file, &splitter, reader))?;
        splitter.columns = header.len();
        splitter.with_reader(|reader| first_row(&file, begin, &header, &splitter, reader))?;
        let (index, parts) = RowIndex::build(&file, begin, &splitter)?;
        let mut kinds = vec![Kinds::default(); header.len()];
        let mut too_wide = 0;
        for part in parts {
            kinds
                .iter_mut()
                .zip(part.kinds)
                .for_each(|(all, part)| all.merge(part));
            too_wide += part.too_wide;
        }
        let types = kinds.into_iter().map(Kinds::column);
        Ok(Self {
            notes: notes(&header, too_wide, &splitter.place),
            columns: header.into_iter().zip(types).collect(),
            file,
            index,
            splitter,
        })
    }

    /// Reads row `index` and returns its offset.
    fn find(&self, index: usize, reader: &mut RecordReader) -> Option<usize> {
        let (mut at, mut skip) = self.index.seek(index)?;
        loop {
            match reader.read(&self.file, at) {
                RowResult::Row(_) if skip == 0 => return Some(at),
                RowResult::Row(next) => {
                    skip -= 1;
                    at = next;
                }
                RowResult::Blank(next) => at = next,
                RowResult::End | RowResult::Open | RowResult::TooLong => return None,
            }
        }
    }

    /// Returns an error for the row at offset `at`.
    fn wrong(
        &self,
        at: usize,
        index: usize,
        key: Option<&str>,
        reason: String,
        remedy: &str,
    ) -> FormatError {
        let line = self.index.line(&self.file, at);
        let mut place = self.splitter.place.clone().line(line).row(index as u64);
        place.key = key.map(str::to_owned);
        FormatError::new(Fault::Damaged, place, reason, remedy)
    }

    /// Converts a record to a sample.
    fn sample(&self, record: &Record, at: usize, index: usize) -> Result<Cell, FormatError> {
        if record.len() > self.columns.len() {
            return Err(self.wrong(
                at,
                index,
                None,
                say!(
                    "the row has {} fields, the header {}",
                    record.len(),
                    self.columns.len()
                ),
                say!("Quote texts that contain commas, or correct the row"),
            ));
        }
        let mut entries = Vec::with_capacity(self.columns.len());
        for (column, (name, column_type)) in self.columns.iter().enumerate() {
            let field = record.get(column).unwrap_or_default();
            let value = column_type
                .value(field)
                .map_err(|()| self.wrong_field(field, column, at, index))?;
            entries.push((Arc::clone(name), value));
        }
        Ok(Cell::Map(entries))
    }

    /// Converts one field of a record.
    fn field(
        &self,
        record: &Record,
        column: usize,
        at: usize,
        index: usize,
    ) -> Result<Cell, FormatError> {
        let field = record.get(column).unwrap_or_default();
        let value = self.columns.get(column).map(|(_, kind)| kind.value(field));
        value
            .unwrap_or(Ok(Cell::Null))
            .map_err(|()| self.wrong_field(field, column, at, index))
    }

    fn wrong_field(&self, field: &[u8], column: usize, at: usize, index: usize) -> FormatError {
        let shown = String::from_utf8_lossy(field.get(..40).unwrap_or(field)).into_owned();
        let (name, kind) = match self.columns.get(column) {
            Some((name, kind)) => (Some(&**name), *kind),
            None => (None, ColumnType::Text),
        };
        let (reason, remedy) = match kind {
            ColumnType::Text => (
                say!("'{}' is not UTF-8", shown.escape_debug()),
                say!("Save the file in UTF-8"),
            ),
            ColumnType::Int | ColumnType::Float | ColumnType::Bool => (
                say!(
                    "'{}' changed its type after the file was opened",
                    shown.escape_debug()
                ),
                say!("Close the program that writes the file, and open it again"),
            ),
        };
        self.wrong(at, index, name, reason, remedy)
    }
}

/// Reads the column names and the offset of the first row.
fn header(
    file: &[u8],
    splitter: &Splitter,
    reader: &mut RecordReader,
) -> Result<(Vec<Arc<str>>, usize), FormatError> {
    let mut at = past_line_ends(file, 0);
    let begin = loop {
        match reader.read(file, at) {
            RowResult::Row(next) => break next,
            RowResult::Blank(next) => at = next,
            RowResult::End => {
                bail!(Damaged, splitter.place.clone(), say!("it is empty: the header with the column names is missing");
                    say!("Write the column names into the first line"));
            }
            found @ (RowResult::Open | RowResult::TooLong) => {
                return Err(splitter.row_error(file, at, &found));
            }
        }
    };
    let mut names = Vec::with_capacity(reader.record.len());
    for (column, field) in reader.record.fields().enumerate() {
        let Ok(name) = std::str::from_utf8(field) else {
            bail!(Damaged, splitter.place.clone().line(1), say!("the name of column {} is not UTF-8", column + 1);
                say!("Save the file in UTF-8"));
        };
        names.push(name);
    }
    let names = names::unique(&names);
    Ok((names, begin))
}

/// Refuses a table whose first row has more fields than the header.
fn first_row(
    file: &[u8],
    begin: usize,
    header: &[Arc<str>],
    splitter: &Splitter,
    reader: &mut RecordReader,
) -> Result<(), FormatError> {
    let found = reader.read(file, begin);
    let fields = reader.record.len();
    if !matches!(found, RowResult::Row(_)) || fields <= splitter.columns {
        return Ok(());
    }
    let line = crate::index::line_ends(file.get(..begin).unwrap_or_default()) as u64 + 1;
    Err(FormatError::new(
        Fault::Damaged,
        splitter.place.clone().line(line),
        say!(
            "the first row has {fields} fields, the header only {} names",
            splitter.columns
        ),
        match other_separator(header) {
            Some(sep) => say!("Set sep={sep}"),
            None => say!("Give each column a name, including an index column").to_owned(),
        },
    ))
}

/// Returns true if a file name ends in `.tsv`, ignoring the extension of a compressed file.
fn has_tabs(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let packed = [".gz", ".zst", ".xz"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending));
    packed.unwrap_or(&name).ends_with(".tsv")
}

/// Returns the option for another column separator, if the header is a single name that contains it.
fn other_separator(header: &[Arc<str>]) -> Option<&'static str> {
    let [only] = header else {
        return None;
    };
    let known = [
        (';', "semicolon"),
        ('\t', "tab"),
        ('|', "|"),
        (',', "comma"),
    ];
    let found = known
        .iter()
        .find(|(character, _)| only.contains(*character));
    found.map(|(_, name)| *name)
}

fn notes(header: &[Arc<str>], too_wide: usize, place: &Place) -> Vec<String> {
    let mut notes = Vec::new();
    if too_wide > 0 {
        let rows = if too_wide == 1 {
            "row has"
        } else {
            "rows have"
        };
        notes.push(format!(
            "{place}: {too_wide} {rows} more fields than the header, and cannot be read."
        ));
    }
    if let (Some(sep), [only]) = (other_separator(header), header) {
        notes.push(format!(
            "{place}: it has one column, {only:?}. To split it, set sep={sep}."
        ));
    }
    notes
}

impl Rows for Csv {
    fn len(&self) -> usize {
        self.index.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        self.splitter.with_reader(|reader| {
            let Some(at) = self.find(index, reader) else {
                return Err(out_of_range(&self.splitter.place, index, self.len()));
            };
            stages.enter("decode");
            self.sample(&reader.record, at, index)
        })
    }

    fn labels(&self) -> Option<Vec<u32>> {
        self.classes_of_rows()
    }

    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        self.values(name)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

#[cfg(test)]
mod tests;
