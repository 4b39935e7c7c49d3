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

use crate::columns::{CACHE_BYTES, Columns};
use crate::error::{FormatError, Place};
use crate::paths;
use crate::slices::format_names;
use crate::table::Table;

use folder::Listing;
use merged::Merged;
use part::{FileColumns, ParquetFile, Part};

/// Parquet tables with the values of `pyarrow.parquet.read_table(paths).to_pylist()`. Unlike there, lists of numbers are arrays of
/// their dtype, timestamps are texts and decimals are floats. Sample i is a `dict` of row i over all files in order. It has the columns of
/// the first file and the partitions in folder names (`year=2024`). Row groups are decoded on demand and cached for all workers.
pub type Parquet = Table<Part>;

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
            bail!(Missing, place, say!("there are no .parquet files");
                say!("Give files, or a folder of files"));
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
        Ok(Self::new(columns, parts, place, notes))
    }
}
