//! Standard streams that this process got closed. Rust opens `/dev/null` in their place before `main`; a program that is started gets
//! them closed, as it would alone.

use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

/// One bit for each of the three that was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Called by the loader of the system, before Rust's own start.
#[used]
#[cfg_attr(
    any(target_os = "linux", target_os = "android", target_os = "freebsd"),
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    for number in 0..3 {
        // SAFETY: a question about a descriptor; it reads no memory of ours.
        let is_closed = unsafe { libc::fcntl(number, libc::F_GETFD) } == -1;
        if is_closed {
            CLOSED.fetch_or(1 << number, Ordering::Relaxed);
        }
    }
}

/// Starts the program as a shell does: with the streams closed that were closed for us, and through a shell where it is a script that
/// does not say what runs it.
pub(crate) fn as_a_shell_does(start: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    let closed = CLOSED.load(Ordering::Relaxed);
    let close = move || {
        for number in (0..3).filter(|number| closed & (1 << number) != 0) {
            // SAFETY: in the child, between fork and exec; nothing there uses the stream.
            unsafe { libc::close(number) };
        }
        Ok(())
    };
    // SAFETY: the function only makes system calls that are allowed after a fork. That it is there also makes the standard library
    // start the program with execvp, which runs scripts without a first line of their own.
    unsafe { start.pre_exec(close) };
}
