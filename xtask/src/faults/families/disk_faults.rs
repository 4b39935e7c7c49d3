//! Faults of disks.

use std::time::Duration;

use crate::faults::rule::{Act, Call, When};

/// Fault of a disk.
#[derive(Clone, Copy)]
pub struct Fault {
    pub name: &'static str,
    pub injected: &'static str,
    pub call: Call,
    pub when: When,
    /// Error number (`errno`). 0 means a short write, -1 a delayed write.
    pub error: i32,
    pub ends: Ends,
    /// Resource limit that replaces the injected fault.
    pub limit: Option<(libc::c_uint, u64)>,
    pub fast: bool,
    /// True if the fault concerns the replacement of a file.
    pub only_with_old: bool,
}

/// Expected end of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// The same as without the fault.
    Well,
    /// An error message. Old files stay unchanged.
    Badly,
}

impl Fault {
    pub fn act(&self) -> Act {
        match self.error {
            0 => Act::Short,
            -1 => Act::Late(Duration::from_millis(40)),
            number => Act::Fail(number),
        }
    }
}

const NONE: Fault = Fault {
    name: "",
    injected: "",
    call: Call::Write,
    when: When::From(1),
    error: 0,
    ends: Ends::Well,
    limit: None,
    fast: true,
    only_with_old: false,
};

#[rustfmt::skip]
pub const FAULTS: &[Fault] = &[
    Fault { name: "full disk at once", injected: "ENOSPC at the first write", error: libc::ENOSPC, ends: Ends::Badly, ..NONE },
    Fault { name: "short writes", injected: "half of every write is written", ..NONE },
    Fault { name: "interrupted writes", injected: "EINTR at every other write", when: When::Odd, error: libc::EINTR, ..NONE },
    Fault { name: "full disk at fsync", injected: "ENOSPC at fsync", call: Call::Sync, error: libc::ENOSPC, ends: Ends::Badly, ..NONE },
    Fault { name: "read-only disk", injected: "EROFS when the file is created", call: Call::Create, error: libc::EROFS, ends: Ends::Badly,
        ..NONE },
    Fault { name: "no descriptor left", injected: "EMFILE when the file is created", call: Call::Create, error: libc::EMFILE,
        ends: Ends::Badly, ..NONE },
    Fault { name: "broken disk at rename", injected: "EIO when the file gets its name", call: Call::Rename, error: libc::EIO,
        ends: Ends::Badly, only_with_old: true, ..NONE },
    Fault { name: "quota reached", injected: "EDQUOT at the first write", error: libc::EDQUOT, ends: Ends::Badly, fast: false, ..NONE },
    Fault { name: "slow disk", injected: "every write takes 40 ms longer", error: -1, fast: false, ..NONE },
    Fault { name: "no locks", injected: "ENOLCK at flock", call: Call::Lock, error: libc::ENOLCK, ..NONE },
    Fault { name: "no permissions", injected: "EPERM at fchmod", call: Call::Permissions, error: libc::EPERM, only_with_old: true,
        fast: false, ..NONE },
    Fault { name: "largest file", injected: "RLIMIT_FSIZE of 1.5 kB", ends: Ends::Badly, limit: Some((libc::RLIMIT_FSIZE, 1500)), ..NONE },
];
