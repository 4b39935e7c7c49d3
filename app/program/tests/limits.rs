//! Recordings with a limit. They are intact whenever the program is killed, and respect the limit.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use loadscope_session::Journal;

use crate::support::{command_error, ends, json, loadscope, needed_python, program};

/// Timeout for a command.
const PATIENCE: Duration = Duration::from_secs(60);

const MOST: u64 = 1_000_000;

/// Starts a run that records into `file` without an end.
fn start(file: &Path) -> Child {
    program()
        .args([
            "run",
            "--dataset",
            "synthetic:len=1000000,cost_ms=0,tail=0.001:400",
        ])
        .args(["--batch-size", "1", "--num-workers", "2", "--epochs", "19"])
        .args([
            "--last",
            "1s",
            "--max-size",
            "1MB",
            "--long-wait",
            "2ms",
            "--record",
        ])
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the executable starts")
}

fn info(file: &Path) -> Output {
    let child = program()
        .arg("info")
        .arg(file)
        .arg("--json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.expect("the executable starts");
    // The output is larger than a pipe's buffer.
    let mut said = child.stdout.take().expect("it is a pipe");
    let reader = std::thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut said, &mut text).map(|_| text)
    });
    ends(&mut child, PATIENCE);
    let mut output = child.wait_with_output().expect("it is ours");
    let text = reader.expect("a thread").join().expect("no panic");
    output.stdout = text.expect("it can be read");
    output
}

/// Returns the size of the file and its parts, bytes.
fn size(folder: &Path) -> u64 {
    let mut sum = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => sum += found.len(),
                // The file was dropped in between.
                Err(_) => {}
            }
        }
    }
    sum
}

/// Kills the recorder after `ms` and opens the recording. Returns the number of all batches, and of those only in sums.
fn killed_after(ms: u64) -> (u64, u64) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("run.jsonl.zst");
    let mut child = start(&file);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(ms) {
        assert!(
            child.try_wait().expect("it is ours").is_none(),
            "it has ended by itself"
        );
        assert!(size(dir.path()) <= MOST, "{} bytes", size(dir.path()));
        std::thread::sleep(Duration::from_millis(3));
    }
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    assert!(size(dir.path()) <= MOST, "{} bytes", size(dir.path()));
    if !file.exists() {
        // The recorder was killed before it had created the file.
        return (0, 0);
    }
    let facts = json(&info(&file));
    let count = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let batches = count(&facts["batches"]);
    let past = &facts["past"];
    // The batches of the sums come first, then the batches that are stored in full.
    let minutes = past["minutes"].as_array();
    let sums: u64 = minutes
        .into_iter()
        .flatten()
        .map(|m| count(&m["batches"]))
        .sum();
    assert_eq!(sums, count(&past["batches"]));
    assert!(batches >= sums, "{batches} {sums}");
    assert_eq!(
        (&facts["warnings"], &facts["errors"]),
        (&0.into(), &0.into()),
        "{facts}"
    );
    (batches, sums)
}

fn kill_many(times: u64) {
    let (mut seed, mut with_past) = (99_u64, 0);
    for k in 0..times {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        // Most kills happen while parts are created and dropped.
        let ms = if k % 4 == 0 { 50 } else { 1500 } + (seed >> 33) % 1500;
        let (_, sums) = killed_after(ms);
        with_past += u64::from(sums > 0);
    }
    assert!(
        with_past > times / 4,
        "parts were dropped in {with_past} of {times}"
    );
}

#[test]
fn a_killed_recorder_leaves_a_readable_recording() {
    kill_many(20);
}

#[test]
#[ignore = "it takes ten minutes"]
fn a_recorder_killed_300_times_leaves_readable_recordings() {
    kill_many(300);
}

#[test]
fn a_limited_recording_counts_all_batches() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("run.jsonl.zst");
    let name = file.to_str().expect("UTF-8");
    let made = loadscope(&[
        "run",
        "--dataset",
        // The samples are slow enough that a busy host drops no event.
        "synthetic:len=30000,cost_ms=0.2",
        "--batch-size",
        "2",
        "--epochs",
        "2",
        "--num-workers",
        "2",
        "--max-size",
        "1MB",
        "--record",
        name,
        "--json",
    ]);
    let told = json(&made);
    let facts = json(&info(&file));
    assert_eq!(told["batches"], 30_000);
    for what in [
        "batches",
        "samples",
        "epochs",
        "events",
        "failed",
        "discarded",
        "held",
    ] {
        assert_eq!(facts[what], told[what], "{what}");
    }
    let near = |what: &str| {
        let of = |facts: &serde_json::Value| facts[what].as_f64().expect("a number");
        (of(&facts) - of(&told)).abs() <= 1e-6 * of(&told).max(1.0)
    };
    assert!(near("seconds") && near("waited_seconds"), "{facts} {told}");
    assert!(
        facts["past"]["batches"].as_u64().is_some_and(|n| n > 1000),
        "{}",
        facts["past"]
    );
    let report = loadscope(&["report", name]);
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(text.contains("is kept as sums per minute only"), "{text}");
    assert!(text.contains("30,000 batches"), "{text}");
    // The other commands also open it.
    let out = dir.path().join("tables");
    let exported = loadscope(&[
        "export",
        name,
        "--to",
        "csv",
        "-o",
        out.to_str().expect("UTF-8"),
    ]);
    assert!(exported.status.success(), "{exported:?}");
    let told = String::from_utf8_lossy(&exported.stderr);
    assert!(told.contains("were not exported"), "{told}");
    let compared = loadscope(&["compare", name, name]);
    assert!(compared.status.success(), "{compared:?}");
    let page = dir.path().join("page.html");
    let shared = loadscope(&["share", name, "-o", page.to_str().expect("UTF-8")]);
    assert!(
        shared.status.success() || shared.status.code() == Some(2),
        "{shared:?}"
    );
}

/// Program without PyTorch that sends the events of an endless loader. Its indices are incompressible.
const SPEAKS: &str = r#"
import base64, json, os, random, socket, struct, time
path = os.environ["LOADSCOPE_PROBE_TO"].partition(":")[2]
there = socket.socket(socket.AF_UNIX); there.connect(path)
now = time.monotonic_ns
def say(*line): there.sendall((json.dumps(line[0] if len(line) == 1 else line) + "\n").encode())
say({"loadscope_stream": 1, "token": os.environ["LOADSCOPE_PROBE_TOKEN"], "pid": os.getpid(), "parent": os.getppid(),
     "monotonic": now(), "realtime": time.time_ns(), "host": "here", "boot": "now", "torch": "2.13.0", "program": "speaks.py", "cores": 8})
say("loader", now(), 0, {"dataset": "Spoken", "batch_size": 16, "num_workers": 0})
say("epoch", now(), 0, 0, 0)
for batch in range(10_000_000):
    indices = struct.pack("<16Q", *(random.randrange(10**9) for _ in range(16)))
    say("wait", now(), 0)
    say("dispatch", now(), 0, 0, batch, None, batch, base64.b64encode(indices).decode())
    say("yield", now(), 0, 0, batch)
    if batch % 20 == 0: time.sleep(0.001)
"#;

/// Without a reachable display, a watched program is recorded into the journal.
#[test]
fn a_killed_watch_leaves_a_limited_recording() {
    let Some(python) = needed_python() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let script = dir.path().join("speaks.py");
    std::fs::write(&script, SPEAKS).expect("there is room");
    let folder = dir.path().join("data/loadscope/journal");
    std::fs::create_dir_all(&folder).expect("there is room");
    let child = program()
        .args(["watch", "--max-size", "1MB", "--"])
        .arg(python)
        .arg(&script)
        .env("XDG_DATA_HOME", dir.path().join("data"))
        .env("DISPLAY", ":4567")
        .env_remove("WAYLAND_DISPLAY")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.expect("the executable starts");
    let begun = Instant::now();
    let parts = || {
        let folders = std::fs::read_dir(&folder).expect("a folder").flatten();
        folders.map(|entry| entry.path()).find(|path| path.is_dir())
    };
    // The test waits until parts are dropped.
    let is_full = || parts().is_some_and(|parts| parts.join("kept.jsonl.zst").exists());
    let dropped = || parts().is_some_and(|parts| !parts.join("000000.jsonl.zst").exists());
    while !(is_full() && dropped()) {
        assert!(begun.elapsed() < PATIENCE, "{} bytes", size(&folder));
        assert!(size(&folder) <= MOST, "{} bytes", size(&folder));
        assert!(child.try_wait().expect("it is ours").is_none());
        std::thread::sleep(Duration::from_millis(10));
    }
    let journal = Journal::at(&folder);
    assert_eq!(journal.unsaved_runs(), [], "it is being written");
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    assert!(size(&folder) <= MOST, "{} bytes", size(&folder));
    let found = journal.unsaved_runs();
    let [left] = &found[..] else {
        panic!("one is offered, not {found:?}");
    };
    assert_eq!(
        (left.dataset.as_str(), left.bytes),
        ("Spoken from speaks.py", size(&folder))
    );
    let facts = json(&info(&left.path));
    assert!(facts["past"]["batches"].as_u64().is_some_and(|n| n > 100));
    assert_eq!(facts["errors"], 0);
    journal.remove(&left.path).expect("on request");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
}

#[test]
fn invalid_limits_are_refused() {
    let text = |args: &[&str]| {
        let output = loadscope(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(text(&["record", "--last", "30", "--", "true"]).contains("with its unit"));
    let said = text(&["record", "--max-size", "10KB", "--", "true"]);
    assert!(
        said.contains("'10KB' for '--max-size <SIZE>': 10KB is too small")
            && said.contains("Example: 200MB."),
        "{said}"
    );
    // The folder of the parts must be next to a regular file.
    let said = command_error(&[
        "run",
        "--dataset",
        "synthetic:len=4",
        "--max-size",
        "2MB",
        "--record",
        "/dev/null",
    ]);
    assert!(said.contains("/dev/null is not a file"), "{said}");
}
