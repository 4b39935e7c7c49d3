//! Creation of a recording with a limit.

use std::fs;
use std::path::{Path, PathBuf};

use loadscope_files::{Existing, GrowingFile, WriteError, create_free_folder};
use loadscope_trace::multipart::{self, PartFile};
use loadscope_trace::{Compression, LogReader, LogWriter, RecordingKind};

use super::limits::Limits;

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
        let header = LogWriter::with_header(
            Vec::new(),
            Compression::for_path(path),
            RecordingKind::InParts(&name),
        );
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
