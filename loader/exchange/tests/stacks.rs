//! Tests of the exports of sampled stacks. Each format is decoded and compared with the samples.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use crate::support::protobuf::{message, number, numbers, parts};
use loadscope_exchange::{ExportError, Format, export_named};
use loadscope_files::Existing;
use loadscope_trace::{
    Activity, BatchId, Event, EventKind, Function, Nanos, Run, RunId, Stack, StackSamples, Stacks,
    Stage,
};
use serde_json::{Value, json};

const MS: i64 = 1_000_000;

/// Returns the samples of a process at 10 ms intervals. All processes have the same functions and stacks.
fn stacks(worker: Option<u16>, start_ms: i64, samples: &[(Option<u32>, u32)]) -> EventKind {
    let function = |(name, file): (&str, &str)| Function::from((name.to_owned(), file.to_owned()));
    let functions = [
        ("main", "/home/me/train.py"),
        ("fetch", "/v/site-packages/torch/utils/data/_utils/fetch.py"),
        ("Photos.__getitem__", "/home/me/photos.py"),
        ("open", "/v/site-packages/PIL/Image.py"),
        ("step", "/home/me/train.py"),
    ];
    let stacks = [
        (None, 0, 30),
        (Some(0), 1, 54),
        (Some(1), 2, 12),
        (Some(2), 3, 3000),
        (Some(0), 4, 0),
    ];
    let samples = samples.iter().map(|(stack, count)| StackSamples {
        stack: *stack,
        count: *count,
    });
    EventKind::Stacks(Box::new(Stacks {
        worker,
        start: Nanos(start_ms * MS),
        period: Nanos(10 * MS),
        functions: functions.map(function).to_vec(),
        stacks: stacks.map(Stack::from).to_vec(),
        samples: samples.collect(),
        ..Stacks::default()
    }))
}

/// Returns a run whose worker fetches batch 0 from 10 to 60 ms and batch 1 until 95 ms. Training is from 70 to 120 ms.
fn run() -> Run {
    let mut run = Run::default();
    let batch = |idx| BatchId { epoch: 0, idx };
    let enter = |idx, stage| EventKind::Entered {
        batch: batch(idx),
        stage,
    };
    for (at, kind) in [
        (0, EventKind::EpochStarted { epoch: 0 }),
        (5, EventKind::dispatched(batch(0), Some(0), [0])),
        (5, EventKind::dispatched(batch(1), Some(0), [1])),
        (5, EventKind::Consumer { waiting: true }),
        (10, enter(0, Stage::Fetching)),
        (60, enter(0, Stage::Returning)),
        (60, enter(1, Stage::Fetching)),
        (70, enter(0, Stage::Training)),
        (95, enter(1, Stage::Returning)),
        (120, enter(0, Stage::Done)),
        // 10 to 80 ms in `open`, a wait of 20 ms, and line 12 at 100 ms.
        (
            130,
            stacks(Some(0), 10, &[(Some(3), 7), (None, 2), (Some(2), 1)]),
        ),
        (130, stacks(None, 72, &[(Some(4), 4)])),
        // The interval to the sample before is 11 ms, so no sample is missing.
        (131, stacks(None, 113, &[(Some(4), 1)])),
        (200, EventKind::RunEnded),
    ] {
        let (at, run_id) = (Nanos(at * MS), RunId(0));
        run.apply(&Event {
            at,
            run: run_id,
            kind,
        });
    }
    run
}

fn export_to(out: &Path, format: Format, runs: &[&Run]) -> Result<Vec<u8>, ExportError> {
    let runs: Vec<_> = (0..).map(RunId).zip(runs.iter().copied()).collect();
    let names = ["train".to_owned(), "val".to_owned()];
    let files = export_named(&runs, &names, format, out, Existing::Keep, |_| true)?;
    let last = files.last().expect("at least one file");
    Ok(std::fs::read(last).expect("just written"))
}

/// Returns the exported file, or the table of stacks.
fn exported(format: Format, runs: &[&Run]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    export_to(&folder.path().join("out"), format, runs).unwrap_or_else(|e| panic!("{e}"))
}

fn speedscope(runs: &[&Run]) -> Value {
    serde_json::from_slice(&exported(Format::Speedscope, runs)).expect("JSON")
}

#[test]
fn speedscope_profiles_have_all_processes_on_one_time_axis() {
    let file = speedscope(&[&run()]);
    assert_eq!(
        file["$schema"],
        "https://www.speedscope.app/file-format-schema.json"
    );
    let [main, worker] = file["profiles"].as_array().expect("a list").as_slice() else {
        panic!("{file}")
    };
    let frames = |stack: &Value| -> Vec<(Value, Value)> {
        let numbers = stack.as_array().expect("a list").iter();
        let frame = |k: &Value| &file["shared"]["frames"][k.as_u64().expect("a number") as usize];
        numbers
            .map(|k| (frame(k)["name"].clone(), frame(k)["line"].clone()))
            .collect()
    };
    let names = [&main["name"], &worker["name"]];
    assert_eq!(names, ["main process", "worker 0"]);
    for profile in [main, worker] {
        assert_eq!(
            (&profile["type"], &profile["unit"]),
            (&json!("sampled"), &json!("nanoseconds"))
        );
        let weights = profile["weights"].as_array().expect("a list");
        let sum: i64 = weights.iter().filter_map(Value::as_i64).sum();
        assert_eq!(
            (profile["startValue"].as_i64(), profile["endValue"].as_i64()),
            (Some(0), Some(sum))
        );
        assert_eq!(sum, 200 * MS, "the end of the run");
    }
    let weights = |profile: &Value| profile["weights"].clone();
    assert_eq!(
        weights(worker),
        json!([10 * MS, 70 * MS, 20 * MS, 10 * MS, 90 * MS])
    );
    assert_eq!(weights(main), json!([72 * MS, 40 * MS, 11 * MS, 77 * MS]));
    let empty: Vec<bool> = worker["samples"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|s| s == &json!([]))
        .collect();
    assert_eq!(empty, [true, false, true, false, true]);
    let inner = [
        ("main", 30),
        ("fetch", 54),
        ("Photos.__getitem__", 12),
        ("open", 3000),
    ];
    let inner = inner.map(|(name, line)| (json!(name), json!(line)));
    assert_eq!(frames(&worker["samples"][1]), inner);
    assert_eq!(frames(&worker["samples"][3]), inner[..3]);
    let unknown_line = (json!("step"), Value::Null);
    assert_eq!(
        frames(&main["samples"][1]),
        [inner[0].clone(), unknown_line]
    );
}

#[test]
fn profiles_of_several_loaders_have_the_name_of_their_loader() {
    let (run, other) = (run(), Run::default());
    let file = speedscope(&[&run, &run]);
    let names: Vec<&Value> = file["profiles"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|p| &p["name"])
        .collect();
    assert_eq!(
        names,
        [
            "train: main process",
            "train: worker 0",
            "val: main process",
            "val: worker 0"
        ]
    );
    let profiles = speedscope(&[&other, &run])["profiles"]
        .as_array()
        .map(Vec::len);
    assert_eq!(profiles, Some(2), "a loader without stacks has no profile");
}

#[test]
fn pprof_samples_have_stacks_times_and_labels() {
    let packed = exported(Format::Pprof, &[&run()]);
    let mut bytes = Vec::new();
    let mut unpacked = flate2::read::GzDecoder::new(packed.as_slice());
    unpacked.read_to_end(&mut bytes).expect("gzip");
    let profile = message(&bytes);
    let texts: Vec<&str> = parts(&profile, 6)
        .into_iter()
        .map(|text| std::str::from_utf8(text).expect("UTF-8"))
        .collect();
    assert_eq!(texts[0], "");
    let pair = |bytes: &[u8]| {
        let pair = message(bytes);
        (texts[number(&pair, 1)], texts[number(&pair, 2)])
    };
    let types: Vec<_> = parts(&profile, 1).into_iter().map(pair).collect();
    assert_eq!(types, [("samples", "count"), ("time", "nanoseconds")]);
    assert_eq!(pair(parts(&profile, 11)[0]), ("time", "nanoseconds"));
    assert_eq!(
        (number(&profile, 10), number(&profile, 12)),
        (200 * MS as usize, 10 * MS as usize)
    );
    let functions: Vec<_> = parts(&profile, 5).into_iter().map(message).collect();
    let functions: BTreeMap<usize, (&str, &str)> = (functions.iter())
        .map(|one| {
            (
                number(one, 1),
                (texts[number(one, 2)], texts[number(one, 4)]),
            )
        })
        .collect();
    assert_eq!(functions.len(), 5);
    let locations: Vec<_> = parts(&profile, 4).into_iter().map(message).collect();
    let locations: BTreeMap<usize, (&str, usize)> = (locations.iter())
        .map(|one| {
            let line = message(parts(one, 4)[0]);
            (
                number(one, 1),
                (functions[&number(&line, 1)].0, number(&line, 2)),
            )
        })
        .collect();
    let samples: Vec<_> = (parts(&profile, 2).into_iter())
        .map(|sample| {
            let sample = message(sample);
            let innermost = numbers(parts(&sample, 1)[0])[0];
            let labels: Vec<_> = parts(&sample, 3).into_iter().map(pair).collect();
            (locations[&innermost], numbers(parts(&sample, 2)[0]), labels)
        })
        .collect();
    let sample = |frame, count: usize, process, activity: Option<&'static str>| {
        let labels = [("loader", "train"), ("process", process)].into_iter();
        let labels = labels.chain(activity.map(|activity| ("activity", activity)));
        (
            frame,
            vec![count, count * 10 * MS as usize],
            labels.collect::<Vec<_>>(),
        )
    };
    let expected = [
        sample(("step", 0), 5, "main process", Some("training")),
        sample(("Photos.__getitem__", 12), 1, "worker 0", None),
        sample(("open", 3000), 7, "worker 0", Some("fetching")),
    ];
    assert_eq!(samples, expected);
}

#[test]
fn the_table_of_stacks_has_lines_and_batches() {
    let (run, text) = (run(), exported(Format::Csv, &[&run()]));
    let mut reader = csv::Reader::from_reader(text.as_slice());
    let rows: Vec<BTreeMap<String, String>> = reader
        .deserialize()
        .map(|row| row.expect("a row"))
        .collect();
    let columns =
        "worker start_ns count batch activity function line own_function own_line wall_ns"
            .split(' ');
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            columns
                .clone()
                .map(|name| &*row[name])
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    let expected = [
        " 72000000 4 0 training step  step  40000000",
        " 113000000 1 0 training step  step  10000000",
        "0 10000000 5 0 fetching open 3000 Photos.__getitem__ 12 50000000",
        "0 60000000 2 1 fetching open 3000 Photos.__getitem__ 12 20000000",
        "0 100000000 1   Photos.__getitem__ 12 Photos.__getitem__ 12 10000000",
    ];
    assert_eq!(rows, expected);
    let fetching = run.profile(Activity::Fetching, Nanos(0)..Nanos::MAX);
    assert_eq!(fetching.total(), 5 + 2, "as in the report");
}

#[test]
fn stacks_without_workers_belong_to_the_fetch_in_the_main_process() {
    let mut run = Run::default();
    let batch = BatchId { epoch: 0, idx: 0 };
    for (at, kind) in [
        (0, EventKind::EpochStarted { epoch: 0 }),
        (0, EventKind::Consumer { waiting: true }),
        (5, EventKind::dispatched(batch, None, [0])),
        (
            5,
            EventKind::Entered {
                batch,
                stage: Stage::Fetching,
            },
        ),
        (
            45,
            EventKind::Entered {
                batch,
                stage: Stage::Training,
            },
        ),
        (80, stacks(None, 1, &[(Some(3), 8)])),
    ] {
        let (at, id) = (Nanos(at * MS), RunId(0));
        run.apply(&Event { at, run: id, kind });
    }
    let text = exported(Format::Csv, &[&run]);
    let rows = csv::Reader::from_reader(text.as_slice()).into_deserialize();
    let rows: Vec<BTreeMap<String, String>> = rows.map(|row| row.expect("a row")).collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (&*row["activity"], &*row["count"]))
        .collect();
    assert_eq!(
        rows,
        [("waiting", "1"), ("fetching", "4"), ("training", "3")]
    );
}

#[test]
fn a_recording_without_stacks_has_an_empty_table_and_no_profile() {
    let folder = tempfile::tempdir().expect("a folder");
    for format in [Format::Speedscope, Format::Pprof] {
        let why = export_to(&folder.path().join("out"), format, &[&Run::default()]);
        let why = why.expect_err("nothing to export").to_string();
        assert!(why.contains("Record again with --stacks 100"), "{why}");
    }
    let left = std::fs::read_dir(folder.path()).expect("there");
    assert_eq!(left.count(), 0);
    let table = exported(Format::Csv, &[&Run::default()]);
    assert_eq!(table.iter().filter(|byte| **byte == b'\n').count(), 1);
}

/// A recording can be written by hand.
#[test]
fn extreme_times_and_counts_are_exported() {
    for start in [i64::MIN, -5, 0, i64::MAX - 1] {
        for period in [1, i64::MAX] {
            let mut run = run();
            let EventKind::Stacks(mut stacks) =
                stacks(Some(0), 0, &[(Some(3), u32::MAX), (None, 1), (Some(1), 3)])
            else {
                return;
            };
            (stacks.start, stacks.period) = (Nanos(start), Nanos(period));
            run.apply(&Event {
                at: Nanos(300 * MS),
                run: RunId(0),
                kind: EventKind::Stacks(stacks),
            });
            for format in Format::ALL {
                assert!(!exported(format, &[&run]).is_empty());
            }
        }
    }
}
