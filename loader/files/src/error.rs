//! Why a file cannot be written or read, with the place and the remedy.

use std::io;
use std::path::PathBuf;

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is one, and it may not be replaced.
    #[error("{0} already exists. Choose another name, or pass --force to replace it")]
    Exists(PathBuf),
    /// What is to hold new files only holds others.
    #[error("{0} is there already, and is not an empty folder. Choose another name")]
    NotEmpty(PathBuf),
    /// Another process records into it.
    #[error("{0} is being written by another process. Choose another name")]
    InUse(PathBuf),
    /// What is read is what would be written.
    #[error("{0} is the input. Choose another name for the output")]
    IsInput(PathBuf),
    /// A folder cannot be replaced by a file.
    #[error("{0} is a folder. Give the name of a file")]
    IsFolder(PathBuf),
    /// A socket or a disk, which nothing of Loadscope's belongs into.
    #[error("{0} is neither a file, a pipe nor a character device. Choose another name")]
    NotWritable(PathBuf),
    /// The name leads to another file now, or to none.
    #[error("{0} was removed or replaced while it was written")]
    Vanished(PathBuf),
    /// The file is under another name now.
    #[error("{path} was renamed while it was written, and is now {now}")]
    Moved {
        /// The name that it was given.
        path: PathBuf,
        /// The name that it has.
        now: PathBuf,
    },
    /// Another program has written into it.
    #[error("another program changed {0} while it was written, and part of it is gone")]
    Changed(PathBuf),
    /// A pipe that no process reads from.
    #[error("no process reads from the pipe {0}. Start the reader first")]
    NoReader(PathBuf),
    /// There is no folder to write into.
    #[error("{path}: the folder {folder} does not exist. Make it first")]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder that it was to be in.
        folder: PathBuf,
    },
    /// The disk has no room.
    #[error(
        "{path}: cannot {doing}: there is no space left on the disk. Free some, or choose another place"
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// What failed, as below.
        doing: &'static str,
    },
    /// The system refused.
    #[error("{path}: cannot {doing}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What failed: create, write, sync, rename.
        doing: &'static str,
        /// Why.
        cause: io::Error,
    },
}

impl WriteError {
    pub(crate) fn io(path: &std::path::Path, doing: &'static str, cause: io::Error) -> Self {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => std::path::Path::new("."),
        };
        match cause.kind() {
            io::ErrorKind::NotFound if doing == "create" && !folder.exists() => Self::NoFolder {
                path: path.to_owned(),
                folder: folder.to_owned(),
            },
            io::ErrorKind::StorageFull => Self::Full {
                path: path.to_owned(),
                doing,
            },
            _ => Self::Io {
                path: path.to_owned(),
                doing,
                cause,
            },
        }
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A folder, a socket, or a device where a file is needed.
    #[error("{path} is {what}, not a regular file")]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there: a folder, a pipe, a device, a socket.
        what: &'static str,
    },
    /// It holds more than may be read.
    #[error("{path} has more than {} MB, the limit for {what}", .limit / 1_000_000)]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// What it was read as.
        what: &'static str,
        /// The limit, bytes.
        limit: u64,
    },
    /// It is no UTF-8.
    #[error("{0} is not a text in UTF-8")]
    NotText(PathBuf),
    /// The system refused.
    #[error("{path}: {cause}")]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}
