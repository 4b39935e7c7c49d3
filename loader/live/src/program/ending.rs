//! Signals to a program, and how it ended.

use std::process::ExitStatus;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "a signal")]
pub(super) fn signal(pid: u32, number: i32) {
    let Ok(pid) = libc::pid_t::try_from(pid) else {
        return;
    };
    // SAFETY: kill reads no memory of ours. The child was not waited for, so its id is no one else's.
    unsafe {
        libc::kill(pid, number);
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "a signal")]
pub(super) fn signal_group(leader: u32, number: i32) {
    let Ok(leader) = libc::pid_t::try_from(leader) else {
        return;
    };
    // SAFETY: kill reads no memory of ours. As long as a process of the group is there, no other group has its number; a group
    // without processes hears nothing.
    unsafe {
        libc::kill(-leader, number);
    }
}

#[cfg(unix)]
pub(super) fn end_of(status: ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, Some(signal)) => End::Signal(signal),
        (None, None) => End::Code(1),
    }
}

#[cfg(not(unix))]
pub(super) fn end_of(status: ExitStatus) -> End {
    End::Code(status.code().unwrap_or(1))
}
