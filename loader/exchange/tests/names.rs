//! Untrusted names in exports and recordings: no format may interpret them.

use crate::support;

use loadscope_exchange::{Format, export};
use loadscope_files::Existing;
use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Gauge, GaugeKind, Level, Message, Nanos, Run, RunId,
    RunInfo, SampleTiming, Stage, StageTiming,
};
use support::opened;

/// Names with characters that have a meaning in some format.
const NAMES: [&str; 12] = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1+1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\",\"x\n",
    "\u{0}\u{1b}[2J\u{202e}",
    "</script><script>alert(1)</script>",
    "＝1",
    "\\u0022 }] /*",
];

fn run() -> Run {
    let mut run = Run::new(RunInfo::default());
    let mut at = 0;
    let mut tell = |kind| {
        at += 10;
        run.apply(&Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    };
    let dataset = NAMES.concat();
    tell(EventKind::RunStarted(Box::new(RunInfo {
        dataset,
        ..RunInfo::default()
    })));
    tell(EventKind::EpochStarted { epoch: 0 });
    let batch = BatchId { epoch: 0, idx: 0 };
    tell(EventKind::dispatched(batch, Some(0), [7]));
    for stage in [Stage::Fetching, Stage::Collating] {
        tell(EventKind::Entered { batch, stage });
    }
    let stages = NAMES.map(|name| StageTiming {
        name: name.to_owned(),
        walls: vec![Nanos(1)],
    });
    tell(EventKind::Fetched(Box::new(Fetched {
        batch,
        samples: vec![SampleTiming {
            start: Nanos(40),
            wall: Nanos(5),
            cpu: None,
        }],
        stages: stages.to_vec(),
    })));
    for name in NAMES {
        tell(EventKind::Gauge(Box::new(Gauge {
            lane: None,
            part: Some(name.to_owned()),
            what: GaugeKind::Occupancy,
            value: 0.5,
        })));
        tell(EventKind::Message(Box::new(Message {
            level: Level::Error,
            text: name.to_owned(),
            about: None,
            worker: None,
            sample: None,
        })));
    }
    tell(EventKind::RunEnded);
    run
}

#[test]
fn csv_cells_contain_no_formulas() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run();
    let files = export(
        &[(RunId(0), &run)],
        Format::Csv,
        folder.path(),
        Existing::Keep,
        |_| true,
    );
    let mut parts = Vec::new();
    for file in files.expect("there is room") {
        let mut table = csv::Reader::from_path(&file).expect("a table");
        let names = table.headers().expect("names").clone();
        let of_part = names.iter().position(|name| name == "part");
        for cell in names.iter().map(str::to_owned) {
            assert!(!calculates(&cell), "{cell:?} in {}", file.display());
        }
        for row in table.records() {
            let row = row.expect("as many cells as names");
            for (k, cell) in row.iter().enumerate() {
                let is_number = cell.parse::<f64>().is_ok();
                assert!(is_number || !calculates(cell), "{cell:?}");
                if Some(k) == of_part {
                    parts.push(cell.to_owned());
                }
            }
        }
    }
    parts.sort();
    parts.dedup();
    assert_eq!(parts.len(), NAMES.len());
    for name in NAMES {
        let kept = [name.to_owned(), format!("'{name}")];
        assert!(
            parts.iter().any(|p| kept.contains(p)),
            "{name:?} of {parts:?}"
        );
    }
}

fn calculates(cell: &str) -> bool {
    let first = cell.trim_start().chars().next();
    first.is_some_and(|c| "=+-@＝＋－＠".contains(c))
}

#[test]
fn traces_and_parquet_keep_untrusted_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run();
    let trace = folder.path().join("trace.json");
    export(
        &[(RunId(0), &run)],
        Format::Chrome,
        &trace,
        Existing::Keep,
        |_| true,
    )
    .expect("there is room");
    let text = std::fs::read(&trace).expect("written");
    let value: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let told = value["traceEvents"].as_array().expect("a list");
    for name in NAMES {
        let quoted = serde_json::json!(name).to_string();
        let inside = quoted.trim_matches('"');
        let has = |event: &serde_json::Value| event.to_string().contains(inside);
        assert!(told.iter().any(has), "{name:?}");
    }
    export(
        &[(RunId(0), &run)],
        Format::Parquet,
        folder.path(),
        Existing::Keep,
        |_| true,
    )
    .expect("there is room");
}

#[test]
fn names_are_written_to_a_recording_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let mut log = loadscope_trace::LogWriter::create(&path).expect("there is room");
    for name in NAMES {
        log.write(&Event::warning(RunId(0), Nanos(1), name.to_owned()))
            .expect("there is room");
    }
    log.finish().expect("there is room");
    let (run, cut) = opened(&path);
    let texts: Vec<&str> = run
        .messages()
        .iter()
        .map(|(_, m)| m.text.as_str())
        .collect();
    assert_eq!((texts, cut), (NAMES.to_vec(), false));
}
