//! Tests of typical data, loaded by the engine and shown in the inspector: annotated images, tables, sequences and sounds.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use eframe::egui::Theme;
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use image::imageops::FilterType;
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};
use loadscope_session::{Record, Session, SessionEvent};
use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Nanos, Run, RunId, RunInfo, RunOptions, SampleTiming, Stage,
};
use loadscope_ui::panels::inspector::Inspector;

use super::{save, state, window};
use crate::fixture::repository;

/// Loads a dataset with the engine.
fn load(dataset: String, batch_size: usize) -> Run {
    let options = RunOptions {
        dataset,
        batch_size: Some(batch_size),
        num_workers: 1,
        ..RunOptions::default()
    };
    let session = Session::start(&options, Record::Memory, Arc::new(|| {})).expect("it opens");
    let mut run = Run::default();
    loop {
        let event = session.events.recv_timeout(Duration::from_secs(60));
        match event.expect("it ends in time") {
            SessionEvent::Events(events) => events.iter().for_each(|e| run.apply(e)),
            SessionEvent::Ended(error) => {
                assert_eq!(error, None);
                return enacted(&run);
            }
            _ => {}
        }
    }
}

/// Returns the first batch in a run with constant times.
fn enacted(loaded: &Run) -> Run {
    let batch = BatchId { epoch: 0, idx: 0 };
    let indices = loaded.indices(0).to_vec();
    let content = loaded.content(0).expect("it was looked into").clone();
    let samples = (0..indices.len() as i64).map(|k| SampleTiming {
        start: Nanos::from_millis(3 * k),
        wall: Nanos::from_millis(3),
        cpu: None,
    });
    let fetched = Fetched {
        batch,
        samples: samples.collect(),
        stages: Vec::new(),
    };
    let entered = |stage| EventKind::Entered { batch, stage };
    let kinds = [
        EventKind::EpochStarted { epoch: 0 },
        EventKind::dispatched(batch, Some(0), indices),
        entered(Stage::Fetching),
        EventKind::Fetched(Box::new(fetched)),
        entered(Stage::Collating),
        EventKind::Content(content.into()),
        entered(Stage::Returning),
        entered(Stage::Ready),
    ];
    let mut run = Run::new(RunInfo {
        classes: loaded.info.classes.clone(),
        options: loaded.info.options.clone(),
        ..RunInfo::default()
    });
    for (k, kind) in kinds.into_iter().enumerate() {
        let at = Nanos::from_millis(40 * k as i64);
        let run_id = RunId(0);
        run.apply(&Event {
            at,
            run: run_id,
            kind,
        });
    }
    run
}

fn inspector<'a>(height: f32, theme: Theme, run: Run) -> Harness<'a, State> {
    let mut inspector = Inspector::default();
    let mut state = state(run, Cursor::Live);
    state.session.selection = Some(Item::Batch(0));
    let (harness, _) = window((300.0, height), theme, state, move |ui, state| {
        inspector.show(ui, state)
    });
    harness
}

/// Takes screenshots of a view in both themes, and checks that it contains these labels.
fn look(name: &str, height: f32, run: &Run, labels: &[&str]) -> SnapshotResults {
    let mut results = SnapshotResults::new();
    for (name, theme) in [
        (name.to_owned(), Theme::Dark),
        (format!("{name}-light"), Theme::Light),
    ] {
        let mut harness = inspector(height, theme, run.clone());
        harness.run();
        for label in labels {
            let found = harness.query_all_by_label_contains(label).count();
            assert!(found > 0, "{label:?} is nowhere");
        }
        save(&mut harness, &name);
        results.extend_harness(&mut harness);
    }
    results
}

/// Saves the repository's photographs, 320 and 240 pixels wide.
fn photographs(folder: &Path) {
    fs::create_dir_all(folder).expect("there is room");
    for (name, width) in [("china", 320), ("flower", 240)] {
        let photo = image::open(repository("assets/pictures").join(format!("{name}.jpg")));
        let photo = photo.expect("it comes with the repository");
        let height = width * photo.height() / photo.width();
        let small = photo.resize_exact(width, height, FilterType::Triangle);
        let small = small.into_rgb8();
        small
            .save(folder.join(format!("{name}.jpg")))
            .expect("there is room");
    }
}

fn voc() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    photographs(&dir.path().join("JPEGImages"));
    for (name, objects) in [
        (
            "china",
            [
                ("temple", [40, 35, 205, 165]),
                ("bus", [190, 150, 250, 190]),
            ]
            .as_slice(),
        ),
        ("flower", [("flower", [60, 10, 205, 150])].as_slice()),
    ] {
        let objects: String = objects
            .iter()
            .map(|(class, [left, top, right, bottom])| {
                format!(
                    "<object><name>{class}</name><difficult>0</difficult><bndbox><xmin>{left}</xmin><ymin>{top}</ymin>\
                     <xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object>"
                )
            })
            .collect();
        let folder = dir.path().join("Annotations");
        fs::create_dir_all(&folder).expect("there is room");
        let text = format!("<annotation>{objects}</annotation>");
        fs::write(folder.join(format!("{name}.xml")), text).expect("there is room");
    }
    let folder = dir.path().join("ImageSets/Main");
    fs::create_dir_all(&folder).expect("there is room");
    fs::write(folder.join("train.txt"), "china\nflower\n").expect("there is room");
    dir
}

#[test]
fn voc_boxes_are_drawn_over_their_images() {
    let dir = voc();
    let run = load(format!("voc:{}", dir.path().display()), 2);
    let labels = [
        "image of sample 0, with 2 boxes (temple, bus)",
        "image of sample 1, with 1 box (flower)",
    ];
    let mut results = look("boxes", 760.0, &run, &labels);
    let mut harness = inspector(1_100.0, Theme::Dark, run);
    harness.run();
    harness.get_by_label_contains("image of sample 1").click();
    harness.run();
    harness.get_by_label_contains("enlarged image of sample 1");
    harness.get_by_label("Size, pixels 240 × 160");
    harness.get_by_label("Boxes").click();
    harness.run();
    assert!(!harness.state().prefs.annotations.boxes);
    save(&mut harness, "boxes-off");
    results.extend_harness(&mut harness);
}

/// Writes COCO annotations of the two photographs: objects, outlines, keypoints and captions.
fn coco(kind: &str, annotations: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    photographs(&dir.path().join("images"));
    let images = r#"[{"id":1,"file_name":"china.jpg","width":320,"height":213},{"id":2,"file_name":"flower.jpg","width":240,"height":160}]"#;
    let categories = r#"[{"id":1,"name":"temple","keypoints":["roof","left","right"]},{"id":2,"name":"flower"}]"#;
    let text =
        format!(r#"{{"images":{images},"categories":{categories},"annotations":[{annotations}]}}"#);
    let file = dir.path().join(format!("{kind}.json"));
    fs::write(&file, text).expect("there is room");
    let (images, file) = (dir.path().join("images"), file.display().to_string());
    let dataset = format!("coco:{},{file}", images.display());
    (dir, dataset)
}

#[test]
fn coco_masks_are_drawn_over_their_images() {
    let annotations = r#"{"id":1,"image_id":1,"category_id":1,"bbox":[40,35,165,130],"area":9000,"iscrowd":0,
            "segmentation":[[120,35,205,100,200,165,45,165,40,100]]},
        {"id":2,"image_id":2,"category_id":2,"bbox":[60,10,145,140],"area":9000,"iscrowd":0,
            "segmentation":[[130,10,190,40,205,90,160,150,90,140,60,80,80,30]]}"#;
    let (_dir, dataset) = coco("instances", annotations);
    let labels = [
        "image of sample 0, with 1 box (temple), 1 mask",
        "image of sample 1, with 1 box (flower), 1 mask",
    ];
    drop(look("masks", 760.0, &load(dataset, 2), &labels));
}

#[test]
fn coco_keypoints_are_drawn_over_their_images() {
    let annotations = r#"{"id":1,"image_id":1,"category_id":1,"bbox":[40,35,165,130],"area":9000,"iscrowd":0,"num_keypoints":3,
            "keypoints":[120,40,2,45,160,2,200,160,1]}"#;
    let (_dir, dataset) = coco("person_keypoints", annotations);
    let labels = ["with 1 box (temple), keypoints of 1 object"];
    drop(look("keypoints", 760.0, &load(dataset, 2), &labels));
}

#[test]
fn coco_captions_are_shown_below_their_images() {
    let annotations = r#"{"id":1,"image_id":1,"caption":"A temple with many roofs above a street."},
        {"id":2,"image_id":1,"caption":"The Summer Palace in Beijing."},{"id":3,"image_id":2,"caption":"A red flower."}"#;
    let (_dir, dataset) = coco("captions", annotations);
    let labels = ["A temple with many roofs", "A red flower."];
    drop(look("captions", 700.0, &load(dataset, 2), &labels));
}

#[test]
fn csv_rows_are_shown_as_a_table() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("people.csv");
    let rows: String = (0..24)
        .map(|k| {
            let height = if k % 5 == 3 {
                String::new()
            } else {
                format!("{:.2}", 1.5 + f64::from(k) * 0.02)
            };
            let town = ["Bonn", "Ulm", "Kiel"][k as usize % 3];
            format!("person {k},{},{height},{town}\n", 20 + k * 7 % 50)
        })
        .collect();
    fs::write(&file, format!("name,age,height,town\n{rows}")).expect("there is room");
    let run = load(format!("csv:{}", file.display()), 12);
    drop(look(
        "rows",
        800.0,
        &run,
        &["12 rows, 4 columns", "Null: 2 in height", "person 7"],
    ));
}

#[test]
fn text_padding_is_shaded() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (text, vocab) = (dir.path().join("lines.txt"), dir.path().join("vocab.txt"));
    fs::write(&vocab, "<pad>\nthe\nsun\nsea\nabove\na\nsmall\nbird\n").expect("there is room");
    let lines = "the sun\nthe sun above the sea\na small bird above the small sea\na bird\nthe sea\nthe small sun above a small bird\n";
    fs::write(&text, lines).expect("there is room");
    let run = load(
        format!("text:{},vocab={}", text.display(), vocab.display()),
        6,
    );
    drop(look(
        "padding",
        620.0,
        &run,
        &[
            "sequences of 2 to 7 values",
            "of the values are padding, with value 0",
        ],
    ));
}

/// Writes a 16-bit sound of 8,000 frames per second: a rising, fading tone.
fn wav(path: &Path, hertz: f64) {
    let frames = 8_000u32;
    let mut bytes = Vec::new();
    bytes.extend(b"RIFF");
    bytes.extend((36 + 2 * frames).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    for word in [1u16, 1] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(8_000u32.to_le_bytes());
    bytes.extend(16_000u32.to_le_bytes());
    for word in [2u16, 16] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(b"data");
    bytes.extend((2 * frames).to_le_bytes());
    for frame in 0..frames {
        let time = f64::from(frame) / 8_000.0;
        let value =
            (std::f64::consts::TAU * hertz * time * (1.0 + time)).sin() * (-2.0 * time).exp();
        bytes.extend(((value * 30_000.0) as i16).to_le_bytes());
    }
    fs::write(path, bytes).expect("there is room");
}

#[test]
fn sounds_are_shown_as_waveforms_and_spectrograms() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (class, hertz) in [("high", 900.0), ("low", 200.0)] {
        let folder = dir.path().join(class);
        fs::create_dir(&folder).expect("there is room");
        wav(&folder.join("one.wav"), hertz);
    }
    let run = load(format!("audio:{}", dir.path().display()), 2);
    let labels = [
        "waveform 0, channel 0",
        "spectrogram 1",
        "sample 1 · low · 8,000 frames · 1.00 s",
    ];
    drop(look("waveforms", 760.0, &run, &labels));
}
