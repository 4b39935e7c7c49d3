//! Reading of other programs' files, with a timeout and a size limit.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ReadError;
use loadscope_words::say;

/// Maximum time without data from a pipe or a terminal.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Opens a regular file. Unlike [`File::open`], it refuses devices and does not wait for the writer of a pipe.
///
/// # Errors
/// If `path` is not a regular file.
pub fn open_regular(path: &Path) -> Result<File, ReadError> {
    let (file, kind) = open(path)?;
    match special_type(kind) {
        None => Ok(file),
        Some(what) => Err(ReadError::NotAFile {
            path: path.to_owned(),
            what: what.name(),
        }),
    }
}

/// Opens a file, a pipe or a device, and limits reading to `limit` bytes. `what` is the purpose as a plural, for example `options` or
/// `weights`.
/// A pipe without data for ten seconds is an error.
///
/// # Errors
/// If the path is a folder or cannot be opened.
pub fn open_input(path: &Path, what: &'static str, limit: u64) -> Result<Input, ReadError> {
    let (file, kind) = open(path)?;
    if kind.is_dir() {
        return Err(ReadError::NotAFile {
            path: path.to_owned(),
            what: say!("a folder"),
        });
    }
    let size = file.metadata().map_or(0, |found| found.len());
    if kind.is_file() && size > limit {
        return Err(too_large(path, what, limit));
    }
    Ok(Input {
        path: path.to_owned(),
        what,
        limit,
        left: limit,
        waits: !kind.is_file(),
        file,
    })
}

/// Reads a file, a pipe or a device of at most `limit` bytes.
///
/// # Errors
/// If the input is larger or cannot be read.
pub fn read_bytes(path: &Path, what: &'static str, limit: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let mut input = open_input(path, what, limit)?;
    input.read_to_end(&mut bytes).map_err(|e| input.error(e))?;
    Ok(bytes)
}

/// Reads a text of at most `limit` bytes.
///
/// # Errors
/// If the input is larger, is not UTF-8, or cannot be read.
pub fn read_text(path: &Path, what: &'static str, limit: u64) -> Result<String, ReadError> {
    let bytes = read_bytes(path, what, limit)?;
    String::from_utf8(bytes).map_err(|_| ReadError::NotText(path.to_owned()))
}

/// An input with a size limit.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    what: &'static str,
    limit: u64,
    left: u64,
    /// True for a pipe or a device, which may have no data.
    waits: bool,
    file: File,
}

impl Input {
    /// Converts an error of [`Read`] and adds the path.
    pub fn error(&self, cause: io::Error) -> ReadError {
        match cause.kind() {
            io::ErrorKind::FileTooLarge => too_large(&self.path, self.what, self.limit),
            _ => ReadError::Io {
                path: self.path.clone(),
                cause,
            },
        }
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.waits {
            wait(&self.file)?;
        }
        // One byte beyond the limit shows that the input is larger.
        let most = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX);
        let room = into.len().min(most);
        let read = self.file.read(&mut into[..room])?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        }
        Ok(read)
    }
}

fn too_large(path: &Path, what: &'static str, limit: u64) -> ReadError {
    ReadError::TooLarge {
        path: path.to_owned(),
        what,
        limit,
    }
}

fn open(path: &Path) -> Result<(File, FileType), ReadError> {
    let failed = |cause| ReadError::Io {
        path: path.to_owned(),
        cause,
    };
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | libc::O_NOCTTY,
    );
    let file = options.open(path).map_err(|cause| {
        // Sockets cannot be opened. The error names the socket instead of the failed call.
        match std::fs::metadata(path).map(|found| special_type(found.file_type())) {
            Ok(Some(what @ Special::Socket)) => ReadError::NotAFile {
                path: path.to_owned(),
                what: what.name(),
            },
            _ => failed(cause),
        }
    })?;
    let kind = file.metadata().map_err(failed)?.file_type();
    Ok((file, kind))
}

/// Type of a file that is not regular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(unix),
    expect(dead_code, reason = "only Unix has pipes and sockets with a path")
)]
enum Special {
    Folder,
    Pipe,
    Socket,
    Device,
}

impl Special {
    fn name(self) -> &'static str {
        match self {
            Self::Folder => say!("a folder"),
            Self::Pipe => say!("a pipe"),
            Self::Socket => say!("a socket"),
            Self::Device => say!("a device"),
        }
    }
}

/// Returns the type of a special file, or `None` for a regular file.
fn special_type(kind: FileType) -> Option<Special> {
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some(Special::Folder);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Some(Special::Pipe);
        }
        if kind.is_socket() {
            return Some(Special::Socket);
        }
    }
    Some(Special::Device)
}

/// Waits for data or the end of the input.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a system call")]
fn wait(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let mut asked = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let most = libc::c_int::try_from(TIMEOUT.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: poll reads and writes one pollfd, which is valid during the call.
    match unsafe { libc::poll(&raw mut asked, 1, most) } {
        0 => {
            let text = say!(
                "no data for {} s. Start the program that writes to it.",
                TIMEOUT.as_secs()
            );
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        }
        n if n < 0 => match io::Error::last_os_error() {
            e if e.kind() == io::ErrorKind::Interrupted => Ok(()),
            e => Err(e),
        },
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn wait(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn a_file_above_the_size_limit_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("weights");
        std::fs::write(&path, "1 2 3").expect("room");
        assert_eq!(
            read_text(&path, "weights", 5).expect("short enough"),
            "1 2 3"
        );
        let error = read_text(&path, "weights", 4).expect_err("too long");
        assert!(matches!(error, ReadError::TooLarge { .. }), "{error}");
        std::fs::write(&path, b"\xff").expect("room");
        assert!(matches!(
            read_text(&path, "weights", 5),
            Err(ReadError::NotText(_))
        ));
        assert!(matches!(
            read_bytes(dir.path(), "weights", 5),
            Err(ReadError::NotAFile { .. })
        ));
    }

    #[cfg(unix)]
    #[test]
    fn endless_devices_are_refused_at_the_size_limit() {
        let error = read_bytes(Path::new("/dev/zero"), "options", 1 << 20).expect_err("no end");
        assert_eq!(
            error.to_string(),
            "/dev/zero is larger than 1 MB, the limit for options. Choose a smaller file."
        );
        assert!(open_regular(Path::new("/dev/zero")).is_err());
        assert_eq!(
            read_bytes(Path::new("/dev/null"), "options", 1).expect("empty"),
            b""
        );
    }

    #[cfg(unix)]
    #[test]
    #[expect(unsafe_code, reason = "a pipe")]
    fn a_pipe_without_a_writer_does_not_block() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("pipe");
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).expect("no zero");
        // SAFETY: mkfifo only reads the name, which is valid during the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let error = open_regular(&path).expect_err("no file");
        assert!(
            error.to_string().contains("is a pipe, not a regular file"),
            "{error}"
        );
        let writer = std::thread::Builder::new()
            .spawn({
                let path = path.clone();
                move || std::fs::write(path, "from a pipe").expect("a reader")
            })
            .expect("a thread");
        // A pipe with a writer is read to its end.
        let mut text = String::new();
        while text.is_empty() {
            text = read_text(&path, "options", 100).unwrap_or_default();
        }
        assert_eq!(text, "from a pipe");
        writer.join().expect("it wrote");
    }
}
