//! Every format with the usual kinds of corruption: truncation, flipped bytes, zeroed bytes, duplication, reversal.

use std::path::Path;

use loadscope_formats::Opened;
use loadscope_formats::coco::Coco;
use loadscope_formats::lmdb::{self, Lmdb};
use loadscope_formats::sql::{self, Query, Source};
use loadscope_formats::voc::Voc;
use loadscope_formats::webdataset::{self, WebDataset};
use loadscope_formats::{Cell, FormatError, Rows, Share, Stages, StreamSource as _, Untimed};

use super::{arrays, columns, sounds, tables};
use crate::common::damage::{endure, usual};
use crate::common::{Options, open, text, write};
use loadscope_plan::dataset::{CocoSpec, VocSpec};

type Open = fn(&Path) -> Result<Box<dyn Rows>, FormatError>;

/// Minimum number of files.
const LEAST: usize = 300;
/// Maximum number of samples from a damaged file of a few kilobytes.
const MOST_SAMPLES: usize = 100_000;

/// All results of a stream.
struct Streamed(Vec<Result<Cell, FormatError>>);

impl Rows for Streamed {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn row(&self, index: usize, _: &mut dyn Stages) -> Result<Cell, FormatError> {
        self.0[index].clone()
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().expect("a folder")
}

fn annotations(path: &Path) -> Result<Box<dyn Rows>, FormatError> {
    let root = folder(folder(path));
    std::fs::create_dir_all(root.join("JPEGImages")).expect("a folder");
    write(&root.join("JPEGImages/a.jpg"), b"a picture");
    let mut spec = VocSpec::new(text(root));
    spec.set = "all".to_owned();
    Ok(Box::new(Voc::open(&spec)?))
}

fn list(path: &Path) -> Result<Box<dyn Rows>, FormatError> {
    let root = folder(folder(folder(path)));
    for (name, bytes) in [
        ("Annotations/a.xml", ANNOTATION),
        ("JPEGImages/a.jpg", "a picture"),
    ] {
        std::fs::create_dir_all(folder(&root.join(name))).expect("a folder");
        write(&root.join(name), bytes.as_bytes());
    }
    Ok(Box::new(Voc::open(&VocSpec::new(text(root)))?))
}

fn instances(path: &Path) -> Result<Box<dyn Rows>, FormatError> {
    write(&folder(path).join("a.jpg"), b"a picture");
    let spec = CocoSpec::new(text(folder(path)), text(path));
    Ok(Box::new(Coco::open(&spec)?))
}

fn query(path: &Path) -> Result<Box<dyn Rows>, FormatError> {
    let source = Source::parse(&format!("sqlite:{}", path.display()))?;
    let query = Query {
        index: Some("id".to_owned()),
        ..Query::new("SELECT * FROM items")
    };
    match sql::open(&source, &query)? {
        Opened::Rows(rows) => Ok(rows),
        Opened::Stream(_) => panic!("it has an index"),
    }
}

fn entries(path: &Path) -> Result<Box<dyn Rows>, FormatError> {
    Ok(Box::new(Lmdb::open(path, lmdb::Options::default())?))
}

fn shards(path: &Path) -> Result<Box<dyn Rows>, FormatError> {
    let shards = WebDataset::open(webdataset::Options::new(path.display().to_string()))?;
    let mut stream = shards.open(&Share::default())?;
    let samples: Vec<_> = std::iter::from_fn(|| stream.next(&mut Untimed))
        .take(MOST_SAMPLES)
        .collect();
    assert!(samples.len() < MOST_SAMPLES, "a stream without end");
    Ok(Box::new(Streamed(samples)))
}

const ANNOTATION: &str = "<annotation><filename>a.jpg</filename><object><name>cat</name><difficult>0</difficult>\
    <bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox></object></annotation>";

const INSTANCES: &str = r#"{"images":[{"id":1,"file_name":"a.jpg","width":30,"height":20}],
    "categories":[{"id":1,"name":"cat"},{"id":3,"name":"dog"}],"annotations":[
    {"id":1,"image_id":1,"category_id":3,"bbox":[1,2,10,10],"area":100,"iscrowd":0,
    "segmentation":[[1,2,11,2,11,12,1,12],[20,1,25.5,4,22,9]]},
    {"id":2,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"area":1,"iscrowd":1,"segmentation":{"counts":[100,50,450],"size":[20,30]}},
    {"id":3,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"segmentation":{"counts":"T3b1^><","size":[20,30]}}]}"#;

/// LMDB environment from python-lmdb with twelve small values and one of several pages.
const SMALL: &[u8] = include_bytes!("../data/small.mdb");

fn archive() -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for sample in 0..6 {
        for (ending, bytes) in [
            ("cls", b"3".as_slice()),
            ("json", br#"{"a": [1]}"#),
            ("txt", b"hello"),
        ] {
            let mut header = tar::Header::new_ustar();
            header.set_size(bytes.len() as u64);
            let name = format!("{sample:03}.{ending}");
            archive
                .append_data(&mut header, name, bytes)
                .expect("memory");
        }
    }
    archive.into_inner().expect("memory")
}

fn database() -> Vec<u8> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.sqlite");
    let base = rusqlite::Connection::open(&path).expect("a new file");
    base.execute_batch(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, x REAL, data BLOB);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
         INSERT INTO items SELECT i, 'name ' || i, i / 3.0, x'0102' FROM n;",
    )
    .expect("SQL");
    drop(base);
    std::fs::read(&path).expect("a file")
}

macro_rules! opens {
    ($format:literal) => {
        |path| open($format, &[path.to_owned()], &Options::default())
    };
}

#[test]
fn every_format_survives_damage() {
    let all: Vec<(&'static str, &str, Vec<u8>, Open)> = vec![
        ("voc", "Annotations/a.xml", ANNOTATION.into(), annotations),
        (
            "voc, list",
            "ImageSets/Main/train.txt",
            b"a\n".repeat(40),
            list,
        ),
        ("coco", "a.json", INSTANCES.into(), instances),
        ("sql", "a.sqlite", database(), query),
        ("csv", "a.csv", tables::right().into(), opens!("csv")),
        (
            "jsonl",
            "a.jsonl",
            b"{\"a\": [1, 2.5, \"x\"]}\n".repeat(30),
            opens!("jsonl"),
        ),
        (
            "parquet",
            "a.parquet",
            columns::any_parquet(),
            opens!("parquet"),
        ),
        ("arrow", "a.arrow", columns::any_arrow(), opens!("arrow")),
        ("npy", "a.npy", arrays::right(), opens!("npy")),
        ("npz", "a.npz", arrays::any_npz(), opens!("npz")),
        (
            "safetensors",
            "a.safetensors",
            arrays::any_tensors(),
            opens!("safetensors"),
        ),
        ("tar", "a.tar", archive(), shards),
        ("lmdb", "a.mdb", SMALL.to_vec(), entries),
        ("wav", "a.wav", sounds::right(), opens!("audio")),
        ("flac", "a.flac", sounds::FLAC.to_vec(), opens!("audio")),
        ("ogg", "a.ogg", sounds::OGG.to_vec(), opens!("audio")),
        (
            "text",
            "a.txt",
            b"some words\nand more\n".repeat(20),
            opens!("text"),
        ),
    ];
    let (mut files, mut refused) = (0, 0);
    for (format, file, right, open) in all {
        let damaged = usual(&right);
        let count = damaged.len();
        let bad = endure(file, damaged, open);
        eprintln!("{format}: {count} damaged files, {bad} refused");
        assert!(bad > 0, "{format}: none was refused");
        files += count;
        refused += bad;
    }
    let memory = super::peak_mb();
    eprintln!("all: {files} damaged files, {refused} refused, at most {memory} MB in use");
    assert!(files >= LEAST, "{files} damaged files");
    assert!(refused >= LEAST, "{refused} of {files} refused");
    assert!(memory < super::MOST_MB, "{memory} MB");
}
