//! Tests of the exports: the rules of the formats, and each number compared with the run. `tests/readers` repeats them with DuckDB, pyarrow
//! and Perfetto.

use crate::support;

use std::collections::BTreeMap;
use std::path::Path;

use loadscope_exchange::{ExportError, Format, export};
use loadscope_files::Existing;
use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Gauge, GaugeKind, Lane, Level, Message, Nanos, Run, RunId,
    SampleTiming, Stage, StageTiming,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;
use serde_json::Value;
use support::{data, opened};

/// Exports a run into a folder and returns the contents of the files.
fn written(run: &Run, format: Format) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let name = match format {
        Format::Chrome => "run.json",
        Format::Csv => "run.csv",
        Format::Parquet => "tables",
        Format::Speedscope => "run.speedscope.json",
        Format::Pprof => "run.pb.gz",
    };
    let files = export(
        &[(RunId(0), run)],
        format,
        &folder.path().join(name),
        Existing::Keep,
        |_| true,
    );
    let files = files.unwrap_or_else(|e| panic!("{e}"));
    let left = std::fs::read_dir(folder.path()).expect("there").count();
    assert!(
        left == files.len() || format == Format::Parquet,
        "nothing half-written is left"
    );
    let read = |path| std::fs::read(path).expect("just written");
    files.iter().map(read).collect()
}

fn apply(run: &mut Run, at: i64, kind: EventKind) {
    run.apply(&Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    });
}

/// Creates a run with two workers, the second batch first. It has samples with stages, all kinds of gauges, and quotation marks in texts.
fn by_hand() -> Run {
    let mut run = Run::default();
    let id = |idx| BatchId { epoch: 0, idx };
    let enter = |idx, stage| EventKind::Entered {
        batch: id(idx),
        stage,
    };
    let gauge = |lane, part: Option<&str>, value| {
        EventKind::Gauge(Box::new(Gauge {
            lane,
            part: part.map(str::to_owned),
            what: GaugeKind::Rss,
            value,
        }))
    };
    let fetched = Fetched {
        batch: id(0),
        samples: vec![
            SampleTiming {
                start: Nanos(101),
                wall: Nanos(400),
                cpu: None,
            },
            SampleTiming {
                start: Nanos(501),
                wall: Nanos(400),
                cpu: Some(Nanos(7)),
            },
        ],
        stages: vec![StageTiming {
            name: "read, \"decode\"".to_owned(),
            walls: vec![Nanos(1), Nanos(2)],
        }],
    };
    let message = Message {
        level: Level::Error,
        text: "a \"word\",\nand another".to_owned(),
        about: None,
        worker: None,
        sample: None,
    };
    for (at, kind) in [
        (0, EventKind::EpochStarted { epoch: 0 }),
        (1, EventKind::dispatched(id(0), Some(0), [7, u64::MAX])),
        (2, EventKind::dispatched(id(1), Some(1), [9])),
        (3, EventKind::Consumer { waiting: true }),
        (100, enter(0, Stage::Fetching)),
        (100, enter(1, Stage::Fetching)),
        (200, enter(1, Stage::Held)),
        (300, gauge(None, None, 5.5)),
        (400, gauge(Some(Lane::Worker(1)), None, f64::NAN)),
        (500, gauge(None, Some("decode"), 1e9)),
        (901, EventKind::Fetched(Box::new(fetched))),
        (1_000, enter(0, Stage::Training)),
        (1_500, EventKind::Message(Box::new(message))),
        (2_000, enter(0, Stage::Done)),
        (2_000, enter(1, Stage::Training)),
        (3_001, EventKind::EpochEnded { epoch: 0 }),
        (3_001, EventKind::RunEnded),
    ] {
        apply(&mut run, at, kind);
    }
    run
}

fn ns(value: &Value) -> i64 {
    let micros = value.as_f64().expect("a number");
    let ns = (micros * 1000.0).round();
    assert!((micros * 1000.0 - ns).abs() < 1e-3);
    ns as i64
}

/// Checks the rules of Chrome's format and returns the events.
fn trace_of(run: &Run) -> Vec<Value> {
    let text = written(run, Format::Chrome).remove(0);
    let trace: Value = serde_json::from_slice(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list").clone();
    let mut tracks: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for event in events.iter().filter(|e| e["ph"] == "X") {
        let tid = event["tid"].as_i64().expect("a track");
        let span = (ns(&event["ts"]), ns(&event["dur"]));
        tracks.entry(tid).or_default().push(span);
    }
    let mut total = 0;
    for slices in tracks.values_mut() {
        slices.sort_unstable();
        for pair in slices.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?} overlap");
        }
        total += slices.len();
    }
    assert_eq!(total, run.memory().spans);
    let mut flows: BTreeMap<i64, Vec<(i64, &str)>> = BTreeMap::new();
    for event in &events {
        let phase = event["ph"].as_str().expect("a letter");
        if !matches!(phase, "s" | "t" | "f") {
            continue;
        }
        let (tid, at) = (event["tid"].as_i64().expect("a track"), ns(&event["ts"]));
        let slices = &tracks[&tid];
        let slice = slices
            .iter()
            .find(|(start, took)| *start == at && *took > 0);
        assert!(slice.is_some(), "a flow is tied to no slice: {event}");
        let id = event["id"].as_i64().expect("a number");
        flows.entry(id).or_default().push((at, phase));
    }
    for flow in flows.values_mut() {
        flow.sort_by_key(|(at, phase)| (*at, "stf".find(phase)));
        let phases: String = flow.iter().map(|(_, p)| *p).collect();
        assert!(phases == "f" || phases.starts_with('s'), "{phases}");
        let ends = phases.matches('f').count();
        assert!(phases.matches('s').count() <= 1 && ends <= 1, "{phases}");
        assert!(ends == 0 || phases.ends_with('f'), "{phases}");
    }
    events
}

/// Parses a CSV table as rows by column name.
fn rows(text: &[u8]) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text);
    let rows = reader.deserialize();
    rows.map(|row| row.expect("as many fields as columns"))
        .collect()
}

#[test]
fn a_trace_contains_every_slice_and_counter() {
    let run = by_hand();
    let events = trace_of(&run);
    let of = |phase: &'static str| events.iter().filter(move |e| e["ph"] == phase);
    let slice = |name: &str| of("X").find(|e| e["name"] == name).expect(name);
    assert_eq!(slice("Fetching #0")["dur"], 0.9);
    assert_eq!(slice("Held #1")["args"]["batch"], 1);
    let waiting = slice("Waiting #0");
    assert_eq!(
        (&waiting["ts"], &waiting["cat"]),
        (&0.003.into(), &"waiting".into())
    );
    let counters: Vec<&Value> = of("C")
        .filter(|e| e["name"] != "tasks_outstanding")
        .collect();
    assert_eq!(counters.len(), 2, "what was not measured is no value");
    assert_eq!(counters[1]["name"], "decode: rss [bytes]");
    assert_eq!(counters[1]["args"]["value"], 1e9);
    let levels: Vec<f64> = of("C")
        .filter(|e| e["name"] == "tasks_outstanding")
        .map(|e| e["args"]["value"].as_f64().expect("a number"))
        .collect();
    assert_eq!(levels, [1.0, 2.0, 1.0, 0.0]);
    assert_eq!(
        of("i").next().expect("a message")["name"],
        "a \"word\",\nand another"
    );
    assert_eq!((of("s").count(), of("f").count()), (2, 2));
}

#[test]
fn tables_have_every_batch_sample_and_measurement() {
    let run = by_hand();
    let files = written(&run, Format::Csv);
    let batches = rows(&files[0]);
    assert_eq!(batches.len(), 2);
    let get = |row: &BTreeMap<String, String>, name: &str| row[name].clone();
    assert_eq!(get(&batches[0], "stage"), "done");
    assert_eq!(get(&batches[0], "waited_ns"), "997");
    assert_eq!(get(&batches[0], "held_ns"), "", "never held");
    assert_eq!(get(&batches[1], "held_ns"), "1800");
    assert_eq!(get(&batches[1], "was_held"), "true");
    assert_eq!(get(&batches[1], "handed_out_at_ns"), "2000");
    let samples = rows(&files[1]);
    let column = "stage_read, \"decode\"_ns";
    assert_eq!(samples.len(), 3);
    assert_eq!((&*samples[1]["cpu_ns"], &*samples[1][column]), ("7", "2"));
    assert_eq!(samples[1]["sample"], u64::MAX.to_string());
    assert_eq!((&*samples[2]["wall_ns"], &*samples[2][column]), ("", ""));
    let gauges = rows(&files[2]);
    let text = |row: usize, name: &str| gauges[row][name].clone();
    assert_eq!(
        (text(0, "lane"), text(0, "value")),
        (String::new(), "5.5".to_owned())
    );
    assert_eq!(
        (text(1, "lane"), text(1, "value")),
        ("worker 1".to_owned(), String::new())
    );
    assert_eq!(
        (text(2, "part"), text(2, "unit")),
        ("decode".to_owned(), "bytes".to_owned())
    );
}

/// Formats a Parquet value like in CSV.
fn shown(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Bool(b) => b.to_string(),
        Field::Long(n) => n.to_string(),
        Field::ULong(n) => n.to_string(),
        Field::Double(x) => x.to_string(),
        Field::Str(text) => text.clone(),
        other => panic!("{other} is of no kind that is written"),
    }
}

fn the_same_in_both(run: &Run) {
    let (text, binary) = (written(run, Format::Csv), written(run, Format::Parquet));
    for (text, binary) in text.iter().zip(binary) {
        let reader = SerializedFileReader::new(bytes::Bytes::from(binary)).expect("Parquet");
        let table = reader.get_row_iter(None).expect("rows");
        let table: Vec<Vec<(String, String)>> = table
            .map(|row| {
                let row = row.expect("a row");
                let columns = row.get_column_iter();
                columns
                    .map(|(name, field)| (name.clone(), shown(field)))
                    .collect()
            })
            .collect();
        let mut reader = csv::Reader::from_reader(text.as_slice());
        let names: Vec<String> = reader
            .headers()
            .expect("names")
            .iter()
            .map(str::to_owned)
            .collect();
        let lines: Vec<Vec<(String, String)>> = reader
            .records()
            .map(|line| {
                let line = line.expect("a line");
                names
                    .iter()
                    .cloned()
                    .zip(line.iter().map(str::to_owned))
                    .collect()
            })
            .collect();
        assert_eq!(table, lines);
    }
}

#[test]
fn csv_and_parquet_contain_the_same_values() {
    the_same_in_both(&by_hand());
    for name in [
        "lotus/newer",
        "spdl/pipeline.sqlite",
        "profiler/two_loaders.json.gz",
    ] {
        let (run, _) = opened(&data(name));
        the_same_in_both(&run);
        trace_of(&run);
    }
}

#[test]
fn a_cancelled_export_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = by_hand();
    for format in [Format::Csv, Format::Parquet] {
        let out = folder.path().join("run");
        let result = export(&[(RunId(0), &run)], format, &out, Existing::Keep, |_| false);
        assert!(matches!(result, Err(ExportError::Cancelled)));
        let left = std::fs::read_dir(folder.path()).expect("a folder");
        assert_eq!(left.count(), 0);
    }
    let nowhere = export(
        &[(RunId(0), &run)],
        Format::Chrome,
        Path::new("/no/such/x.json"),
        Existing::Keep,
        |_| true,
    );
    assert!(
        nowhere
            .expect_err("no folder")
            .to_string()
            .contains("/no/such/x.json")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn exports_of_any_run_follow_the_format_rules(
        steps in prop::collection::vec((0..3_000i64, 0..12u32, 0..11usize, any::<bool>()), 1..200),
        ends in any::<bool>(),
    ) {
        let mut run = Run::default();
        apply(&mut run, 0, EventKind::EpochStarted { epoch: 0 });
        let mut at = 0;
        let mut next = 0;
        for (pause, idx, stage, other) in steps {
            at += pause;
            let batch = BatchId { epoch: 0, idx };
            if other && idx % 3 == 0 {
                apply(&mut run, at, EventKind::dispatched(BatchId { epoch: 0, idx: next }, Some((next % 3) as u16), [u64::from(idx)]));
                next += 1;
            } else if other {
                apply(&mut run, at, EventKind::Consumer { waiting: idx % 2 == 0 });
            } else {
                apply(&mut run, at, EventKind::Entered { batch, stage: Stage::ALL[stage] });
            }
        }
        if ends {
            apply(&mut run, at, EventKind::RunEnded);
        }
        let events = trace_of(&run);
        let waiting = events.iter().filter(|e| e["cat"] == "waiting");
        let waited: i64 = waiting.map(|e| ns(&e["dur"])).sum();
        prop_assert!(waited <= run.waited().0);
        the_same_in_both(&run);
    }
}
