//! Converts the exit status of a program.

use std::process::ExitStatus;

/// End of a program, by itself or by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Exit with this code.
    Code(i32),
    /// Termination by this signal.
    Signal(i32),
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
