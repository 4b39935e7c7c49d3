//! Parquet tables, in one file or several.

mod cast;
mod folder;
mod merged;
mod pages;
mod part;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadscope_words::say;

use crate::cell::Cell;
use crate::columns::{Blocks, CACHE_BYTES, Columns, Decoded, labels, lengths};
use crate::error::{Fault, FormatError, Place};
use crate::paths;
use crate::rows::Rows;
use crate::slices::{format_names, out_of_range};
use crate::stages::Stages;

use folder::Listing;
use merged::Merged;
use part::{FileColumns, ParquetFile, Part};

/// Parquet tables with the values of `pyarrow.parquet.read_table(paths).to_pylist()`. Unlike there, lists of numbers are arrays of
/// their dtype, timestamps are texts and decimals are floats. Sample i is a `dict` of row i over all files in order. It has the columns of
/// the first file and the partitions in folder names (`year=2024`). Row groups are decoded on demand and cached for all workers.
#[derive(Debug)]
pub struct Parquet {
    columns: Columns,
    blocks: Blocks<Part>,
    place: Place,
    notes: Vec<String>,
}

impl Parquet {
    /// Opens the files of `pattern`: a file, a folder, or a pattern with `*`.
    ///
    /// # Errors
    /// As [`open`](Self::open), or if no file matches.
    pub fn named(pattern: &str) -> Result<Self, FormatError> {
        match Path::new(pattern).is_dir() {
            true => Self::open(&[pattern.into()]),
            false => Self::open(&paths::files(pattern, "parquet")?),
        }
    }

    /// Opens files. A folder includes all files in it and its subfolders, except names that begin with `.` or `_`.
    ///
    /// # Errors
    /// If a file cannot be opened or is damaged, or has a column of another type than the first file.
    pub fn open(paths: &[PathBuf]) -> Result<Self, FormatError> {
        let listing = Listing::of(paths)?;
        let Some(first) = listing.files.first() else {
            let place = paths
                .first()
                .map_or_else(Place::default, |path| Place::file(path));
            return Err(FormatError::new(
                Fault::Missing,
                place,
                say!("there are no .parquet files"),
                say!("Give files, or a folder of files"),
            ));
        };
        let place = Place::file(&first.path);
        let head = ParquetFile::open(&first.path)?;
        let table = Merged::new(head.metadata.schema(), &listing.files, &place)?;
        let columns = Columns::new(&table.schema, None, &place)?;
        let table = Arc::new(table);
        let (mut parts, mut bytes, mut unknown) = (Vec::new(), 0u64, BTreeSet::new());
        for found in &listing.files {
            let file = Arc::new(ParquetFile::open(&found.path)?);
            let (sources, more) = table.sources(file.metadata.schema(), found, &file.place)?;
            unknown.extend(more);
            let table = Arc::clone(&table);
            let columns = Arc::new(FileColumns { table, sources });
            bytes = bytes.saturating_add(file.parts(&columns, &mut parts)?);
        }
        let mut notes = columns.notes.clone();
        notes.extend(listing.note());
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().map(String::as_str).collect();
            notes.push(format!(
                "{place}: the columns {} are in other files only, and are left out, as by pyarrow.",
                format_names(&names)
            ));
        }
        if bytes > CACHE_BYTES as u64 {
            notes.push(format!(
                "{place}: decoded it takes about {} MB, of which {} are kept. In random order parts are decoded again and again; smaller \
                 row groups help.",
                bytes >> 20,
                CACHE_BYTES >> 20
            ));
        }
        Ok(Self {
            columns,
            blocks: Blocks::new(parts),
            place,
            notes,
        })
    }

    fn sample(
        &self,
        at: usize,
        row: usize,
        decoded: &Decoded,
        index: usize,
    ) -> Result<Cell, FormatError> {
        let place = self
            .blocks
            .block(at)
            .map_or(&self.place, |part| &part.file.place);
        self.columns.row(&decoded.batch, row, place, index)
    }
}

impl Rows for Parquet {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        let Some((at, row)) = self.blocks.find(index) else {
            return Err(out_of_range(&self.place, index, self.len()));
        };
        let decoded = match self.blocks.cached(at) {
            Some(decoded) => Some(decoded),
            None => {
                stages.enter("decode");
                self.blocks.get(at)?
            }
        };
        match decoded {
            Some(decoded) => self.sample(at, row, &decoded, index),
            None => Err(out_of_range(&self.place, index, self.len())),
        }
    }

    /// Decodes each chunk only once per call, even if the cache is full.
    fn rows(
        &self,
        indices: &[usize],
        stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        stages.enter("decode");
        let mut wanted: Vec<(usize, usize, usize)> = Vec::with_capacity(indices.len());
        for (place, &index) in indices.iter().enumerate() {
            match self.blocks.find(index) {
                Some((at, row)) => wanted.push((at, row, place)),
                None => return Some(Err(out_of_range(&self.place, index, self.len()))),
            }
        }
        wanted.sort_unstable();
        let mut cells = vec![Cell::Null; indices.len()];
        for same in wanted.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(at, ..)) = same.first() else {
                continue;
            };
            let decoded = match self.blocks.get(at) {
                Ok(Some(decoded)) => decoded,
                Ok(None) => continue,
                Err(error) => return Some(Err(error)),
            };
            for &(_, row, place) in same {
                let index = indices.get(place).copied().unwrap_or(0);
                match (self.sample(at, row, &decoded, index), cells.get_mut(place)) {
                    (Ok(cell), Some(to)) => *to = cell,
                    (Ok(_), None) => {}
                    (Err(error), _) => return Some(Err(error)),
                }
            }
        }
        Some(Ok(cells))
    }

    fn has_rows(&self) -> bool {
        true
    }

    fn classes(&self) -> &[String] {
        &self.columns.classes
    }

    fn labels(&self) -> Option<Vec<u32>> {
        labels(&self.blocks, self.columns.label?)
    }

    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        self.columns.values(&self.blocks, name, &self.place)
    }

    fn lengths(&self) -> Option<Vec<u64>> {
        lengths(&self.blocks, self.columns.lists?)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
