//! Test archives and their readers.

use std::path::Path;

use loadscope_formats::webdataset::{Options, WebDataset};
use loadscope_formats::{Cell, FormatError, Share, StreamSource, Untimed};

pub fn put(archive: &mut tar::Builder<Vec<u8>>, name: &str, bytes: &[u8]) {
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, name, bytes).unwrap();
}

/// Creates an archive of files.
pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    files
        .iter()
        .for_each(|(name, bytes)| put(&mut archive, name, bytes));
    archive.into_inner().unwrap()
}

pub fn sound() -> Vec<u8> {
    let names: Vec<String> = (0..20).map(|i| format!("a/{i:04}")).collect();
    let mut archive = tar::Builder::new(Vec::new());
    for (i, name) in names.iter().enumerate() {
        put(
            &mut archive,
            &format!("{name}.cls"),
            i.to_string().as_bytes(),
        );
        put(
            &mut archive,
            &format!("{name}.jpg"),
            &vec![i as u8; 700 * i],
        );
        put(
            &mut archive,
            &format!("{}{name}.json", "long/".repeat(40)),
            br#"{"a": [1]}"#,
        );
    }
    archive.into_inner().unwrap()
}

/// Creates a header with a valid checksum.
pub fn header(name: &str, kind: u8, size: &[u8; 12]) -> [u8; 512] {
    let mut block = [0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..136].copy_from_slice(size);
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    block[148..156].copy_from_slice(b"        ");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

pub fn read(path: &Path) -> Vec<Result<Cell, FormatError>> {
    read_with(path, Options::new(path.to_str().unwrap()))
}

pub fn read_with(path: &Path, options: Options) -> Vec<Result<Cell, FormatError>> {
    let dataset = WebDataset::open(Options {
        urls: path.to_str().unwrap().to_owned(),
        ..options
    })
    .unwrap();
    let mut part = dataset.open(&Share::default()).unwrap();
    std::iter::from_fn(|| part.next(&mut Untimed)).collect()
}

/// Returns the peak memory of this process, MB, or 0 if the system does not report it.
pub fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) / 1024
}
