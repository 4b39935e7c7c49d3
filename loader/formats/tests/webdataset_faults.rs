//! Errors of shards contain the place, and the next shard follows.
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
use loadscope_formats::webdataset::{Decoding, Options, WebDataset};
use loadscope_formats::{Share, StreamSource, Untimed};

mod peers;

use peers::archives::{archive, header, peak_mb, read, read_with, sound};
use peers::faults;

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn invalid_urls_and_shares_give_clear_errors() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a-0.tar");
    std::fs::write(&path, sound()).unwrap();
    let folder = dir.path().to_str().unwrap();
    let open = |pattern: &str| WebDataset::open(Options::new(pattern.replace("DIR", folder)));
    let refused = |pattern: &str| open(pattern).err().unwrap();
    faults! {
        refused("DIR/a-{0..3}.tar") => Missing, "a-1.tar", "like 2 other shards";
        refused("DIR/a-{0..3.tar") => InvalidOption, "brace", "shard-{000..127}.tar";
        refused("DIR/a-{0..9999999999}.tar") => InvalidOption, "more than 1048576 shards";
        refused("https://host/a.tar") => InvalidOption, "scheme https:", "Download";
        refused("pipe:cat x") => Missing, "pipe:cat x";
        refused("") => Missing, "not found";
    }
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
    faults! { error => InvalidOption, "worker 1 of 2", "at most 1 workers", "into more shards"; }
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
fn a_damaged_shard_is_named_and_the_next_one_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let whole = sound();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("s-0.tar"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(path("s-1.tar"), &whole).unwrap();
    let answers = read(&path("s-{0..1}.tar"));
    let errors: Vec<_> = answers.iter().filter_map(|a| a.as_ref().err()).collect();
    assert_eq!(errors.len(), 1);
    faults! { *(errors[0]) => Damaged, "s-0.tar", "byte ", "is truncated inside the file"; }
    let sound = answers.iter().filter(|a| a.is_ok()).count();
    assert!(sound > 30 + 10, "{sound}");
    let position = answers.iter().position(Result::is_err).unwrap();
    assert_eq!(answers.len() - position - 1, 40, "all of the second");
}

/// Truncates, overwrites or flips bytes. All samples precede the error if only the checksum at the end of the file is damaged.
#[test]
fn flipped_or_missing_bytes_never_panic() {
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

/// Reads an archive of a few kilobytes that decompresses to a gigabyte.
#[test]
fn decompression_bombs_take_little_memory() {
    peers::within(LIMIT, || {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bomb.tar.gz");
        let mut gz = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
        // The file is larger than a sample may be, but is not part of a sample, so it is skipped.
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
