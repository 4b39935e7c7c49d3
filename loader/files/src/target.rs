//! Checks of an output path.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::WriteError;
use crate::lock::is_being_written;

/// Handling of an existing file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Keep the file and refuse to write.
    #[default]
    Keep,
    /// Replace the file after the new one is complete.
    Replace,
}

/// State of an output path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// No file exists.
    Free,
    /// A replaceable file, or a symbolic link to a file.
    Replaceable,
    /// A pipe or a character device.
    Stream,
}

impl Target {
    /// # Errors
    /// If the path cannot be written to.
    pub fn of(path: &Path, existing: Existing) -> Result<Self, WriteError> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::Free),
            Err(e) => return Err(WriteError::io(path, "look at it", e)),
        };
        if is_own_descriptor(path) {
            return Ok(Self::Stream);
        }
        // A link to a device is used as the device. A link to a file, or to nothing, is itself replaced.
        let kind = match found.is_symlink() {
            true => fs::metadata(path).map_or(found.file_type(), |behind| behind.file_type()),
            false => found.file_type(),
        };
        if kind.is_dir() {
            return Err(WriteError::IsFolder(path.to_owned()));
        }
        if !kind.is_file() && !kind.is_symlink() {
            return match is_stream(kind) {
                true => Ok(Self::Stream),
                false => Err(WriteError::NotWritable(path.to_owned())),
            };
        }
        // The lock is checked first, because --force would destroy the data of the other process.
        if is_being_written(path) {
            return Err(WriteError::InUse(path.to_owned()));
        }
        match existing {
            Existing::Keep => Err(WriteError::Exists(path.to_owned())),
            Existing::Replace => Ok(Self::Replaceable),
        }
    }
}

#[cfg(unix)]
fn is_stream(kind: fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_fifo() || kind.is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_: fs::FileType) -> bool {
    false
}

/// Returns true for the names of this process's open files: `/dev/stdout`, `/dev/fd/3`.
/// Such outputs are written directly, even if the shell redirected them to a file.
fn is_own_descriptor(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    ["/dev/stdout", "/dev/stderr"]
        .map(Path::new)
        .contains(&path)
        || path
            .parent()
            .is_some_and(|parent| folders.map(Path::new).contains(&parent))
}

/// Returns the folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns an error if `output` is the same file as `input`, under any name, or a file inside the folder `input`.
///
/// # Errors
/// If both are the same file, or `output` is in the folder `input`.
pub fn check_not_input(output: &Path, input: &Path) -> Result<(), WriteError> {
    // The comparison opens both, which would block on a pipe without a writer.
    let is_stored =
        |path: &Path| fs::metadata(path).is_ok_and(|found| found.is_file() || found.is_dir());
    let is_same = is_stored(output)
        && is_stored(input)
        && same_file::is_same_file(output, input).unwrap_or(false);
    if is_same || (input.is_dir() && is_inside(output, input)) {
        return Err(WriteError::IsInput(output.to_owned()));
    }
    Ok(())
}

/// Returns true if the file exists in `folder` or below.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    match (whole(path), whole(folder)) {
        (Some(path), Some(folder)) => path.is_file() && path.starts_with(folder),
        _ => false,
    }
}

/// Maximum length of a name, bytes. Longer names are cut, so that additions fit into the 255 bytes of file systems.
const MAX_NAME_LEN: usize = 200;

/// Returns the name parts around the random characters. For `run.jsonl.zst` they are `.run.jsonl.zst.` and `.part`.
pub(crate) fn part_name(path: &Path) -> (std::ffi::OsString, &'static str) {
    let mut before = std::ffi::OsString::from(".");
    before.push(shortened(path.file_name().unwrap_or_default()));
    before.push(".");
    (before, ".part")
}

/// Returns the name, shortened if it is too long.
pub(crate) fn shortened(name: &std::ffi::OsStr) -> std::ffi::OsString {
    if name.len() <= MAX_NAME_LEN {
        return name.to_owned();
    }
    let text = name.to_string_lossy();
    let end = (0..=MAX_NAME_LEN / 2)
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text[..end.unwrap_or(0)].into()
}

/// Returns a path in the folder of `path`.
pub(crate) fn sibling_path(path: &Path, name: impl AsRef<Path>) -> PathBuf {
    folder_of(path).join(name)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn input_and_output_are_compared_by_file_not_by_name() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let input = dir.path().join("run.jsonl");
        fs::write(&input, "x").expect("room");
        let other = dir.path().join("./run.jsonl");
        assert!(matches!(
            check_not_input(&other, &input),
            Err(WriteError::IsInput(_))
        ));
        #[cfg(unix)]
        {
            let link = dir.path().join("link");
            fs::hard_link(&input, &link).expect("links");
            assert!(check_not_input(&link, &input).is_err());
        }
        assert!(check_not_input(&dir.path().join("new"), &input).is_ok());
        // The output may not be a recording of the folder, but may be a new file in it.
        assert!(check_not_input(&input, dir.path()).is_err());
        assert!(check_not_input(&dir.path().join("new"), dir.path()).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn comparing_a_pipe_does_not_block() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (input, pipe) = (dir.path().join("run.jsonl"), dir.path().join("pipe"));
        fs::write(&input, "x").expect("room");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|code| code.success()));
        let (tell, told) = std::sync::mpsc::channel();
        let compare = move || tell.send(check_not_input(&pipe, &input).is_ok());
        let thread = std::thread::Builder::new().name("compares".to_owned());
        thread.spawn(compare).expect("a thread");
        let within = std::time::Duration::from_secs(20);
        assert_eq!(told.recv_timeout(within), Ok(true));
    }

    #[test]
    fn targets_are_free_replaceable_or_refused() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let free = dir.path().join("free");
        assert_eq!(
            Target::of(&free, Existing::Keep).expect("free"),
            Target::Free
        );
        let folder = Target::of(dir.path(), Existing::Replace);
        assert!(matches!(folder, Err(WriteError::IsFolder(_))));
        fs::write(&free, "x").expect("room");
        let kept = Target::of(&free, Existing::Keep);
        assert!(matches!(kept, Err(WriteError::Exists(_))));
        let replaced = Target::of(&free, Existing::Replace).expect("a file");
        assert_eq!(replaced, Target::Replaceable);
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_streams_also_through_links() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let link = dir.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).expect("links");
        for path in [Path::new("/dev/null"), &link, Path::new("/dev/stdout")] {
            let target = Target::of(path, Existing::Replace).expect("a stream");
            assert_eq!(target, Target::Stream, "{}", path.display());
        }
        // A dangling link counts as an existing file.
        let dangling = dir.path().join("dangling");
        std::os::unix::fs::symlink(dir.path().join("nothing"), &dangling).expect("links");
        let refused = Target::of(&dangling, Existing::Keep);
        assert!(matches!(refused, Err(WriteError::Exists(_))));
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        let refused = Target::of(&socket, Existing::Replace);
        assert!(matches!(refused, Err(WriteError::NotWritable(_))));
    }
}
