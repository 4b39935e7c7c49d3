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
mod pprof;
mod speedscope;
mod stacks;
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
    /// Sampled stacks for speedscope, over time.
    Speedscope,
    /// Sampled stacks for pprof.
    Pprof,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [
        Self::Chrome,
        Self::Csv,
        Self::Parquet,
        Self::Speedscope,
        Self::Pprof,
    ];

    /// List of the file name endings that [`for_path`](Self::for_path) recognizes, in words.
    pub const ENDINGS: Text = text!(
        ".json or .json.gz for Perfetto, .parquet or .csv for tables, .speedscope.json for speedscope, .pb.gz for pprof"
    );

    /// Returns the format for the extension of a file name. Returns `None` for an unknown extension.
    pub fn for_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let is = |endings: &[&str]| {
            let mut endings = endings
                .iter()
                .filter_map(|ending| name.strip_suffix(ending));
            endings.any(|stem| !stem.is_empty())
        };
        match () {
            () if is(&[".csv"]) => Some(Self::Csv),
            () if is(&[".parquet"]) => Some(Self::Parquet),
            () if is(&[".speedscope.json", ".speedscope.json.gz"]) => Some(Self::Speedscope),
            () if is(&[".pb", ".pb.gz", ".pprof"]) => Some(Self::Pprof),
            () if is(&[".json", ".gz"]) => Some(Self::Chrome),
            () => None,
        }
    }

    /// Returns true for a format that writes a file per table.
    pub fn has_tables(self) -> bool {
        self.table_extension().is_some()
    }

    fn table_extension(self) -> Option<&'static str> {
        match self {
            Self::Csv => Some("csv"),
            Self::Parquet => Some("parquet"),
            Self::Chrome | Self::Speedscope | Self::Pprof => None,
        }
    }

    /// Returns true for a format with only sampled stacks.
    fn is_of_stacks(self) -> bool {
        match self {
            Self::Speedscope | Self::Pprof => true,
            Self::Chrome | Self::Csv | Self::Parquet => false,
        }
    }
}

/// Returns the files that an export to `out` writes. Traces and stacks are one file. Tables are one file each. If `out` has their extension,
/// they are next to each other (`run.csv` → `run.batches.csv`, …). Otherwise, they are in the folder `out`.
pub fn files(format: Format, out: &Path) -> Vec<PathBuf> {
    let Some(ending) = format.table_extension() else {
        return vec![out.to_owned()];
    };
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
/// If a file exists and may not be replaced, cannot be written, or `progress` returned false. If the format has only stacks, and the runs
/// have none.
pub fn export_named(
    runs: &[(RunId, &Run)],
    names: &[String],
    format: Format,
    out: &Path,
    existing: Existing,
    mut progress: impl FnMut(f32) -> bool,
) -> Result<Vec<PathBuf>, ExportError> {
    if format.is_of_stacks() && runs.iter().all(|(_, run)| run.stacks().is_empty()) {
        return Err(ExportError::NoStacks);
    }
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
            Format::Parquet => parquet::write(runs, names, Table::ALL[k], part, &mut tell),
            Format::Chrome => packed(part, format, |out| {
                chrome::write(runs, names, out, &mut tell)
            }),
            Format::Csv => packed(part, format, |out| {
                csv_table::write(runs, names, Table::ALL[k], out, &mut tell)
            }),
            Format::Speedscope => packed(part, format, |out| {
                speedscope::write(runs, names, out, &mut tell)
            }),
            Format::Pprof => packed(part, format, |out| {
                pprof::write(runs, names, out, &mut tell)
            }),
        };
        written.map_err(|e| e.at(&files[k]))?;
    }
    // Renames are fast after all files are synced, so a kill between two of them is unlikely.
    parts.iter().try_for_each(AtomicFile::sync)?;
    parts.into_iter().try_for_each(AtomicFile::commit)?;
    folder.map_or(Ok(()), AtomicFolder::commit)?;
    Ok(files)
}

/// Writes through a buffer, with gzip for pprof or if the file name ends in `.gz`.
fn packed(
    part: &mut AtomicFile,
    format: Format,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let ending = part.path().extension();
    let is_gzip = format == Format::Pprof || ending.is_some_and(|e| e.eq_ignore_ascii_case("gz"));
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
        for (name, format) in [
            ("a.json.gz", Some(Format::Chrome)),
            ("a.CSV", Some(Format::Csv)),
            ("x/a.speedscope.json", Some(Format::Speedscope)),
            ("a.Speedscope.json.gz", Some(Format::Speedscope)),
            ("a.pb.gz", Some(Format::Pprof)),
            ("a.json/b", None),
            (".csv", None),
        ] {
            assert_eq!(Format::for_path(Path::new(name)), format, "{name}");
            let is_one_file = format.is_some_and(|format| !format.has_tables());
            assert!(!is_one_file || names(Format::Pprof, name) == [name]);
        }
    }
}
