//! One test per bug that the fuzzer found. The inputs are in `faults/` by target. `FUZZ.md` lists them.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use loadscope_exchange::{check, read};
use loadscope_formats::sql::Source;
use loadscope_fuzz::{Bounds, ResourceUse, TARGETS};
use loadscope_live::Record;
use loadscope_plan::dataset::DatasetSpec;
use loadscope_trace::{Lines, LogReader};

const QUOTED_IN_A_RECORDING: Fault = ("recording", "a-refusal-quoted-a-whole-line");
const QUOTED_IN_A_STREAM: Fault = ("wire", "a-refusal-quoted-a-whole-line");
const CUT: Fault = ("compressed", "a-cut-was-reported-before-it-was-read");
const TABLE: Fault = ("spdl", "a-table-without-end");
const EVENTS: Fault = ("spdl", "events-without-end");

const GAPS: Fault = (
    "repair",
    "missing-frames-were-reported-at-the-beginning-of-the-file",
);

const CERTAIN: Fault = (
    "repair",
    "a-damaged-first-frame-made-a-compressed-recording-a-plain-one",
);

const BEYOND: Fault = (
    "repair",
    "checksums-that-end-behind-the-file-were-taken-for-sound",
);

const ENDED: Fault = (
    "parts",
    "the-extent-of-a-run-that-ended-before-what-is-kept-was-negative",
);

const ROUNDED: Fault = (
    "parts",
    "the-bytes-of-a-batch-were-rounded-beyond-what-a-number-holds",
);

const NAMELESS: Fault = ("words", "a-refusal-named-no-place");

const LINES: Fault = ("words", "a-refusal-had-several-lines");

const SPACE: Fault = ("words", "a-place-lost-the-space-it-began-with");

/// All faults with a test here.
const FAULTS: [Fault; 13] = [
    ROUNDED,
    ENDED,
    SPACE,
    LINES,
    NAMELESS,
    QUOTED_IN_A_RECORDING,
    QUOTED_IN_A_STREAM,
    CUT,
    TABLE,
    EVENTS,
    GAPS,
    CERTAIN,
    BEYOND,
];

/// Name of the failed target, and name of the input.
type Fault = (&'static str, &'static str);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults")
}

fn path((target, name): Fault) -> PathBuf {
    folder().join(target).join(name)
}

/// Runs the target with the input, and returns the input.
fn taken(fault: Fault) -> Vec<u8> {
    // The measured memory is that of the whole process, so the tests run one at a time.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = fs::read(path(fault)).expect("a file of the repository");
    let target = TARGETS.iter().find(|target| target.name == fault.0);
    let target = target.expect("there is such a target");
    Bounds::LENIENT.check(ResourceUse::measure(|| (target.run)(&bytes, true)));
    bytes
}

#[test]
fn every_fault_input_has_a_test() {
    let mut found = BTreeSet::new();
    for target in fs::read_dir(folder()).expect("a folder of the repository") {
        let target = target.expect("an entry").path();
        for input in fs::read_dir(&target).expect("a folder of inputs") {
            found.insert(input.expect("an entry").path());
        }
    }
    assert_eq!(found, BTreeSet::from(FAULTS.map(path)));
}

/// Regression test: the text before the colon was quoted completely as the source, even if it was empty.
#[test]
fn a_url_without_a_kind_is_refused_with_its_place() {
    let bytes = taken(NAMELESS);
    let text = String::from_utf8(bytes).expect("a text");
    for text in [text, "x".repeat(10_000)] {
        let error = Source::parse(&text).expect_err("not a supported database");
        assert_eq!(error.place.source, "the URL of the database");
        assert!(error.to_string().len() < 300, "{error}");
    }
}

/// Regression test: quotes were omitted from a path that starts with white space.
#[test]
fn a_quoted_path_keeps_its_white_space() {
    let text = String::from_utf8(taken(SPACE)).expect("a text");
    let spec: DatasetSpec = text.parse().expect("a dataset");
    assert_eq!(spec.to_string(), text);
}

/// Regression test: a newline in a name appeared in the error.
#[test]
fn a_refusal_has_no_line_break() {
    let text = String::from_utf8(taken(LINES)).expect("a text");
    let error = Source::parse(&text).expect_err("no host");
    assert!(!error.to_string().contains('\n'), "{error}");
}

#[test]
fn a_refused_line_of_a_recording_is_quoted_in_part() {
    let bytes = taken(QUOTED_IN_A_RECORDING);
    let longest = bytes.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
    assert!(longest > Some(2_000), "{longest:?}");
    let mut reader = LogReader::new(Cursor::new(bytes)).expect("a header");
    let refusal = reader.find_map(Result::err).expect("a refused line");
    let refusal = refusal.to_string();
    assert!(refusal.contains("xxx") && refusal.len() < 600, "{refusal}");
}

#[test]
fn a_refused_line_of_a_stream_is_quoted_in_part() {
    let bytes = taken(QUOTED_IN_A_STREAM);
    let lines = bytes.split(|byte| *byte == b'\n');
    let line = lines.max_by_key(|line| line.len()).expect("a line");
    assert!(line.len() > 2_000, "{}", line.len());
    // The first byte selects the stream.
    let refusal = Record::parse(&line[1..]).expect_err("no record");
    let refusal = refusal.to_string();
    assert!(refusal.contains("xxx") && refusal.len() < 600, "{refusal}");
}

/// The file is truncated after an invalid line. That part is not read, so the truncation is not reported.
#[test]
fn a_cut_after_a_refused_line_is_not_reported() {
    let bytes = taken(CUT);
    // The file has three frames, as the target creates them. The truncated frame is not read.
    let text = &bytes[8..];
    let frames = text.chunks(text.len() / 3 + 1);
    let frames = frames.map(|piece| zstd::bulk::compress(piece, 0).expect("a vector"));
    let mut packed: Vec<u8> = frames.flatten().collect();
    packed.truncate(packed.len() - 5);
    let mut reader = LogReader::new(Cursor::new(packed)).expect("a header");
    let mut lines = Lines::default();
    let mut last = None;
    while reader.read_lines(&mut lines) {
        let block = lines.parse();
        last = Some((block.failed.is_some(), block.cut));
        if block.failed.is_some() {
            break;
        }
    }
    assert_eq!(last, Some((true, false)), "refused, and not cut");
}

/// Table pages that are their own children.
#[test]
fn reading_a_cyclic_table_ends() {
    taken(TABLE);
    ends(TABLE);
}

/// Index pages of events that are their own children.
#[test]
fn reading_cyclic_events_ends() {
    taken(EVENTS);
    ends(EVENTS);
}

/// Checks that the file is a database, and that reading it ends with an error.
fn ends(fault: Fault) {
    assert!(check(&path(fault)).is_ok(), "it looks like one of SPDL");
    let Err(refusal) = read(&path(fault), |_, _| true) else {
        panic!("nothing that can be read to its end");
    };
    let refusal = refusal.to_string();
    assert!(refusal.contains("its tables are endless"), "{refusal}");
}

/// Missing frames are reported at their position, after the damage before them.
#[test]
fn gaps_are_reported_in_file_order() {
    taken(GAPS);
}

/// Regression test: without a readable first frame, an uncompressed line of a later frame counted as a line of a plain recording.
/// It was reported as certain, although its checksum was wrong.
#[test]
fn a_changed_line_of_a_compressed_recording_is_never_certain() {
    taken(CERTAIN);
}

/// Regression test: the checksum frame had a stated length two bytes beyond the end of the file.
/// Reading reported a truncated recording, and repair reported no damage.
#[test]
fn checksums_beyond_the_end_of_the_file_are_damage() {
    taken(BEYOND);
}

/// Regression test: two runs of a recording, one of which ended in a dropped part.
/// The extent of that run is empty, but its end was before its start.
#[test]
fn a_run_in_the_dropped_part_has_an_empty_extent() {
    taken(ENDED);
}

/// Regression test: the shape of a batch exceeds any memory. Its size in bytes is the maximum number and was rounded up to whole MB.
#[test]
fn a_batch_with_an_overflowing_byte_count_has_a_size() {
    taken(ROUNDED);
}
