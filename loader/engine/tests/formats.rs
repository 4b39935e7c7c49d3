//! Datasets of data as people have them, beside their counterparts in Python.

#[path = "formats/expected.rs"]
mod expected;

use expected::{difference, parts, python, run, samples};
use loadscope_engine::dataset::{DatasetSpec, OpenDataset as _, SampleClock};
use loadscope_engine::value::{Key, Value};

/// JPEG leaves rounding open: decoders differ by so much, at most and on average.
const ROUNDING: (i64, f64) = (8, 0.5);

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
    let Some(python) = python("torchvision, pycocotools") else {
        println!(
            "not run: LOADSCOPE_FORMATS_PYTHON names no Python with torchvision and pycocotools"
        );
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
