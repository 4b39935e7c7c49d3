//! Datasets of data as people have them, beside their counterparts in Python.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stdout, reason = "a test says what it compared")]

#[path = "formats/expected.rs"]
mod expected;
#[path = "formats/in_memory.rs"]
mod in_memory;
#[path = "../../formats/tests/interpreter/mod.rs"]
mod interpreter;
#[path = "formats/samplers.rs"]
mod samplers;

use expected::{difference, parts, run, samples};
use interpreter::python;
use loadscope_engine::collate::{CollateSite, collate_joined, collate_lists, collate_padded};
use loadscope_engine::dataset::{
    Catalog as _, DatasetSpec, OpenDataset as _, Opening, SampleClock,
};
use loadscope_engine::plan::Needed;
use loadscope_engine::value::{Key, Value};
use loadscope_engine::{ContentPolicy, RunControl, start};
use loadscope_trace::{Collate, EventKind, OnError, RunOptions};

/// JPEG leaves rounding open: decoders differ by so much, at most and on average.
const ROUNDING: (i64, f64) = (10, 0.7);

/// Every sample of `text`, of which the first stage is reading.
fn ours(text: &str, image_size: u32) -> Vec<Value> {
    let spec: DatasetSpec = text.parse().expect("a dataset");
    let dataset = spec.open(image_size).expect("it opens");
    assert_eq!(spec, spec.to_string().parse().expect("it is read again"));
    let mut clock = SampleClock::on();
    let all = 0..dataset.len();
    let samples = all.map(|index| {
        clock.begin_sample();
        dataset.get(index, &mut clock).expect("a sample")
    });
    let samples = samples.collect();
    let stages = clock.take_stages();
    assert_eq!(stages.first().map(|(name, _)| *name), Some("read"));
    assert!(
        stages.iter().any(|(name, _)| *name == "decode"),
        "{stages:?}"
    );
    samples
}

/// Compares pictures within rounding and everything else to the bit; tells the largest difference.
fn same(name: &str, ours: &[Value], theirs: &[Value], rounding: (i64, f64)) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    let (mut most, mut mean) = (0, 0f64);
    for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let ((picture, rest), (their_picture, their_rest)) = (parts(ours), parts(theirs));
        let (largest, average) = difference(picture, their_picture);
        (most, mean) = (most.max(largest), mean.max(average));
        assert!(
            largest <= rounding.0 && average <= rounding.1,
            "{name} {index}: {largest} {average}"
        );
        assert!(
            rest.same(their_rest),
            "{name} {index}:\n{rest:?}\n{their_rest:?}"
        );
    }
    println!(
        "{name}: {} samples, pixels differ by at most {most}, on average by {mean:.3}",
        ours.len()
    );
}

#[test]
fn annotated_pictures_are_those_of_torchvision() {
    let Some(python) = python(&["torchvision", "pycocotools"]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    run(&python, "pictures.py", folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let theirs = |name: &str| samples(&folder.path().join("expected"), name);
    let (voc, images) = (at("voc"), at("coco/images"));
    let coco = |kind: &str| format!("coco:{images},{}", at(&format!("coco/{kind}.json")));

    same(
        "voc",
        &ours(&format!("voc:{voc},year=2012"), 64),
        &theirs("voc"),
        ROUNDING,
    );
    let segmentation = format!("voc:{voc},set=val,task=segmentation");
    same(
        "segmentation",
        &ours(&segmentation, 64),
        &theirs("voc_segmentation"),
        ROUNDING,
    );
    same(
        "coco",
        &ours(&coco("instances"), 64),
        &theirs("coco"),
        ROUNDING,
    );
    same(
        "keypoints",
        &ours(&coco("keypoints"), 64),
        &theirs("coco_keypoints"),
        ROUNDING,
    );
    same(
        "captions",
        &ours(&coco("captions"), 64),
        &theirs("coco_captions"),
        ROUNDING,
    );

    // Resized: boxes and masks follow to the bit, pixels are rounded once more.
    let square = |text: &str| ours(&format!("{text},size=square"), 64);
    same(
        "voc, resized",
        &square(&format!("voc:{voc}")),
        &theirs("voc_square"),
        ROUNDING,
    );
    same(
        "coco, resized",
        &square(&coco("instances")),
        &theirs("coco_square"),
        ROUNDING,
    );
    let masks = theirs("voc_masks_square");
    for (sample, mask) in square(&segmentation).iter().zip(&masks) {
        let Value::Map(target) = parts(sample).1 else {
            panic!("no target");
        };
        let ours = target
            .entries
            .iter()
            .find(|(key, _)| *key == Key::from("mask"));
        assert!(ours.is_some_and(|(_, ours)| ours.same(mask)));
    }
}

#[test]
fn batches_are_those_of_the_printed_functions() {
    let Some(python) = python(&["torch"]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let ways = [
        ("list", Collate::List),
        ("pad", Collate::Pad(0.0)),
        ("minus", Collate::Pad(-1.0)),
        ("concat", Collate::Concat),
    ];
    for (name, collate) in ways {
        let options = RunOptions {
            collate,
            ..RunOptions::default()
        };
        let line = options.python_line();
        let (functions, _) = line.rsplit_once('\n').expect("functions in front");
        std::fs::write(folder.path().join(format!("{name}.py")), functions).expect("room");
    }
    run(&python, "collate.py", folder.path());
    let mut compared = 0;
    for kind in ["annotated", "rows", "plain", "lists", "same"] {
        for (name, collate) in ways {
            for site in [CollateSite::Main, CollateSite::Worker] {
                let batch = samples(folder.path(), kind);
                let ours = match collate {
                    Collate::List => collate_lists(batch),
                    Collate::Pad(value) => collate_padded(batch, site, value),
                    _ => collate_joined(batch, site),
                };
                let written = format!("{kind}-{name}");
                if !folder.path().join(format!("{written}.json")).exists() {
                    assert!(ours.is_err(), "{written}: {ours:?}");
                    continue;
                }
                let theirs = samples(folder.path(), &written);
                let ours = ours.expect("a batch");
                assert!(
                    ours.same(&theirs[0]),
                    "{written}:\n{ours:?}\n{:?}",
                    theirs[0]
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 30, "{compared} compared");
}

/// `cargo test --release --test formats -- --ignored --nocapture throughput`, with LOADSCOPE_FORMATS_DATA naming a folder that
/// `pictures.py FOLDER --large --only-data` made; `speed.py FOLDER` measures torchvision.
#[test]
#[ignore = "a measurement"]
fn throughput_of_annotated_pictures() {
    let folder =
        std::env::var("LOADSCOPE_FORMATS_DATA").expect("LOADSCOPE_FORMATS_DATA names the data");
    let coco = format!("coco:{folder}/coco/images,{folder}/coco/instances.json");
    for (name, text) in [
        ("voc", format!("voc:{folder}/voc")),
        ("coco, boxes", format!("{coco},masks=false")),
        ("coco, masks", coco),
    ] {
        let spec: DatasetSpec = text.parse().expect("a dataset");
        let dataset = spec.open(224).expect("it opens");
        let mut clock = SampleClock::off();
        let mut best = 0f64;
        for _ in 0..3 {
            let start = std::time::Instant::now();
            for index in 0..dataset.len() {
                drop(dataset.get(index, &mut clock).expect("a sample"));
            }
            best = best.max(dataset.len() as f64 / start.elapsed().as_secs_f64());
        }
        println!("{name}: {best:.0}");
    }
}

/// A folder of PASCAL VOC with so many pictures of different sizes, of which one is missing and one is broken.
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

/// Runs it, and tells how the run ended, the samples of each batch, and the messages.
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
        match run
            .events
            .recv_timeout(std::time::Duration::from_millis(100))
        {
            Ok(event) => match event.kind {
                EventKind::Fetched(fetched) => batches.push(fetched.samples.len()),
                EventKind::Message(message) => messages.push(message.text),
                EventKind::RunEnded => break,
                _ => {}
            },
            Err(_) if run.is_finished() => break,
            Err(_) => {}
        }
    }
    (run.join().is_ok(), batches, messages)
}

#[test]
fn samples_that_fail_end_the_run_or_are_left_out() {
    let dir = damaged_voc();
    for workers in [0, 2] {
        let (ended_well, _, messages) = run_of(dir.path(), OnError::Stop, workers);
        let said = messages.join("\n");
        assert!(
            !ended_well && said.contains("there is no such picture"),
            "{said}"
        );

        let (ended_well, _, messages) = run_of(dir.path(), OnError::Skip, workers);
        assert!(ended_well, "{messages:?}");
        assert_eq!(messages, ["2 samples failed and were left out"]);

        let (ended_well, _, messages) = run_of(dir.path(), OnError::Log, workers);
        let said = messages.join("\n");
        assert!(ended_well && messages.len() == 3, "{said}");
        assert!(
            said.contains("sample 3 was left out: FileNotFoundError:"),
            "{said}"
        );
        assert!(
            said.contains("5.xml, line 2, column 9: it ends in the middle"),
            "{said}"
        );
    }
}

#[test]
fn a_batch_that_lacks_samples_says_which() {
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
        while let Ok(event) = started
            .events
            .recv_timeout(std::time::Duration::from_secs(60))
        {
            let ended = matches!(event.kind, EventKind::RunEnded);
            run.apply(&event);
            if ended {
                break;
            }
        }
        started.join().expect("what fails is left out");
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

#[test]
fn sizes_that_differ_need_another_collate_function() {
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
