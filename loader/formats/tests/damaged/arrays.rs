//! Arrays: npy, npz, safetensors.

use super::{Damaged, all};

/// Creates an array file with a header before `data`.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(data);
    bytes
}

fn header(descr: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")
}

/// Creates eight rows of four floats.
pub fn right() -> Vec<u8> {
    npy(&header("'<f4'", "(8, 4)"), &[7; 128])
}

fn wrong_headers() -> Vec<(&'static str, Vec<u8>)> {
    let absurd = usize::MAX / 2;
    damaged! {
        "shape beyond memory", npy(&header("'<f4'", &format!("({absurd}, {absurd})")), &[7; 128]);
        "shape beyond the file", npy(&header("'<f4'", "(1000000000000,)"), &[7; 128]);
        "one row too many", npy(&header("'<f4'", "(9, 4)"), &[7; 128]);
        "negative", npy(&header("'<f4'", "(-8, 4)"), &[7; 128]);
        "a number beyond 64 bits", npy(&header("'<f4'", "(99999999999999999999999,)"), &[7; 128]);
        "no axis", npy(&header("'<f4'", "()"), &[7; 4]);
        "structured", npy(&header("[('a', '<f4')]", "(8, 4)"), &[7; 128]);
        "objects", npy(&header("'|O'", "(8, 4)"), &[7; 128]);
        "unknown dtype", npy(&header("'<f3'", "(8, 4)"), &[7; 128]);
        "no dict", npy("[1, 2]", &[7; 128]);
        "deep", npy(&"(".repeat(60_000), &[7; 128]);
        "no UTF-8", npy("{'descr': '<f4', 'x': '", &[0xff; 128]);
        "a header of 4 GB", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec();
        "version 9", b"\x93NUMPY\x09\x00aaaaaaaaa".to_vec();
    }
}

#[test]
fn damaged_npy_files_never_panic() {
    let damaged = wrong_headers()
        .into_iter()
        .map(|(name, bytes)| Damaged::refused(name, bytes))
        .collect();
    all("npy", "a.npy", damaged, &right(), 35);
}

fn archive(members: &[(&str, Vec<u8>)], packed: bool) -> Vec<u8> {
    use std::io::Write as _;
    let method = if packed {
        zip::CompressionMethod::Deflated
    } else {
        zip::CompressionMethod::Stored
    };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, options).expect("a member");
        writer.write_all(bytes).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

/// Creates two arrays.
pub fn any_npz() -> Vec<u8> {
    archive(&[("a.npy", right()), ("b.npy", right())], true)
}

/// Creates one tensor.
pub fn any_tensors() -> Vec<u8> {
    let header = r#"{"a":{"dtype":"F32","shape":[8,4],"data_offsets":[0,128]}}"#;
    tensors(header, &[7; 128])
}

#[test]
fn damaged_npz_files_never_panic() {
    for packed in [false, true] {
        let mut damaged: Vec<Damaged> = wrong_headers()
            .into_iter()
            .map(|(name, bytes)| Damaged::refused(name, archive(&[("a.npy", bytes)], packed)))
            .collect();
        let pair = archive(&[("a.npy", right()), ("b.npy", right())], packed);
        let unequal = npy(&header("'<f4'", "(4, 8)"), &[7; 128]);
        damaged.push(Damaged::refused(
            "different lengths",
            archive(&[("a.npy", right()), ("b.npy", unequal)], packed),
        ));
        damaged.push(Damaged::refused(
            "no arrays",
            archive(&[("a.txt", right())], packed),
        ));
        damaged.push(Damaged::refused("no members", archive(&[], packed)));
        damaged.push(Damaged::refused("no zip", right()));
        // Offsets in the central directory after its signature: compressed size at 20, uncompressed size at 24.
        let at = pair
            .windows(4)
            .position(|w| w == b"PK\x01\x02")
            .expect("a directory");
        for (name, offset) in [("packed", 20), ("unpacked", 24), ("offset", 42)] {
            for value in [0u32, 1, 100_000, 0x7fff_ffff, 0xffff_fffe] {
                let mut bytes = pair.clone();
                bytes[at + offset..at + offset + 4].copy_from_slice(&value.to_le_bytes());
                damaged.push(Damaged::survived(format!("{name} size {value}"), bytes));
            }
        }
        all("npz", "a.npz", damaged, &pair, 50);
    }
}

fn tensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn damaged_safetensors_files_never_panic() {
    let one = |dtype: &str, shape: &str, end: &str| {
        format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{end}]}}}}"#)
    };
    let good = tensors(&one("F32", "[8,4]", "128"), &[7; 128]);
    let mut damaged = Vec::new();
    for (name, header) in [
        (
            "shape beyond memory",
            one("F32", "[9223372036854775807,9223372036854775807]", "128"),
        ),
        (
            "shape beyond the file",
            one("F32", "[1000000000000]", "4000000000000"),
        ),
        ("one row too many", one("F32", "[9,4]", "144")),
        ("fewer bytes than elements", one("F32", "[9,4]", "128")),
        ("negative", one("F32", "[-8,4]", "128")),
        ("floats as sizes", one("F32", "[8.5,4]", "128")),
        ("no axis", one("F32", "[]", "4")),
        ("unknown dtype", one("F33", "[8,4]", "128")),
        ("no JSON", "{".to_owned()),
        ("empty", "{}".to_owned()),
        ("a list", "[]".to_owned()),
        ("deep", format!("{{\"a\":{}", "[".repeat(100_000))),
        ("dtype without numbers", one("F8_E8M0", "[128]", "128")),
        ("half bytes", one("F4", "[8,32]", "128")),
    ] {
        let data = if name == "no axis" { 4 } else { 128 };
        damaged.push(Damaged::refused(name, tensors(&header, &vec![7; data])));
    }
    for length in [u64::MAX, 1 << 40, 1 << 20, 0, 1] {
        let mut bytes = good.clone();
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        damaged.push(Damaged::refused(
            format!("a header of {length} bytes"),
            bytes,
        ));
    }
    all("safetensors", "a.safetensors", damaged, &good, 50);
}
