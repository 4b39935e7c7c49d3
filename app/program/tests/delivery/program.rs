//! Recorded program: this test program, started again.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// Variable with the path of the log of signals.
pub const NOTES: &str = "LOADSCOPE_TEST_NOTES";
/// Variable with the path of the file whose creation ends the program.
pub const END: &str = "LOADSCOPE_TEST_END";
/// Variable that keeps the default action of signals that stop a process.
pub const STOPS: &str = "LOADSCOPE_TEST_STOPS";

static FILE: AtomicI32 = AtomicI32::new(-1);

/// Returns the signals that a process can handle.
pub fn all() -> impl Iterator<Item = i32> {
    (1..32)
        .chain(libc::SIGRTMIN()..=libc::SIGRTMAX())
        .filter(|number| ![libc::SIGKILL, libc::SIGSTOP].contains(number))
}

fn put(number: u8) {
    // SAFETY: the byte outlives the call.
    unsafe { libc::write(FILE.load(Ordering::Relaxed), (&raw const number).cast(), 1) };
}

extern "C" fn note(number: i32) {
    put(u8::try_from(number).unwrap_or(0));
}

/// Program for other tests, not a test by itself. It does nothing unless a test starts it.
#[test]
fn notes_its_signals() {
    let (Some(notes), Some(end)) = (std::env::var_os(NOTES), std::env::var_os(END)) else {
        return;
    };
    let path = CString::new(OsString::into_vec(notes)).expect("a path");
    let stops = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    let leaves = |number: &i32| std::env::var_os(STOPS).is_some() && stops.contains(number);
    // SAFETY: the path and the action outlive the calls, and the handler makes one system call.
    unsafe {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND;
        FILE.store(libc::open(path.as_ptr(), flags, 0o600), Ordering::Relaxed);
        for number in all().filter(|number| !leaves(number)) {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            assert_eq!(
                libc::sigaction(number, &raw const action, std::ptr::null_mut()),
                0
            );
        }
    }
    put(0);
    while !Path::new(&end).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::process::exit(7);
}
