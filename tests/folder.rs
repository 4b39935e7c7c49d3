//! Tests of a folder of images, through the engine and the session.

use std::sync::Arc;

use loadscope_session::{Record, Session, SessionEvent};
use loadscope_trace::{FieldData, OnError, Run, RunOptions, Summary};

use crate::fixture::{photographs, red_png};

fn load(options: &RunOptions) -> (Run, Option<String>) {
    let session =
        Session::start(options, Record::Memory, Arc::new(|| {})).expect("the folder opens");
    let mut run = Run::default();
    loop {
        let event = session
            .events
            .recv_timeout(std::time::Duration::from_secs(60));
        match event.expect("it ends in time") {
            SessionEvent::Events(events) => events.iter().for_each(|e| run.apply(e)),
            SessionEvent::Ended(error) => return (run, error),
            _ => {}
        }
    }
}

#[test]
fn an_image_folder_loads_with_labels_and_stage_times() {
    let dir = photographs(200);
    let options = RunOptions {
        dataset: format!("folder:{}", dir.path().display()),
        image_size: 64,
        batch_size: Some(16),
        num_workers: 2,
        shuffle: true,
        seed: Some(1),
        ..RunOptions::default()
    };
    let (run, error) = load(&options);
    assert_eq!(error, None);
    assert_eq!(run.info.classes, ["buildings", "flowers"]);
    let summary = Summary::of(&run);
    assert_eq!((summary.batches, summary.samples), (13, 200));
    let mut seen: Vec<u64> = (0..13).flat_map(|row| run.indices(row).to_vec()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..200).collect::<Vec<u64>>());
    let stages = run.sample_stages(0).expect("stages were measured");
    assert_eq!(stages.names, ["read", "decode", "resize"]);
    assert!((0..3).all(|k| stages.total(k).0 > 0));
    let content = run.content(0).expect("the first batch was looked into");
    assert_eq!(content.fields[0].shape, [16, 3, 64, 64]);
    let FieldData::Pictures(pictures) = &content.fields[0].data else {
        panic!("images are kept as pictures");
    };
    assert_eq!((pictures.count(), pictures.channels), (16, 3));
    // The labels follow the sorted files. The first hundred are buildings.
    let FieldData::Numbers(labels) = &content.fields[1].data else {
        panic!("labels are kept as numbers");
    };
    let expected: Vec<f64> = run
        .indices(0)
        .iter()
        .map(|i| if *i < 100 { 0.0 } else { 1.0 })
        .collect();
    assert_eq!(*labels, expected);
}

#[test]
fn a_broken_image_is_named_and_stops_or_skips_by_on_error() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for k in 0..6 {
        red_png(&dir.path().join(format!("{k}.png")));
    }
    std::fs::write(dir.path().join("3.png"), b"").expect("there is room");
    let mut options = RunOptions {
        dataset: format!("folder:{}", dir.path().display()),
        image_size: 8,
        batch_size: Some(2),
        num_workers: 2,
        on_error: OnError::Continue,
        ..RunOptions::default()
    };
    let (run, error) = load(&options);
    assert_eq!(error, None);
    let summary = Summary::of(&run);
    assert_eq!((summary.batches, summary.failed), (2, 1));
    let said = &run.messages()[0].1;
    assert!(said.text.contains("3.png"), "{}", said.text);
    assert_eq!((said.sample, said.worker), (Some(3), Some(1)));

    options.on_error = OnError::Stop;
    let (run, error) = load(&options);
    assert!(error.is_some_and(|e| e.contains("3.png")));
    assert_eq!(Summary::of(&run).batches, 1);
}
