//! The command line, run as a user runs it.

use std::path::Path;
use std::process::{Command, Output};

fn loadscope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loadscope"))
        .args(args)
        // Without a display, opening a window is an error like any other.
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("the executable starts")
}

fn json(output: &Output) -> serde_json::Value {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else")
}

/// Runs what must fail with exit code 2 and one sentence.
fn refusal(args: &[&str]) -> String {
    let output = loadscope(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(text.starts_with("loadscope: "), "{text}");
    text
}

#[test]
fn a_run_and_its_recording_tell_the_same_facts() {
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
    let text = refusal(&["run", "--config", config]);
    assert!(
        text.contains("options.toml") && text.contains("batchsize") && text.contains("batch_size"),
        "{text}"
    );
}

#[test]
fn bad_input_is_a_sentence_with_a_remedy() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("there is room");
        path.to_str().expect("plain letters").to_owned()
    };
    let newer = file("newer.jsonl", b"{\"loadscope\": 99}\n");
    let binary = file("binary.jsonl", &[0x89, b'P', b'N', b'G', 0, 1, 2, 0xFF]);
    for command in ["info", "open"] {
        assert!(refusal(&[command, &newer]).contains("Open it with a newer Loadscope"));
        let said = refusal(&[command, &binary]);
        assert!(
            said.contains("is a PNG picture") && said.contains("torch.profiler"),
            "{said}"
        );
        assert!(refusal(&[command, "/no/such.jsonl"]).contains("Check the path"));
    }
    let folder = format!("folder:{}", dir.path().display());
    assert!(refusal(&["run", "--dataset", "folder:/no/such"]).contains("Check the spelling"));
    assert!(refusal(&["run", "--dataset", &folder]).contains("picture"));
    assert!(refusal(&["run", "--dataset", "imagenet"]).contains("Possible are digits"));
    assert!(refusal(&["run", "--prefetch-factor", "2"]).contains("num_workers > 0"));
    assert!(refusal(&["run", "--batch-size", "0"]).contains("batch_size"));
    let negative = loadscope(&["run", "--num-workers", "-1"]);
    assert_eq!(negative.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&negative.stderr).contains("should be non-negative"));
    assert!(refusal(&["run", "--record", "/no/such/run.jsonl"]).contains("/no/such/run.jsonl"));
    let failing = refusal(&["run", "--dataset", "synthetic:len=4,cost_ms=0,fail=2"]);
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
fn without_a_display_the_window_says_what_else_there_is() {
    if cfg!(target_os = "linux") {
        assert!(refusal(&[]).contains("loadscope run"));
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_leaves_a_whole_recording() {
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
    // Interrupt it once it has something to lose.
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
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while child.try_wait().expect("it is our child").is_none() {
        assert!(std::time::Instant::now() < deadline, "it does not end");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
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

/// The form of the answer, and what is refused; whether the indices are PyTorch's is another test's matter.
#[test]
fn orders_are_foretold() {
    let args = "order --len 23 --sampler distributed --world 8 --rank 3 --seed 7 --batch-size 2 --epochs 2 --num-workers 2 --json";
    let args: Vec<&str> = args.split_whitespace().collect();
    let order = json(&loadscope(&args));
    assert_eq!(order["len"], 2);
    assert_eq!(order["epochs"][0].as_array().map(Vec::len), Some(2));
    assert_ne!(order["epochs"][0], order["epochs"][1]);
    assert_eq!(order["workers"][1], serde_json::json!([0, 1]));
    let seed = |epoch: usize, worker: usize| order["seeds"][epoch][worker].as_u64();
    assert_eq!(seed(0, 0).map(|s| s + 1), seed(0, 1));
    assert_ne!(seed(0, 0), seed(1, 0));

    let stream = "order --len 5 --iterable --num-workers 2 --batch-size none --json";
    let stream: Vec<&str> = stream.split_whitespace().collect();
    let order = json(&loadscope(&stream));
    assert_eq!(order["epochs"][0].as_array().map(Vec::len), Some(10));
    assert!(order["len"].is_null());

    let text = refusal(&["order", "--len", "5", "--sampler", "bogus"]);
    assert!(text.contains("distributed"), "{text}");
    let text = refusal(&["order", "--len", "5", "--sampler", "weighted:/nowhere"]);
    assert!(text.contains("/nowhere"), "{text}");
    let text = refusal(&["order", "--len", "5", "--num-samples", "3"]);
    assert!(text.contains("random and weighted"), "{text}");
    let text = refusal(&["order", "--len", "5", "--world", "2"]);
    assert!(text.contains("distributed"), "{text}");
}

#[test]
fn an_order_without_a_seed_can_be_had_again() {
    let shuffled = ["order", "--len", "50", "--sampler", "random", "--json"];
    let once = loadscope(&shuffled);
    let said = String::from_utf8_lossy(&once.stderr).into_owned();
    let (_, seed) = said.rsplit_once("--global-seed ").expect("it says which");
    let again = loadscope(&[&shuffled[..], &["--global-seed", seed.trim()]].concat());
    assert_eq!(json(&once), json(&again));
    assert!(again.stderr.is_empty());
    let sequential = loadscope(&["order", "--len", "50"]);
    assert!(sequential.status.success() && sequential.stderr.is_empty());
}

/// What the real PyTorch yielded, from the reference cases.
#[test]
fn an_order_is_pytorchs() {
    let cases = include_str!("../../tests/reference/golden/loader_order.json");
    let cases: serde_json::Value = serde_json::from_str(cases).expect("the cases are JSON");
    let mut checked = 0;
    for case in cases["cases"].as_array().expect("a list") {
        let input = &case["in"];
        if case["op"] != "DataLoader" || !input["prefetch_factor"].is_null() {
            continue;
        }
        // One in eight: each starts the program.
        checked += 1;
        if checked % 8 != 0 {
            continue;
        }
        let text = |key: &str| input[key].to_string();
        let size = match input["batch_size"].as_u64() {
            Some(size) => size.to_string(),
            None => "none".to_owned(),
        };
        let seed = match input["rng"].as_str() {
            Some("default") => "--global-seed",
            _ => "--seed",
        };
        let (n, workers, value) = (text("n"), text("num_workers"), text("seed"));
        let mut args = vec![
            "order",
            "--len",
            &n,
            "--batch-size",
            &size,
            "--num-workers",
            &workers,
        ];
        args.extend([seed, &value, "--epochs", "2", "--json"]);
        for (key, flag) in [
            ("drop_last", "--drop-last"),
            ("persistent_workers", "--persistent-workers"),
        ] {
            if input[key] == true {
                args.push(flag);
            }
        }
        if input["shuffle"] == true {
            args.extend(["--sampler", "random"]);
        }
        let order = json(&loadscope(&args));
        let out = &case["out"];
        assert_eq!(order["len"], out["len"], "{args:?}");
        for epoch in 0..2 {
            // Without batches PyTorch hands out bare indices.
            let expected: Vec<serde_json::Value> = out["epochs"][epoch]["batches"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|b| {
                    if b.is_array() {
                        b.clone()
                    } else {
                        serde_json::json!([b])
                    }
                })
                .collect();
            assert_eq!(
                order["epochs"][epoch],
                serde_json::json!(expected),
                "{args:?}"
            );
            assert_eq!(
                order["workers"][epoch], out["epochs"][epoch]["workers"],
                "{args:?}"
            );
            if let Some(seed) = out["epochs"][epoch]["base_seed"].as_u64() {
                assert_eq!(order["seeds"][epoch][0].as_u64(), Some(seed), "{args:?}");
            }
        }
    }
    assert!(checked > 80, "{checked}");
}

#[test]
fn what_other_tools_wrote_is_read_and_what_they_did_not_measure_is_missing() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
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
    assert_eq!(broken.status.code(), Some(1), "nobody knows");
}

#[test]
fn a_recording_is_exported() {
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
    assert_eq!(said("csv", &path("run.csv")), 3);
    assert_eq!(said("parquet", &path("tables")), 3);
    let trace: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path("run.json")).expect("there")).expect("JSON");
    assert!(
        trace["traceEvents"]
            .as_array()
            .is_some_and(|e| e.len() > 100)
    );
    assert!(dir.path().join("tables/samples.parquet").exists());
    assert!(dir.path().join("run.gauges.csv").exists());
    let text = refusal(&["export", &run, "--to", "csv", "-o", "/no/such/run.csv"]);
    assert!(text.contains("cannot export to /no/such"), "{text}");
    let text = refusal(&["info", &path("run.json")]);
    assert!(text.contains("Open the recording itself"), "{text}");
}
