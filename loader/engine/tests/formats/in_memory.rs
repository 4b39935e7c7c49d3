//! Rows in memory that are copied straight into batches, which must equal collated samples.

use std::path::Path;

use loadscope_engine::LoaderBuilder;
use loadscope_engine::collate::{CollateSite, default_collate};
use loadscope_engine::dataset::{AnyDataset, DatasetSpec, OpenDataset as _, SampleClock};
use loadscope_engine::value::Value;

/// Writes a NumPy file: a header, then `count` bytes that count up.
fn npy(path: &Path, descr: &str, fortran: bool, shape: &str, count: usize) {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).expect("a short header");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length.to_le_bytes());
    file.extend(header.bytes());
    file.extend((0..count).map(|at| at as u8));
    std::fs::write(path, file).expect("there is room");
}

/// Returns a dataset's batches of three, its collated samples, and true if it is in memory.
fn both(text: &str) -> (Vec<Value>, Vec<Value>, bool) {
    let spec: DatasetSpec = text.parse().expect("a dataset");
    let AnyDataset::Map(dataset) = spec.open_any(224).expect("it opens") else {
        unreachable!("arrays are map-style");
    };
    let loader = LoaderBuilder::new(dataset.clone()).batch_size(3);
    let mut loader = loader.build().expect("a loader");
    let batches = loader.iter().expect("an epoch");
    let batches = batches
        .map(|batch| batch.expect("a batch").into_batch())
        .collect();
    let indices: Vec<usize> = (0..dataset.len()).collect();
    let collated = indices.chunks(3).map(|indices| {
        let samples = indices.iter().map(|index| {
            let sample = dataset.get(*index, &mut SampleClock::off());
            sample.expect("a sample")
        });
        default_collate(samples.collect(), CollateSite::Main).expect("one shape")
    });
    (batches, collated.collect(), dataset.in_memory().is_some())
}

#[test]
fn batches_of_in_memory_arrays_equal_collated_samples() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases = [
        // Rows, adjacent windows, overlapping windows, and windows with gaps.
        ("<i4", false, "(10, 3)", 120, "", true),
        ("<i4", false, "(10, 3)", 120, ",window=2", true),
        ("<f8", false, "(11,)", 88, ",window=4,stride=1", true),
        ("|u1", false, "(10, 2, 2)", 40, ",window=2,stride=3", true),
        // Single numbers, and elements that must be byte-swapped, reordered or validated.
        ("<i8", false, "(7,)", 56, "", false),
        (">i4", false, "(10, 3)", 120, "", false),
        ("<i4", true, "(10, 3)", 120, ",window=2", false),
        ("|b1", false, "(10, 3)", 30, "", false),
    ];
    for (descr, fortran, shape, bytes, options, lies_in_memory) in cases {
        let path = folder.path().join("array.npy");
        npy(&path, descr, fortran, shape, bytes);
        let text = format!("npy:{}{options}", path.display());
        let (batches, collated, in_memory) = both(&text);
        assert_eq!(in_memory, lies_in_memory, "{descr} {shape}{options}");
        assert_eq!(batches.len(), collated.len(), "{descr} {shape}{options}");
        for (batch, collated) in batches.iter().zip(&collated) {
            assert!(
                batch.same(collated),
                "{descr} {shape}{options}: {batch:?}, not {collated:?}"
            );
        }
    }
}
