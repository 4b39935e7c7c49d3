//! Requests to record a running process.
//!
//! After `python -m loadscope install`, Python checks a folder of the user whenever an iterator of a `DataLoader` is created. A file there
//! names a process, which includes its descendants, and the socket for the events. The file contains no code. It is only accepted if folder
//! and file belong to the user and no other user can write to them.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use loadscope_files::{AtomicFile, Existing};
use loadscope_words::{explain, path_error, say};
use serde::Serialize;

mod unattachable;

pub use unattachable::UnattachableReason;

/// Folder of the requests, relative to the user's home.
const FOLDER: &str = ".local/share/loadscope/attach";

/// Number of characters of the host's boot id at the start of a file name, because several hosts can share a home.
const LETTERS: usize = 8;

/// A process of this host. The start time is stored because ids are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pid: u32,
    /// Start time, clock ticks since boot.
    start: u64,
}

/// Reason why a running process cannot be recorded.
#[derive(Debug)]
pub enum AttachError {
    /// No process has this id.
    NoProcess(u32),
    /// The process belongs to another user.
    OtherUser(u32),
    /// The process cannot answer.
    Unattachable(u32, UnattachableReason),
    /// The request cannot be written, or the system does not support requests.
    Request(io::Error),
}

impl std::fmt::Display for AttachError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoProcess(pid) => write!(
                f,
                "{}",
                say!(
                    "process {pid} does not exist. Check its ID with `ps -ef`. If it runs in a container, run this command inside the container."
                )
            ),
            Self::OtherUser(pid) => write!(
                f,
                "{}",
                say!("process {pid} belongs to another user. Run this command as that user.")
            ),
            Self::Unattachable(pid, why) => f.write_str(&why.text(*pid)),
            Self::Request(e) => write!(
                f,
                "{}",
                say!("cannot ask the process for its events: {e}", e = explain(e))
            ),
        }
    }
}

impl std::error::Error for AttachError {}

impl Running {
    /// Returns the process with this id.
    ///
    /// # Errors
    /// If no process has this id, or if the process belongs to another user.
    pub fn of(pid: u32) -> Result<Self, AttachError> {
        let start = start_time(pid).ok_or(AttachError::NoProcess(pid))?;
        match is_own(Path::new(&format!("/proc/{pid}"))) {
            true => Ok(Self { pid, start }),
            false => Err(AttachError::OtherUser(pid)),
        }
    }

    pub fn pid(self) -> u32 {
        self.pid
    }

    pub fn is_alive(self) -> bool {
        start_time(self.pid) == Some(self.start)
    }
}

/// Request file for a process and its descendants. Dropping it deletes the file.
#[derive(Debug)]
pub(crate) struct RequestFile {
    path: PathBuf,
}

/// JSON object of the file that [`RequestFile`] writes.
#[derive(Serialize)]
struct AttachRequest<'a> {
    loadscope_attach: u32,
    pid: u32,
    start: u64,
    boot: &'a str,
    to: &'a str,
    token: &'a str,
    previews: u32,
}

impl RequestFile {
    /// Writes a request that `process` sends its events to the address `to`.
    pub fn new(process: Running, to: &str, token: &str, previews: u32) -> io::Result<Self> {
        let boot = boot()?;
        let folder = folder()?;
        sweep(&folder, &boot);
        let request = AttachRequest {
            loadscope_attach: 1,
            pid: process.pid,
            start: process.start,
            boot: &boot,
            to,
            token,
            previews,
        };
        let path = folder.join(format!("{}-{}.json", boot_prefix(&boot), process.pid));
        let text = serde_json::to_vec(&request)?;
        // A temporary file is renamed, so the file appears atomically. The folder is inaccessible to other users.
        AtomicFile::write_all_to(&path, Existing::Replace, &text).map_err(io::Error::other)?;
        let asked = Self { path };
        restrict_to_owner(&asked.path)?;
        Ok(asked)
    }
}

impl Drop for RequestFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Restricts a file to its owner.
#[cfg(unix)]
fn restrict_to_owner(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn restrict_to_owner(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Deletes requests for ended processes of this host.
fn sweep(folder: &Path, boot: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|n| n.strip_suffix(".json"));
        if let Some((of, pid)) = name.and_then(|n| n.split_once('-'))
            && of == boot_prefix(boot)
            && let Ok(pid) = pid.parse()
            && start_time(pid).is_none()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn boot_prefix(boot: &str) -> &str {
    boot.get(..LETTERS).unwrap_or(boot)
}

/// Returns the folder. Creates it if it is missing. Fails if others can write to it.
fn folder() -> io::Result<PathBuf> {
    let home = home().ok_or_else(|| {
        io::Error::other(say!("this user has no home folder. Set the variable HOME."))
    })?;
    let folder = home.join(FOLDER);
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let placed = |e: io::Error| io::Error::new(e.kind(), path_error(&folder, &e));
    builder.create(&folder).map_err(placed)?;
    let found = fs::symlink_metadata(&folder).map_err(placed)?;
    if !found.is_dir() || !is_own(&folder) || !is_closed(&found) {
        let text = say!("other users can write to it. Remove it, or restrict it with chmod 700.");
        return Err(placed(io::Error::other(text)));
    }
    Ok(folder)
}

#[cfg(unix)]
fn is_closed(found: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(found) & 0o077 == 0
}

#[cfg(not(unix))]
fn is_closed(_: &fs::Metadata) -> bool {
    true
}

/// Returns true if the file belongs to this user.
#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|found| found.uid() == own)
}

#[cfg(not(unix))]
fn is_own(_: &Path) -> bool {
    true
}

fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?
        .trim()
        .to_owned())
}

/// Returns the start time of a process. Returns `None` if no process has this id.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The process name in parentheses can contain any character.
    let mut rest = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    // A zombie no longer runs.
    let is_over = matches!(rest.next()?, "Z" | "X");
    rest.nth(18)?.parse().ok().filter(|_| !is_over)
}

/// Returns the user's home from the password database. A wrapper can clear the environment, and both sides must use the same folder.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a question to the system")]
fn home() -> Option<PathBuf> {
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt as _;
    let mut buffer = vec![0; 1 << 14];
    // SAFETY: all zeros is a valid value of this struct of numbers and pointers.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: the struct and the buffer outlive the uses of the result below, and the length is that of the buffer.
    let code = unsafe {
        libc::getpwuid_r(
            libc::geteuid(),
            &raw mut entry,
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut found,
        )
    };
    if code != 0 || found.is_null() || entry.pw_dir.is_null() {
        return std::env::var_os("HOME").map(PathBuf::from);
    }
    // SAFETY: on success, `pw_dir` points to a NUL-terminated string in the buffer.
    let home = unsafe { CStr::from_ptr(entry.pw_dir) };
    Some(PathBuf::from(OsStr::from_bytes(home.to_bytes())))
}

#[cfg(not(unix))]
fn home() -> Option<PathBuf> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_identified_by_its_pid_and_start_time() {
        let own = Running::of(std::process::id()).expect("this process");
        assert!(own.is_alive());
        let other = Running {
            start: own.start + 1,
            ..own
        };
        assert!(!other.is_alive());
        assert!(matches!(
            Running::of(u32::MAX),
            Err(AttachError::NoProcess(u32::MAX))
        ));
    }

    #[test]
    fn a_request_is_private_and_removed_when_dropped() {
        use std::os::unix::fs::MetadataExt as _;
        let own = Running::of(std::process::id()).expect("this process");
        let asked = RequestFile::new(own, "unix:/nowhere", "secret", 2).expect("it is written");
        let path = asked.path.clone();
        let found = fs::metadata(&path).expect("it is there");
        assert_eq!(found.mode() & 0o077, 0);
        let folder = fs::metadata(path.parent().expect("a folder")).expect("it is there");
        assert_eq!(folder.mode() & 0o777, 0o700);
        let text = fs::read_to_string(&path).expect("a text");
        let told: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(told["pid"], std::process::id());
        assert_eq!(told["to"], "unix:/nowhere");
        drop(asked);
        assert!(!path.exists());
    }
}
