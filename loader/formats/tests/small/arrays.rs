//! Arrays: npy, npz, safetensors.

use loadscope_formats::npy::{Npy, Window};
use loadscope_formats::{Array, Cell, Dtype, Rows as _, Scalar, fields, npz, safetensors};

use crate::common::{row, write};

fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(data);
    bytes
}

fn numbers() -> Vec<u8> {
    (1..=6i16).flat_map(i16::to_be_bytes).collect()
}

#[test]
fn npy_rows_are_slices_or_windows() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.npy");
    write(&path, &npy(">i2", "False", "(3, 2)", &numbers()));
    let data = Npy::open(&path, None).expect("an array");
    assert_eq!(data.len(), 3);
    assert_eq!(row(&data, 1), Ok(Array::of(&[3i16, 4]).into()));
    let error = row(&data, 3).expect_err("three rows").to_string();
    assert!(
        error.ends_with("row 3 is beyond its 3 rows. Rows are counted from 0."),
        "{error}"
    );
    write(&path, &npy(">i2", "True", "(3, 2)", &numbers()));
    let data = Npy::open(&path, None).expect("an array");
    assert_eq!(row(&data, 1), Ok(Array::of(&[2i16, 5]).into()));
    write(&path, &npy(">i2", "False", "(6,)", &numbers()));
    let window = |length, stride| Npy::open(&path, Some(Window { length, stride }));
    let data = window(4, 2).expect("windows");
    assert_eq!(data.len(), 2);
    assert_eq!(row(&data, 1), Ok(Array::of(&[3i16, 4, 5, 6]).into()));
    assert!(row(&data, 2).is_err());
    assert!(window(7, 1).is_err_and(|e| e.to_string().contains("fewer than a window of 7")));
    assert!(window(1, 0).is_err());
    let data = Npy::open(&path, None).expect("an array");
    assert_eq!(row(&data, 5), Ok(Cell::Scalar(Scalar::of(6i16))));
}

#[test]
fn safetensors_arrays_are_read_by_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.safetensors");
    let header = r#"{"__metadata__":{"by":"hand"},"x":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},
        "label":{"dtype":"U8","shape":[2],"data_offsets":[8,10]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend([1, 2, 3, 4, 5, 6, 7, 8, 9, 3]);
    write(&path, &bytes);
    let data = safetensors::open(&path, &[]).expect("tensors");
    let half = Array::new(Dtype::BFloat16, vec![2], vec![5, 6, 7, 8].into()).expect("4 bytes");
    let expected = fields([("x", half.into()), ("label", Scalar::of(3u8).into())]);
    assert_eq!((data.len(), row(&data, 1)), (2, Ok(expected)));
    assert_eq!(data.labels(), Some(vec![9, 3]));
    let one = safetensors::open(&path, &["label".to_owned()]).expect("a tensor");
    assert_eq!(
        row(&one, 0),
        Ok(fields([("label", Scalar::of(9u8).into())]))
    );
    assert!(safetensors::open(&path, &["z".to_owned()]).is_err());
}

#[test]
fn compressed_npz_arrays_are_read() {
    use std::io::Write as _;
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.npz");
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let packed = zip::CompressionMethod::Deflated;
    let options = zip::write::SimpleFileOptions::default();
    let mut add = |name, options, bytes: &[u8]| {
        archive.start_file(name, options).expect("a member");
        archive.write_all(bytes).expect("memory");
    };
    let whole = npy("<u4", "False", "(2,)", &[1, 0, 0, 0, 2, 0, 0, 0]);
    add("p.npy", options.compression_method(packed), &whole);
    add("read.me", options, b"hello");
    let stored = options.compression_method(zip::CompressionMethod::Stored);
    add("s.npy", stored, &npy(">i2", "False", "(2, 3)", &numbers()));
    write(&path, &archive.finish().expect("memory").into_inner());
    let data = npz::open(&path, &[]).expect("arrays");
    let expected = fields([
        ("p", Scalar::of(2u32).into()),
        ("s", Array::of(&[4i16, 5, 6]).into()),
    ]);
    assert_eq!(row(&data, 1), Ok(expected));
    assert_eq!(data.notes().len(), 1);
}
