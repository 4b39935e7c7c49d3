//! Limits of a recording, the sizes of its files, and its creation.

use std::fs;
use std::path::{Path, PathBuf};

use loadscope_files::{Existing, GrowingFile, WriteError, create_free_folder};
use loadscope_trace::multipart::{self, PartFile};
use loadscope_trace::{Compression, LogReader, LogWriter, Nanos, Retention, RetentionPolicy};

/// Limits of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Minimum time that is kept in full if there is room. `None` keeps as much as possible.
    pub last: Option<Nanos>,
    /// Maximum size of all files, bytes.
    pub max_size: u64,
    /// Minimum length of a wait that is kept in full.
    pub long_wait: Nanos,
    /// Number of the slowest batches that are kept in full.
    pub keep_slowest: u32,
}

impl Limits {
    /// Minimum for `max_size`, bytes.
    pub const LEAST_SIZE: u64 = 1_000_000;

    /// Default for `max_size`, bytes.
    pub const USUAL_SIZE: u64 = 2_000_000_000;

    /// Default for `long_wait`.
    pub const USUAL_LONG_WAIT: Nanos = Nanos::from_millis(100);

    /// Default for `keep_slowest`.
    pub const USUAL_SLOWEST: u32 = 100;

    /// Maximum size of the sums, bytes. They are read and rewritten as a whole.
    const MOST_COURSE: u64 = 8 << 20;

    /// Number of parts in the kept time. Up to one part more is kept.
    const PARTS_OF_TIME: i64 = 8;

    pub(super) fn policy(&self) -> RetentionPolicy {
        RetentionPolicy {
            long_wait: self.long_wait,
            keep_slowest: self.keep_slowest as usize,
        }
    }

    /// Returns the limits for the events of each run.
    pub(super) fn retention(&self, left_out: u64) -> Retention {
        Retention {
            last: self.last,
            max_size: self.max_size,
            long_wait: self.long_wait,
            keep_slowest: self.keep_slowest,
            left_out,
            ..Retention::default()
        }
    }

    /// Returns a sixteenth of the maximum size.
    /// Parts get ten, long waits three, the sums and their next edition two.
    /// The kept file, rewritten at each new part, and its next edition get half of one.
    fn sixteenth(&self) -> u64 {
        self.max_size / 16
    }

    /// Returns the maximum size of a part, bytes.
    pub(super) fn part(&self) -> u64 {
        self.sixteenth()
    }

    /// Returns the maximum size of all parts, bytes.
    pub(super) fn parts(&self) -> u64 {
        self.sixteenth() * 10
    }

    /// Returns the maximum size of all long waits, bytes.
    pub(super) fn waits(&self) -> u64 {
        self.sixteenth() * 3
    }

    /// Returns the maximum size of the sums, bytes.
    pub(super) fn sums(&self) -> u64 {
        self.sixteenth().min(Self::MOST_COURSE)
    }

    /// Returns the maximum size of the kept file, bytes.
    pub(super) fn kept(&self) -> u64 {
        self.sixteenth() / 4
    }

    /// Returns the maximum duration of a part.
    pub(super) fn time_of_part(&self) -> Option<Nanos> {
        let time = |last: Nanos| Nanos((last.0 / Self::PARTS_OF_TIME).max(1));
        self.last.map(time)
    }
}

/// Maximum number of tried folder names.
const MOST_FOLDERS: u32 = 10_000;

/// A new recording with a limit.
#[derive(Debug)]
pub struct NewLimited {
    pub(super) main: GrowingFile,
    pub(super) folder: PathBuf,
    pub(super) limits: Limits,
    /// Folder with the parts of the replaced recording.
    pub(super) replaced: Option<PathBuf>,
}

impl NewLimited {
    /// Creates a recording at `path`. It can be opened immediately.
    ///
    /// # Errors
    /// If a file exists that may not be replaced or is being written, or if the folder cannot be written to.
    pub fn create(path: &Path, existing: Existing, limits: Limits) -> Result<Self, WriteError> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Err(WriteError::NotAFile(path.to_owned()));
        }
        let replaced = parts_of(path);
        let stem = multipart::stem(path);
        let first = std::iter::once(format!("{stem}{}", multipart::FOLDER_SUFFIX));
        let others = (2..=MOST_FOLDERS).map(|n| format!("{stem}-{n}{}", multipart::FOLDER_SUFFIX));
        let names = first.chain(others).map(|name| path.with_file_name(name));
        let folder = create_free_folder(names)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let header = LogWriter::in_parts(Vec::new(), Compression::for_path(path), &name);
        let header = header.and_then(LogWriter::finish).unwrap_or_default();
        match GrowingFile::create(path, existing, &header) {
            Ok(main) => Ok(Self {
                main,
                folder,
                limits,
                replaced,
            }),
            Err(e) => {
                remove_folder(&folder);
                Err(e)
            }
        }
    }

    /// Creates a recording under the first free name.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn create_free(
        names: impl IntoIterator<Item = PathBuf>,
        limits: Limits,
    ) -> Result<Self, WriteError> {
        let mut last = WriteError::Exists(PathBuf::new());
        for path in names {
            match Self::create(&path, Existing::Keep, limits) {
                Err(
                    e @ (WriteError::Exists(_) | WriteError::InUse(_) | WriteError::IsFolder(_)),
                ) => {
                    last = e;
                }
                other => return other,
            }
        }
        Err(last)
    }

    /// Returns the final path.
    pub fn path(&self) -> &Path {
        self.main.path()
    }

    /// Returns the folder of the parts.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes the unused recording.
    pub fn discard(self) {
        self.main.discard();
        remove_folder(&self.folder);
    }
}

/// Returns the folder with the parts of a recording. Returns `None` if it has none.
pub(crate) fn parts_of(path: &Path) -> Option<PathBuf> {
    let file = loadscope_files::open_regular(path).ok()?;
    let reader = LogReader::new(file).ok()?;
    multipart::folder(path, reader.parts()?)
}

/// Removes a folder of parts, but no other files in it.
pub(crate) fn remove_folder(folder: &Path) {
    // A killed process leaves temporary files.
    loadscope_files::sweep_folder(folder);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry
            .file_name()
            .to_str()
            .and_then(PartFile::parse)
            .is_some()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
    // The removal fails if other files are in the folder.
    let _ = fs::remove_dir(folder);
}
