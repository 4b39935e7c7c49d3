//! Malicious archives cause an error each, and memory stays within the actual bytes.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "files and lists of tests"
)]

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use loadscope_formats::Fault;

mod peers;

use peers::archives::{archive, header, peak_mb, read, sound};

const LIMIT: Duration = Duration::from_secs(120);

type Variant = (&'static str, Vec<u8>, Fault, &'static str);

/// Lists archives, one per line: the name, the bytes, the kind of the error, and words of its text.
macro_rules! hostile {
    ($($name:literal, $bytes:expr => $fault:ident, $says:literal;)+) => {
        vec![$(($name, $bytes, Fault::$fault, $says)),+]
    };
}

/// Returns malicious archives with their expected errors.
fn hostile() -> Vec<Variant> {
    let huge = b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff";
    let block = |name, kind, size: &[u8; 12]| header(name, kind, size).to_vec();
    let with = |mut a: Vec<u8>, b: &[u8]| {
        a.extend_from_slice(b);
        a
    };
    let pax = |record: &[u8]| {
        let mut bytes = header(
            "pax",
            b'x',
            format!("{:011o}\0", record.len())
                .as_bytes()
                .try_into()
                .unwrap(),
        )
        .to_vec();
        bytes.extend_from_slice(record);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes.extend_from_slice(&header("a.bin", b'0', b"00000000004\0"));
        bytes.extend_from_slice(b"data");
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    };
    let gz = |bytes: &[u8]| {
        let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
        gz.write_all(bytes).unwrap();
        gz.finish().unwrap()
    };
    let sound = sound();
    let mut inside = gz(&sound);
    inside[100] ^= 0xff;
    let mut later = sound.clone();
    later[1030] ^= 1;
    let cut = |bytes: Vec<u8>, at: usize| bytes[..at].to_vec();
    hostile! {
        "empty", vec![] => Damaged, "it is empty";
        "short", b"hello".to_vec() => Damaged, "not a tar archive";
        "text", b"hello world\n".repeat(100) => Damaged, "not a tar archive";
        "zip", with(b"PK\x03\x04".to_vec(), &[7; 1000]) => Damaged, "not a tar archive";
        "xz", with(b"\xfd7zXZ\0".to_vec(), &[7; 1000]) => Damaged, "compressed with xz";
        "zstd", with(b"\x28\xb5\x2f\xfd".to_vec(), &[7; 1000]) => Damaged, "compressed with zstd";
        "bzip2", with(b"BZh91AY".to_vec(), &[7; 1000]) => Damaged, "compressed with bzip2";
        "checksum", later => Damaged, "checksum is";
        "huge size", block("a.bin", b'0', huge) => TooLarge, "a sample may have at most";
        "2 GiB", block("a.bin", b'0', b"20000000000\0") => TooLarge, "a sample may have at most";
        "1 GiB, none there", block("a.bin", b'0', b"10000000000\0") => Damaged, "is truncated inside";
        "huge size of another", block("folder", b'5', huge) => InvalidOption, "no samples";
        "huge skipped", block("nokey", b'0', huge) => TooLarge, "a sample may have at most";
        "size no number", block("a.bin", b'0', b"zzzzzzzzzzz\0") => Damaged, "size is not a number";
        "long name, 1 GiB", block("L", b'L', b"10000000000\0") => Damaged, "exceeds the limit";
        "pax, huge", block("x", b'x', huge) => Damaged, "exceeds the limit";
        "pax without end", cut(pax(b"15 path=abcdef\n"), 600) => Damaged, "is truncated inside";
        "pax with a huge size", pax(b"22 size=9999999999999\n") => TooLarge, "a sample may have at most";
        "sparse", pax(b"22 GNU.sparse.major=1\n") => Damaged, "sparse file";
        "sparse of GNU", block("a.bin", b'S', b"00000000000\0") => Damaged, "sparse file";
        "cut header", cut(sound.clone(), 1536 + 100) => Damaged, "truncated inside a header";
        "cut gzip", cut(gz(&sound), 300) => Damaged, "compressed bytes end";
        "gzip of nothing", gz(b"") => Damaged, "it is empty";
        "gzip of text", gz(&b"hello world\n".repeat(100)) => Damaged, "not a tar archive";
        "gzip, damaged", inside => Damaged, "";
        "gzip header only", vec![0x1f, 0x8b] => Damaged, "compressed bytes";
        "twice", archive(&[("a.jpg", b"1"), ("a.JPG", b"2")]) => Damaged, "second file \"jpg\"";
        "own name", archive(&[("a.__key__", b"1")]) => Damaged, "second file";
        "number", archive(&[("a.cls", b"seven")]) => Damaged, "\"seven\" is not an integer of at most 128 bits";
        "large number", archive(&[("a.cls", &[b'9'; 40])]) => Damaged, "integer of at most 128 bits";
        "text", archive(&[("a.txt", b"\xff\xfe")]) => Damaged, "UTF-8";
        "JSON", archive(&[("a.json", b"{\"a\": ")]) => Damaged, "line 1, column 7: the JSON ends in the middle";
        "deep JSON", archive(&[("a.json", &[b'['; 100_000])]) => Damaged, "column 130: the JSON is nested more than 128 levels deep";
        "JSON, no text", archive(&[("a.json", b"\"\xff\"")]) => Damaged, "column 2: the JSON is not UTF-8";
        "array", archive(&[("a.npy", b"\x93NUMPY\x01\0\xff\xff{")]) => Damaged, "'a.npy'";
        "field's gzip", archive(&[("a.txt.gz", b"\x1f\x8b\x08")]) => Damaged, "a.txt.gz";
    }
}

#[test]
fn hostile_archives_give_clear_errors() {
    peers::within(LIMIT, || {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hostile.tar");
        let before = peak_mb();
        let variants = hostile();
        assert!(variants.len() >= 30);
        for (name, bytes, expected, says) in variants {
            std::fs::write(&path, bytes).unwrap();
            let answers = read(&path);
            let errors: Vec<_> = answers.iter().filter_map(|a| a.as_ref().err()).collect();
            assert_eq!(errors.len(), 1, "{name}: {answers:?}");
            let text = errors[0].to_string();
            assert!(
                text.contains("hostile.tar") && text.len() < 600,
                "{name}: {text}"
            );
            assert_eq!(errors[0].fault, expected, "{name}: {text}");
            assert!(text.contains(says), "{name}: {text}");
        }
        assert!(
            peak_mb() < before + 300,
            "{before} and then {} MB",
            peak_mb()
        );
    });
}
