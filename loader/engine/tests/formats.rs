//! Datasets of user data, compared with their counterparts in Python.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(clippy::print_stdout, reason = "a test says what it compared")]

#[path = "formats/expected.rs"]
mod expected;
#[path = "formats/failing.rs"]
mod failing;
#[path = "formats/folder.rs"]
mod folder;
#[path = "formats/in_memory.rs"]
mod in_memory;
#[path = "../../formats/tests/interpreter/mod.rs"]
mod interpreter;
#[path = "formats/samplers.rs"]
mod samplers;

use expected::{difference, parts, run, samples};
use interpreter::python;
use loadscope_engine::collate::{CollateSite, collate_concatenated, collate_lists, collate_padded};
use loadscope_engine::dataset::{
    Catalog as _, DatasetSpec, OpenDataset as _, OpeningCatalog, SampleClock,
};
use loadscope_engine::plan::RequiredColumn;
use loadscope_engine::value::{Key, Value};
use loadscope_engine::{ContentPolicy, RunControl, start};
use loadscope_trace::{Collate, RunOptions};

/// Maximum and mean difference of pixels, because JPEG does not specify rounding.
const ROUNDING: (i64, f64) = (10, 0.7);

/// Returns every sample of `text` and checks its stages.
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

/// Compares images within rounding and everything else exactly. Prints the largest difference.
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
fn annotated_pictures_match_torchvision() {
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

    // In resized data, boxes and masks are exact, and pixels are rounded once more.
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
fn batches_match_the_printed_collate_functions() {
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
                    _ => collate_concatenated(batch, site),
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

/// Measures the throughput. Run with `cargo test --release -p loadscope-engine --test integration -- --ignored --nocapture throughput`.
///
/// LOADSCOPE_FORMATS_DATA must name a folder made by `pictures.py FOLDER --large --only-data`. `speed.py FOLDER` measures torchvision.
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
