//! Arguments of a system call.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use libc::{c_int, c_long, c_void, seccomp_data};

use crate::faults::rule::Call;

/// Returns true if a call is of this kind.
pub(super) fn matches_call(call: Call, process: c_int, data: &seccomp_data) -> bool {
    let number = c_long::from(data.nr);
    if !call.numbers().contains(&number) {
        return false;
    }
    let with_thread = || clone_flags(process, data) & libc::CLONE_THREAD as u64 != 0;
    match call {
        Call::Create => creates(data),
        Call::Thread => with_thread(),
        Call::Process => !with_thread(),
        _ => true,
    }
}

fn creates(data: &seccomp_data) -> bool {
    let flags = match c_long::from(data.nr) {
        libc::SYS_openat => data.args[2],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_creat => return true,
        _ => data.args[1],
    };
    flags & libc::O_CREAT as u64 != 0
}

fn clone_flags(process: c_int, data: &seccomp_data) -> u64 {
    match c_long::from(data.nr) {
        libc::SYS_clone => data.args[0],
        // The flags are the first field of a structure.
        libc::SYS_clone3 => {
            let mut bytes = [0; 8];
            match read_memory(process, data.args[0], &mut bytes) {
                Ok(8) => u64::from_ne_bytes(bytes),
                _ => 0,
            }
        }
        _ => 0,
    }
}

/// Returns the path of a call: its argument, or the file of its descriptor.
pub(super) fn path_of(process: c_int, data: &seccomp_data) -> Option<PathBuf> {
    let argument = match c_long::from(data.nr) {
        libc::SYS_openat | libc::SYS_unlinkat | libc::SYS_mkdirat => 1,
        // The path is the new one.
        libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => 3,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename => 1,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open | libc::SYS_creat | libc::SYS_unlink | libc::SYS_rmdir | libc::SYS_mkdir => {
            0
        }
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_socket => return None,
        _ => {
            let descriptor = data.args[0];
            return std::fs::read_link(format!("/proc/{process}/fd/{descriptor}")).ok();
        }
    };
    let path = read_text(process, data.args[argument])?;
    if path.is_absolute() {
        return Some(path);
    }
    let folder = std::fs::read_link(format!("/proc/{process}/cwd")).ok()?;
    // `./run` and `run` are the same path.
    Some(folder.join(path.strip_prefix(".").unwrap_or(&path)))
}

fn memory(process: c_int) -> io::Result<File> {
    File::open(format!("/proc/{process}/mem"))
}

fn read_memory(process: c_int, at: u64, into: &mut [u8]) -> io::Result<usize> {
    memory(process)?.read_at(into, at)
}

/// Reads a zero-terminated string.
fn read_text(process: c_int, at: u64) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let memory = memory(process).ok()?;
    let mut text = Vec::new();
    let mut at = at;
    while text.len() < libc::PATH_MAX as usize {
        // A read must not cross a page boundary, because the next page may not be mapped.
        let mut bytes = vec![0; 256 - (at % 256) as usize];
        let read = memory.read_at(&mut bytes, at).ok().filter(|n| *n > 0)?;
        if let Some(end) = bytes[..read].iter().position(|b| *b == 0) {
            text.extend_from_slice(&bytes[..end]);
            return Some(std::ffi::OsString::from_vec(text).into());
        }
        text.extend_from_slice(&bytes[..read]);
        at += read as u64;
    }
    None
}

/// Writes half of the data of a write call to the same file. Returns `None` if the data cannot be halved.
pub(super) fn write_half(process: c_int, data: &seccomp_data) -> Option<i64> {
    let (at, length) = match c_long::from(data.nr) {
        libc::SYS_write => (data.args[1], data.args[2]),
        libc::SYS_writev => {
            let mut bytes = [0; 16];
            read_memory(process, data.args[1], &mut bytes).ok()?;
            let (base, length) = bytes.split_at(8);
            let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_ne_bytes);
            (number(base)?, number(length)?)
        }
        _ => return None,
    };
    if length < 2 {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(length / 2).ok()?];
    let read = read_memory(process, at, &mut bytes).ok()?;
    let file = same_file(process, data.args[0] as c_int).ok()?;
    let written = io::Write::write(&mut &file, &bytes[..read]).ok()?;
    i64::try_from(written).ok()
}

/// Duplicates a descriptor of another process. Both share the file position.
fn same_file(process: c_int, descriptor: c_int) -> io::Result<File> {
    let owned = |number: c_long| match RawFd::try_from(number) {
        // SAFETY: the system has just created the descriptor, and nothing else owns it.
        Ok(number) if number >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
        _ => Err(io::Error::last_os_error()),
    };
    let none: *const c_void = std::ptr::null();
    // SAFETY: the call accesses no memory of this process.
    let process = owned(unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0, none) })?;
    // SAFETY: the call accesses no memory of this process.
    let file =
        owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0) })?;
    Ok(file.into())
}
