//! Data that samplers need, for datasets of user data.

use super::*;

/// Creates a folder with a table, a text, and annotated images that are not decoded here.
fn data_of_samplers() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("room for a file");
    };
    write("a.csv", "kind,x,label\nb,1,5\na,2,0\nb,1,5\n");
    write("a.txt", "one two\n\nthree\n");
    write("a.jsonl", "{\"kind\": \"b\"}\n{\"kind\": \"a\"}\n");
    let object = |name: &str, side: u32| {
        format!(
            "<object><name>{name}</name><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>{side}</xmax><ymax>{side}</ymax></bndbox></object>"
        )
    };
    let note = |objects: String| format!("<annotation>{objects}</annotation>");
    write(
        "voc/Annotations/a.xml",
        &note(object("cat", 3) + &object("dog", 9)),
    );
    write("voc/Annotations/b.xml", &note(String::new()));
    write(
        "coco.json",
        r#"{"images": [{"id": 2, "file_name": "b.jpg"}, {"id": 1, "file_name": "a.jpg"}], "categories": [{"id": 7, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 7, "bbox": [0, 0, 4, 4]}]}"#,
    );
    folder
}

#[test]
fn sampler_tables_contain_classes_columns_and_lengths() {
    let folder = data_of_samplers();
    let at = |text: &str| text.replace('@', &folder.path().display().to_string());
    let table = |text: &str, needed: &RequiredColumn| {
        let spec: DatasetSpec = at(text).parse().expect("a dataset");
        OpeningCatalog.table(&spec, 64, needed).expect("a table")
    };
    for (text, classes) in [
        ("csv:@/a.csv", &[5, 0, 5][..]),
        ("csv:@/a.csv,label=kind", &[1, 0, 1]),
        ("jsonl:@/a.jsonl,label=kind", &[1, 0]),
        ("voc:@/voc,set=all", &[12, 0]),
        ("coco:@,@/coco.json", &[7, 0]),
    ] {
        let found = table(text, &RequiredColumn::Classes).classes;
        assert_eq!(found.as_deref(), Some(classes), "{text}");
    }
    let names = |text: &str| {
        let spec: DatasetSpec = at(text).parse().expect("a dataset");
        OpeningCatalog.look_up(&spec, 64).expect("an entry").classes
    };
    assert_eq!(names("csv:@/a.csv,label=kind"), ["a", "b"]);
    let groups = table("csv:@/a.csv", &RequiredColumn::Groups("x".to_owned())).groups;
    assert_eq!(groups.as_deref(), Some(&[0, 1, 0][..]));
    let lengths = table("text:@/a.txt", &RequiredColumn::Lengths).lengths;
    assert_eq!(lengths.as_deref(), Some(&[2, 0, 1][..]));
    assert_eq!(table("csv:@/a.csv", &RequiredColumn::Lengths).lengths, None);
    // Missing data is an error when a sampler needs it.
    for (text, sampler, says) in [
        (
            "text:@/a.txt",
            "weighted:balanced",
            "needs the class of each sample",
        ),
        ("text:@/a.txt", "group:x", "needs the values of x"),
        (
            "csv:@/a.csv",
            "bucket:len",
            "needs the length of each sample",
        ),
    ] {
        let error = run_with(&at(text), sampler).expect_err(sampler);
        assert!(error.contains(says), "{error}");
    }
    for (text, sampler) in [
        ("csv:@/a.csv,label=kind", "weighted:balanced"),
        ("csv:@/a.csv", "group:x"),
        ("text:@/a.txt", "bucket:len"),
    ] {
        assert_eq!(run_with(&at(text), sampler), Ok(()), "{sampler}");
    }
}

/// Runs an epoch with a sampler.
fn run_with(dataset: &str, sampler: &str) -> Result<(), String> {
    let options = RunOptions {
        dataset: dataset.to_owned(),
        sampler: sampler.to_owned(),
        batch_size: Some(1),
        num_workers: 0,
        step_ms: 0.0,
        ..RunOptions::default()
    };
    let run = start(&options, ContentPolicy::Off, RunControl::default());
    let mut run = run.map_err(|e| e.to_string())?;
    run.join().map(|_| ()).map_err(|e| e.to_string())
}
