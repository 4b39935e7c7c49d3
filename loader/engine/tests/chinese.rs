//! Messages of a recording are in English, whatever the program's language.
//!
//! The language is process-wide, so this test has its own test binary.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

mod support;

use loadscope_engine::{ContentPolicy, RunControl, start};
use loadscope_trace::{OnError, RunOptions};
use loadscope_words::{Language, set_language};
use support::{fold, within};

/// Runs `options` and returns the messages.
fn messages(options: RunOptions, factor: u32) -> Vec<String> {
    let run = within(60, move || {
        let control = RunControl::default().with_slow_motion(factor);
        let mut handle = start(&options, ContentPolicy::Off, control).expect("sound options");
        handle.join().expect("no error ends it");
        fold(handle.events.try_iter())
    });
    let texts = run.messages().iter().map(|(_, m)| m.text.clone());
    texts.collect()
}

fn of(dataset: &str, on_error: OnError) -> RunOptions {
    RunOptions {
        dataset: dataset.to_owned(),
        batch_size: Some(2),
        num_workers: 1,
        on_error,
        ..RunOptions::default()
    }
}

#[test]
fn messages_of_a_recording_are_english() {
    set_language(Language::Zh);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let table = folder.path().join("one.csv");
    std::fs::write(&table, "a;b\n1;2\n").expect("it can be written");
    let dataset = format!("csv:{}", table.display());
    for (options, factor, part) in [
        (of("synthetic:len=0", OnError::Stop), 1, "has no samples"),
        (of("synthetic:len=4", OnError::Stop), 2, "In slow motion"),
        (
            of("synthetic:len=4,fail=1", OnError::Log),
            1,
            "sample 1 skipped",
        ),
        (
            of("synthetic:len=4,fail=1", OnError::Skip),
            1,
            "1 sample failed",
        ),
        (of(&dataset, OnError::Skip), 1, "it has one column"),
    ] {
        let name = options.dataset.clone();
        let texts = messages(options, factor);
        assert!(
            texts.iter().any(|text| text.contains(part)),
            "{name}: {texts:?}"
        );
        assert!(
            texts.iter().all(|text| text.is_ascii()),
            "{name}: {texts:?}"
        );
    }
}
