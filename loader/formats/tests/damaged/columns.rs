//! Parquet and Arrow files.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::{Damaged, all};

/// Creates numbers, texts with nulls, lists and dictionary words.
fn table(rows: usize) -> RecordBatch {
    let mut lists = ListBuilder::new(Int32Builder::new());
    let mut words = StringDictionaryBuilder::<Int32Type>::new();
    for row in 0..rows {
        for item in 0..row % 4 {
            lists.values().append_value(item as i32);
        }
        lists.append(row % 7 != 0);
        words.append_value(["red", "green", "blue"][row % 3]);
    }
    let numbers = Int64Array::from_iter_values(0..rows as i64);
    let floats = Float64Array::from_iter((0..rows).map(|n| (n % 5 != 0).then_some(n as f64 / 3.0)));
    let texts =
        StringArray::from_iter((0..rows).map(|n| (n % 6 != 0).then(|| format!("text {n}"))));
    RecordBatch::try_from_iter([
        ("id", Arc::new(numbers) as ArrayRef),
        ("x", Arc::new(floats) as ArrayRef),
        ("text", Arc::new(texts) as ArrayRef),
        ("list", Arc::new(lists.finish()) as ArrayRef),
        ("word", Arc::new(words.finish()) as ArrayRef),
    ])
    .expect("columns of one length")
}

fn parquet(compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(40))
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let batch = table(100);
    let mut file = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("memory");
    writer.close().expect("memory");
    file
}

/// Creates a table with the most common compression.
pub fn any_parquet() -> Vec<u8> {
    parquet(Compression::SNAPPY)
}

/// Creates a stream of two batches.
pub fn any_arrow() -> Vec<u8> {
    arrow(true, None)
}

#[test]
fn damaged_parquet_files_never_panic() {
    let packings = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ];
    for packing in packings {
        let right = parquet(packing);
        let end = right.len();
        let mut damaged = Vec::new();
        for (name, length) in [
            ("0", 0u32),
            ("1", 1),
            ("beyond", end as u32),
            ("2 GB", 0x7fff_ffff),
            ("4 GB", u32::MAX),
        ] {
            let mut bytes = right.clone();
            bytes[end - 8..end - 4].copy_from_slice(&length.to_le_bytes());
            damaged.push(Damaged::refused(format!("a footer of {name} bytes"), bytes));
        }
        let mut magic = right.clone();
        magic[end - 1] = b'2';
        damaged.push(Damaged::refused("no magic word", magic));
        damaged.push(Damaged::refused("nothing between", b"PAR1PAR1".to_vec()));
        damaged.push(Damaged::refused("only a magic word", b"PAR1".to_vec()));
        damaged.push(Damaged::refused(
            "text",
            b"hello, this is no table\n".repeat(10),
        ));
        // Each third byte of the footer becomes 0x7f. Each byte of the first pages becomes 0xff.
        let footer =
            u32::from_le_bytes(right[end - 8..end - 4].try_into().expect("4 bytes")) as usize;
        for at in (end - 8 - footer..end - 8).step_by(3) {
            let mut bytes = right.clone();
            bytes[at] = 0x7f;
            damaged.push(Damaged::survived(format!("footer {at}"), bytes));
        }
        for at in 4..120 {
            let mut bytes = right.clone();
            bytes[at] = 0xff;
            damaged.push(Damaged::survived(format!("page {at}"), bytes));
        }
        all("parquet", "a.parquet", damaged, &right, 60);
    }
}

fn arrow(stream: bool, packing: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default()
        .try_with_compression(packing)
        .expect("a packing");
    let batch = table(100);
    let parts = [batch.slice(0, 40), batch.slice(40, 60)];
    let file = Cursor::new(Vec::new());
    if stream {
        let mut writer =
            StreamWriter::try_new_with_options(file, &batch.schema(), options).expect("a writer");
        parts
            .iter()
            .for_each(|part| writer.write(part).expect("memory"));
        writer.into_inner().expect("memory").into_inner()
    } else {
        let mut writer =
            FileWriter::try_new_with_options(file, &batch.schema(), options).expect("a writer");
        parts
            .iter()
            .for_each(|part| writer.write(part).expect("memory"));
        writer.into_inner().expect("memory").into_inner()
    }
}

#[test]
fn damaged_arrow_files_never_panic() {
    for stream in [true, false] {
        for packing in [
            None,
            Some(CompressionType::LZ4_FRAME),
            Some(CompressionType::ZSTD),
        ] {
            let right = arrow(stream, packing);
            let mut damaged = vec![
                Damaged::refused("text", b"hello, this is no table\n".repeat(10)),
                Damaged::refused("only a magic word", b"ARROW1\0\0".to_vec()),
                Damaged::refused("two magic words", b"ARROW1\0\0\0\0\0\0ARROW1".to_vec()),
                Damaged::refused(
                    "a schema of 2 GB",
                    b"\xff\xff\xff\xff\xff\xff\xff\x7f".to_vec(),
                ),
                Damaged::refused("only an end", b"\xff\xff\xff\xff\0\0\0\0".to_vec()),
            ];
            for at in (0..right.len()).step_by(7) {
                for value in [0xff, 0x7f] {
                    let mut bytes = right.clone();
                    bytes[at] = value;
                    damaged.push(Damaged::survived(format!("byte {at}: {value}"), bytes));
                }
            }
            all("arrow", "a.arrow", damaged, &right, 40);
        }
    }
}

#[test]
fn damaged_saved_datasets_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| crate::common::write(&dir.path().join(name), bytes);
    let says = || match loadscope_formats::arrow::SavedDataset::open(dir.path()) {
        Ok(data) => format!("{} rows", loadscope_formats::Rows::len(&data)),
        Err(error) => error.to_string(),
    };
    assert!(says().contains("it contains no .arrow file"), "{}", says());
    file("data-0.arrow", &arrow(true, None));
    assert_eq!(says(), "100 rows");
    for (state, what) in [
        ("{", "state.json, line 1, column 1: it is not JSON"),
        ("{}", "it names no data files"),
        (
            r#"{"_data_files": [{"filename": 5}]}"#,
            "it names no data files",
        ),
        (
            r#"{"_data_files": [{"filename": "../data-0.arrow"}]}"#,
            "which is not a file in the folder",
        ),
        (
            r#"{"_data_files": [{"filename": "data-1.arrow"}]}"#,
            "not found",
        ),
        (r#"{"_data_files": []}"#, "there are no .arrow files"),
        (
            r#"{"_data_files": [{"filename": "data-0.arrow"}]}"#,
            "100 rows",
        ),
    ] {
        file("state.json", state.as_bytes());
        assert!(says().contains(what), "{}", says());
    }
    file("dataset_info.json", b"{\"features\": [");
    assert!(says().contains("dataset_info.json, line 1"), "{}", says());
    for features in [
        "{\"features\": 5}",
        "{\"features\": {\"id\": [], \"list\": {\"_type\": \"Array2D\", \"shape\": [-1]}}}",
    ] {
        file("dataset_info.json", features.as_bytes());
        assert_eq!(says(), "100 rows");
    }
    file("dataset_dict.json", br#"{"splits": ["train", "test"]}"#);
    assert!(
        says().contains("it contains several datasets: 'train', 'test'"),
        "{}",
        says()
    );
}
