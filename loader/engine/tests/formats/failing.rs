//! Samples that cannot be loaded, and samples that do not stack.

use loadscope_engine::{ContentPolicy, RunControl, start};
use loadscope_trace::{Collate, EventKind, OnError, RunOptions};

/// Creates a PASCAL VOC folder with images of different sizes. One is missing and one is broken.
fn damaged_voc() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name);
    for folder in ["Annotations", "JPEGImages", "ImageSets/Main"] {
        std::fs::create_dir_all(at(folder)).expect("room");
    }
    let mut names = String::new();
    for number in 0..8u32 {
        let text = format!(
            "<annotation><object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>{}</xmax><ymax>3</ymax></bndbox>\
             </object></annotation>",
            number + 2
        );
        std::fs::write(at(&format!("Annotations/{number}.xml")), text).expect("room");
        let picture = image::RgbImage::from_pixel(10 + number, 6, image::Rgb([9, 9, 9]));
        if number != 3 {
            picture
                .save(at(&format!("JPEGImages/{number}.jpg")))
                .expect("room");
        }
        names += &format!("{number}\n");
    }
    std::fs::write(at("Annotations/5.xml"), "<annotation>\n<object>").expect("room");
    std::fs::write(at("ImageSets/Main/train.txt"), names).expect("room");
    dir
}

/// Runs the folder. Returns true if the run ended without an error, with the batch sizes and the messages.
fn run_of(
    dir: &std::path::Path,
    on_error: OnError,
    workers: usize,
) -> (bool, Vec<usize>, Vec<String>) {
    let options = RunOptions {
        dataset: format!("voc:{}", dir.display()),
        batch_size: Some(4),
        num_workers: workers,
        on_error,
        ..RunOptions::default()
    };
    let mut run =
        start(&options, ContentPolicy::Share(1.0), RunControl::default()).expect("it starts");
    let (mut batches, mut messages) = (Vec::new(), Vec::new());
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        assert!(std::time::Instant::now() < deadline, "it hangs");
        let is_finished = run.is_finished();
        for event in run.events.try_iter() {
            match event.kind {
                EventKind::Fetched(fetched) => batches.push(fetched.samples.len()),
                EventKind::Message(message) => messages.push(message.text),
                _ => {}
            }
        }
        if is_finished {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    (run.join().is_ok(), batches, messages)
}

#[test]
fn failed_samples_end_the_run_or_are_skipped() {
    let dir = damaged_voc();
    for workers in [0, 2] {
        let (ended_well, _, messages) = run_of(dir.path(), OnError::Stop, workers);
        let said = messages.join("\n");
        assert!(
            !ended_well && said.contains("but it does not exist"),
            "{said}"
        );

        let (ended_well, _, messages) = run_of(dir.path(), OnError::Skip, workers);
        assert!(ended_well, "{messages:?}");
        // Each sample has one note as a position in the recording, and all samples have one warning.
        let [.., said] = messages.as_slice() else {
            panic!("{messages:?}");
        };
        let notes = messages.iter().filter(|m| m.contains(" skipped: "));
        assert_eq!((messages.len(), notes.count()), (3, 2), "{messages:?}");
        assert!(
            said.starts_with("2 samples failed and were skipped. The first was sample "),
            "{said}"
        );

        let (ended_well, _, messages) = run_of(dir.path(), OnError::Log, workers);
        let said = messages.join("\n");
        assert!(ended_well && messages.len() == 3, "{said}");
        assert!(
            said.contains("sample 3 skipped: FileNotFoundError:"),
            "{said}"
        );
        assert!(
            said.contains("5.xml, line 2, column 9: it is truncated"),
            "{said}"
        );
    }
}

#[test]
fn a_batch_lists_its_skipped_samples() {
    let dir = damaged_voc();
    for workers in [0, 2] {
        let options = RunOptions {
            dataset: format!("voc:{}", dir.path().display()),
            batch_size: Some(4),
            num_workers: workers,
            on_error: OnError::Log,
            ..RunOptions::default()
        };
        let control = RunControl::default();
        let mut started = start(&options, ContentPolicy::Share(1.0), control).expect("it starts");
        let mut run = loadscope_trace::Run::default();
        started.join().expect("what fails is left out");
        for event in started.events.try_iter() {
            run.apply(&event);
        }
        let row = run
            .batches()
            .iter()
            .position(|batch| batch.id.idx == 0)
            .expect("a first batch");
        assert_eq!(run.indices(row), [0, 1, 2, 3]);
        assert_eq!(*run.indices_inside(row), [0, 1, 2], "{workers} workers");
        let mut messages = run.messages().iter();
        let (_, of_sample) = messages
            .find(|(_, said)| said.sample == Some(3))
            .expect("sample 3");
        assert_eq!(of_sample.about, Some(run.batches()[row].id));
        assert_eq!(of_sample.worker, (workers > 0).then_some(0));
    }
}

/// Runs a JSON Lines dataset and returns its result and messages.
fn lines_run(lines: &str) -> (Result<(), String>, Vec<String>) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("rows.jsonl");
    std::fs::write(&path, lines).expect("room");
    let options = RunOptions {
        dataset: format!("jsonl:{}", path.display()),
        batch_size: Some(2),
        ..RunOptions::default()
    };
    let mut run = match start(&options, ContentPolicy::Off, RunControl::default()) {
        Ok(run) => run,
        Err(error) => return (Err(error.to_string()), Vec::new()),
    };
    let ended = run.join().map_err(|error| error.to_string());
    let messages = run.events.try_iter().filter_map(|event| match event.kind {
        EventKind::Message(message) => Some(message.text),
        _ => None,
    });
    (ended, messages.collect())
}

#[test]
fn rows_that_do_not_stack_fail_with_the_reason() {
    let (ended, _) = lines_run("{\"a\": 1, \"b\": 2}\n{\"a\": 1}\n");
    let error = ended.expect_err("a key is missing");
    assert!(
        error.contains("'b'. The first sample of the batch has this key"),
        "{error}"
    );
    let (ended, _) = lines_run("{\"a\": null}\n{\"a\": 1}\n");
    let error = ended.expect_err("null does not stack");
    assert!(error.contains("(null) cannot be stacked"), "{error}");
}

#[test]
fn an_empty_dataset_is_reported_with_a_remedy() {
    let (ended, messages) = lines_run("\n\n");
    let said = messages.join("\n") + &ended.err().unwrap_or_default();
    assert!(
        said.contains("rows.jsonl: it has no rows. Add rows, or choose another file."),
        "{said}"
    );
}

#[test]
fn different_picture_sizes_fail_with_a_collate_remedy() {
    let dir = damaged_voc();
    let options = RunOptions {
        dataset: format!("voc:{}", dir.path().display()),
        batch_size: Some(2),
        collate: Collate::Stack,
        ..RunOptions::default()
    };
    let mut run = start(&options, ContentPolicy::Off, RunControl::default()).expect("it starts");
    let error = run.join().expect_err("pictures differ").to_string();
    assert!(
        error.contains("need --collate list, pad or concat"),
        "{error}"
    );
}

#[test]
fn a_table_with_a_header_and_no_rows_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.csv");
    std::fs::write(&path, "x,y\n").expect("room");
    let options = RunOptions {
        dataset: format!("csv:{}", path.display()),
        ..RunOptions::default()
    };
    let started = start(&options, ContentPolicy::Share(1.0), RunControl::default());
    let error = started.err().expect("it has no rows").to_string();
    assert!(
        error.contains("a.csv: it has a header but no rows. Add rows, or choose another file."),
        "{error}"
    );
}
