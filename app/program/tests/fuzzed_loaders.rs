//! The commands on the fuzzer's recordings of several loaders. Each answers, or refuses with an error message.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::fs::File;
use std::path::Path;

use loadscope_fuzz::{Input, corpus, fleet_events};
use loadscope_trace::{Compression, Event, LogWriter};

use crate::support::loadscope;

/// Returns the inputs in the corpus.
fn inputs() -> Vec<Input> {
    let mut inputs = corpus().expect("the corpus is there");
    inputs.retain(|input| input.target == "fleet");
    inputs
}

fn write(path: &Path, events: &[Event]) {
    let file = File::create(path).expect("the folder is writable");
    let mut log = LogWriter::new(file, Compression::for_path(path)).expect("there is room");
    for event in events {
        log.write(event).expect("there is room");
    }
    log.finish().expect("there is room");
}

#[test]
fn every_command_accepts_loaders_in_any_order() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    let file = path.to_str().expect("plain letters");
    let inputs = inputs();
    assert!(!inputs.is_empty(), "there is a corpus");
    for input in inputs {
        let events = fleet_events(&input.bytes);
        write(&path, &events);
        for args in [
            &["info", file][..],
            &["info", file, "--json"],
            &["report", file, "--json"],
            &["compare", file, file, "--json"],
        ] {
            let output = loadscope(args);
            let complaint = String::from_utf8_lossy(&output.stderr);
            let name = &input.name;
            assert!(output.status.success(), "{name}: {args:?}: {complaint}");
            assert!(!complaint.contains("panicked"), "{name}: {complaint}");
        }
    }
}
