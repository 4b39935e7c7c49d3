//! Why a file cannot be written or read, with the place and the remedy.

use std::io;
use std::path::PathBuf;

use loadscope_words::say;

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is one, and it may not be replaced.
    #[error("{}", say!("{0} already exists. Choose another name, or pass --force to replace it.", .0.display()))]
    Exists(PathBuf),
    /// What is to hold new files only holds others.
    #[error("{}", say!("{0} exists and is not an empty folder. Choose another name.", .0.display()))]
    NotEmpty(PathBuf),
    /// Another process records into it.
    #[error("{}", say!("{0} is being written by another process. Choose another name.", .0.display()))]
    InUse(PathBuf),
    /// What is read is what would be written.
    #[error("{}", say!("{0} is the input. Choose another name for the output.", .0.display()))]
    IsInput(PathBuf),
    /// A folder cannot be replaced by a file.
    #[error("{}", say!("{0} is a folder. Give a file name.", .0.display()))]
    IsFolder(PathBuf),
    /// What stands in several files cannot go into a pipe or a device.
    #[error("{}", say!("{0} is not a file. With --last or --max-size the recording consists of several files, so give a file name.", .0.display()))]
    NotAFile(PathBuf),
    /// By this name no program would take it for a recording.
    #[error("{}", say!("{0} is not a name of a recording. Choose a name that ends in .jsonl.zst or .jsonl.", .0.display()))]
    NotARecording(PathBuf),
    /// A socket or a disk, which nothing of Loadscope's belongs into.
    #[error("{}", say!("{0} is neither a file, a pipe nor a character device. Choose another name.", .0.display()))]
    NotWritable(PathBuf),
    /// The name leads to another file now, or to none.
    #[error("{}", say!("{0} was removed or replaced while it was written. Record again into another folder.", .0.display()))]
    Vanished(PathBuf),
    /// The file is under another name now.
    #[error("{}", say!("{path} was renamed while it was written, and is now {now}", path = .path.display(), now = .now.display()))]
    Moved {
        /// The name that it was given.
        path: PathBuf,
        /// The name that it has.
        now: PathBuf,
    },
    /// Another program has written into it.
    #[error("{}", say!("another program changed {0} while it was written, and part of it is lost. Recover the rest with `loadscope repair`.", .0.display()))]
    Changed(PathBuf),
    /// A pipe that no process reads from.
    #[error("{}", say!("no process reads from the pipe {0}. Start the reader first.", .0.display()))]
    NoReader(PathBuf),
    /// There is no folder to write into.
    #[error("{}", say!("{path}: folder {folder} does not exist. Create it first.", path = .path.display(), folder = .folder.display()))]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder that it was to be in.
        folder: PathBuf,
    },
    /// The disk has no room.
    #[error("{}", say!("{path}: cannot {doing}: no space left on the disk. Free some space, or choose another folder.", path = .path.display(), doing = verb(.doing)))]
    Full {
        /// The file.
        path: PathBuf,
        /// What failed, as below.
        doing: &'static str,
    },
    /// The system refused.
    #[error("{}", say!("{path}: cannot {doing}: {cause}", path = .path.display(), doing = verb(.doing), cause = loadscope_words::explain(.cause)))]
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
            // A folder such as /proc.
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

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A folder, a socket, or a device where a file is needed.
    #[error("{}", say!("{path} is {what}, not a regular file. Give the name of a file.", path = .path.display(), what = .what))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there: a folder, a pipe, a device, a socket.
        what: &'static str,
    },
    /// It holds more than may be read.
    #[error("{}", say!("{path} is larger than {} MB, the limit for {what}. Choose a smaller file.", .limit / 1_000_000, path = .path.display(), what = .what))]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// What it was read as.
        what: &'static str,
        /// The limit, bytes.
        limit: u64,
    },
    /// It is no UTF-8.
    #[error("{}", say!("{0} is not UTF-8 text. Save it as UTF-8.", .0.display()))]
    NotText(PathBuf),
    /// The system refused.
    #[error("{}", loadscope_words::path_error(.path, .cause))]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// What failed, in the language of the program.
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
