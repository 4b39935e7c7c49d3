//! Tables in Parquet and Arrow, sounds and texts.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float32Array, Int32Array, ListArray, RecordBatch, StringArray, types::Int16Type,
};
use loadscope_formats::arrow::SavedDataset;
use loadscope_formats::audio::Sounds;
use loadscope_formats::parquet::Parquet;
use loadscope_formats::text::Text;
use loadscope_formats::{Array, Cell, Rows as _, fields};

use crate::common::{all, row, write};

/// Creates two rows: `{label: 3, x: 0.5, words: [1, 2], text: "ä"}`, and one with only a label.
fn table() -> RecordBatch {
    let lists = [Some(vec![Some(1), Some(2)]), None];
    RecordBatch::try_from_iter([
        ("label", Arc::new(Int32Array::from(vec![3, 4])) as ArrayRef),
        (
            "x",
            Arc::new(Float32Array::from(vec![Some(0.5), None])) as ArrayRef,
        ),
        (
            "words",
            Arc::new(ListArray::from_iter_primitive::<Int16Type, _, _>(lists)) as ArrayRef,
        ),
        (
            "text",
            Arc::new(StringArray::from(vec![Some("ä"), None])) as ArrayRef,
        ),
    ])
    .expect("columns of one length")
}

fn expected() -> [Cell; 2] {
    let words = Array::of(&[1i16, 2]);
    [
        fields([
            ("label", 3i64.into()),
            ("x", 0.5.into()),
            ("words", words.into()),
            ("text", "ä".into()),
        ]),
        fields([
            ("label", 4i64.into()),
            ("x", Cell::Null),
            ("words", Cell::Null),
            ("text", Cell::Null),
        ]),
    ]
}

#[test]
fn parquet_files_are_read_as_rows_and_columns() {
    let dir = tempfile::tempdir().expect("a folder");
    let batch = table();
    let mut paths = Vec::new();
    for name in ["b.parquet", "a.parquet"] {
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None)
            .expect("a writer");
        writer.write(&batch).expect("memory");
        writer.close().expect("memory");
        paths.push(dir.path().join(name));
        write(&dir.path().join(name), &bytes);
    }
    for paths in [paths, vec![dir.path().to_owned()]] {
        let data = Parquet::open(&paths).expect("two files");
        assert_eq!((data.len(), data.labels()), (4, Some(vec![3, 4, 3, 4])));
        assert_eq!(data.lengths(), Some(vec![2, 0, 2, 0]));
        let texts = ["ä".into(), Cell::Null, "ä".into(), Cell::Null];
        assert_eq!(data.column("text"), Some(Ok(texts.to_vec())));
        assert!(data.column("none").is_none());
        let [first, second] = expected();
        assert_eq!(row(&data, 3).as_ref(), Ok(&second));
        assert_eq!(
            all(&data, &[2, 1, 2]),
            Ok(vec![first.clone(), second, first])
        );
        assert!(row(&data, 4).is_err() && all(&data, &[0, 4]).is_err());
    }
    assert!(Parquet::open(&[]).is_err());
}

#[test]
fn arrow_streams_are_read_as_rows() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.arrow");
    let batch = table();
    let mut writer =
        arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(&batch).expect("memory");
    writer.write(&batch.slice(1, 1)).expect("memory");
    let whole = writer.into_inner().expect("memory");
    write(&path, &whole);
    let data = SavedDataset::open(&path).expect("a stream");
    let [first, second] = expected();
    let rows: Vec<Cell> = (0..3).map(|at| row(&data, at).expect("a row")).collect();
    assert_eq!(rows, [first, second.clone(), second]);
    assert_eq!(
        (data.labels(), data.notes().len()),
        (Some(vec![3, 4, 4]), 0)
    );
    // Without an end mark, the file may be truncated, and a note reports this.
    write(&path, &whole[..whole.len() - 8]);
    let data = SavedDataset::open(&path).expect("a stream");
    assert!(
        data.notes()[0].contains("no end mark"),
        "{:?}",
        data.notes()
    );
}

#[test]
fn wav_files_are_read_as_labelled_waveforms() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut wav = b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x40\x1f\0\0\x00\x7d\0\0\x04\0\x10\0data\x08\0\0\0".to_vec();
    wav.extend(
        [0x4000i16, -0x8000, 1, 0]
            .into_iter()
            .flat_map(i16::to_le_bytes),
    );
    for class in ["b", "a"] {
        std::fs::create_dir(dir.path().join(class)).expect("a folder");
        write(&dir.path().join(class).join("x.wav"), &wav);
    }
    let data = Sounds::open(dir.path()).expect("two sounds");
    let wave =
        Array::with_shape(vec![2, 2], &[0.5f32, 1.0 / 32768.0, -1.0, 0.0]).expect("4 numbers");
    let expected = fields([
        ("waveform", wave.into()),
        ("rate", 8000i64.into()),
        ("label", 1i64.into()),
    ]);
    assert_eq!(row(&data, 1), Ok(expected));
    assert_eq!(data.lengths(), Some(vec![2, 2]));
    assert_eq!(
        (data.classes(), data.labels()),
        (
            ["a".to_owned(), "b".to_owned()].as_slice(),
            Some(vec![0, 1])
        )
    );
    assert!(Sounds::open(&dir.path().join("c")).is_err());
}

#[test]
fn text_lines_are_read_as_vocabulary_numbers() {
    let dir = tempfile::tempdir().expect("a folder");
    let paths = ["a.txt", "words"].map(|name| dir.path().join(name));
    write(&paths[0], b"b a\n\nc\n");
    write(&paths[1], b"a\nb\n<unk>\n");
    let data = Text::open(&paths[0], Some(&paths[1])).expect("a text");
    let expected: [&[i64]; 3] = [&[1, 0], &[], &[2]];
    for (at, ids) in expected.iter().enumerate() {
        assert_eq!(row(&data, at), Ok(Array::of(ids).into()));
    }
    assert_eq!(
        row(&Text::open(&paths[0], None).expect("a text"), 0),
        Ok("b a".into())
    );
}
