//! The browser page in a headless Chromium, driven by `tests/web`. It needs Chromium, its driver, Python and a build with the page (`cargo
//! xtask web`). LOADSCOPE_WEB_RESULTS is the path of a file for the measurements.

#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(clippy::print_stderr, reason = "a test says what it did not run")]

#[allow(dead_code, reason = "live runs need PyTorch; the rest any Python")]
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use loadscope::page::{About, Content, page};
use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{
    Compression, Event, EventKind, Level, LogWriter, Message, Nanos, RunId, RunOptions,
};

use crate::support::{ends, loadscope, python, pytorch};

/// Timeout of the test.
const DEADLINE: Duration = Duration::from_secs(1200);

/// Text that tries to break out of its place in the page.
const HOSTILE: &str =
    "</script><script>window.hacked=1</script><img src=x onerror=hacked=1>\"'`${hacked=1}";

fn events(batches: u64) -> Vec<Event> {
    let options = RunOptions {
        dataset: format!("synthetic:len={},cost_ms=20", batches * 4),
        batch_size: Some(4),
        num_workers: 4,
        prefetch_factor: Some(2),
        shuffle: true,
        ..RunOptions::default()
    };
    simulate(&options, &SyntheticCatalog).expect("it can be simulated")
}

fn write(path: &Path, events: &[Event], compression: Compression) {
    let mut log = LogWriter::new(Vec::new(), compression).expect("a vector");
    for event in events {
        log.write(event).expect("a vector");
    }
    fs::write(path, log.finish().expect("a vector")).expect("a new folder");
}

/// Writes a recording whose texts and name are all hostile.
fn hostile(folder: &Path) {
    let mut events = events(20);
    for event in &mut events {
        if let EventKind::RunStarted(info) = &mut event.kind {
            info.options.dataset = HOSTILE.to_owned();
            info.classes = vec![HOSTILE.to_owned(); 3];
        }
    }
    let last = events.last().map_or(Nanos::ZERO, |event| event.at);
    events.push(Event {
        at: last,
        run: RunId(0),
        kind: EventKind::Message(Box::new(Message {
            level: Level::Error,
            text: HOSTILE.to_owned(),
            about: None,
            worker: None,
            sample: None,
        })),
    });
    let name = "hostile<img src=x onerror=hacked=1>.jsonl";
    write(&folder.join(name), &events, Compression::None);
}

#[test]
fn the_window_works_in_a_browser() {
    if page(&About::default(), Content::default()).is_err() {
        eprintln!("NOT RUN: this build has no page for a browser: cargo xtask web");
        return;
    }
    let Some(any) = python() else {
        eprintln!("NOT RUN: there is no Python");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, batches) in [
        ("small", 20),
        ("ten_thousand", 10_000),
        ("hundred_thousand", 100_000),
    ] {
        let path = folder.path().join(format!("{name}.jsonl.zst"));
        write(&path, &events(batches), Compression::Zstd);
    }
    hostile(folder.path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/web");
    let mut attempt = Command::new(any);
    attempt
        .arg(root.join("attempt.py"))
        .arg(env!("CARGO_BIN_EXE_loadscope"))
        .arg(folder.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("XDG_DATA_HOME", folder.path().join("data"));
    if let Some(pytorch) = pytorch() {
        attempt.arg("--python").arg(pytorch);
    }
    for (variable, argument) in [
        ("LOADSCOPE_WEB_RESULTS", "--results"),
        ("LOADSCOPE_WEB_PICTURES", "--pictures"),
    ] {
        if let Some(place) = env::var_os(variable) {
            attempt.arg(argument).arg(place);
        }
    }
    let mut running = attempt.spawn().expect("Python starts");
    ends(&mut running, DEADLINE);
    assert!(running.wait().is_ok_and(|s| s.success()), "see above");
}

/// A build without the page names the remedy. A build with it writes a file with the recording.
#[test]
fn a_recording_is_shared_as_one_file_or_the_remedy_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = folder.path().join("run.jsonl");
    write(&recording, &events(20), Compression::None);
    let out = folder.path().join("run.html");
    let (recording, shown) = (recording.display().to_string(), out.display().to_string());
    let said = loadscope(&["share", &recording, "-o", &shown]);
    let stderr = String::from_utf8_lossy(&said.stderr).into_owned();
    if page(&About::default(), Content::default()).is_err() {
        assert!(!said.status.success() && !out.exists());
        assert!(stderr.contains("cargo xtask web"), "{stderr}");
        let viewed = loadscope(&["view", &recording]);
        let stderr = String::from_utf8_lossy(&viewed.stderr).into_owned();
        assert!(stderr.contains("cargo xtask web"), "{stderr}");
        return;
    }
    assert!(said.status.success(), "{stderr}");
    let text = fs::read_to_string(&out).expect("it is there");
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("Content-Security-Policy"));
    // The report is shown without WebGL or JavaScript.
    for part in ["<pre id=\"report\">Waited", "<noscript>"] {
        assert!(text.contains(part), "{part} is missing");
    }
    // Existing files and the recording are not overwritten.
    let again = loadscope(&["share", &recording, "-o", &shown]);
    assert!(!again.status.success());
    assert_eq!(fs::read_to_string(&out).expect("it is there"), text);
    let onto_itself = loadscope(&["share", &recording, "-o", &recording, "--force"]);
    assert!(!onto_itself.status.success());
    let forced = loadscope(&[
        "share",
        &recording,
        "-o",
        &shown,
        "--force",
        "--no-contents",
    ]);
    assert!(forced.status.success());
    let two = folder.path().join("two.html").display().to_string();
    let said = loadscope(&["share", &recording, &recording, "-o", &two]);
    assert!(said.status.success());
    let text = fs::read_to_string(&two).expect("it is there");
    assert!(
        !text.contains("id=\"other\"></script>"),
        "the second recording is missing"
    );
    let nothing = loadscope(&["share", &shown, "-o", &format!("{shown}.html")]);
    assert!(!nothing.status.success());
}
