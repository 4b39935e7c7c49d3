//! Data formats that `loadscope-formats` parses itself. Formats that libraries parse (JPEG, Parquet, FLAC …) are excluded.

use std::fs;
use std::path::Path;

use loadscope_formats::webdataset::{self, WebDataset};
use loadscope_formats::{
    Cell, FormatError, Rows, Share, StreamSource, Untimed, coco, csv, jsonl, lmdb, npy, npz,
    safetensors, sql, text, voc,
};
use loadscope_plan::dataset::{CocoSpec, CocoTask, DatasetSpec, VocSpec};

use crate::scratch;

/// Maximum number of rows to check at the start and at the end.
const MOST_ROWS: usize = 40;
/// Maximum number of archives of a pattern.
const MOST_SHARDS: usize = 10_000;
/// Maximum number of samples of a stream.
const MOST_SAMPLES: usize = 400;

/// Tests a text that names a dataset.
pub fn words(bytes: &[u8], _: bool) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match text.parse::<DatasetSpec>() {
        Ok(spec) => {
            let written = spec.to_string();
            let again = written.parse::<DatasetSpec>();
            assert_eq!(again.ok().as_ref(), Some(&spec), "{written:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match sql::Source::parse(text) {
        Ok(source) => assert!(!format!("{source:?}").contains("secret=word")),
        Err(error) => check_error(&error),
    }
    if let Err(error) = webdataset::expand(text, MOST_SHARDS) {
        assert!(!error.to_string().is_empty());
    }
}

/// Tests array files. The first byte selects the format.
pub fn arrays(bytes: &[u8], thoroughly: bool) {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    match kind % 4 {
        0 => rows(
            npy::Npy::open(&scratch::file("a.npy", bytes), None),
            thoroughly,
        ),
        1 => {
            let window = npy::Window {
                length: 3,
                stride: 2,
            };
            let path = scratch::file("a.npy", bytes);
            rows(npy::Npy::open(&path, Some(window)), thoroughly);
        }
        2 => rows(npz::open(&scratch::file("a.npz", bytes), &[]), thoroughly),
        _ => {
            let path = scratch::file("a.safetensors", bytes);
            rows(safetensors::open(&path, &[]), thoroughly);
        }
    }
}

/// Tests line-based tables. The first byte selects the format.
pub fn tables(bytes: &[u8], thoroughly: bool) {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    match kind % 4 {
        0 => rows(
            csv::Csv::open(&scratch::file("a.csv", bytes), None),
            thoroughly,
        ),
        1 => {
            let path = scratch::file("a.csv", bytes);
            rows(csv::Csv::open(&path, Some(b';')), thoroughly);
        }
        2 => rows(
            jsonl::JsonLines::open(&scratch::file("a.jsonl", bytes)),
            thoroughly,
        ),
        _ => {
            let path = scratch::file("a.txt", bytes);
            rows(text::Text::open(&path, Some(&path)), thoroughly);
        }
    }
}

/// Tests a file of COCO annotations.
pub fn annotations(bytes: &[u8], thoroughly: bool) {
    if is_large(bytes) {
        return;
    }
    let path = scratch::file("annotations.json", bytes);
    let folder = path.parent().unwrap_or(Path::new("."));
    let tasks = [CocoTask::Auto, CocoTask::Keypoints, CocoTask::Captions];
    for task in tasks.into_iter().take(if thoroughly { 3 } else { 1 }) {
        let mut spec = CocoSpec::new(folder.display().to_string(), path.display().to_string());
        spec.task = task;
        rows(coco::Coco::open(&spec), thoroughly);
    }
}

/// Returns true for input with too many pixels. The size of a mask is that of its image, up to a limit.
fn is_large(bytes: &[u8]) -> bool {
    let longest = bytes
        .split(|byte| !byte.is_ascii_digit())
        .map(<[u8]>::len)
        .max();
    let notes = bytes.windows(8).filter(|part| *part == b"image_id").count();
    longest.unwrap_or_default() > 3 && notes > 20
        || bytes
            .windows(5)
            .any(|part| part.iter().all(u8::is_ascii_digit))
}

/// Tests an annotation of VOC.
pub fn annotation(bytes: &[u8], thoroughly: bool) {
    scratch::with(|folder| {
        let root = folder.join("voc");
        let file = root.join("Annotations/a.xml");
        if !file.exists() {
            for name in ["Annotations", "JPEGImages"] {
                fs::create_dir_all(root.join(name)).expect("there is room for a folder");
            }
            fs::write(root.join("JPEGImages/a.jpg"), b"a picture").expect("there is room");
        }
        fs::write(&file, bytes).expect("there is room for a temporary file");
        let mut spec = VocSpec::new(root.display().to_string());
        spec.set = "all".to_owned();
        rows(voc::Voc::open(&spec), thoroughly);
    });
}

/// Tests an archive of samples. The first byte determines whether the files are decoded.
pub fn shards(bytes: &[u8], _: bool) {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    let path = scratch::file("a.tar", bytes);
    let decoding = match kind % 2 {
        0 => webdataset::Decoding::ByName,
        _ => webdataset::Decoding::Bytes,
    };
    let options = webdataset::Options {
        decoding,
        ..webdataset::Options::new(path.display().to_string())
    };
    let opened = WebDataset::open(options).and_then(|shards| shards.open(&Share::default()));
    let mut stream = match opened {
        Ok(stream) => stream,
        Err(error) => return check_error(&error),
    };
    for _ in 0..MOST_SAMPLES {
        match stream.next(&mut Untimed) {
            Some(Ok(_)) => {}
            Some(Err(error)) => check_error(&error),
            None => return,
        }
    }
}

/// Tests the file of an LMDB database.
pub fn pages(bytes: &[u8], thoroughly: bool) {
    let path = scratch::file("data.mdb", bytes);
    rows(
        lmdb::Lmdb::open(&path, lmdb::Options::default()),
        thoroughly,
    );
}

/// Reads rows. Reading several rows at once must give the same result.
fn rows<R: Rows>(opened: Result<R, FormatError>, thoroughly: bool) {
    let data = match opened {
        Ok(data) => data,
        Err(error) => return check_error(&error),
    };
    let len = data.len();
    let few =
        (0..len.min(MOST_ROWS)).chain(len.saturating_sub(MOST_ROWS).max(MOST_ROWS.min(len))..len);
    let indices: Vec<usize> = few.collect();
    let mut all = Vec::new();
    for &index in &indices {
        match data.row(index, &mut Untimed) {
            Ok(row) => all.push(row),
            Err(error) => check_error(&error),
        }
    }
    assert!(
        data.row(len, &mut Untimed).is_err(),
        "a row beyond the last"
    );
    if thoroughly && all.len() == indices.len() {
        check_queries(&data, &indices, &all);
    }
}

fn check_queries(data: &dyn Rows, indices: &[usize], all: &[Cell]) {
    if let Some(Ok(together)) = data.rows(indices, &mut Untimed) {
        assert_eq!(shown(&together), shown(all));
    }
    assert!(
        data.labels()
            .is_none_or(|labels| labels.len() == data.len())
    );
    assert!(
        data.lengths()
            .is_none_or(|lengths| lengths.len() == data.len())
    );
    let Some(Cell::Map(fields)) = all.first() else {
        return;
    };
    for (name, _) in fields.iter().take(3) {
        match data.column(name) {
            Some(Ok(values)) => assert_eq!(values.len(), data.len(), "{name}"),
            Some(Err(error)) => check_error(&error),
            None => {}
        }
    }
}

/// Formats cells as text, in which NaN equals itself.
fn shown(cells: &[Cell]) -> String {
    format!("{cells:?}")
}

/// Checks that an error names its source and a remedy, in one short line.
fn check_error(error: &FormatError) {
    let text = error.to_string();
    let good = !error.place.source.is_empty()
        && !error.reason.is_empty()
        && error.remedy.starts_with(|c: char| c.is_uppercase())
        && !text.contains('\n');
    assert!(good, "{text:?}");
    assert!(text.len() < 12_000, "{text:?}");
}
