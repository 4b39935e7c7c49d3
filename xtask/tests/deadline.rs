//! Tests of `xtask deadline`: it kills a hanging test, and isolates tests from the environment of `cargo xtask test`.
#![cfg(unix)]

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

/// Environment variable that activates the helper tests `part_…` of this file.
const PART: &str = "LOADSCOPE_DEADLINE_PART";

fn has_part() -> bool {
    env::var_os(PART).is_some()
}

/// Runs tests of this binary through `xtask deadline`, from a shell with this script.
fn deadline(script: &str, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_xtask"), "deadline"])
        .arg(env::current_exe().expect("this binary has a path"))
        .args(arguments)
        .env(PART, "1")
        .env("LOADSCOPE_TEST_DEADLINE", "2")
        .output()
        .expect("there is a shell")
}

fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Hangs, with one child process in its group and one in another group. Both inherit standard error.
#[test]
#[expect(
    clippy::zombie_processes,
    reason = "the deadline kills the child processes"
)]
fn part_hangs() {
    if has_part() {
        for is_apart in [false, true] {
            let mut child = Command::new("sleep");
            child.arg("60");
            if is_apart {
                child.process_group(0);
            }
            child.spawn().expect("sleep starts");
        }
        thread::sleep(Duration::from_secs(60));
    }
}

#[test]
fn a_test_that_hangs_is_killed_with_its_child_processes() {
    let start = Instant::now();
    // The output ends when the last process has closed standard error.
    let output = deadline(r#"exec "$@""#, &["part_hangs", "part_ends"]);
    let (_, err) = words(&output);
    assert!(start.elapsed() < Duration::from_secs(30), "{err}");
    assert_eq!(output.status.code(), Some(124), "{err}");
    assert!(err.contains("a test did not end within 2 s"), "{err}");
}

/// Ends, but leaves a process that keeps standard output open.
#[test]
#[expect(
    clippy::zombie_processes,
    reason = "the child process outlives the test"
)]
fn part_ends() {
    if has_part() {
        Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("sleep starts");
    }
}

#[test]
fn a_process_left_by_a_test_is_killed() {
    let start = Instant::now();
    let output = deadline(r#"exec "$@""#, &["part_ends"]);
    let (out, err) = words(&output);
    assert!(start.elapsed() < Duration::from_secs(30), "{err}");
    assert!(output.status.success(), "{out}{err}");
    assert!(out.contains("test deadline::part_ends ... ok"), "{out}");
}

/// Checks for default signal handlers, an empty standard input, and no terminal.
#[test]
fn part_looks_around() {
    if has_part() {
        for (name, number) in [("INT", 2), ("HUP", 1), ("QUIT", 3), ("TERM", 15)] {
            let script = format!("kill -{name} $$");
            let ended = Command::new("sh").args(["-c", &script]).status();
            assert_eq!(ended.expect("there is a shell").signal(), Some(number));
        }
        let mut input = Vec::new();
        std::io::stdin()
            .read_to_end(&mut input)
            .expect("standard input is open");
        assert!(input.is_empty() && File::open("/dev/tty").is_err());
    }
}

#[test]
fn signals_and_input_are_reset_for_tests() {
    for redirection in ["<&-", "</dev/zero"] {
        let script = format!(r#"trap '' INT HUP QUIT TERM; exec "$@" {redirection}"#);
        let output = deadline(&script, &["part_looks_around"]);
        let (out, err) = words(&output);
        assert!(output.status.success(), "{redirection}: {out}{err}");
        assert!(out.contains("1 passed"), "{redirection}: {out}");
    }
}

#[test]
fn a_signal_ends_the_tests() {
    let script = r#""$@" & sleep 1; kill -TERM $!; wait $!"#;
    let output = deadline(script, &["part_hangs"]);
    assert_eq!(output.status.code(), Some(143), "{}", words(&output).1);
}

#[test]
fn a_deadline_that_is_no_number_is_refused() {
    let script = r#"LOADSCOPE_TEST_DEADLINE=soon exec "$@""#;
    let output = deadline(script, &["part_ends"]);
    let (_, err) = words(&output);
    assert!(!output.status.success());
    assert!(
        err.contains("LOADSCOPE_TEST_DEADLINE is not a number of seconds: soon"),
        "{err}"
    );
}
