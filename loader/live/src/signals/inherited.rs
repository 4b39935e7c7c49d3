//! Dispositions and mask of signals that this process inherited. A program that it starts inherits the same.

use std::io;
use std::mem::zeroed;
use std::process::Command;
use std::ptr::null;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ignored signals as bits.
static IGNORED: AtomicU64 = AtomicU64::new(0);
/// Blocked signals as bits.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Entry of the init section. The dynamic loader calls it before Rust's runtime starts, which changes SIGPIPE.
#[used]
#[cfg_attr(
    any(target_os = "linux", target_os = "android", target_os = "freebsd"),
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
static INIT: extern "C" fn() = read_inherited;

extern "C" fn read_inherited() {
    // SAFETY: the system writes the all-zero mask and accesses no other memory of this process.
    let mask = unsafe {
        let mut mask: libc::sigset_t = zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, null(), &raw mut mask);
        mask
    };
    for number in all() {
        if action(number).is_some_and(|found| found.sa_sigaction == libc::SIG_IGN) {
            IGNORED.fetch_or(bit(number), Ordering::Relaxed);
        }
        // SAFETY: a query of a mask that outlives the call.
        if unsafe { libc::sigismember(&raw const mask, number) } == 1 {
            BLOCKED.fetch_or(bit(number), Ordering::Relaxed);
        }
    }
    if is_ignored(libc::SIGCHLD) {
        // Otherwise the kernel reaps the program, and waiting for it fails.
        set(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// Returns the signals that a process can handle.
pub(crate) fn all() -> impl Iterator<Item = i32> {
    (1..32)
        .chain(real_time())
        .filter(|number| ![libc::SIGKILL, libc::SIGSTOP].contains(number))
}

/// Returns the real-time signals, except those of the C library. The system queues each of them.
pub(super) fn real_time() -> std::ops::RangeInclusive<i32> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return libc::SIGRTMIN()..=libc::SIGRTMAX().min(64);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    #[expect(clippy::reversed_empty_ranges, reason = "there are none")]
    return 33..=32;
}

/// Returns true if this process was started with the signal ignored, as by `nohup`.
pub(super) fn is_ignored(number: i32) -> bool {
    IGNORED.load(Ordering::Relaxed) & bit(number) != 0
}

pub(super) fn bit(number: i32) -> u64 {
    u32::try_from(number - 1)
        .ok()
        .and_then(|place| 1_u64.checked_shl(place))
        .unwrap_or(0)
}

/// Returns the current action of this process for a signal.
pub(super) fn action(number: i32) -> Option<libc::sigaction> {
    // SAFETY: the system writes the all-zero action.
    unsafe {
        let mut found: libc::sigaction = zeroed();
        (libc::sigaction(number, null(), &raw mut found) == 0).then_some(found)
    }
}

/// Sets the disposition of a signal: `SIG_DFL` or `SIG_IGN`.
pub(super) fn set(number: i32, disposition: libc::sighandler_t) {
    // SAFETY: neither disposition is a function pointer.
    unsafe { libc::signal(number, disposition) };
}

/// Lets the program inherit the dispositions and the mask that this process inherited.
pub(crate) fn restore_inherited(start: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: the function only makes async-signal-safe system calls. It runs after the standard library has cleared the mask.
    unsafe { start.pre_exec(restore) };
}

fn restore() -> io::Result<()> {
    // SAFETY: the mask is all-zero, is then filled by the calls, and outlives them.
    unsafe {
        let mut blocked: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut blocked);
        for number in all() {
            match is_ignored(number) {
                true => set(number, libc::SIG_IGN),
                false => set(number, libc::SIG_DFL),
            }
            if BLOCKED.load(Ordering::Relaxed) & bit(number) != 0 {
                libc::sigaddset(&raw mut blocked, number);
            }
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const blocked, std::ptr::null_mut());
    }
    Ok(())
}
