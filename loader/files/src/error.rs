//! Errors of reading and writing files, with the path and the remedy.

use std::io;
use std::path::PathBuf;

use loadscope_words::say;

/// Error of writing a file.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file exists and may not be replaced.
    #[error("{}", say!("{0} already exists. Choose another name, or pass --force to replace it.", .0.display()))]
    Exists(PathBuf),
    /// The folder for new files contains other files.
    #[error("{}", say!("{0} exists and is not an empty folder. Choose another name.", .0.display()))]
    NotEmpty(PathBuf),
    /// Another process records to the file.
    #[error("{}", say!("{0} is being written by another process. Choose another name.", .0.display()))]
    InUse(PathBuf),
    /// The output is the same file as the input.
    #[error("{}", say!("{0} is the input. Choose another name for the output.", .0.display()))]
    IsInput(PathBuf),
    /// The path is a folder, which a file cannot replace.
    #[error("{}", say!("{0} is a folder. Give a file name.", .0.display()))]
    IsFolder(PathBuf),
    /// A recording in several files cannot go to a pipe or a device.
    #[error("{}", say!("{0} is not a file. With --last or --max-size the recording consists of several files, so give a file name.", .0.display()))]
    NotAFile(PathBuf),
    /// The name does not have an extension of recordings.
    #[error("{}", say!("{0} is not a name of a recording. Choose a name that ends in .jsonl.zst or .jsonl.", .0.display()))]
    NotARecording(PathBuf),
    /// A socket or a block device.
    #[error("{}", say!("{0} is neither a file, a pipe nor a character device. Choose another name.", .0.display()))]
    NotWritable(PathBuf),
    /// The file was removed or replaced during writing.
    #[error("{}", say!("{0} was removed or replaced while it was written. Record again into another folder.", .0.display()))]
    Vanished(PathBuf),
    /// The file was renamed during writing.
    #[error("{}", say!("{path} was renamed while it was written, and is now {now}", path = .path.display(), now = .now.display()))]
    Moved {
        /// Path at which the file was created.
        path: PathBuf,
        /// Path after the renaming.
        now: PathBuf,
    },
    /// Another program wrote to the file.
    #[error("{}", say!("another program changed {0} while it was written, and part of it is lost. Recover the rest with `loadscope repair`.", .0.display()))]
    Changed(PathBuf),
    /// No process reads from the pipe.
    #[error("{}", say!("no process reads from the pipe {0}. Start the reader first.", .0.display()))]
    NoReader(PathBuf),
    /// The folder does not exist.
    #[error("{}", say!("{path}: folder {folder} does not exist. Create it first.", path = .path.display(), folder = .folder.display()))]
    NoFolder {
        /// File in the missing folder.
        path: PathBuf,
        /// Missing folder of the file.
        folder: PathBuf,
    },
    /// The disk is full.
    #[error("{}", say!("{path}: cannot {doing}: no space left on the disk. Free some space, or choose another folder.", path = .path.display(), doing = verb(.doing)))]
    Full {
        /// File on the full disk.
        path: PathBuf,
        /// The failed operation, as in [`Self::Io`].
        doing: &'static str,
    },
    /// Other error of the system.
    #[error("{}", say!("{path}: cannot {doing}: {cause}", path = .path.display(), doing = verb(.doing), cause = loadscope_words::explain(.cause)))]
    Io {
        /// File whose operation failed.
        path: PathBuf,
        /// The failed operation: create, write, sync, rename.
        doing: &'static str,
        /// Error of the system.
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
            // The folder exists, but refuses new files, such as /proc.
            io::ErrorKind::NotFound if doing == "create" => Self::Io {
                path: path.to_owned(),
                doing,
                cause: io::Error::other(say!(
                    "its folder accepts no new files. Choose another folder."
                )),
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

/// Error of reading a file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path is a folder, a socket or a device.
    #[error("{}", say!("{path} is {what}, not a regular file. Give the name of a file.", path = .path.display(), what = .what))]
    NotAFile {
        /// Path of the folder, socket or device.
        path: PathBuf,
        /// Type of the path: a folder, a pipe, a device, a socket.
        what: &'static str,
    },
    /// The file exceeds the size limit.
    #[error("{}", say!("{path} is larger than {} MB, the limit for {what}. Choose a smaller file.", .limit / 1_000_000, path = .path.display(), what = .what))]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Purpose of the file.
        what: &'static str,
        /// The limit, bytes.
        limit: u64,
    },
    /// The file is not UTF-8.
    #[error("{}", say!("{0} is not UTF-8 text. Save it as UTF-8.", .0.display()))]
    NotText(PathBuf),
    /// Other error of the system.
    #[error("{}", loadscope_words::path_error(.path, .cause))]
    Io {
        /// Path of the file that cannot be read.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
}

/// Returns the failed operation in the language of the program.
fn verb(doing: &'static str) -> &'static str {
    match doing {
        "create" => say!("create"),
        "write" => say!("write"),
        "sync" => say!("sync"),
        "rename" => say!("rename"),
        "remove" => say!("remove"),
        "look at it" => say!("read its metadata"),
        other => other,
    }
}
