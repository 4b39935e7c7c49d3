//! `loadscope tune` and `record --set` on the command line.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{needed_python, needed_pytorch, program};

#[path = "tune/pytorch.rs"]
mod pytorch;

/// Timeout of a command.
const DEADLINE: Duration = Duration::from_secs(240);

fn loadscope(folder: &Path) -> Command {
    let mut command = program();
    command.current_dir(folder).env_remove("LD_LIBRARY_PATH");
    command
}

/// Runs a command and kills it at the deadline.
fn within_deadline(mut command: Command) -> Output {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("it starts");
    let pid = child.id().to_string();
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let watchdog = std::thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(move || {
            if is_done.recv_timeout(DEADLINE).is_err() {
                let _ = Command::new("kill").args(["-KILL", &pid]).status();
            }
        });
    let output = child.wait_with_output().expect("it ends");
    let _ = done.send(());
    let _ = watchdog.expect("a thread").join();
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the single JSON object on standard output.
fn json(output: &Output) -> Value {
    assert!(
        output.status.success(),
        "{:?}\n{}",
        output.status,
        text(&output.stderr)
    );
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", text(&output.stdout)))
}

/// Returns true if a process whose command line contains `word` is running.
fn runs(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let me = std::process::id().to_string();
    entries.into_iter().any(|entry| {
        let own = entry.file_name().to_string_lossy() == me;
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let status = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // A zombie counts as ended.
        let is_dead = status.contains(") Z ");
        !own && !is_dead && text(&line).contains(word)
    })
}

/// Program without PyTorch that sends the events of one loader as the probe does. With `n` workers a batch takes 24/n ms, at least 4. It
/// obeys the requests to the probe. With `boom` it fails for more than six workers.
const STAND_IN: &str = include_str!("../../../tests/data/stand_in.py");

/// Creates a folder with the stand-in program.
fn stand_in() -> Option<(tempfile::TempDir, PathBuf)> {
    let python = needed_python()?;
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("stand_in.py"), STAND_IN).expect("written");
    Some((dir, python))
}

#[test]
fn settings_are_tried_and_the_fastest_is_named() {
    let Some((dir, python)) = stand_in() else {
        return;
    };
    let mut command = loadscope(dir.path());
    command
        .args(["tune", "--stop-after", "60", "--json", "-o", "out"])
        .args([
            "--try",
            "num_workers=4",
            "--try",
            "num_workers=8",
            "--try",
            "in_order=false",
        ])
        .arg("--")
        .arg(python)
        .args(["stand_in.py", "boom"]);
    let output = within_deadline(command);
    let table = json(&output);
    let runs = table["runs"].as_array().expect("runs");
    let kinds: Vec<&str> = runs.iter().filter_map(|run| run["kind"].as_str()).collect();
    assert_eq!(kinds, ["first", "try", "try", "try", "repeat"], "{table:#}");
    let seconds = |at: usize| runs[at]["seconds"].as_f64().expect("it was measured");
    // One worker takes 24 ms and a step of 1 ms. Four workers take 6 ms and a step.
    assert!((0.024..0.032).contains(&seconds(0)), "{table:#}");
    assert!((0.006..0.012).contains(&seconds(1)), "{table:#}");
    assert_eq!(runs[1]["outcome"], "faster", "{table:#}");
    assert!(runs[1]["high"].as_f64() < Some(-0.5), "{table:#}");
    assert_eq!(runs[3]["outcome"], "within_noise", "{table:#}");
    let failed = runs[2]["failed"].as_str().expect("it failed");
    assert!(
        failed.contains("code 3") && failed.contains(".log"),
        "{failed}"
    );
    assert_eq!(table["recommended"]["num_workers"], 4, "{table:#}");
    assert_eq!(table["batches"], 60);
    let verdict = table["verdict"].as_str().expect("a sentence");
    assert!(
        verdict.contains("stand_in.py:7") && verdict.contains("DataLoader(…, num_workers=4)"),
        "{verdict}"
    );
    let consequences = table["consequences"].to_string();
    assert!(
        consequences.contains("Random augmentations"),
        "{consequences}"
    );
    // The folder contains a recording and the output of each run, and otherwise only files of the program itself.
    let out = dir.path().join("out");
    for run in runs.iter().filter(|run| run["failed"].is_null()) {
        let name = run["recording"].as_str().expect("a name");
        let mut info = loadscope(&out);
        info.args(["info", "--json", name]);
        assert_eq!(json(&within_deadline(info))["batches"], 60, "{name}");
    }
    let log = std::fs::read_to_string(out.join("01-as-it-is.log")).expect("the output");
    assert_eq!(log, "hello from the program\nready\nstopped\n");
    let log = std::fs::read_to_string(out.join("03-num_workers=8.log")).expect("the output");
    assert!(log.contains("boom"), "{log}");
    let saved = std::fs::read_to_string(out.join("tune.json")).expect("the table");
    assert_eq!(serde_json::from_str::<Value>(&saved).expect("JSON"), table);
    assert_eq!(
        std::fs::read_to_string(dir.path().join("stand_in.py")).expect("it is there"),
        STAND_IN
    );
    let mut names: Vec<String> = std::fs::read_dir(dir.path())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["out", "stand_in.py", "written.txt"]);
    let written = std::fs::read_to_string(dir.path().join("written.txt")).expect("it wrote");
    assert_eq!(written.lines().count(), 5);
}

#[test]
fn tries_are_chosen_by_forecast_if_none_are_given() {
    let Some((dir, python)) = stand_in() else {
        return;
    };
    let mut command = loadscope(dir.path());
    command
        .args([
            "tune",
            "--stop-after",
            "30",
            "--tries",
            "2",
            "--loader",
            "stand_in.py:7",
            "--",
        ])
        .arg(python)
        .arg("stand_in.py");
    let output = within_deadline(command);
    let out = text(&output.stdout);
    assert!(output.status.success(), "{out}\n{}", text(&output.stderr));
    assert!(
        out.contains("setting")
            && out.contains("90 % interval")
            && out.contains("unchanged, again"),
        "{out}"
    );
    // The next run does not change the folder of this one.
    assert!(dir.path().join("tune/tune.json").exists());
    let saved = std::fs::read_to_string(dir.path().join("tune/tune.json")).expect("the table");
    let table: Value = serde_json::from_str(&saved).expect("JSON");
    let tries = table["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .filter(|run| run["kind"] == "try");
    assert_eq!(tries.clone().count(), 2, "{table:#}");
    assert!(
        tries
            .clone()
            .all(|run| !run["set"]["num_workers"].is_null()),
        "{table:#}"
    );
}

#[test]
fn a_failing_program_ends_tune_with_its_own_exit_code() {
    let Some((dir, python)) = stand_in() else {
        return;
    };
    let mut command = loadscope(dir.path());
    command
        .args(["tune", "--"])
        .arg(&python)
        .args(["stand_in.py", "fails"]);
    let output = within_deadline(command);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(9), "{err}");
    assert!(
        err.contains("the unchanged program failed") && err.contains("01-as-it-is.log"),
        "{err}"
    );
    let mut command = loadscope(dir.path());
    command.args(["tune", "--", "./there-is-no-such-program"]);
    assert_eq!(within_deadline(command).status.code(), Some(127));
    // Without a loader there is nothing to tune.
    let mut command = loadscope(dir.path());
    command.args(["tune", "--", "sh", "-c", "echo out"]);
    let output = within_deadline(command);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("no DataLoader was recorded"),
        "{}",
        text(&output.stderr)
    );
    // A folder with files is left unchanged, and no program runs.
    std::fs::create_dir(dir.path().join("full")).expect("room");
    std::fs::write(dir.path().join("full/mine"), "mine").expect("room");
    let mut command = loadscope(dir.path());
    command.args(["tune", "-o", "full", "--", "sh", "-c", "touch ran"]);
    let output = within_deadline(command);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("not an empty folder"),
        "{}",
        text(&output.stderr)
    );
    assert!(!dir.path().join("ran").exists());
}

#[test]
fn a_signal_ends_all_processes_and_sets_the_exit_code() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        interrupted_by(signal, code);
    }
}

fn interrupted_by(signal: &str, code: i32) {
    let Some((dir, python)) = stand_in() else {
        return;
    };
    // The word must differ from those of other tests in this process.
    let word = format!("unmistakable{signal}-{}", std::process::id());
    let mut command = loadscope(dir.path());
    command
        .args([
            "tune",
            "--stop-after",
            "10",
            "--try",
            "num_workers=2",
            "-o",
            "out",
            "--",
        ])
        .arg(python)
        .args(["stand_in.py", "slow", &word])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut tuner = command.spawn().expect("it starts");
    let mut lines = BufReader::new(tuner.stderr.take().expect("it is piped")).lines();
    // During the second run, there is a table for the first.
    let second = lines
        .by_ref()
        .map_while(Result::ok)
        .find(|line| line.contains("run 2"));
    assert!(second.is_some());
    let log = dir.path().join("out/02-num_workers=2.log");
    let is_ready = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("ready"));
    let since = Instant::now();
    while !is_ready() && since.elapsed() < DEADLINE {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = tuner.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let since = Instant::now();
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let ended = tuner.wait().expect("it ends");
    assert_eq!(ended.code(), Some(code), "{signal}: {rest:?}");
    assert!(
        since.elapsed() < Duration::from_secs(30),
        "{:?}",
        since.elapsed()
    );
    // The command line of the tuner also contains the word, so the search starts after its end. A worker checks every five seconds whether
    // its parent has ended.
    let patience = Instant::now();
    while runs(&word) && patience.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!runs(&word));
    assert!(
        rest.iter().any(|line| line.contains("interrupted")),
        "{rest:?}"
    );
    let log = std::fs::read_to_string(log).expect("the output");
    assert!(log.contains("interrupted"), "{log}");
}

/// The program gets SIGINT at once, SIGTERM after 10 s, SIGKILL after 20 s.
#[test]
fn a_program_that_ignores_signals_is_killed_with_its_group() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let word = format!("unmistakable-ignores-{}", std::process::id());
    let script = "trap '' INT TERM; echo ready > ready; (while :; do sleep 0.1; done) & while :; do sleep 0.1; done";
    for (signals, longest) in [(1, 40), (2, 10)] {
        let mut command = loadscope(dir.path());
        command
            .args(["tune", "--", "sh", "-c", script, &word])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut tuner = command.spawn().expect("it starts");
        let since = Instant::now();
        while !dir.path().join("ready").exists() && since.elapsed() < DEADLINE {
            std::thread::sleep(Duration::from_millis(20));
        }
        let pid = tuner.id().to_string();
        for _ in 0..signals {
            let sent = Command::new("kill").args(["-INT", &pid]).status();
            assert!(sent.is_ok_and(|status| status.success()));
            std::thread::sleep(Duration::from_millis(500));
        }
        let since = Instant::now();
        let lines = BufReader::new(tuner.stderr.take().expect("it is piped")).lines();
        let lines: Vec<String> = lines.map_while(Result::ok).collect();
        let code = tuner.wait().expect("it ends").code();
        assert_eq!(code, Some(130), "{lines:?}");
        let took = since.elapsed();
        assert!(took < Duration::from_secs(longest), "{took:?}: {lines:?}");
        let last = lines.iter().find(|line| line.contains("received SIGKILL"));
        assert!(last.is_some(), "{lines:?}");
        assert!(!runs(&word), "the process group is gone");
        std::fs::remove_file(dir.path().join("ready")).expect("it is there");
    }
}
