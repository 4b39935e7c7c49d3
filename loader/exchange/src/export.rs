//! Runs written for other tools. What is written and in which units stands in `TABLES.md`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use loadscope_trace::{Run, RunId};

use crate::ExportError;

mod chrome;
mod comma;
mod parquet;
mod table;

use table::Table;

/// What a run can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A trace that Perfetto opens: a track for each row of each lane, flows, counters.
    Chrome,
    /// Three tables as text.
    Csv,
    /// Three tables that DuckDB, Polars and pandas read fast.
    Parquet,
}

impl Format {
    /// What a file name asks for; a trace unless it is the name of a table.
    pub fn for_path(path: &Path) -> Self {
        let is = |ext: &str| {
            path.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case(ext))
        };
        match () {
            () if is("csv") => Self::Csv,
            () if is("parquet") => Self::Parquet,
            () => Self::Chrome,
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

/// The files that writing to `out` makes. A trace is one file. Tables are three: beside each other if `out` has their ending
/// (`run.csv` → `run.batches.csv`, …), otherwise in the folder `out`.
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

/// Writes the runs of a session to `out` and tells which files that made. `progress` hears how far it is, 0 to 1, and says whether to go on.
/// Nothing is held in memory but the runs themselves; nothing half-written is left behind.
///
/// # Errors
/// If a file cannot be written, or `progress` says no.
pub fn export(
    runs: &[(RunId, &Run)],
    format: Format,
    out: &Path,
    mut progress: impl FnMut(f32) -> bool,
) -> Result<Vec<PathBuf>, ExportError> {
    let files = files(format, out);
    // A folder for the tables is made; one that they were to stand in beside each other may be a slip of the pen.
    if files.iter().all(|f| f.parent() == Some(out)) {
        std::fs::create_dir_all(out).map_err(|cause| write_error(out, cause))?;
    }
    let mut parts = Vec::new();
    for (k, path) in files.iter().enumerate() {
        let mut part = Part::create(path)?;
        let mut tell = |share: f32| progress((k as f32 + share) / files.len() as f32);
        match format {
            Format::Chrome => part.write(|out| chrome::write(runs, out, &mut tell))?,
            Format::Csv => part.write(|out| comma::write(runs, Table::ALL[k], out, &mut tell))?,
            Format::Parquet => {
                let file = part.file()?;
                parquet::write(runs, Table::ALL[k], file, &mut tell).map_err(|e| e.at(path))?;
            }
        }
        parts.push(part);
    }
    parts.into_iter().try_for_each(Part::keep)?;
    Ok(files)
}

fn write_error(path: &Path, cause: io::Error) -> ExportError {
    ExportError::Write {
        path: path.to_owned(),
        cause,
    }
}

/// Why a table or a trace was not written.
enum Failure {
    Io(io::Error),
    Other(String),
    Cancelled,
}

impl Failure {
    fn at(self, path: &Path) -> ExportError {
        let path = path.to_owned();
        match self {
            Self::Io(cause) => ExportError::Write { path, cause },
            Self::Other(why) => ExportError::Table { path, why },
            Self::Cancelled => ExportError::Cancelled,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A file that gets its name once it is whole.
struct Part {
    path: PathBuf,
    part: PathBuf,
    file: Option<File>,
    kept: bool,
}

impl Part {
    fn create(path: &Path) -> Result<Self, ExportError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        let file = File::create(&part).map_err(|cause| write_error(path, cause))?;
        Ok(Self {
            path: path.to_owned(),
            part,
            file: Some(file),
            kept: false,
        })
    }

    fn file(&mut self) -> Result<File, ExportError> {
        let gone = || write_error(&self.path, io::ErrorKind::NotFound.into());
        self.file.take().ok_or_else(gone)
    }

    /// Writes through a buffer, compressed if the name asks for it.
    fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), ExportError> {
        let file = self.file()?;
        let is_gzip = self
            .path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
        let mut out = BufWriter::with_capacity(1 << 18, file);
        let result = if is_gzip {
            let mut packed =
                BufWriter::with_capacity(1 << 16, GzEncoder::new(&mut out, Compression::fast()));
            write(&mut packed).and_then(|()| {
                let packed = packed.into_inner().map_err(|e| e.into_error())?;
                packed.finish()?;
                Ok(())
            })
        } else {
            write(&mut out)
        };
        let result = result.and_then(|()| Ok(out.flush()?));
        result.map_err(|e| e.at(&self.path))
    }

    fn keep(mut self) -> Result<(), ExportError> {
        self.kept = true;
        std::fs::rename(&self.part, &self.path).map_err(|cause| write_error(&self.path, cause))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_written_where() {
        let names = |format, out: &str| -> Vec<String> {
            let files = files(format, Path::new(out));
            files.iter().map(|f| f.display().to_string()).collect()
        };
        assert_eq!(names(Format::Chrome, "a.json"), ["a.json"]);
        let beside = ["x/run.batches.csv", "x/run.samples.csv", "x/run.gauges.csv"];
        assert_eq!(names(Format::Csv, "x/run.csv"), beside);
        let inside = [
            "run/batches.parquet",
            "run/samples.parquet",
            "run/gauges.parquet",
        ];
        assert_eq!(names(Format::Parquet, "run"), inside);
        assert_eq!(Format::for_path(Path::new("a.json.gz")), Format::Chrome);
        assert_eq!(Format::for_path(Path::new("a.CSV")), Format::Csv);
    }
}
