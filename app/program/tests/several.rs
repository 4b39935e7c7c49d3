//! Several loaders, ranks and recordings on the command line.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadscope::page::{About, Content, page};
use loadscope_files::{Existing, GrowingFile};
use loadscope_trace::{
    BatchId, Compression, Event, EventKind, LogWriter, Nanos, Origin, RunId, RunInfo, RunOptions,
    Stage,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::loadscope;

const MS: i64 = 1_000_000;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\u{2009}', " ")
}

fn stdout_of(args: &[&str]) -> String {
    let output = loadscope(args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(args)).expect("one JSON object")
}

/// Returns the events of a rank: 12 batches, one every 100 ms, each with a wait of `waits` ms. A second loader validates with 3 batches.
fn rank(number: u32, host: &str, began: i64, waits: i64) -> Vec<Event> {
    let mut events = Vec::new();
    for (run, dataset, batches) in [(0, "Photos to train", 12), (1, "Photos to validate", 3)] {
        let mut tell = |ms: i64, kind| {
            events.push(Event {
                at: Nanos(ms * MS),
                run: RunId(run),
                kind,
            });
        };
        let info = RunInfo {
            origin: Origin::Pytorch("2.13.0".to_owned()),
            dataset: dataset.to_owned(),
            rank: number,
            world_size: 2,
            host: host.to_owned(),
            started_unix_ns: 1_790_000_000_000 * MS + began * MS,
            options: RunOptions::default(),
            ..RunInfo::default()
        };
        tell(0, EventKind::RunStarted(Box::new(info)));
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for k in 0..batches {
            let at = i64::from(run) * 1300 + i64::from(k) * 100;
            let batch = BatchId { epoch: 0, idx: k };
            let enter = |stage| EventKind::Entered { batch, stage };
            tell(at, EventKind::dispatched(batch, None, [u64::from(k)]));
            tell(at, EventKind::Consumer { waiting: true });
            tell(at, enter(Stage::Fetching));
            tell(
                at + if run == 0 { waits } else { 5 },
                enter(Stage::Training),
            );
        }
        tell(
            i64::from(run) * 1300 + i64::from(batches) * 100,
            EventKind::EpochEnded { epoch: 0 },
        );
    }
    events.sort_by_key(|event| event.at);
    events
}

fn write(path: &Path, events: &[Event]) {
    let mut log = LogWriter::create(path).expect("the folder is writable");
    events
        .iter()
        .for_each(|event| log.write(event).expect("there is room"));
    log.finish().expect("there is room");
}

/// Writes the recordings of two ranks on two hosts. The second has a slow loader and a clock that is 40 ms ahead.
fn job() -> (TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(&dir.path().join("b.jsonl.zst"), &rank(0, "gpu-a", 0, 5));
    write(&dir.path().join("a.jsonl"), &rank(1, "gpu-b", 40, 60));
    std::fs::write(dir.path().join("notes.txt"), "hello").expect("there is room");
    let path = dir.path().to_str().expect("plain letters").to_owned();
    (dir, path)
}

#[test]
fn a_folder_is_one_session_and_skipped_files_are_named() {
    let (_dir, path) = job();
    let output = loadscope(&["info", &path]);
    let said = text(&output.stderr);
    assert!(
        said.contains("notes.txt: skipped, it is a text file, not a recording"),
        "{said}"
    );
    let info = json(&["info", &path, "--json"]);
    // The output has values of each loader, and totals.
    let loaders = info["loaders"].as_array().expect("a list");
    let of = |key: &str| -> Vec<&Value> { loaders.iter().map(|l| &l[key]).collect() };
    assert_eq!(of("number"), [0, 1, 2, 3]);
    assert_eq!(of("rank"), [0, 0, 1, 1]);
    assert_eq!(of("host"), ["gpu-a", "gpu-a", "gpu-b", "gpu-b"]);
    assert_eq!(of("recording"), ["b", "b", "a", "a"]);
    assert_eq!(of("batches"), [12, 3, 12, 3]);
    assert_eq!((&info["batches"], &info["ranks"]), (&30.into(), &2.into()));
    let waited: f64 = loaders
        .iter()
        .filter_map(|l| l["waited_seconds"].as_f64())
        .sum();
    let sum = info["waited_seconds"].as_f64().expect("a number");
    assert!(
        (sum - waited).abs() < 1e-9 && (sum - 0.81).abs() < 1e-9,
        "{sum}"
    );
    // The ranks' steps end together, which reveals the clock offset and its uncertainty.
    assert_eq!(loaders[0]["clock"], Value::Null);
    assert_eq!(loaders[2]["clock"]["by"], "steps");
    assert!(loaders[2]["clock"]["within"].as_i64() < Some(MS));
    let text = stdout_of(&["info", &path]);
    assert!(text.contains("Rank 1 is the straggler"), "{text}");
    assert!(
        text.contains("gpu-b: clock aligned by its first training steps"),
        "{text}"
    );
}

#[test]
fn a_folder_with_one_recording_is_reported_like_the_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("run.jsonl.zst");
    write(&file, &rank(0, "gpu-a", 0, 5));
    let (file, folder) = (
        file.to_str().expect("text"),
        dir.path().to_str().expect("text"),
    );
    assert_eq!(
        stdout_of(&["info", file, "--json"]),
        stdout_of(&["info", folder, "--json"])
    );
    let report = |path: &str| {
        let said = stdout_of(&["report", path, "--json"]);
        let mut report: Value = serde_json::from_str(&said).expect("one object");
        assert_eq!(report["file"], path);
        report["file"].take();
        report
    };
    assert_eq!(report(file), report(folder));
}

#[test]
fn damaged_and_truncated_files_are_named_and_others_open() {
    let (dir, path) = job();
    let whole = std::fs::read(dir.path().join("a.jsonl")).expect("it is there");
    std::fs::write(dir.path().join("cut.jsonl"), &whole[..whole.len() / 2]).expect("there is room");
    let broken = [&whole[..whole.len() / 2], b"\nnonsense\n"].concat();
    std::fs::write(dir.path().join("broken.jsonl"), broken).expect("there is room");
    let output = loadscope(&["info", &path, "--json"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    assert!(
        err.contains("broken.jsonl") && err.contains("cut.jsonl"),
        "{err}"
    );
    let info: Value = serde_json::from_str(&out).expect("one object");
    assert_eq!(info["cut"], true);
    // The data before the damage is shown.
    assert_eq!(info["loaders"].as_array().map(Vec::len), Some(8));
    let empty = tempfile::tempdir().expect("a temporary folder");
    for command in ["info", "open", "report"] {
        let refused = loadscope(&[command, empty.path().to_str().expect("text")]);
        assert!(!refused.status.success());
        assert!(text(&refused.stderr).contains("is empty"));
    }
}

#[test]
fn the_report_names_the_chosen_loader() {
    let (dir, path) = job();
    // The default is the loader that training waited for longest.
    let report = json(&["report", &path, "--json"]);
    assert_eq!(
        (&report["loader"]["number"], &report["loader"]["chosen"]),
        (&2.into(), &"waited for longest".into())
    );
    let others = report["other_loaders"].as_array().expect("a list");
    assert_eq!(
        others.iter().map(|l| &l["number"]).collect::<Vec<_>>(),
        [0, 1, 3]
    );
    assert_eq!(report["summary"]["batches"], 12);
    for (asked, number) in [("3", 3), ("rank 0", 0), ("validate", 1), ("gpu-b", 2)] {
        let report = json(&["report", &path, "--json", "--loader", asked]);
        assert_eq!(report["loader"]["number"], number, "{asked}");
        assert_eq!(report["loader"]["chosen"], "asked for");
    }
    let page = dir.path().join("report.html");
    let said = stdout_of(&["report", &path, "--html", page.to_str().expect("text")]);
    let sentence = "This report is about loader 2 (rank 1 · Photos to train), the one with the longest wait. Training waited 720 ms for it. Other loaders: 60.0 ms for loader 0";
    assert!(said.contains(sentence), "{said}");
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(
        page.contains("This report is about loader 2 (rank 1"),
        "{page}"
    );
    let refused = loadscope(&["report", &path, "--loader", "rank 7"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("Available: 0 (rank 0 · Photos to train)"));
    // These commands also analyze one loader.
    let compared = json(&[
        "compare",
        &path,
        &path,
        "--loader",
        "0",
        "--other-loader",
        "2",
        "--json",
    ]);
    assert_eq!(compared["loaders"][0]["number"], 0);
    assert_eq!(compared["loaders"][1]["number"], 2);
    let forecast = json(&["what-if", &path, "--loader", "rank 0", "--json"]);
    assert_eq!(forecast["loader"]["number"], 0);
    let one = json(&["info", &path, "--loader", "1", "--json"]);
    assert_eq!(
        (&one["batches"], &one["loaders"][0]["number"]),
        (&3.into(), &1.into())
    );
}

#[test]
fn a_folder_is_shared_as_one_recording_with_all_loaders() {
    let (_dir, path) = job();
    let out = tempfile::tempdir().expect("a temporary folder");
    let shown = out.path().join("x.html");
    let shared = loadscope(&["share", &path, "-o", shown.to_str().expect("text")]);
    let said = text(&shared.stderr);
    if page(&About::default(), Content::default()).is_err() {
        assert!(said.contains("cargo xtask web"), "{said}");
        return;
    }
    assert!(shared.status.success(), "{said}");
    assert!(said.contains("notes.txt: skipped"), "{said}");
    let shown = std::fs::read_to_string(shown).expect("it was written");
    let (_, rest) = shown
        .split_once("id=\"recording\">")
        .expect("the page has a recording");
    let (recording, _) = rest.split_once("</script>").expect("it has an end");
    let packed = out.path().join("packed.jsonl.zst");
    let bytes = STANDARD.decode(recording).expect("it is base64");
    std::fs::write(&packed, bytes).expect("there is room");
    let info = json(&["info", packed.to_str().expect("text"), "--json"]);
    let loaders = info["loaders"].as_array().expect("a list");
    let of = |key: &str| -> Vec<&Value> { loaders.iter().map(|l| &l[key]).collect() };
    assert_eq!(of("rank"), [0, 0, 1, 1]);
    assert_eq!(of("recording"), ["b", "b", "a", "a"]);
    assert_eq!(of("batches"), [12, 3, 12, 3]);
}

#[test]
fn all_loaders_or_one_are_exported() {
    let (_dir, path) = job();
    let out = tempfile::tempdir().expect("a temporary folder");
    let rows = |name: &str, more: &[&str]| {
        let to = out.path().join(name);
        let args = [
            "export",
            &path,
            "--to",
            "csv",
            "-o",
            to.to_str().expect("text"),
        ];
        stdout_of(&[&args[..], more].concat());
        let table = std::fs::read_to_string(to.join("batches.csv")).expect("it was written");
        table.lines().count() - 1
    };
    assert_eq!(rows("all", &[]), 30);
    assert_eq!(rows("one", &["--loader", "rank 1"]), 12);
}

/// Returns the names of the processes in the trace of `path`.
fn process_names(path: &str) -> Vec<String> {
    let out = tempfile::tempdir().expect("a temporary folder");
    let to = out.path().join("x.json");
    let file = to.to_str().expect("text");
    stdout_of(&["export", path, "--to", "perfetto", "-o", file]);
    let trace = std::fs::read(&to).expect("it was written");
    let trace: Value = serde_json::from_slice(&trace).expect("one JSON object");
    let events = trace["traceEvents"].as_array().expect("a list");
    let names = events.iter().filter(|e| e["name"] == "process_name");
    let name = |e: &Value| e["args"]["name"].as_str().expect("a name").to_owned();
    names.map(name).collect()
}

/// Regression test: loaders of one line had the same name.
#[test]
fn the_processes_of_a_trace_have_different_names() {
    let (_dir, path) = job();
    let names = process_names(&path);
    assert_eq!(names.len(), 4, "{names:?}");
    let different: BTreeSet<&String> = names.iter().collect();
    assert_eq!(different.len(), 4, "{names:?}");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("run.jsonl");
    let mut events = rank(0, "gpu-a", 0, 5);
    for event in &mut events {
        if let EventKind::RunStarted(info) = &mut event.kind {
            info.dataset = "Photos".to_owned();
        }
    }
    write(&file, &events);
    let names = process_names(file.to_str().expect("text"));
    assert_eq!(names.len(), 2, "{names:?}");
    assert_ne!(names[0], names[1]);
}

#[test]
fn a_set_step_removes_the_note_on_the_recorded_step() {
    let (_dir, path) = job();
    let assumptions = |set: &[&str]| {
        let args = ["what-if", &path, "--loader", "rank 0", "--json"];
        json(&[&args[..], set].concat())["assumptions"].to_string()
    };
    let is_on_steps = |text: &str| text.contains("training step uses") || text.contains("on a GPU");
    assert!(is_on_steps(&assumptions(&[])));
    for set in ["trainer_cpu=1", "step_ms=50"] {
        let said = assumptions(&["--set", set]);
        assert!(!is_on_steps(&said), "{set}: {said}");
    }
}

#[test]
fn an_active_recording_is_not_called_truncated() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    let mut log = LogWriter::new(Vec::new(), Compression::None).expect("a vector");
    for event in rank(0, "gpu-a", 0, 5) {
        log.write(&event).expect("a vector");
    }
    let whole = log.finish().expect("a vector");
    let mut growing = GrowingFile::create(&path, Existing::Keep, b"").expect("a free name");
    let begun = growing.write_all(&whole[..whole.len() - 30]);
    begun.expect("there is room");
    let name = path.to_str().expect("plain letters");
    for command in ["info", "report"] {
        let said = stdout_of(&[command, name]);
        assert!(said.contains("is still being written"), "{said}");
        assert!(!said.contains("truncated"), "{said}");
    }
    growing.finish().expect("there is room");
    for command in ["info", "report"] {
        let said = stdout_of(&[command, name]);
        assert!(said.contains("is truncated"), "{said}");
    }
}

#[test]
fn standard_input_is_refused_with_the_remedy() {
    for args in [
        &["report", "-"][..],
        &["info", "-"],
        &["export", "-", "--to", "chrome", "-o", "unwritten.json"],
        &["compare", "-", "-"],
    ] {
        let output = loadscope(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.contains("Save it to a file first."),
            "{args:?}: {said}"
        );
    }
}
