//! Ignored and blocked signals that Loadscope inherits from its parent.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::program::all;
use super::{DEADLINE, loadscope};
use crate::support::ends;

/// Predicates of ignored and of blocked signals.
type Left = (fn(i32) -> bool, fn(i32) -> bool);

const LEFT: [Left; 6] = [
    (|_| false, |_| false),
    (|_| true, |_| false),
    (|_| false, |_| true),
    (|number| number % 2 == 0, |number| number % 2 == 1),
    (|number| number % 2 == 1, |number| number % 2 == 0),
    (|number| number == libc::SIGCHLD, |_| false),
];

/// Starts the command with these signals ignored and blocked.
fn leave(command: &mut Command, (ignored, blocked): Left) {
    let set = move || {
        // SAFETY: an all-zero mask is valid, and the mask outlives the calls.
        unsafe {
            let mut mask: libc::sigset_t = std::mem::zeroed();
            for number in all() {
                let disposition = if ignored(number) {
                    libc::SIG_IGN
                } else {
                    libc::SIG_DFL
                };
                libc::signal(number, disposition);
                if blocked(number) {
                    libc::sigaddset(&raw mut mask, number);
                }
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: the function only makes system calls that are allowed after a fork.
    unsafe { command.pre_exec(set) };
}

/// Program that prints its ignored and its blocked signals, and ends with code 5.
const PROGRAM: [&str; 3] = [
    "sh",
    "-c",
    "grep -E '^Sig(Blk|Ign)' /proc/self/status; exit 5",
];

/// Runs a command. Returns its exit code and output.
fn ran(mut command: Command, left: Left, folder: &Path) -> (Option<i32>, String) {
    leave(&mut command, left);
    command
        .env("HOME", folder)
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_STATE_HOME")
        .stdout(Stdio::piped());
    let mut started = command.spawn().expect("it starts");
    ends(&mut started, DEADLINE);
    let output = started.wait_with_output().expect("it has ended");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text)
}

#[test]
fn a_program_inherits_ignored_and_blocked_signals() {
    for (round, left) in LEFT.into_iter().enumerate() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut alone = Command::new(PROGRAM[0]);
        alone.args(&PROGRAM[1..]).stdin(Stdio::null());
        let expected = ran(alone, left, folder.path());
        assert_eq!(expected.0, Some(5));
        assert_eq!(expected.1.lines().count(), 2, "{}", expected.1);
        for arguments in [&["record"][..], &["watch"], &["tune", "-o", "out"]] {
            let mut command = loadscope();
            command
                .current_dir(folder.path())
                // `watch` starts no program without a display. This display does not exist.
                .env("DISPLAY", ":4567")
                .args(arguments)
                .arg("--")
                .args(PROGRAM);
            let mut found = ran(command, left, folder.path());
            if arguments[0] == "tune" {
                let log = folder.path().join("out/01-as-it-is.log");
                found.1 = std::fs::read_to_string(log).expect("the output of the program");
            }
            assert_eq!(found, expected, "{arguments:?}, round {round}");
        }
    }
}
