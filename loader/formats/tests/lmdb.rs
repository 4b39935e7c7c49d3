//! Comparison of LMDB environments with python-lmdb, and damaged environments.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "files and lists of tests"
)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use loadscope_formats::lmdb::{Decode, Lmdb, Options};
use loadscope_formats::{Cell, Fault, FormatError, Rows, Untimed};
use tempfile::TempDir;

mod peers;

use peers::{fault, faults};

/// Creates environments of every kind. Returns the Python that made them.
fn made() -> Option<(PathBuf, TempDir)> {
    let python = peers::python(&["lmdb", "numpy"])?;
    let dir = tempfile::tempdir().unwrap();
    peers::run(
        &python,
        "lmdb_entries.py",
        &["make", dir.path().to_str().unwrap()],
    );
    Some((python, dir))
}

fn named(name: &str) -> Options {
    Options {
        database: Some(name.to_owned()),
        ..Options::default()
    }
}

fn all(rows: &Lmdb) -> Result<Vec<Cell>, FormatError> {
    (0..rows.len()).map(|i| rows.row(i, &mut Untimed)).collect()
}

#[test]
fn entries_equal_those_of_python() {
    let Some((python, dir)) = made() else { return };
    for (name, database) in [
        ("plain", None),
        ("file.mdb", None),
        ("named", Some("train")),
        ("named", Some("test")),
        ("large", None),
    ] {
        let path = dir.path().join(name);
        let text = path.to_str().unwrap();
        let files = || std::fs::read_dir(dir.path().join("plain")).unwrap().count();
        let before = files();
        let arguments: Vec<&str> = ["entries", text].into_iter().chain(database).collect();
        let expected = peers::run(&python, "lmdb_entries.py", &arguments);
        let options = Options {
            database: database.map(str::to_owned),
            ..Options::default()
        };
        let rows = Lmdb::open(&path, options).unwrap();
        let got: Vec<_> = all(&rows).unwrap().iter().map(peers::shown).collect();
        assert_eq!(got.len(), expected.len(), "{name}");
        assert!(expected.len() >= 200);
        for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(got, expected, "{name}, {at}");
        }
        assert_eq!(files(), before, "no lock is written");
    }
}

#[test]
fn many_threads_read_at_once() {
    let Some((_, dir)) = made() else { return };
    let rows = Lmdb::open(&dir.path().join("large"), Options::default()).unwrap();
    assert_eq!(rows.len(), 200_000);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let rows = &rows;
            scope.spawn(move || {
                for i in (thread..200_000).step_by(4) {
                    let Cell::Map(fields) = rows.row(i, &mut Untimed).unwrap() else {
                        panic!()
                    };
                    assert_eq!(fields[0].1, format!("{i:08}").into());
                    assert_eq!(fields[1].1, Cell::Bytes(i.to_string().into_bytes().into()));
                }
            });
        }
    });
}

#[test]
fn values_follow_the_options_and_errors_are_clear() {
    let Some((_, dir)) = made() else { return };
    let open = |name: &str, options: Options| Lmdb::open(&dir.path().join(name), options);
    let refused = |name: &str, options: Options| open(name, options).err().unwrap();
    let decoded = |decode| {
        open(
            "file.mdb",
            Options {
                decode,
                ..Options::default()
            },
        )
        .unwrap()
    };
    let Cell::Map(fields) = decoded(Decode::Text).row(7, &mut Untimed).unwrap() else {
        panic!()
    };
    assert_eq!(fields[1].1, "größer 🐟 7".into());
    assert_eq!(fields[0].1, Cell::Bytes(7u64.to_be_bytes().to_vec().into()));
    let error = decoded(Decode::Npy).row(7, &mut Untimed).err().unwrap();
    fault(&error, Fault::Damaged, &["file.mdb, row 7"]);
    let error = decoded(Decode::Text).row(500, &mut Untimed).err().unwrap();
    fault(&error, Fault::OutOfRange, &["row 500", "500 entries"]);
    let plain = open(
        "plain",
        Options {
            decode: Decode::Text,
            ..Options::default()
        },
    )
    .unwrap();
    let error = all(&plain).err().unwrap();
    faults! {
        error => WrongType, "data.mdb", "UTF-8", "decode=";
        refused("none", Options::default()) => Damaged, "no entries";
        refused("named", Options::default()) => InvalidOption, "'empty'", "db=NAME";
        refused("named", named("valid")) => NoSuchKey, "'valid'", "empty, several, test, train";
        refused("named", named("empty")) => Damaged, "no entries";
        refused("named", named("several")) => InvalidOption, "dupsort";
        refused("plain", named("a")) => NoSuchKey, "no named database";
        refused("nowhere", Options::default()) => Missing, "nowhere";
        refused("", Options::default()) => Missing, "no data.mdb";
    }
}

/// Lists damaged files, one per line: the name and the bytes.
macro_rules! variants {
    ($($name:literal, $bytes:expr;)+) => { vec![$(($name, $bytes)),+] };
}

/// Replaces bytes of a page.
fn set(bytes: &[u8], changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for (at, with) in changes {
        changed[*at..*at + with.len()].copy_from_slice(with);
    }
    changed
}

#[test]
fn damaged_environments_give_clear_errors() {
    peers::within(Duration::from_secs(240), || {
        let Some((_, dir)) = made() else { return };
        let sound = std::fs::read(dir.path().join("plain/data.mdb")).unwrap();
        let path = dir.path().join("damaged.mdb");
        let page = |number: usize| number * 4096;
        // Newest of the two meta pages, and the root page of its tree.
        let transaction =
            |at: usize| u64::from_le_bytes(sound[page(at) + 144..][..8].try_into().unwrap());
        let meta = page(usize::from(transaction(1) > transaction(0)));
        let root = u64::from_le_bytes(sound[meta + 128..][..8].try_into().unwrap()) as usize;
        let top = page(root);
        assert_eq!(sound[top + 10], 1, "a branch");
        let max: &[u8] = &[0xff; 8];
        let circle = {
            let entry = u16::from_le_bytes([sound[top + 16], sound[top + 17]]) as usize;
            set(&sound, &[(top + entry, &(root as u32).to_le_bytes())])
        };
        let twice = {
            let entry = |i: usize| {
                top + u16::from_le_bytes([sound[top + 16 + 2 * i], sound[top + 17 + 2 * i]])
                    as usize
            };
            set(&sound, &[(entry(1), &sound[entry(0)..entry(0) + 6])])
        };
        let variants: Vec<(&str, Vec<u8>)> = variants! {
            "empty", vec![];
            "short", sound[..100].to_vec();
            "text", b"hello world\n".repeat(1000);
            "zeros", vec![0; 100_000];
            "magic", set(&sound, &[(16, b"\0")]);
            "both magics", set(&sound, &[(16, b"\0"), (4096 + 16, b"\0")]);
            "version", set(&sound, &[(20, b"\x07")]);
            "page size 0", set(&sound, &[(40, b"\0\0\0\0")]);
            "page size huge", set(&sound, &[(40, b"\0\0\0\x80")]);
            "page size odd", set(&sound, &[(40, b"\x01\x10\0\0")]);
            "root beyond", set(&sound, &[(meta + 128, &[0xff, 0xff, 0xff, 0, 0, 0, 0, 0])]);
            "root at the end of numbers", set(&sound, &[(meta + 128, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]);
            "root is the description", set(&sound, &[(meta + 128, &[0; 8])]);
            "depth 0", set(&sound, &[(meta + 94, b"\0\0")]);
            "depth 1", set(&sound, &[(meta + 94, b"\x01\0")]);
            "depth huge", set(&sound, &[(meta + 94, b"\xff\xff")]);
            "depth 32", set(&sound, &[(meta + 94, b"\x20\0")]);
            "more entries", set(&sound, &[(meta + 120, max)]);
            "circle", circle;
            "a leaf twice", twice;
            "list of entries", set(&sound, &[(top + 12, b"\xff\xff")]);
            "list before its begin", set(&sound, &[(top + 12, b"\0\0")]);
            "entry beyond", set(&sound, &[(top + 16, b"\xff\xff")]);
            "entry in the header", set(&sound, &[(top + 16, b"\0\0")]);
            "no kind", set(&sound, &[(top + 10, b"\0\0")]);
            "kind of another", set(&sound, &[(top + 10, b"\x04\0")]);
            "cut", sound[..sound.len() / 2].to_vec();
            "cut in a page", sound[..sound.len() / 3 + 100].to_vec();
        };
        assert!(variants.len() >= 25);
        for (name, bytes) in variants {
            std::fs::write(&path, bytes).unwrap();
            let error = read(&path)
                .err()
                .unwrap_or_else(|| panic!("{name} is read"));
            let text = error.to_string();
            assert!(
                text.contains("damaged.mdb") && text.len() < 500,
                "{name}: {text}"
            );
        }
    });
}

fn read(path: &Path) -> Result<(), FormatError> {
    let rows = Lmdb::open(
        path,
        Options {
            decode: Decode::Bytes,
            ..Options::default()
        },
    )?;
    all(&rows).map(drop)
}
