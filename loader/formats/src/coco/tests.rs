#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::fs;

use super::*;
use crate::error::Fault;
use crate::stages::Untimed;

const HEAD: &str = r#"{"info":{},"images":[{"id":7,"file_name":"b.jpg","width":3,"height":2},
    {"id":3,"file_name":"a.jpg","width":3,"height":2}],"categories":[{"id":1,"name":"cat"},{"id":3,"name":"dog"}],"annotations":["#;

fn spec(dir: &Path, file: &Path) -> CocoSpec {
    CocoSpec::new(dir.display().to_string(), file.display().to_string())
}

fn open(
    dir: &Path,
    annotations: &str,
    change: impl FnOnce(&mut CocoSpec),
) -> Result<Coco, FormatError> {
    let file = dir.join("annotations.json");
    fs::write(&file, annotations).unwrap();
    for name in ["a.jpg", "b.jpg"] {
        fs::write(dir.join(name), name).unwrap();
    }
    let mut spec = spec(dir, &file);
    change(&mut spec);
    Coco::open(&spec)
}

fn target(coco: &Coco, index: usize) -> Result<Vec<(String, Cell)>, FormatError> {
    let Cell::Tuple(cells) = coco.row(index, &mut Untimed)? else {
        panic!("no tuple");
    };
    let Some(Cell::Map(fields)) = cells.into_iter().nth(1) else {
        panic!("no target");
    };
    Ok(fields
        .into_iter()
        .map(|(key, cell)| (key.to_string(), cell))
        .collect())
}

#[test]
fn images_load_by_id_with_their_annotations() {
    let dir = tempfile::tempdir().unwrap();
    let notes = r#"{"id":1,"image_id":7,"category_id":3,"bbox":[1,0.5,2,1],"area":2,"iscrowd":1,
        "segmentation":{"counts":[1,2,3],"size":[2,3]}},
        {"id":2,"image_id":7,"category_id":1,"bbox":[0,0,1,1],"segmentation":{"counts":"123","size":[2,3]}},
        {"id":3,"image_id":99,"category_id":1,"bbox":[0,0,1,1]}]}"#;
    let coco = open(dir.path(), &format!("{HEAD}{notes}"), |_| ()).unwrap();
    assert_eq!((coco.len(), coco.task()), (2, CocoTask::Instances));
    assert_eq!(coco.classes(), ["N/A", "cat", "N/A", "dog"]);
    assert!(
        coco.notes()[0].starts_with("1 annotations in"),
        "{:?}",
        coco.notes()
    );
    // The largest box decides, and an image without a box has class 0.
    assert_eq!(coco.labels(), Some(vec![0, 3]));
    let none = target(&coco, 0).unwrap();
    assert_eq!(none[0], ("image_id".to_owned(), Cell::Int(3)));
    assert!(matches!(&none[1].1, Cell::Array(boxes) if boxes.shape() == [0, 4]));
    let both = target(&coco, 1).unwrap();
    assert_eq!(
        both[1].1,
        shaped(vec![2, 4], &[1f32, 0.5, 3.0, 1.5, 0.0, 0.0, 1.0, 1.0])
    );
    assert_eq!(both[2].1, Array::of(&[3i64, 1]).into());
    let mask = [0u8, 1, 0, 1, 0, 0];
    assert_eq!(both[5].1, shaped(vec![2, 2, 3], &[mask, mask].concat()));
    let plain = open(dir.path(), &format!("{HEAD}{notes}"), |o| o.masks = false).unwrap();
    assert_eq!(target(&plain, 1).unwrap().len(), 5);
}

#[test]
fn unlisted_categories_and_inverted_boxes_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let notes = r#"{"image_id":7,"category_id":42,"bbox":[1,0,2,1]},
        {"image_id":7,"category_id":1,"bbox":[1,0,-1,1]}]}"#;
    let coco = open(dir.path(), &format!("{HEAD}{notes}"), |_| ()).unwrap();
    let said = coco.notes().join("\n");
    for part in [
        "1 of 2 annotations in",
        "do not list (42, for example).",
        "a bbox of negative width or height",
        "2 of 2 annotations",
        "have no area. It is loaded as 0.",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // pycocotools loads the same values.
    assert_eq!(
        target(&coco, 1).unwrap()[2].1,
        Array::of(&[42i64, 1]).into()
    );
}

#[test]
fn captions_and_keypoints_are_recognized() {
    let dir = tempfile::tempdir().unwrap();
    let captions = format!(r#"{HEAD}{{"image_id":3,"caption":"a \"cat\"\n"}}]}}"#);
    let coco = open(dir.path(), &captions, |_| ()).unwrap();
    assert_eq!(coco.task(), CocoTask::Captions);
    assert_eq!(
        target(&coco, 0).unwrap()[1].1,
        Cell::List(vec!["a \"cat\"\n".into()])
    );
    assert_eq!(target(&coco, 1).unwrap()[1].1, Cell::List(vec![]));
    let points = format!(
        r#"{HEAD}{{"image_id":3,"category_id":1,"bbox":[0,0,1,1],"keypoints":[1,2,2,0,0,0]}}]}}"#
    );
    let coco = open(dir.path(), &points, |_| ()).unwrap();
    let keypoints = &target(&coco, 0).unwrap()[5];
    assert_eq!(
        keypoints.1,
        shaped(vec![1, 2, 3], &[1f32, 2.0, 2.0, 0.0, 0.0, 0.0])
    );
}

#[test]
fn annotation_errors_name_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let says = |text: &str, part: &str| {
        let read = open(dir.path(), text, |_| ()).and_then(|coco| {
            for index in 0..coco.len() {
                coco.row(index, &mut Untimed)?;
            }
            Ok(())
        });
        let error = read.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    says(
        "",
        "annotations.json, line 1, column 1: the JSON ends in the middle",
    );
    says(
        "{\"images\":[\n{]}",
        "line 2, column 2: the JSON must have a key",
    );
    says("[]", "the JSON must have an object");
    says("{}", "'images': it lists no images");
    says(
        r#"{"images":[{"id":1}]}"#,
        "line 1, column 12, 'file_name': in image 1, it is missing",
    );
    says(
        r#"{"images":[{"file_name":"a.jpg"}]}"#,
        "an image has no id",
    );
    says(
        r#"{"images":[{"id":1,"file_name":"c.jpg"}]}"#,
        "annotations.json names this image, but it does not exist",
    );
    let note = |rest: &str| format!(r#"{HEAD}{{"image_id":3,"category_id":1{rest}}}]}}"#);
    says(&note(""), "'bbox': in an annotation, it is missing");
    says(
        &note(r#","bbox":[1,2]"#),
        "[1,2] is not four numbers: x, y, width, height",
    );
    let seven = note(r#","bbox":[0,0,1,1],"segmentation":7"#);
    let column = seven
        .lines()
        .nth(1)
        .and_then(|line| line.find("7}]"))
        .unwrap()
        + 1;
    says(
        &seven,
        &format!(
            "line 2, column {column}, 'segmentation': in an annotation, a segmentation must be"
        ),
    );
    says(
        &note(r#","bbox":[0,0,1,1],"segmentation":{"counts":[1],"size":[9,9]}"#),
        "a mask has 9×9 pixels, but its image has 3×2",
    );
    says(
        &note(r#","bbox":[0,0,1,1],"segmentation":{"counts":[1],"size":[2,3]}"#),
        "its runs cover 1 of the 6 pixels of 3×2",
    );
    says(
        &note(r#","bbox":[0,0,1,1],"segmentation":{"counts":"~~","size":[2,3]}"#),
        "is not a digit",
    );
    says(
        &note(r#","bbox":[0,0,1,1],"segmentation":[[0,0,1e9,1e9,0,5]]"#),
        "too far outside",
    );
    says(
        &note(r#","bbox":[0,0,1,1],"keypoints":[1,2]"#),
        "2 numbers differ from the keypoints",
    );
    says(&note(r#","caption":7"#), "7 is not a string");
}

#[test]
fn a_missing_folder_or_file_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let error = Coco::open(&spec(&dir.path().join("x"), Path::new("a.json"))).unwrap_err();
    assert!(
        error.to_string().ends_with(": not found. Check the path."),
        "{error}"
    );
    let error = Coco::open(&spec(dir.path(), &dir.path().join("a.json"))).unwrap_err();
    assert_eq!(error.fault, Fault::Missing);
}

#[test]
fn contradictions_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let said = |notes: &str| {
        let text = format!("{HEAD}{notes}]}}");
        open(dir.path(), &text, |_| ()).unwrap().notes().join("\n")
    };
    let right = r#"{"id":1,"image_id":7,"category_id":1,"bbox":[0,0,1,1],"area":1,"segmentation":[[0,0,1,0,1,1]]}"#;
    assert_eq!(said(right), "");
    for (from, to, part) in [
        (
            r#""area":1"#,
            r#""area":[1]"#,
            "an area that is a list of one number",
        ),
        ("[0,0,1,1]", "[0,0,9,1]", "partly outside the image"),
        ("[0,0,1,1]", "[0,0,NaN,1]", "a bbox with NaN or Infinity"),
        ("[[0,0,1,0,1,1]]", "[[]]", "have no segmentation"),
        (
            r#""area""#,
            r#""iscrowd":1,"area""#,
            "have iscrowd 1 and polygons",
        ),
        (r#""id":1"#, r#""id":"1","image_id":"7""#, ""),
    ] {
        let notes = said(&right.replace(from, to));
        assert!(notes.contains(part), "{from}: {notes}");
    }
    let twice = said(&format!("{right},{right}"));
    assert!(
        twice.contains("1 annotations in") && twice.contains("earlier annotation (1"),
        "{twice}"
    );
}

#[test]
fn the_last_annotation_of_an_id_replaces_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let note = |id: &str, image: u32, category: u32| {
        format!(r#"{{"id":{id},"image_id":{image},"category_id":{category},"bbox":[0,0,1,1]}}"#)
    };
    let all = [note("1", 3, 1), note("1.0", 7, 3), note("\"1\"", 3, 1)].join(",");
    let coco = open(dir.path(), &format!("{HEAD}{all}]}}"), |_| ()).unwrap();
    let labels = |index| target(&coco, index).unwrap()[2].1.clone();
    assert_eq!(labels(0), Array::of(&[3i64, 1]).into());
    assert_eq!(labels(1), Array::of(&[3i64]).into());
}
