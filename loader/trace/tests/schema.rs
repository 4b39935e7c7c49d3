//! Agreement of `FORMAT.md` and `schema.json` with the reader and the writer.

use crate::any;

use std::io::Cursor;
use std::process::Command;

use jsonschema::Validator;
use loadscope_trace::{
    BatchId, Compression, Event, EventKind, FORMAT_VERSION, LogReader, LogWriter, Nanos, Run,
    RunInfo, Stage, Summary, read_log,
};
use proptest::prelude::*;
use serde_json::Value;

const HEADER: &str = "{\"loadscope\":1}";

fn schema() -> Validator {
    let schema: Value = serde_json::from_str(include_str!("../schema.json")).expect("JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("a JSON Schema");
    jsonschema::draft202012::new(&schema).expect("a JSON Schema")
}

fn written(events: &[Event]) -> String {
    let mut log = LogWriter::new(Vec::new(), Compression::None).expect("a vector");
    for e in events {
        log.write(e).expect("a vector takes everything");
    }
    String::from_utf8(log.finish().expect("a vector")).expect("JSON is UTF-8")
}

/// Returns the events of a recording or the error.
fn read(text: &str) -> Result<Vec<Event>, String> {
    let reader = LogReader::new(Cursor::new(text.to_owned())).map_err(|e| e.to_string())?;
    reader.map(|e| e.map_err(|e| e.to_string())).collect()
}

fn allows(schema: &Validator, line: &str) -> bool {
    serde_json::from_str(line).is_ok_and(|value| schema.is_valid(&value))
}

/// Recordings without standard deviations, infinities and histograms, which later versions added, still open.
#[test]
fn contents_without_later_fields_still_open() {
    let line = r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"x","dtype":"torch.float32","shape":[2],"min":1.0,"max":2.0,"mean":1.5,"nan":0,"pinned":false,"data":{"numbers":[1.0,2.0]}}]}"#;
    assert!(allows(&schema(), line));
    let events = read(&format!("{HEADER}\n{line}\n")).expect("a sound line");
    let EventKind::Content(content) = &events[0].kind else {
        panic!("{events:?}")
    };
    let field = &content.fields[0];
    assert_eq!((field.std, field.inf), (None, 0));
    assert!(field.histogram.is_empty());
    assert_eq!(field.max, Some(2.0));
    // Missing values are not written either.
    assert!(written(&events).contains(line));
}

#[test]
fn every_written_line_matches_the_schema() {
    let schema = schema();
    let config = ProptestConfig::with_cases(300);
    let lines = prop::collection::vec(any::event(), 1..20);
    proptest!(config, |(events in lines)| {
        let text = written(&events);
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            if let Err(e) = schema.validate(&value) {
                panic!("{e} at {}\n{line}", e.instance_path());
            }
        }
        // NaN does not equal itself, so the debug output is compared.
        let back = read(&text).expect("our own lines");
        prop_assert_eq!(format!("{back:?}"), format!("{:?}", any::as_written(events)));
    });
}

/// Lines that both the reader and the schema reject.
const DAMAGED: &[&str] = &[
    "[]",
    "7",
    "{}",
    r#"{"e":"run_ended"}"#,
    r#"{"t":null,"e":"run_ended"}"#,
    r#"{"t":1}"#,
    r#"{"t":1,"e":"ended"}"#,
    r#"{"t":1,"e":"RunEnded"}"#,
    r#"{"t":1,"e":"run_ended","colour":3}"#,
    r#"{"t":"1","e":"run_ended"}"#,
    r#"{"t":1.5,"e":"run_ended"}"#,
    r#"{"t":1e400,"e":"run_ended"}"#,
    r#"{"t":9223372036854775808,"e":"run_ended"}"#,
    r#"{"t":-9223372036854779904,"e":"run_ended"}"#,
    r#"{"t":1,"run":-1,"e":"run_ended"}"#,
    r#"{"t":1,"run":4294967296,"e":"run_ended"}"#,
    r#"{"t":1,"e":"epoch_started"}"#,
    r#"{"t":1,"e":"epoch_started","epoch":null}"#,
    r#"{"t":1,"e":"epoch_started","epoch":18446744073709551615}"#,
    r#"{"t":1,"e":"epoch_ended","epoch":-1}"#,
    r#"{"t":1,"e":"worker_started","worker":65536,"seed":1}"#,
    r#"{"t":1,"e":"worker_started","seed":1}"#,
    r#"{"t":1,"e":"worker_started","worker":0,"seed":18446744073709551616}"#,
    r#"{"t":1,"e":"worker_ended","worker":0,"reason":"bored"}"#,
    r#"{"t":1,"e":"dispatched","epoch":0,"batch":4294967296,"indices":[]}"#,
    r#"{"t":1,"e":"dispatched","epoch":0,"batch":0}"#,
    r#"{"t":1,"e":"dispatched","epoch":0,"batch":0,"indices":[-1]}"#,
    r#"{"t":1,"e":"dispatched","epoch":0,"batch":0,"indices":[0.5]}"#,
    r#"{"t":1,"e":"dispatched","epoch":0,"batch":0,"indices":[[0]]}"#,
    r#"{"t":1,"e":"entered","epoch":0,"stage":"held"}"#,
    r#"{"t":1,"e":"entered","epoch":0,"batch":0,"stage":"asleep"}"#,
    r#"{"t":1,"e":"fetched","epoch":0,"batch":0,"starts":[1]}"#,
    r#"{"t":1,"e":"fetched","epoch":0,"batch":0,"starts":[null],"walls":[1]}"#,
    r#"{"t":1,"e":"fetched","epoch":0,"batch":0,"starts":[],"walls":[],"stages":[["a"]]}"#,
    r#"{"t":1,"e":"fetched","epoch":0,"batch":0,"starts":[],"walls":[],"stages":[["a",[],1]]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"data":"some"}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"data":"omitted","x":1}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"data":{"numbers":["many"]}}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"inf":null,"data":"omitted"}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"histogram":[-1],"data":"omitted"}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"data":{"numbers":[[1]]}}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"data":{"pictures":{"width":1,"height":1,"channels":1,"pixels":"?"}}}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"data":{"pictures":{"width":1,"height":1,"channels":1,"pixels":"AB=="}}}]}"#,
    r#"{"t":1,"e":"content","epoch":0,"batch":0,"fields":[{"name":"","dtype":"","shape":[],"data":{"pictures":{"width":-1,"height":1,"channels":1,"pixels":""}}}]}"#,
    r#"{"t":1,"e":"consumer"}"#,
    r#"{"t":1,"e":"consumer","waiting":1}"#,
    r#"{"t":1,"e":"gauge","what":"mood","value":1}"#,
    r#"{"t":1,"e":"gauge","what":"rss","lane":"worker 65536","value":1}"#,
    r#"{"t":1,"e":"gauge","what":"rss","lane":"attic","value":1}"#,
    r#"{"t":1,"e":"message","level":"fatal","text":""}"#,
    r#"{"t":1,"e":"message","level":"info","text":"","epoch":0}"#,
    r#"{"t":1,"e":"message","level":"info","text":"","batch":0}"#,
    r#"{"t":1,"e":"dropped","count":-1}"#,
    r#"{"t":1,"e":"run_started"}"#,
    r#"{"t":1,"e":"run_started","info":{"colour":3}}"#,
    r#"{"t":1,"e":"run_started","info":{"options":{"batchsize":3}}}"#,
    r#"{"t":1,"e":"run_started","info":{"origin":"elsewhere"}}"#,
    r#"{"t":1,"e":"run_started","info":{"measured":["sleeping"]}}"#,
];

/// Lines that only the reader rejects, because a schema cannot.
const BEYOND_A_SCHEMA: &[&str] = &[
    r#"{"t":1.0,"e":"run_ended"}"#,
    r#"{"t":1,"t":1,"e":"run_ended"}"#,
    r#"{"t":1,"e":"fetched","epoch":0,"batch":0,"starts":[1],"walls":[]}"#,
    r#"{"t":1,"e":"fetched","epoch":0,"batch":0,"starts":[1],"walls":[1],"cpus":[]}"#,
    r#"{"t":1,"e":"fetched","epoch":0,"batch":0,"starts":[],"walls":[],"stages":[["a",[1]]]}"#,
];

/// Lines that the reader accepts, each with true if the schema accepts it too.
const TOLERATED: &[(&str, bool)] = &[
    (
        r#"{"t":1,"e":"dispatched","epoch":0,"batch":0,"worker":null,"indices":[]}"#,
        true,
    ),
    (r#"{"t":1,"e":"gauge","what":"rss"}"#, true),
    (r#"{"t":-1,"e":"run_ended"}"#, true),
    (r#"{"t":1,"e":"run_ended","epoch":3}"#, false),
];

#[test]
fn schema_and_reader_refuse_the_listed_lines() {
    let schema = schema();
    for (lines, in_schema) in [(DAMAGED, false), (BEYOND_A_SCHEMA, true)] {
        for line in lines {
            let error = read(&format!("{HEADER}\n{line}\n")).expect_err(line);
            assert!(error.contains("line 2"), "{line}: {error}");
            assert_eq!(allows(&schema, line), in_schema, "{line}");
        }
    }
    for (line, in_schema) in TOLERATED {
        assert!(read(&format!("{HEADER}\n{line}\n")).is_ok(), "{line}");
        assert_eq!(allows(&schema, line), *in_schema, "{line}");
    }
    for header in ["{}", r#"{"loadscope":4}"#, r#"{"loadscope":"1"}"#] {
        assert!(read(&format!("{header}\n")).is_err(), "{header}");
        assert!(!allows(&schema, header), "{header}");
    }
    for version in 1..=FORMAT_VERSION {
        let header = format!("{{\"loadscope\":{version}}}");
        assert_eq!(read(&format!("{header}\n")), Ok(Vec::new()), "{header}");
        assert!(allows(&schema, &header), "{header}");
    }
    assert!(written(&[]).starts_with("{\"loadscope\":3,"));
}

/// Returns the code block with several lines in `FORMAT.md` that is marked with `language`.
fn block(language: &str) -> &'static str {
    let text = include_str!("../FORMAT.md");
    let (_, rest) = text
        .split_once(&format!("\n```{language}\n"))
        .expect("the block");
    rest.split_once("```\n").expect("its end").0
}

fn fold(events: impl IntoIterator<Item = Event>) -> Run {
    let mut run = Run::new(RunInfo::default());
    events.into_iter().for_each(|e| run.apply(&e));
    run
}

#[test]
fn the_example_matches_its_description() {
    let text = block("jsonl");
    assert_eq!(text.lines().count(), 10);
    let schema = schema();
    assert!(text.lines().all(|line| allows(&schema, line)));
    let run = fold(read(text).expect("the example is sound"));
    assert_eq!(run.anomalies(), (0, 0));
    let id = BatchId { epoch: 0, idx: 0 };
    assert_eq!(run.row(id), Some(0));
    assert_eq!(run.indices(0), [2, 0, 3, 1]);
    assert_eq!(run.batches()[0].worker, Some(0));
    let path = run.path(0);
    let took = |k: usize| path[k].end.expect("it went on") - path[k].start;
    let path: Vec<_> = (0..4).map(|k| (path[k].stage, took(k))).collect();
    let us = |us: i64| Nanos(us * 1000);
    assert_eq!(
        path,
        [
            (Stage::Queued, us(500)),
            (Stage::Fetching, us(8000)),
            (Stage::Collating, us(500)),
            (Stage::Training, us(20_000)),
        ]
    );
    assert_eq!(run.batches()[0].stage, Stage::Done);
    assert_eq!(run.waited(), us(8800));
    let summary = Summary::of(&run);
    assert_eq!(
        (summary.epochs, summary.batches, summary.samples),
        (1, 1, 4)
    );
    // The time from the step to the end of the epoch is not part of the loop.
    assert_eq!(summary.seconds, us(29_800).as_secs_f64());
    assert!(run.has_ended());
}

#[test]
fn a_file_of_the_python_writer_opens() {
    let program = block("python");
    let lines = program.lines().filter(|l| !l.trim().is_empty()).count();
    assert_eq!(lines, 15);
    let folder = tempfile::tempdir().expect("a folder");
    let python = Command::new("python3")
        .args(["-c", program])
        .current_dir(&folder)
        .output();
    let Ok(output) = python else {
        println!("python3 is not here: the writer in FORMAT.md was NOT tested");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut run = Run::new(RunInfo::default());
    let outcome = read_log(&folder.path().join("run.jsonl"), |event, _| {
        run.apply(&event);
        true
    });
    let outcome = outcome.expect("a recording");
    assert!(!outcome.cut);
    assert_eq!(run.anomalies(), (0, 0));
    assert_eq!(run.batches().len(), 3);
    assert_eq!(run.indices(2), [4, 5]);
    assert!(run.batches().iter().all(|b| b.stage == Stage::Done));
    assert!(run.has_ended());
}
