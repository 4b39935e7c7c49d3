//! Processes that run already: how they learn that they are to be recorded.
//!
//! A Python in which `python -m loadscope install` was called once looks into a folder of the user's when an iterator of a
//! `DataLoader` is made. A file there names a process, of which also all descendants are meant, and the socket at which to tell. No
//! code is taken from there, and nothing is believed unless folder and file belong to the user and no one else can write to them.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use loadscope_files::{Existing, NewFile};
use loadscope_words::{explain, path_error, say};
use serde::Serialize;

mod silent;

pub use silent::Silent;

/// Where the files are, below the home of the user.
const FOLDER: &str = ".local/share/loadscope/attach";

/// So many letters of the host's boot id begin the name of a file: homes are shared between hosts.
const LETTERS: usize = 8;

/// A process of this host: an id is given to another one once its process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pid: u32,
    /// When it began, in ticks of the system.
    start: u64,
}

/// Why a process that runs cannot be recorded.
#[derive(Debug)]
pub enum AttachError {
    /// There is none with this id.
    NoProcess(u32),
    /// It is of another user.
    OfAnother(u32),
    /// It can never answer.
    Silent(u32, Silent),
    /// The file that asks it to tell cannot be written, or the system is none on which that is possible.
    Asking(io::Error),
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
            Self::OfAnother(pid) => write!(
                f,
                "{}",
                say!("process {pid} belongs to another user. Run this command as that user.")
            ),
            Self::Silent(pid, why) => f.write_str(&why.text(*pid)),
            Self::Asking(e) => write!(
                f,
                "{}",
                say!("cannot ask the process for its events: {e}", e = explain(e))
            ),
        }
    }
}

impl std::error::Error for AttachError {}

impl Running {
    /// The process with this id.
    ///
    /// # Errors
    /// If there is none, or it is of another user.
    pub fn of(pid: u32) -> Result<Self, AttachError> {
        let start = began(pid).ok_or(AttachError::NoProcess(pid))?;
        match is_own(Path::new(&format!("/proc/{pid}"))) {
            true => Ok(Self { pid, start }),
            false => Err(AttachError::OfAnother(pid)),
        }
    }

    pub fn pid(self) -> u32 {
        self.pid
    }

    pub fn is_alive(self) -> bool {
        began(self.pid) == Some(self.start)
    }
}

/// A file that asks a process and its descendants to tell; it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Asked {
    path: PathBuf,
}

/// JSON object of the file that [`Asked`] writes.
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

impl Asked {
    /// Asks `process` to tell at the address `to`.
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
        let path = folder.join(format!("{}-{}.json", letters(&boot), process.pid));
        let text = serde_json::to_vec(&request)?;
        // Written beside its place, and put there as a whole. Others cannot come into the folder, nor read the file.
        NewFile::write_all_to(&path, Existing::Replace, &text).map_err(io::Error::other)?;
        let asked = Self { path };
        own_alone(&asked.path)?;
        Ok(asked)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Lets its owner alone read and write a file.
#[cfg(unix)]
fn own_alone(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn own_alone(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes files about processes of this host that have ended.
fn sweep(folder: &Path, boot: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|n| n.strip_suffix(".json"));
        if let Some((of, pid)) = name.and_then(|n| n.split_once('-'))
            && of == letters(boot)
            && let Ok(pid) = pid.parse()
            && began(pid).is_none()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn letters(boot: &str) -> &str {
    boot.get(..LETTERS).unwrap_or(boot)
}

/// The folder, which is made if it is missing, and refused if others can write to it.
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

/// True if it belongs to this user.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a question to the system")]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // SAFETY: it has no arguments and cannot fail.
    let own = unsafe { libc::geteuid() };
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

/// When a process began; nothing if there is none.
fn began(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything.
    let mut rest = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    // One that has ended and was not waited for does nothing any more.
    let is_over = matches!(rest.next()?, "Z" | "X");
    rest.nth(18)?.parse().ok().filter(|_| !is_over)
}

/// The home that the system knows for this user. Not that of the environment, which a wrapper may have cleared: both sides have to find
/// the same one.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a question to the system")]
fn home() -> Option<PathBuf> {
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt as _;
    let mut buffer = vec![0; 1 << 14];
    // SAFETY: a record of numbers and pointers, for which zeros are values.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: the record and the buffer live as long as what is read from them below, and the length is that of the buffer.
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
    // SAFETY: on success it is a text in the buffer, which ends with a zero.
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
    fn a_process_is_known_by_its_start_as_well() {
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
    fn a_request_is_for_its_owner_alone_and_goes_with_it() {
        use std::os::unix::fs::MetadataExt as _;
        let own = Running::of(std::process::id()).expect("this process");
        let asked = Asked::new(own, "unix:/nowhere", "secret", 2).expect("it is written");
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
