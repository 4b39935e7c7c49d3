//! `loadscope record` and `probe` on the command line.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::{ends, needed_python, needed_pytorch, program, words};

#[path = "record/pytorch.rs"]
mod pytorch;

fn loadscope() -> Command {
    let mut command = program();
    // Cargo's path to libtorch must not affect the recorded PyTorch.
    command.env_remove("LD_LIBRARY_PATH");
    command
}

fn record(log: &Path, program: &[&str]) -> Output {
    let mut command = loadscope();
    command
        .arg("record")
        .arg("-o")
        .arg(log)
        .arg("--")
        .args(program);
    command.output().expect("the executable starts")
}

#[test]
fn a_program_keeps_its_output_and_exit_code() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("run.jsonl");
    let ended = record(&log, &["sh", "-c", "echo out; echo err >&2; exit 7"]);
    let (out, err) = words(&ended);
    assert_eq!((ended.status.code(), out.as_str()), (Some(7), "out\n"));
    assert!(
        err.starts_with("err\n") && err.contains("no DataLoader was recorded"),
        "{err}"
    );
    assert!(
        err.contains("no recording was written") && !log.exists(),
        "{err}"
    );
    // The recorder ends by the same signal as its program.
    let ended = record(&log, &["sh", "-c", "kill -TERM $$"]);
    assert_eq!(ended.status.signal(), Some(15));
}

#[test]
fn an_existing_recording_is_kept_until_a_new_one_exists() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("run.jsonl");
    std::fs::write(&log, "mine").expect("written");
    let ended = record(&log, &["sh", "-c", "echo out"]);
    let (out, err) = words(&ended);
    assert_eq!((ended.status.code(), out.as_str()), (Some(2), ""), "{err}");
    assert!(
        err.contains("already exists") && err.contains("--force"),
        "{err}"
    );
    let ended = loadscope()
        .args(["record", "--force", "-o"])
        .arg(&log)
        .args(["--", "sh", "-c", "echo out"])
        .output()
        .expect("it starts");
    assert_eq!(words(&ended).0, "out\n");
    assert_eq!(std::fs::read_to_string(&log).ok().as_deref(), Some("mine"));
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
}

#[test]
fn a_recorder_without_stderr_returns_the_programs_exit_code() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("run.jsonl");
    for redirection in [
        "2>&-",
        "2>/dev/full",
        ">&- 2>&-",
        "</dev/null 2>/dev/full >/dev/full",
    ] {
        let script = format!(r#""$1" record -o "$2" -- sh -c 'exit 7' {redirection}"#);
        let ended = Command::new("sh")
            .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_loadscope")])
            .arg(&log)
            .status()
            .expect("a shell");
        assert_eq!(ended.code(), Some(7), "{redirection}");
    }
    // A full pipe without a reader delays the message for a limited time only.
    let script = r#"mkfifo pipe; sleep 30 <pipe & reader=$!; exec 2>pipe
        dd if=/dev/zero bs=65536 count=1 >&2 2>/dev/null; "$1" record -o "$2" -- sh -c 'exit 7'; code=$?; kill $reader; exit $code"#;
    let before = std::time::Instant::now();
    let ended = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_loadscope")])
        .arg(&log)
        .current_dir(dir.path())
        .status()
        .expect("a shell");
    assert_eq!(ended.code(), Some(7));
    assert!(before.elapsed().as_secs() < 15, "{:?}", before.elapsed());
}

#[test]
fn a_terminated_recorder_leaves_no_temporary_folder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let temporary = dir.path().join("tmp");
    std::fs::create_dir(&temporary).expect("room");
    let ended = loadscope()
        .env("TMPDIR", &temporary)
        .args(["record", "-o"])
        .arg(dir.path().join("run.jsonl"))
        .args(["--", "sh", "-c", "kill -TERM $PPID; sleep 20"])
        .output()
        .expect("it starts");
    assert_eq!(ended.status.signal(), Some(15));
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0);
}

#[test]
fn odd_places_for_temporary_files_do_not_stop_a_recorder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for name in [
        "x".repeat(200),
        "a:b".to_owned(),
        "missing/folder".to_owned(),
    ] {
        let temporary = dir.path().join(&name);
        if !name.starts_with("missing") {
            std::fs::create_dir(&temporary).expect("room");
        }
        let ended = loadscope()
            .env("TMPDIR", &temporary)
            .args(["record", "-o"])
            .arg(dir.path().join("run.jsonl"))
            .args(["--", "sh", "-c", "exit 7"])
            .output()
            .expect("it starts");
        assert_eq!(ended.status.code(), Some(7), "{name}: {}", words(&ended).1);
    }
}

/// The recorded program inherits the closed streams of a shell.
#[test]
fn closed_streams_stay_closed_for_the_program() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let script = "for n in 0 1; do [ -e /proc/self/fd/$n ] && echo open $n >&2; done; exit 3";
    for (closed, open) in [("<&-", "open 1"), (">&-", "open 0")] {
        let line = format!("exec \"$0\" record -o \"$1\" --force -- sh -c '{script}' {closed}");
        let ended = Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_loadscope")])
            .arg(dir.path().join("run.jsonl"))
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .expect("a shell");
        let (_, err) = words(&ended);
        let told: Vec<&str> = err.lines().filter(|l| l.starts_with("open")).collect();
        assert_eq!(told, [open], "{closed}: {err}");
        assert_eq!(ended.status.code(), Some(3), "{err}");
    }
}

#[test]
fn a_script_without_a_shebang_runs_as_in_a_shell() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let script = dir.path().join("plain.sh");
    std::fs::write(&script, "echo hi\nexit 5\n").expect("written");
    let shown = script.to_str().expect("UTF-8");
    let log = dir.path().join("run.jsonl");
    let ended = record(&log, &[shown]);
    assert_eq!(ended.status.code(), Some(126), "{}", words(&ended).1);
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("ours");
    let ended = record(&log, &[shown]);
    assert_eq!(ended.status.code(), Some(5), "{}", words(&ended).1);
    assert_eq!(words(&ended).0, "hi\n");
}

#[test]
fn a_missing_program_is_reported_with_exit_code_127() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let ended = record(
        &dir.path().join("run.jsonl"),
        &["./there-is-no-such-program"],
    );
    let (_, err) = words(&ended);
    assert_eq!(ended.status.code(), Some(127));
    assert!(
        err.starts_with("loadscope: cannot start ./there-is-no-such-program"),
        "{err}"
    );
    let nothing = loadscope().arg("record").output().expect("it starts");
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn an_unwritable_output_prevents_the_start() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for place in [Path::new("/nowhere/run.jsonl"), dir.path()] {
        let ended = record(place, &["sh", "-c", "echo out"]);
        let (out, err) = words(&ended);
        assert_eq!((ended.status.code(), out.as_str()), (Some(2), ""));
        let place = place.display().to_string();
        assert!(
            err.contains("program not started") && err.contains(&place),
            "{err}"
        );
    }
}

#[test]
fn a_signal_to_the_recorder_reaches_the_program() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("run.jsonl");
    let script = "trap 'exit 5' INT; echo ready; while :; do sleep 0.05; done";
    let mut recorder = loadscope();
    recorder
        .arg("record")
        .arg("-o")
        .arg(&log)
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped());
    let mut recorder = recorder.spawn().expect("it starts");
    let mut out = std::io::BufReader::new(recorder.stdout.take().expect("it is piped"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let kill = Command::new("kill")
        .arg("-INT")
        .arg(recorder.id().to_string())
        .status();
    assert!(kill.is_ok_and(|s| s.success()));
    ends(&mut recorder, std::time::Duration::from_secs(20));
    let ended = recorder.wait().expect("it ends");
    assert_eq!(ended.code(), Some(5));
}
