//! Tests of the command line.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::path::Path;
use std::process::Command;

use crate::support::{command_error, ends, json, loadscope};

#[test]
fn a_run_and_its_recording_report_the_same_facts() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for name in ["run.jsonl.zst", "run.jsonl"] {
        let path = dir.path().join(name);
        let file = path.to_str().expect("plain letters");
        let args = "run --dataset digits --batch-size 64 --shuffle --seed 7 --num-workers 3 --prefetch-factor 2 \
                    --drop-last --persistent-workers --pin-memory=mlock --epochs 2 --step-ms 0.1 --json --record";
        let mut args: Vec<&str> = args.split_whitespace().collect();
        args.push(file);
        let run = json(&loadscope(&args));
        assert_eq!(
            (&run["epochs"], &run["batches"], &run["samples"]),
            (&2.into(), &56.into(), &3584.into())
        );
        assert_eq!((&run["dropped"], &run["errors"]), (&0.into(), &0.into()));
        assert!(
            run["seconds"].as_f64() > Some(0.0)
                && run["waited_seconds"].as_f64() <= run["seconds"].as_f64()
        );
        let info = json(&loadscope(&["info", file, "--json"]));
        assert_eq!(run, info);
        assert!(
            info["pinning"]
                .as_str()
                .is_some_and(|p| p.contains("mlock"))
        );
    }
}

#[test]
fn recording_changes_no_count() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let plain = "run --dataset digits --shuffle --seed 3 --num-workers 2 --json";
    let mut args: Vec<&str> = plain.split_whitespace().collect();
    let without = json(&loadscope(&args));
    args.extend(["--record", path.to_str().expect("plain letters")]);
    let with = json(&loadscope(&args));
    for key in [
        "epochs",
        "batches",
        "samples",
        "failed",
        "discarded",
        "dropped",
    ] {
        assert_eq!(without[key], with[key], "{key}");
    }
}

#[test]
fn options_come_from_a_file_and_arguments_win() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("options.toml");
    std::fs::write(
        &path,
        "dataset = \"synthetic:len=10,cost_ms=0\"\nbatch_size = 5\nnum_workers = 2\n",
    )
    .expect("there is room");
    let config = path.to_str().expect("plain letters");
    let run = json(&loadscope(&[
        "run",
        "--config",
        config,
        "--batch-size",
        "2",
        "--json",
    ]));
    assert_eq!((&run["batches"], &run["samples"]), (&5.into(), &10.into()));
    assert_eq!(run["options"]["num_workers"], 2);
    std::fs::write(&path, "batchsize = 5\n").expect("there is room");
    let text = command_error(&["run", "--config", config]);
    assert!(
        text.contains("options.toml:1: unknown key 'batchsize'. Did you mean batch_size? Valid: "),
        "{text}"
    );
    for (lines, said) in [
        (
            "batch_size = 5\nnum_workers = \"four\"\n",
            "options.toml:2: num_workers: \"four\" is not a whole number",
        ),
        (
            "epochs = 1.5\n",
            "options.toml:1: epochs: 1.5 is not a whole number",
        ),
        (
            "step_ms = true\n",
            "options.toml:1: step_ms: true is not a number",
        ),
        ("\nepochs\n", ": it is not valid TOML ("),
        (
            "dataset = digits\n",
            "quote strings, as in dataset = \"digits\".",
        ),
    ] {
        std::fs::write(&path, lines).expect("there is room");
        let text = command_error(&["run", "--config", config]);
        assert!(
            text.contains(said) && text.trim_end().lines().count() == 1,
            "{text}"
        );
    }
}

#[test]
fn a_process_id_is_a_number() {
    let texts = ["abc", "0", "1.5", "99999999999"];
    for (text, command) in texts.iter().flat_map(|t| [(*t, "attach"), (*t, "dump")]) {
        let output = loadscope(&[command, text]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("expected a process ID. Find it with `ps -ef`."),
            "{said}"
        );
        assert!(!said.contains("invalid digit"), "{said}");
    }
}

/// Regression test: `attach` waited forever for a program that can never answer.
#[test]
#[cfg(target_os = "linux")]
fn a_program_without_python_is_refused_at_once() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut other = Command::new("sleep")
        .arg("60")
        .spawn()
        .expect("the executable starts");
    let mut attached = Command::new(env!("CARGO_BIN_EXE_loadscope"))
        .args(["attach", &other.id().to_string()])
        .current_dir(dir.path())
        .env("LC_ALL", "C.UTF-8")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the executable starts");
    ends(&mut attached, std::time::Duration::from_secs(20));
    let _ = other.kill();
    let _ = other.wait();
    let output = attached.wait_with_output().expect("it has ended");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let says = "is not Python and has no Python child process";
    assert!(said.contains(says), "{said}");
}

#[test]
fn bad_input_is_refused_with_a_remedy() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("there is room");
        path.to_str().expect("plain letters").to_owned()
    };
    let newer = file("newer.jsonl", b"{\"loadscope\": 99}\n");
    let binary = file("binary.jsonl", &[0x89, b'P', b'N', b'G', 0, 1, 2, 0xFF]);
    for command in ["info", "open"] {
        assert!(command_error(&[command, &newer]).contains("Open it with a newer Loadscope"));
        let said = command_error(&[command, &binary]);
        assert!(
            said.contains("is a PNG image") && said.contains("torch.profiler"),
            "{said}"
        );
        assert!(
            command_error(&[command, "/no/such.jsonl"])
                .contains("/no/such.jsonl: not found. Check the path.")
        );
    }
    let damaged = file(
        "damaged.jsonl",
        b"{\"loadscope\":1}\n{\"t\":1,\"e\":\"entered\"}\n{\"t\":\"now\",\"e\":\"run_ended\"}\n",
    );
    let said = command_error(&["info", &damaged]);
    let command = format!("`loadscope repair {damaged}`");
    assert!(
        said.contains("line 2 of the recording is damaged: ") && said.contains(&command),
        "{said}"
    );
    let program = file("train.py", b"import torch\n");
    let command = format!("`loadscope record -- python {program}`");
    for said in [
        command_error(&["report", &program]),
        command_error(&["open", &program]),
    ] {
        assert!(said.contains(&command), "{said}");
    }
    let folder = format!("folder:{}", dir.path().display());
    assert!(
        command_error(&["run", "--dataset", "folder:/no/such"])
            .contains("not found. Check the path.")
    );
    assert!(command_error(&["run", "--dataset", &folder]).contains("image"));
    assert!(command_error(&["run", "--dataset", "imagenet"]).contains("Valid: digits"));
    assert!(command_error(&["run", "--prefetch-factor", "2"]).contains("num_workers > 0"));
    assert!(command_error(&["run", "--batch-size", "0"]).contains("batch_size"));
    let negative = loadscope(&["run", "--num-workers", "-1"]);
    assert_eq!(negative.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&negative.stderr).contains("should be non-negative"));
    assert!(
        command_error(&["run", "--record", "/no/such/run.jsonl"]).contains("/no/such/run.jsonl")
    );
    let failing = command_error(&["run", "--dataset", "synthetic:len=4,cost_ms=0,fail=2"]);
    assert!(failing.contains("sample 2"), "{failing}");
}

#[test]
fn a_recording_cut_in_half_is_read_up_to_the_cut() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    let name = path.to_str().expect("plain letters");
    json(&loadscope(&[
        "run",
        "--num-workers",
        "2",
        "--json",
        "--record",
        name,
    ]));
    let whole = std::fs::read(&path).expect("just written");
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("there is room");
    let info = json(&loadscope(&["info", name, "--json"]));
    assert_eq!(info["cut"], true);
    assert!(info["batches"].as_u64() > Some(5));
    assert!(Path::new(name).exists());
}

#[test]
fn the_error_for_a_missing_display_suggests_the_report() {
    if cfg!(target_os = "linux") {
        assert!(command_error(&[]).contains("`loadscope report FILE`"));
    }
}

#[test]
fn watch_starts_no_program_without_a_display() {
    if cfg!(target_os = "linux") {
        let said = command_error(&["watch", "--", "no-such-program"]);
        assert!(
            said.contains("program not started: cannot open a window")
                && said.contains("`loadscope record`"),
            "{said}"
        );
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_leaves_a_complete_recording() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let mut child = Command::new(env!("CARGO_BIN_EXE_loadscope"))
        .args(
            "run --dataset synthetic:len=100000,cost_ms=1 --num-workers 2 --batch-size 4 --record"
                .split(' '),
        )
        .arg(&path)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the executable starts");
    // The signal interrupts the command after it has recorded something.
    let size = || std::fs::metadata(&path).map_or(0, |m| m.len());
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while size() < 1_000 {
        assert!(std::time::Instant::now() < deadline, "it does not record");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.is_ok_and(|s| s.success()));
    ends(&mut child, std::time::Duration::from_secs(20));
    let info = json(&loadscope(&[
        "info",
        path.to_str().expect("plain letters"),
        "--json",
    ]));
    assert_eq!(info["cut"], false);
    assert!(
        info["batches"].as_u64() > Some(0) && info["discarded"].as_u64() > Some(0),
        "{info}"
    );
}

#[test]
fn files_of_other_tools_are_read_without_unmeasured_values() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let path = |name: &str| data.join(name).display().to_string();
    let trace = json(&loadscope(&[
        "info",
        &path("profiler/workers.json.gz"),
        "--json",
    ]));
    assert_eq!(
        (&trace["batches"], &trace["epochs"]),
        (&12.into(), &2.into())
    );
    assert!(trace["samples"].is_null());
    let report = json(&loadscope(&["report", &path("lotus/newer"), "--json"]));
    assert_eq!(report["summary"]["batches"], 20);
    assert!(report["blame"]["fetching"].as_f64() > Some(0.0));
    let spdl = path("spdl/pipeline.sqlite");
    let info = json(&loadscope(&["info", &spdl, "--json"]));
    assert!(info["batches"].is_null() && info["waited_seconds"].is_null());
    let parts = info["parts"].as_array().expect("a list");
    let sink =
        |p: &&serde_json::Value| p["part"] == "0:3:sink queue" && p["what"] == "waiting_to_get";
    let share = parts.iter().find(sink).and_then(|p| p["mean"].as_f64());
    assert!(share.is_some_and(|s| (0.5..0.8).contains(&s)), "{share:?}");
    let report = json(&loadscope(&["report", &spdl, "--json"]));
    assert_eq!(report["verdict"]["id"], "not_measured");
    assert!(report["waited_seconds"].is_null());
    let broken = loadscope(&["report", &spdl, "--fail-on", "wait>10%"]);
    assert_eq!(broken.status.code(), Some(1), "not measured");
}

#[test]
fn a_recording_is_exported_as_chrome_csv_and_parquet() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let run = path("run.jsonl");
    loadscope(&["run", "--num-workers", "2", "--record", &run]);
    let said = |to: &str, out: &str| {
        let output = loadscope(&["export", &run, "--to", to, "-o", out]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout)
            .expect("UTF-8")
            .lines()
            .count()
    };
    assert_eq!(said("chrome", &path("run.json")), 1);
    assert_eq!(said("csv", &path("run.csv")), 7);
    assert_eq!(said("parquet", &path("tables")), 7);
    let trace: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path("run.json")).expect("there")).expect("JSON");
    assert!(
        trace["traceEvents"]
            .as_array()
            .is_some_and(|e| e.len() > 100)
    );
    assert!(dir.path().join("tables/samples.parquet").exists());
    assert!(dir.path().join("run.gauges.csv").exists());
    let text = command_error(&["export", &run, "--to", "csv", "-o", "/no/such/run.csv"]);
    assert!(
        text.contains(": folder /no/such does not exist. Create it first."),
        "{text}"
    );
    for (to, name, other) in [
        ("chrome", "x.parquet", "parquet"),
        ("csv", "x.json", "chrome"),
        ("parquet", "x.CSV", "csv"),
        ("csv", "x.json.gz", "chrome"),
        ("chrome", "x.speedscope.json", "speedscope"),
        ("pprof", "x.json", "chrome"),
        ("parquet", "x.pb.gz", "pprof"),
    ] {
        let text = command_error(&["export", &run, "--to", to, "-o", &path(name)]);
        let remedy = format!("Use --to {other}, or another name");
        assert!(text.contains(name) && text.contains(&remedy), "{text}");
        assert!(!dir.path().join(name).exists(), "{name}");
    }
    assert_eq!(said("csv", &path("tables.v2")), 7);
    // Stacks for speedscope are JSON, so the extension is fine.
    for (to, name) in [("speedscope", "x.json"), ("pprof", "x.gz")] {
        let text = command_error(&["export", &run, "--to", to, "-o", &path(name)]);
        assert!(text.contains("Record again with --stacks 100"), "{text}");
        assert!(!dir.path().join(name).exists(), "{name}");
    }
    let text = command_error(&["info", &path("run.json")]);
    assert!(text.contains("open the recording itself"), "{text}");
}
