//! Everything that can be wrong with shards: a sentence with the place, and no more memory than is there.
#![cfg(feature = "tar")]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "files and lists of tests"
)]

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use loadscope_formats::webdataset::{Decoding, Options, WebDataset};
use loadscope_formats::{Cell, Fault, FormatError, Share, StreamSource, Untimed};

mod peers;

const LIMIT: Duration = Duration::from_secs(120);

fn put(archive: &mut tar::Builder<Vec<u8>>, name: &str, bytes: &[u8]) {
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, name, bytes).unwrap();
}

/// An archive of these files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    files
        .iter()
        .for_each(|(name, bytes)| put(&mut archive, name, bytes));
    archive.into_inner().unwrap()
}

fn sound() -> Vec<u8> {
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

/// A header whose checksum is right, whatever the rest.
fn header(name: &str, kind: u8, size: &[u8; 12]) -> [u8; 512] {
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

fn read(path: &Path) -> Vec<Result<Cell, FormatError>> {
    read_with(path, Options::new(path.to_str().unwrap()))
}

fn read_with(path: &Path, options: Options) -> Vec<Result<Cell, FormatError>> {
    let dataset = WebDataset::open(Options {
        urls: path.to_str().unwrap().to_owned(),
        ..options
    })
    .unwrap();
    let mut part = dataset.open(&Share::default()).unwrap();
    std::iter::from_fn(|| part.next(&mut Untimed)).collect()
}

fn fault(error: &FormatError, fault: Fault, says: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.fault, fault, "{text}");
    for part in says {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
}

#[test]
fn what_is_asked_wrongly_is_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a-0.tar");
    std::fs::write(&path, sound()).unwrap();
    let folder = dir.path().to_str().unwrap();
    let open = |pattern: &str| WebDataset::open(Options::new(pattern.replace("DIR", folder)));
    let refused = |pattern: &str| open(pattern).err().unwrap();
    fault(
        &refused("DIR/a-{0..3}.tar"),
        Fault::Missing,
        &["a-1.tar", "nor 2 other shards"],
    );
    fault(
        &refused("DIR/a-{0..3.tar"),
        Fault::Asked,
        &["brace", "shard-{000..127}.tar"],
    );
    fault(
        &refused("DIR/a-{0..9999999999}.tar"),
        Fault::Asked,
        &["more than 1048576 shards"],
    );
    fault(
        &refused("https://host/a.tar"),
        Fault::Asked,
        &["scheme https:", "Download"],
    );
    fault(&refused("pipe:cat x"), Fault::Missing, &["pipe:cat x"]);
    fault(&refused(""), Fault::Missing, &["no such file"]);
    assert!(open("file:DIR/a-0.tar").is_ok());
    let one = open("DIR/a-{0..0}.tar").unwrap();
    assert!(one.notes()[0].contains("one shard"));
    let share = Share {
        worker: 1,
        workers: 2,
        ..Share::default()
    };
    let mut part = one.open(&share).unwrap();
    let error = part.next(&mut Untimed).unwrap().err().unwrap();
    fault(
        &error,
        Fault::Asked,
        &["worker 1 of 2", "at most 1 workers", "empty_check=false"],
    );
    assert!(part.next(&mut Untimed).is_none());
    let urls = path.to_str().unwrap();
    let lenient = WebDataset::open(Options {
        empty_check: false,
        ..Options::new(urls)
    })
    .unwrap();
    assert!(lenient.open(&share).unwrap().next(&mut Untimed).is_none());
}

#[test]
fn damage_is_told_with_its_place_and_the_next_shard_comes() {
    let dir = tempfile::tempdir().unwrap();
    let whole = sound();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("s-0.tar"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(path("s-1.tar"), &whole).unwrap();
    let answers = read(&path("s-{0..1}.tar"));
    let errors: Vec<_> = answers.iter().filter_map(|a| a.as_ref().err()).collect();
    assert_eq!(errors.len(), 1);
    fault(
        errors[0],
        Fault::Damaged,
        &["s-0.tar", "byte ", "ends in the middle of the file"],
    );
    let sound = answers.iter().filter(|a| a.is_ok()).count();
    assert!(sound > 30 + 10, "{sound}");
    let position = answers.iter().position(Result::is_err).unwrap();
    assert_eq!(answers.len() - position - 1, 40, "all of the second");
}

type Variant = (&'static str, Vec<u8>, Fault, &'static str);

/// Archives that a stranger made.
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
    let mut crc = gz(&sound);
    let at = crc.len() - 6;
    crc[at] ^= 1;
    let mut inside = gz(&sound);
    inside[100] ^= 0xff;
    let mut later = sound.clone();
    later[1030] ^= 1;
    let cut = |bytes: Vec<u8>, at: usize| bytes[..at].to_vec();
    vec![
        ("empty", vec![], Fault::Damaged, "it is empty"),
        (
            "short",
            b"hello".to_vec(),
            Fault::Damaged,
            "not a tar archive",
        ),
        (
            "text",
            b"hello world\n".repeat(100),
            Fault::Damaged,
            "not a tar archive",
        ),
        (
            "zip",
            with(b"PK\x03\x04".to_vec(), &[7; 1000]),
            Fault::Damaged,
            "not a tar archive",
        ),
        (
            "xz",
            with(b"\xfd7zXZ\0".to_vec(), &[7; 1000]),
            Fault::Damaged,
            "compressed by xz",
        ),
        (
            "zstd",
            with(b"\x28\xb5\x2f\xfd".to_vec(), &[7; 1000]),
            Fault::Damaged,
            "compressed by zstd",
        ),
        (
            "bzip2",
            with(b"BZh91AY".to_vec(), &[7; 1000]),
            Fault::Damaged,
            "compressed by bzip2",
        ),
        ("checksum", later, Fault::Damaged, "checksum is"),
        (
            "huge size",
            block("a.bin", b'0', huge),
            Fault::TooLarge,
            "a sample at most",
        ),
        (
            "2 GiB",
            block("a.bin", b'0', b"20000000000\0"),
            Fault::TooLarge,
            "a sample at most",
        ),
        (
            "1 GiB, none there",
            block("a.bin", b'0', b"10000000000\0"),
            Fault::Damaged,
            "ends in the middle",
        ),
        (
            "huge size of another",
            block("folder", b'5', huge),
            Fault::Asked,
            "no samples",
        ),
        (
            "huge skipped",
            block("nokey", b'0', huge),
            Fault::TooLarge,
            "a sample at most",
        ),
        (
            "size no number",
            block("a.bin", b'0', b"zzzzzzzzzzz\0"),
            Fault::Damaged,
            "size is no number",
        ),
        (
            "long name, 1 GiB",
            block("L", b'L', b"10000000000\0"),
            Fault::Damaged,
            "longer than any",
        ),
        (
            "pax, huge",
            block("x", b'x', huge),
            Fault::Damaged,
            "longer than any",
        ),
        (
            "pax without end",
            cut(pax(b"15 path=abcdef\n"), 600),
            Fault::Damaged,
            "ends in the middle of",
        ),
        (
            "pax with a huge size",
            pax(b"22 size=9999999999999\n"),
            Fault::TooLarge,
            "a sample at most",
        ),
        (
            "sparse",
            pax(b"22 GNU.sparse.major=1\n"),
            Fault::Damaged,
            "holes",
        ),
        (
            "sparse of GNU",
            block("a.bin", b'S', b"00000000000\0"),
            Fault::Damaged,
            "holes",
        ),
        (
            "cut header",
            cut(sound.clone(), 1536 + 100),
            Fault::Damaged,
            "middle of a header",
        ),
        (
            "cut gzip",
            cut(gz(&sound), 300),
            Fault::Damaged,
            "compressed bytes end",
        ),
        ("gzip of nothing", gz(b""), Fault::Damaged, "it is empty"),
        (
            "gzip of text",
            gz(&b"hello world\n".repeat(100)),
            Fault::Damaged,
            "not a tar archive",
        ),
        ("gzip, damaged", inside, Fault::Damaged, ""),
        (
            "gzip header only",
            vec![0x1f, 0x8b],
            Fault::Damaged,
            "compressed bytes",
        ),
        (
            "twice",
            archive(&[("a.jpg", b"1"), ("a.JPG", b"2")]),
            Fault::Damaged,
            "second file \"jpg\"",
        ),
        (
            "own name",
            archive(&[("a.__key__", b"1")]),
            Fault::Damaged,
            "second file",
        ),
        (
            "number",
            archive(&[("a.cls", b"seven")]),
            Fault::Damaged,
            "\"seven\" is not a whole number",
        ),
        (
            "large number",
            archive(&[("a.cls", &[b'9'; 30])]),
            Fault::Damaged,
            "64 bits",
        ),
        (
            "text",
            archive(&[("a.txt", b"\xff\xfe")]),
            Fault::Damaged,
            "UTF-8",
        ),
        (
            "JSON",
            archive(&[("a.json", b"{\"a\": ")]),
            Fault::Damaged,
            "line 1 column 6",
        ),
        (
            "deep JSON",
            archive(&[("a.json", &[b'['; 100_000])]),
            Fault::Damaged,
            "not JSON",
        ),
        (
            "JSON, no text",
            archive(&[("a.json", b"\"\xff\"")]),
            Fault::Damaged,
            "not JSON",
        ),
        (
            "array",
            archive(&[("a.npy", b"\x93NUMPY\x01\0\xff\xff{")]),
            Fault::Damaged,
            "'a.npy'",
        ),
        (
            "field's gzip",
            archive(&[("a.txt.gz", b"\x1f\x8b\x08")]),
            Fault::Damaged,
            "a.txt.gz",
        ),
    ]
}

#[test]
fn hostile_archives_are_sentences() {
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

/// Where a checksum is damaged that only the end of the file has, all samples come before the error.
#[test]
fn bytes_that_are_flipped_or_missing_never_panic() {
    peers::within(LIMIT, || {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("damaged.tar");
        let sound = sound();
        let mut random = 1u64;
        let mut next = |below: usize| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) as usize % below
        };
        let mut refused = 0;
        for round in 0..300 {
            let mut bytes = sound.clone();
            match round % 3 {
                0 => bytes.truncate(next(sound.len())),
                1 => (0..20).for_each(|_| bytes[next(sound.len())] = next(256) as u8),
                _ => (0..3)
                    .for_each(|_| bytes[next(sound.len() / 512) * 512 + next(512)] ^= 1 << next(8)),
            }
            if round % 2 == 0 {
                let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
                gz.write_all(&bytes).unwrap();
                bytes = gz.finish().unwrap();
                let at = next(bytes.len());
                bytes[at] ^= 1;
            }
            std::fs::write(&path, bytes).unwrap();
            let answers = read(&path);
            for error in answers.iter().filter_map(|a| a.as_ref().err()) {
                let text = error.to_string();
                assert!(text.contains("damaged.tar") && text.len() < 600, "{text}");
            }
            refused += usize::from(answers.iter().any(Result::is_err));
        }
        assert!(refused > 150, "{refused} of 300");
    });
}

/// A few kilobytes that unpack to a gigabyte.
#[test]
fn bombs_take_no_memory() {
    peers::within(LIMIT, || {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bomb.tar.gz");
        let mut gz = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
        // Larger than a sample may be, and passed over: it belongs to no sample.
        gz.write_all(&header("__bomb__", b'0', b"16000000000\0"))
            .unwrap();
        let zeros = vec![0; 1 << 20];
        (0..0o16000000000 >> 20).for_each(|_: u64| gz.write_all(&zeros).unwrap());
        gz.write_all(&archive(&[("a.txt", b"behind")])).unwrap();
        drop(gz.finish().unwrap());
        assert!(std::fs::metadata(&path).unwrap().len() < 20 << 20);
        let before = peak_mb();
        let options = Options {
            decoding: Decoding::Bytes,
            ..Options::new("")
        };
        let answers = read_with(&path, options);
        assert_eq!(answers.len(), 1);
        assert!(answers[0].is_ok());
        assert!(
            peak_mb() < before + 200,
            "{before} and then {} MB",
            peak_mb()
        );
    });
}

/// The most memory that this process ever had in use, where the system says so.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) / 1024
}
