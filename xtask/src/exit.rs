//! Exit codes of commands.

use std::fmt;
use std::process::ExitStatus;

/// Error that has already been printed. Contains the exit code.
#[derive(Debug)]
pub struct AlreadyReported(pub u8);

/// Exit code of a failed setup.
pub const SETUP_FAILED: u8 = 2;

impl fmt::Display for AlreadyReported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ended with code {}", self.0)
    }
}

impl std::error::Error for AlreadyReported {}

/// Returns the exit code of a command, as a shell shows it: 128 plus the signal number for a killed process.
pub fn code_of(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    // Windows has larger exit codes. These must not become 0.
    status
        .code()
        .map_or(1, |code| u8::try_from(code).unwrap_or(1))
}
