//! What stands at a path that is to be written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::WriteError;
use crate::lock::is_being_written;

/// What becomes of a file that exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and writing is refused.
    #[default]
    Keep,
    /// It is replaced once the new one is complete.
    Replace,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nothing.
    Free,
    /// A file, or a symbolic link to one, that may be replaced.
    Replaceable,
    /// A pipe or a character device.
    Stream,
}

impl Target {
    /// # Errors
    /// If it cannot be written to.
    pub fn of(path: &Path, existing: Existing) -> Result<Self, WriteError> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::Free),
            Err(e) => return Err(WriteError::io(path, "look at it", e)),
        };
        if is_own_descriptor(path) {
            return Ok(Self::Stream);
        }
        // A link to a device is that device; a link to a file, or to nothing, is replaced itself.
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
        // First: the other process may end, but --force would destroy what it writes.
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

/// True for the names of this process's own open files: `/dev/stdout`, `/dev/fd/3`. They are written into even where the
/// shell has directed them to a file.
fn is_own_descriptor(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    ["/dev/stdout", "/dev/stderr"]
        .map(Path::new)
        .contains(&path)
        || path
            .parent()
            .is_some_and(|parent| folders.map(Path::new).contains(&parent))
}

/// The folder that a file stands in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Refuses to write to `output` what is read from `input`: the same file, by whatever names, or one inside of that folder.
///
/// # Errors
/// If they are the same.
pub fn refuse_input(output: &Path, input: &Path) -> Result<(), WriteError> {
    // To compare them they are opened, and a pipe without a writer would hold that up for ever.
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

/// True if a file exists in `folder` or below it.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    match (whole(path), whole(folder)) {
        (Some(path), Some(folder)) => path.is_file() && path.starts_with(folder),
        _ => false,
    }
}

/// Longer names are cut, so that what is added to them fits into the 255 bytes that file systems have for a name.
const LONGEST: usize = 200;

/// `run.jsonl.zst` becomes `.run.jsonl.zst.` before, and `.part` behind, the random part of a name.
pub(crate) fn part_name(path: &Path) -> (std::ffi::OsString, &'static str) {
    let mut before = std::ffi::OsString::from(".");
    before.push(shortened(path.file_name().unwrap_or_default()));
    before.push(".");
    (before, ".part")
}

/// The beginning of a name, if it is long.
pub(crate) fn shortened(name: &std::ffi::OsStr) -> std::ffi::OsString {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let text = name.to_string_lossy();
    let end = (0..=LONGEST / 2)
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text[..end.unwrap_or(0)].into()
}

/// Names a path in `folder` for a file that has to stand beside `path`.
pub(crate) fn beside(path: &Path, name: impl AsRef<Path>) -> PathBuf {
    folder_of(path).join(name)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn input_and_output_are_compared_as_files_not_as_names() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let input = dir.path().join("run.jsonl");
        fs::write(&input, "x").expect("room");
        let other = dir.path().join("./run.jsonl");
        assert!(matches!(
            refuse_input(&other, &input),
            Err(WriteError::IsInput(_))
        ));
        #[cfg(unix)]
        {
            let link = dir.path().join("link");
            fs::hard_link(&input, &link).expect("links");
            assert!(refuse_input(&link, &input).is_err());
        }
        assert!(refuse_input(&dir.path().join("new"), &input).is_ok());
        // One of the recordings of a folder, but not a new file beside them.
        assert!(refuse_input(&input, dir.path()).is_err());
        assert!(refuse_input(&dir.path().join("new"), dir.path()).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_waited_for_to_be_compared() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (input, pipe) = (dir.path().join("run.jsonl"), dir.path().join("pipe"));
        fs::write(&input, "x").expect("room");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|code| code.success()));
        let (tell, told) = std::sync::mpsc::channel();
        let compare = move || tell.send(refuse_input(&pipe, &input).is_ok());
        let thread = std::thread::Builder::new().name("compares".to_owned());
        thread.spawn(compare).expect("a thread");
        let within = std::time::Duration::from_secs(20);
        assert_eq!(told.recv_timeout(within), Ok(true));
    }

    #[test]
    fn targets_are_distinguished() {
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
    fn devices_are_written_into_even_through_links() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let link = dir.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).expect("links");
        for path in [Path::new("/dev/null"), &link, Path::new("/dev/stdout")] {
            let target = Target::of(path, Existing::Replace).expect("a stream");
            assert_eq!(target, Target::Stream, "{}", path.display());
        }
        // A link that leads nowhere is something that exists.
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
