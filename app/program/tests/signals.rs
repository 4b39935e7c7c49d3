//! Signals that the program or its recorded program inherited as ignored, or does not know.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{finished, signal};

/// Timeout for a process.
const PATIENCE: Duration = Duration::from_secs(60);

const LOADSCOPE: &str = env!("CARGO_BIN_EXE_loadscope");

/// Starts a script. `$LOADSCOPE` is the path of the program.
fn shell(script: &str) -> Child {
    Command::new("sh")
        .args(["-c", script])
        .env("LOADSCOPE", LOADSCOPE)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a shell")
}

/// Signals are ignored as under `nohup`. Two seconds per sample leave time to install the signal handlers.
#[test]
fn ignored_signals_stay_ignored() {
    for (number, name) in [
        (libc::SIGINT, "INT"),
        (libc::SIGTERM, "TERM"),
        (libc::SIGHUP, "HUP"),
    ] {
        let run = "run --dataset synthetic:len=2,cost_ms=2000 --batch-size 1";
        let child = shell(&format!("trap '' {name}; exec \"$LOADSCOPE\" {run}"));
        std::thread::sleep(Duration::from_millis(1500));
        for _ in 0..2 {
            signal(child.id(), number);
        }
        let output = finished(child, PATIENCE);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
    }
}

/// The recorder and its program ignore SIGINT and SIGHUP, as in the background under `nohup`. SIGTERM ends the program.
#[test]
fn a_recorder_ignores_inherited_and_forwards_other_signals() {
    let folder = tempfile::tempdir().expect("a folder");
    let program =
        "trap 'exit 5' TERM; kill -INT $$; kill -HUP $$; echo >ready; while :; do sleep 0.05; done";
    let script = format!(
        "trap '' INT HUP; exec \"$LOADSCOPE\" record -o run.jsonl -- sh -c \"{}\"",
        program.replace('$', "\\$")
    );
    let mut recorder = shell(&format!("cd '{}' && {script}", folder.path().display()));
    let start = Instant::now();
    while !folder.path().join("ready").exists() && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    for number in [libc::SIGINT, libc::SIGHUP] {
        signal(recorder.id(), number);
    }
    std::thread::sleep(Duration::from_millis(300));
    let ended = recorder.try_wait().expect("it is our child");
    assert_eq!(ended, None);
    signal(recorder.id(), libc::SIGTERM);
    let output = finished(recorder, PATIENCE);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
}

/// The signals include some without a name, some that are harmless on other systems, and some that cannot be handled.
#[cfg(target_os = "linux")]
#[test]
fn a_recorder_ends_by_the_signal_that_ended_its_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.jsonl");
    // The numbers are SIGKILL, SIGSEGV, SIGIO, SIGPWR and a real-time signal of Linux.
    for number in [9, 11, 29, 30, 40] {
        let file = file.display();
        let child = shell(&format!(
            "exec \"$LOADSCOPE\" record --force -o '{file}' -- sh -c 'kill -{number} $$'"
        ));
        let output = finished(child, PATIENCE);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(number), "{said}");
    }
}
