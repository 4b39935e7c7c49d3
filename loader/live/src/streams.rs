//! Standard streams that were closed at the start of this process. Rust opens `/dev/null` in their place before `main`. A program that
//! Loadscope starts gets them closed, as it would without Loadscope.

use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

/// Closed standard streams, one bit per file descriptor from 0 to 2.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Entry of the init section. The dynamic loader calls it before Rust's runtime starts.
#[used]
#[cfg_attr(
    any(target_os = "linux", target_os = "android", target_os = "freebsd"),
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
static INIT: extern "C" fn() = read_closed_streams;

extern "C" fn read_closed_streams() {
    for number in 0..3 {
        // SAFETY: fcntl with F_GETFD only queries a descriptor and accesses no memory of this process.
        let is_closed = unsafe { libc::fcntl(number, libc::F_GETFD) } == -1;
        if is_closed {
            CLOSED.fetch_or(1 << number, Ordering::Relaxed);
        }
    }
}

/// Prepares `start` to run the program as a shell does. Streams that were closed for this process are closed for the program too. A script
/// without a `#!` line runs in `/bin/sh`.
pub(crate) fn start_like_shell(start: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    let closed = CLOSED.load(Ordering::Relaxed);
    let close = move || {
        for number in (0..3).filter(|number| closed & (1 << number) != 0) {
            // SAFETY: this runs in the child between fork and exec, where nothing uses the stream.
            unsafe { libc::close(number) };
        }
        Ok(())
    };
    // SAFETY: the closure only makes async-signal-safe system calls. A `pre_exec` closure also makes the standard library
    // start the program with execvp, which runs scripts without a `#!` line in a shell.
    unsafe { start.pre_exec(close) };
}
