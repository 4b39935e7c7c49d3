#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::fs;
use std::path::Path;

use super::*;
use crate::stages::Untimed;

fn object(name: &str) -> String {
    format!(
        "<object><name>{name}</name><difficult>0</difficult>\
         <bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox></object>"
    )
}

/// Creates a folder with one annotation per item, named by letters, and a list `train` of all.
fn folder(classes: &[&[&str]]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for name in ["Annotations", "JPEGImages", "ImageSets/Main"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    let mut list = String::new();
    for (at, classes) in classes.iter().enumerate() {
        let name = char::from(b'a' + at as u8);
        let objects: String = classes.iter().map(|class| object(class)).collect();
        let text = format!("<annotation>{objects}</annotation>");
        fs::write(root.join(format!("Annotations/{name}.xml")), text).unwrap();
        fs::write(root.join(format!("JPEGImages/{name}.jpg")), [at as u8]).unwrap();
        list += &format!("{name}\n");
    }
    fs::write(root.join("ImageSets/Main/train.txt"), list).unwrap();
    dir
}

fn open(dir: &Path, change: impl FnOnce(&mut VocSpec)) -> Result<Voc, FormatError> {
    let mut options = VocSpec::new(dir.display().to_string());
    change(&mut options);
    Voc::open(&options)
}

fn labels(voc: &Voc, index: usize) -> Vec<u8> {
    let Cell::Tuple(cells) = voc.row(index, &mut Untimed).unwrap() else {
        panic!("no tuple");
    };
    let Some(Cell::Map(target)) = cells.get(1) else {
        panic!("no target");
    };
    let (_, Cell::Array(labels)) = &target[2] else {
        panic!("no labels");
    };
    labels.bytes().iter().step_by(8).copied().collect()
}

#[test]
fn classes_are_the_voc_classes_or_the_found_names() {
    let usual = folder(&[&["cat", "dog"], &[]]);
    let voc = open(usual.path(), |_| ()).unwrap();
    assert_eq!((voc.len(), voc.classes().len()), (2, 21));
    assert_eq!(labels(&voc, 0), [8, 12]);
    assert_eq!(labels(&voc, 1), [] as [u8; 0]);
    // The first of equal boxes decides, and an image without objects is background.
    assert_eq!(voc.labels(), Some(vec![8, 0]));
    let own = folder(&[&["zebra"], &["ant", "zebra"]]);
    let voc = open(own.path(), |_| ()).unwrap();
    assert_eq!(voc.classes(), [BACKGROUND, "ant", "zebra"]);
    assert_eq!(labels(&voc, 1), [1, 2]);
    assert_eq!(voc.notes().len(), 1);
    let mixed = folder(&[&["cat"], &["dgo", "cat"]]);
    let voc = open(mixed.path(), |_| ()).unwrap();
    let [doubt, _] = voc.notes() else {
        panic!("{:?}", voc.notes());
    };
    assert!(
        doubt.contains("b.xml has the class 'dgo', which is not a VOC class"),
        "{doubt}"
    );
    let voc = open(own.path(), |o| o.classes = vec!["zebra".into()]).unwrap();
    assert_eq!(labels(&voc, 0), [1]);
    let error = voc.row(1, &mut Untimed).unwrap_err();
    assert!(error.to_string().contains("b.xml, line 1"), "{error}");
    assert!(
        error.to_string().contains("there is no class 'ant'"),
        "{error}"
    );
    fs::write(
        own.path().join("ImageSets/Main/zebra_train.txt"),
        "a 1\nb 1\n",
    )
    .unwrap();
    let voc = open(own.path(), |_| ()).unwrap();
    assert_eq!(voc.classes(), [BACKGROUND, "zebra"]);
    let voc = open(own.path(), |o| o.set = "zebra_train".into()).unwrap();
    assert_eq!(voc.len(), 2);
}

#[test]
fn dataset_folders_are_found_by_their_year() {
    let kit = tempfile::tempdir().unwrap();
    let years = kit.path().join("VOCdevkit");
    fs::create_dir(&years).unwrap();
    for year in ["VOC2007", "VOC2012"] {
        fs::rename(folder(&[&["cat"]]).keep(), years.join(year)).unwrap();
    }
    let error = open(kit.path(), |_| ()).unwrap_err().to_string();
    assert!(
        error.contains("it contains VOC2007, VOC2012. Choose one with year=…"),
        "{error}"
    );
    for place in [kit.path(), &years] {
        let voc = open(place, |o| o.year = Some("2012".into())).unwrap();
        assert!(voc.root.ends_with("VOCdevkit/VOC2012"));
    }
    let error = open(kit.path(), |o| o.year = Some("2011".into()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no folder VOC2011"), "{error}");
}

#[test]
fn errors_name_missing_files_and_sets() {
    let dir = folder(&[&["cat"], &["cat"]]);
    let says =
        |error: FormatError, part: &str| assert!(error.to_string().contains(part), "{error}");
    says(
        open(&dir.path().join("x"), |_| ()).unwrap_err(),
        ": not found. Check the path.",
    );
    says(
        open(&dir.path().join("JPEGImages"), |_| ()).unwrap_err(),
        "no folder Annotations",
    );
    says(
        open(dir.path(), |o| o.set = "val".into()).unwrap_err(),
        "Choose another set: train, or all",
    );
    fs::write(dir.path().join("ImageSets/Main/val.txt"), "\n").unwrap();
    says(
        open(dir.path(), |o| o.set = "val".into()).unwrap_err(),
        "it names no image",
    );
    fs::write(dir.path().join("ImageSets/Main/val.txt"), b"a\n\xff").unwrap();
    says(
        open(dir.path(), |o| o.set = "val".into()).unwrap_err(),
        "line 2, column 1: it is not text in UTF-8",
    );
    let voc = open(dir.path(), |_| ()).unwrap();
    fs::remove_file(dir.path().join("JPEGImages/a.jpg")).unwrap();
    let error = voc.row(0, &mut Untimed).unwrap_err();
    assert_eq!(error.fault, Fault::Missing);
    says(error, "names this image, but it does not exist");
    fs::remove_file(dir.path().join("Annotations/b.xml")).unwrap();
    says(
        voc.row(1, &mut Untimed).unwrap_err(),
        "but it does not exist",
    );
    says(
        voc.row(2, &mut Untimed).unwrap_err(),
        "there is no such row",
    );
    fs::remove_dir_all(dir.path().join("ImageSets")).unwrap();
    let all = open(dir.path(), |_| ()).unwrap();
    assert_eq!((all.len(), all.notes().len()), (1, 1));
}

#[test]
fn images_may_have_other_extensions() {
    let dir = folder(&[&["cat"]]);
    let at = |name: &str| dir.path().join("JPEGImages").join(name);
    fs::rename(at("a.jpg"), at("a.png")).unwrap();
    let voc = open(dir.path(), |_| ()).unwrap();
    let Cell::Tuple(cells) = voc.row(0, &mut Untimed).unwrap() else {
        panic!("no tuple");
    };
    assert!(matches!(&cells[0], Cell::Picture(picture) if picture.origin.ends_with("a.png")));
}
