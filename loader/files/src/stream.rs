//! Pipes and devices as outputs.

use std::fs::{File, OpenOptions};
use std::path::Path;
#[cfg(unix)]
use std::time::{Duration, Instant};

use crate::WriteError;

/// Maximum wait for a reader of a pipe. Shells start both ends in any order.
#[cfg(unix)]
const TIMEOUT: Duration = Duration::from_secs(5);

/// Opens a pipe or a device for writing, without changing it.
#[cfg(unix)]
pub(crate) fn open(path: &Path) -> Result<File, WriteError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let until = Instant::now() + TIMEOUT;
    loop {
        let mut options = OpenOptions::new();
        options
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        match options.open(path) {
            Ok(file) => {
                set_blocking(&file).map_err(|e| WriteError::io(path, "write", e))?;
                return Ok(file);
            }
            // ENXIO means a pipe without a reader, or a device without hardware.
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) => {
                return Err(WriteError::NoReader(path.to_owned()));
            }
            Err(e) => return Err(WriteError::io(path, "write", e)),
        }
    }
}

/// Makes the descriptor blocking, so writes wait for the reader.
#[cfg(unix)]
#[expect(unsafe_code, reason = "system calls")]
fn set_blocking(file: &File) -> std::io::Result<()> {
    use std::os::fd::AsRawFd as _;
    // SAFETY: fcntl with these commands accesses no memory of ours. The descriptor is open while `file` lives.
    let changed = unsafe {
        let flags = libc::fcntl(file.as_raw_fd(), libc::F_GETFL);
        flags >= 0 && libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) >= 0
    };
    match changed {
        true => Ok(()),
        false => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(not(unix))]
pub(crate) fn open(path: &Path) -> Result<File, WriteError> {
    let opened = OpenOptions::new().write(true).open(path);
    opened.map_err(|e| WriteError::io(path, "write", e))
}
