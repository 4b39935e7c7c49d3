//! Fault injection rules for system calls.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use libc::c_long;

/// Kind of system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Any open.
    Open,
    /// Open that may create the file.
    Create,
    Read,
    Write,
    /// `fsync` and `fdatasync`.
    Sync,
    Rename,
    Remove,
    MakeFolder,
    /// `flock`.
    Lock,
    /// `fchmod`.
    Permissions,
    /// Start of a thread.
    Thread,
    /// Start of a process.
    Process,
    /// Accept of a connection.
    Accept,
    /// Creation of a socket.
    Socket,
}

impl Call {
    /// Returns the numbers of its system calls. Some architectures have only the newer ones.
    pub fn numbers(self) -> Vec<c_long> {
        #[cfg(target_arch = "x86_64")]
        let older: &[c_long] = match self {
            Self::Open | Self::Create => &[libc::SYS_open, libc::SYS_creat],
            Self::Rename => &[libc::SYS_rename],
            Self::Remove => &[libc::SYS_unlink, libc::SYS_rmdir],
            Self::MakeFolder => &[libc::SYS_mkdir],
            Self::Process => &[libc::SYS_fork, libc::SYS_vfork],
            Self::Accept => &[libc::SYS_accept],
            Self::Read
            | Self::Write
            | Self::Sync
            | Self::Lock
            | Self::Permissions
            | Self::Thread
            | Self::Socket => &[],
        };
        #[cfg(not(target_arch = "x86_64"))]
        let older: &[c_long] = &[];
        let newer: &[c_long] = match self {
            Self::Open | Self::Create => &[libc::SYS_openat],
            Self::Read => &[libc::SYS_read, libc::SYS_pread64, libc::SYS_readv],
            Self::Write => &[libc::SYS_write, libc::SYS_pwrite64, libc::SYS_writev],
            Self::Sync => &[libc::SYS_fsync, libc::SYS_fdatasync],
            Self::Rename => &[libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_linkat],
            Self::Remove => &[libc::SYS_unlinkat],
            Self::MakeFolder => &[libc::SYS_mkdirat],
            Self::Lock => &[libc::SYS_flock],
            Self::Permissions => &[libc::SYS_fchmod],
            Self::Thread | Self::Process => &[libc::SYS_clone, libc::SYS_clone3],
            Self::Accept => &[libc::SYS_accept4],
            Self::Socket => &[libc::SYS_socket],
        };
        [older, newer].concat()
    }
}

/// File, pipe or socket of a call.
#[derive(Clone, Debug)]
pub enum On {
    /// Any file, pipe or socket.
    Anything,
    /// Path in this folder.
    Within(PathBuf),
    /// Path that contains this text.
    Named(String),
}

impl On {
    pub fn matches(&self, path: Option<&Path>) -> bool {
        match (self, path) {
            (Self::Anything, _) => true,
            (_, None) => false,
            (Self::Within(folder), Some(path)) => path.starts_with(folder),
            (Self::Named(part), Some(path)) => path.to_string_lossy().contains(part),
        }
    }
}

/// Selection among the matching calls.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// The call with this number, counted from 1.
    Only(u64),
    /// The call with this number and all later ones.
    From(u64),
    /// Calls 1, 3, 5 and so on. A retry succeeds.
    Odd,
}

impl When {
    pub fn matches(self, number: u64) -> bool {
        match self {
            Self::Only(one) => number == one,
            Self::From(first) => number >= first,
            Self::Odd => number % 2 == 1,
        }
    }
}

/// Fault that is injected into a call.
#[derive(Clone)]
pub enum Act {
    /// The call fails with this error.
    Fail(i32),
    /// Only half of the data is written.
    Short,
    /// The call is delayed.
    Late(Duration),
    /// The process is killed before the call.
    Kill,
    /// A function runs before the call.
    First(Arc<dyn Fn() + Send + Sync>),
    /// The call is only counted.
    Count,
}

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail(number) => write!(f, "{}", std::io::Error::from_raw_os_error(*number)),
            Self::Short => f.write_str("half is written"),
            Self::Late(by) => write!(f, "{by:?} late"),
            Self::Kill => f.write_str("kill -9"),
            Self::First(_) => f.write_str("something happens first"),
            Self::Count => f.write_str("counted"),
        }
    }
}

/// Fault injection rule: the affected calls, and the fault.
#[derive(Clone, Debug)]
pub struct Rule {
    pub call: Call,
    pub on: On,
    pub when: When,
    pub act: Act,
}

impl Rule {
    pub fn new(call: Call, on: On, when: When, act: Act) -> Self {
        Self {
            call,
            on,
            when,
            act,
        }
    }
}
