//! Exports of runs for other tools. `TABLES.md` documents the formats and units.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use loadscope_files::{AtomicFile, AtomicFolder, Existing, WriteError};
use loadscope_trace::fleet::names;
use loadscope_trace::{Run, RunId};
use loadscope_words::{Text, text};

use crate::ExportError;

mod cell;
mod chrome;
mod csv_table;
mod facts;
mod parquet;
mod table;

use cell::Failure;
use table::Table;

/// Export format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Trace for Perfetto: a track per row of each lane, flows, counters.
    Chrome,
    /// Tables as text.
    Csv,
    /// Tables in a fast binary format for DuckDB, Polars and pandas.
    Parquet,
}

impl Format {
    /// List of the file name endings that [`for_path`](Self::for_path) recognizes, in words.
    pub const ENDINGS: Text = text!(".json or .json.gz for Perfetto, .parquet or .csv for tables");

    /// Returns the format for the extension of a file name. Returns `None` for an unknown extension.
    pub fn for_path(path: &Path) -> Option<Self> {
        let is = |ext: &str| {
            path.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case(ext))
        };
        match () {
            () if is("csv") => Some(Self::Csv),
            () if is("parquet") => Some(Self::Parquet),
            () if is("json") || is("gz") => Some(Self::Chrome),
            () => None,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Chrome => "json",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// Returns the files that an export to `out` writes. A trace is one file. Tables are one file each. If `out` has their extension, they are
/// next to each other (`run.csv` → `run.batches.csv`, …). Otherwise, they are in the folder `out`.
pub fn files(format: Format, out: &Path) -> Vec<PathBuf> {
    let ending = format.extension();
    if format == Format::Chrome {
        return vec![out.to_owned()];
    }
    let beside = out
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(ending))
        && !out.is_dir();
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let name = |table: Table| match beside {
        true => out.with_file_name(format!("{stem}.{}.{ending}", table.name())),
        false => out.join(format!("{}.{ending}", table.name())),
    };
    Table::ALL.map(name).to_vec()
}

/// Writes all runs of a session to `out`, like [`export_named`].
///
/// # Errors
/// The same as for [`export_named`].
pub fn export(
    runs: &[(RunId, &Run)],
    format: Format,
    out: &Path,
    existing: Existing,
    progress: impl FnMut(f32) -> bool,
) -> Result<Vec<PathBuf>, ExportError> {
    export_named(runs, &names(runs), format, out, existing, progress)
}

/// Writes runs to `out` and returns the written files. `names` are the names of the runs among all runs of the session.
///
/// `progress` receives the completed share, 0 to 1, and returns false to cancel. The export holds only the runs in memory.
///
/// Files appear only after all of them are complete, and a new folder appears with all its files. In an existing folder, files are replaced
/// one by one. If a replacement fails, earlier files are already replaced. The file whose replacement failed and the later files are
/// unchanged.
///
/// # Errors
/// If a file exists and may not be replaced, cannot be written, or `progress` returned false.
pub fn export_named(
    runs: &[(RunId, &Run)],
    names: &[String],
    format: Format,
    out: &Path,
    existing: Existing,
    mut progress: impl FnMut(f32) -> bool,
) -> Result<Vec<PathBuf>, ExportError> {
    let files = files(format, out);
    // Only a folder that directly contains the tables is created. The parent of several files next to each other may be a typing error.
    let is_new = files.iter().all(|f| f.parent() == Some(out))
        && out.file_name().is_some()
        && std::fs::symlink_metadata(out).is_err();
    let folder = is_new.then(|| AtomicFolder::create(out)).transpose()?;
    let place = |file: &Path| match (&folder, file.file_name()) {
        (Some(folder), Some(name)) => folder.staging_path().join(name),
        _ => file.to_owned(),
    };
    // All temporary files are created before the first write, so that a refusal comes at once.
    let parts: Result<Vec<_>, WriteError> = (files
        .iter()
        .map(|file| AtomicFile::create(&place(file), existing)))
    .collect();
    let mut parts = parts?;
    for (k, part) in parts.iter_mut().enumerate() {
        let mut tell = |share: f32| progress((k as f32 + share) / files.len() as f32);
        let written = match format {
            Format::Chrome => packed(part, |out| chrome::write(runs, names, out, &mut tell)),
            Format::Csv => packed(part, |out| {
                csv_table::write(runs, names, Table::ALL[k], out, &mut tell)
            }),
            Format::Parquet => parquet::write(runs, names, Table::ALL[k], part, &mut tell),
        };
        written.map_err(|e| e.at(&files[k]))?;
    }
    // Renames are fast after all files are synced, so a kill between two of them is unlikely.
    parts.iter().try_for_each(AtomicFile::sync)?;
    parts.into_iter().try_for_each(AtomicFile::commit)?;
    folder.map_or(Ok(()), AtomicFolder::commit)?;
    Ok(files)
}

/// Writes through a buffer, with gzip if the file name ends in `.gz`.
fn packed(
    part: &mut AtomicFile,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let ending = part.path().extension();
    let is_gzip = ending.is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let mut out = BufWriter::with_capacity(1 << 18, part);
    if is_gzip {
        let mut packed =
            BufWriter::with_capacity(1 << 16, GzEncoder::new(&mut out, Compression::fast()));
        write(&mut packed)?;
        let packed = packed.into_inner().map_err(|e| e.into_error())?;
        packed.finish()?;
    } else {
        write(&mut out)?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_paths_follow_the_format_and_the_table() {
        let names = |format, out: &str| -> Vec<String> {
            let files = files(format, Path::new(out));
            files.iter().map(|f| f.display().to_string()).collect()
        };
        assert_eq!(names(Format::Chrome, "a.json"), ["a.json"]);
        let tables = Table::ALL.map(Table::name);
        assert_eq!(tables[..3], ["batches", "samples", "gauges"]);
        let beside = tables.map(|name| format!("x/run.{name}.csv"));
        assert_eq!(names(Format::Csv, "x/run.csv"), beside);
        let inside = tables.map(|name| format!("run/{name}.parquet"));
        assert_eq!(names(Format::Parquet, "run"), inside);
        assert_eq!(
            Format::for_path(Path::new("a.json.gz")),
            Some(Format::Chrome)
        );
        assert_eq!(Format::for_path(Path::new("a.CSV")), Some(Format::Csv));
    }
}
