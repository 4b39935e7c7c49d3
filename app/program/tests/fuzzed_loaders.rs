//! What the fuzzer made of several loaders, through the commands: each answers or refuses with a sentence.

mod command;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use command::loadscope;
use loadscope_fuzz::fleet_events;
use loadscope_trace::{Compression, Event, LogWriter};

/// The inputs that were worth keeping.
fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../loader/fuzz/tests/corpus/fleet");
    let entries = fs::read_dir(folder).expect("the corpus is there");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
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
fn every_command_answers_for_loaders_in_any_order() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    let file = path.to_str().expect("plain letters");
    let inputs = inputs();
    assert!(!inputs.is_empty(), "there is a corpus");
    for input in inputs {
        let events = fleet_events(&fs::read(&input).expect("it can be read"));
        write(&path, &events);
        for args in [
            &["info", file][..],
            &["info", file, "--json"],
            &["report", file, "--json"],
            &["compare", file, file, "--json"],
        ] {
            let output = loadscope(args);
            let complaint = String::from_utf8_lossy(&output.stderr);
            let name = input.display();
            assert!(output.status.success(), "{name}: {args:?}: {complaint}");
            assert!(!complaint.contains("panicked"), "{name}: {complaint}");
        }
    }
}
