//! Signals of a terminal.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use super::{REST, Recorded, place};

/// Opens a pseudoterminal. Returns the end of the screen and the end of its programs.
fn terminal() -> (File, File) {
    let (mut screen, mut inside) = (-1, -1);
    let none = std::ptr::null_mut();
    // SAFETY: the system fills in two file descriptors, and only the files own them.
    unsafe {
        let opened = libc::openpty(
            &raw mut screen,
            &raw mut inside,
            none,
            std::ptr::null(),
            std::ptr::null(),
        );
        assert_eq!(opened, 0, "a terminal");
        libc::fcntl(screen, libc::F_SETFD, libc::FD_CLOEXEC);
        (File::from_raw_fd(screen), File::from_raw_fd(inside))
    }
}

/// Ctrl+C, Ctrl+\, Ctrl+Z and a new size are sent to the whole group. Closing the terminal is signaled only to its first process.
#[test]
fn every_signal_of_a_terminal_reaches_the_program_once() {
    let (mut screen, inside) = terminal();
    let mut recorded = Recorded::start_in(|command| {
        command.stdin(Stdio::from(inside));
        let begin = || {
            // SAFETY: these system calls are allowed after a fork.
            let is_begun =
                unsafe { libc::setsid() != -1 && libc::ioctl(0, libc::TIOCSCTTY, 0) == 0 };
            is_begun
                .then_some(())
                .ok_or_else(std::io::Error::last_os_error)
        };
        // SAFETY: as above.
        unsafe { command.pre_exec(begin) };
    });
    let counts = |number: i32| recorded.counts()[place(number)];
    for (key, number) in [
        (b'\x03', libc::SIGINT),
        (b'\x1c', libc::SIGQUIT),
        (b'\x1a', libc::SIGTSTP),
    ] {
        screen.write_all(&[key]).expect("it is open");
        recorded.until("the key", |_| counts(number) > 0);
    }
    let size = libc::winsize {
        ws_row: 33,
        ws_col: 99,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the size outlives the call.
    unsafe { libc::ioctl(screen.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    recorded.until("the size", |_| counts(libc::SIGWINCH) > 0);
    std::thread::sleep(REST);
    let keys = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGWINCH];
    assert_eq!(keys.map(counts), [1, 1, 1, 1]);
    assert_eq!([libc::SIGHUP, libc::SIGCONT].map(counts), [0, 0]);
    drop(screen);
    recorded.until("the end of the terminal", |_| counts(libc::SIGHUP) > 0);
    std::thread::sleep(REST);
    assert_eq!([libc::SIGHUP, libc::SIGCONT].map(counts), [1, 1]);
    recorded.end();
}
