//! Files of a folder and their Hive partitions, with the rules of `pyarrow.parquet.read_table(FOLDER)`.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use loadscope_words::say;

use crate::error::{Fault, FormatError, Place};

/// Maximum number of files in a folder.
const MOST: usize = 1_000_000;
/// Maximum depth of nested folders, because links can form cycles.
const DEEPEST: usize = 32;
/// Partition value for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// A file and the partitions in its `key=value` folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartitionedFile {
    pub(super) path: PathBuf,
    pub(super) partitions: Vec<(String, Option<String>)>,
}

/// Files of a table.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: Vec<PartitionedFile>,
    /// Files that are not Parquet.
    others: Vec<PathBuf>,
}

impl Listing {
    /// Lists the files in `paths`: files, and folders with their subfolders.
    ///
    /// # Errors
    /// If a folder cannot be read or has no Parquet file.
    pub(super) fn of(paths: &[PathBuf]) -> Result<Self, FormatError> {
        let mut all = Self::default();
        for path in paths {
            if path.is_dir() {
                all.add_folder(path)?;
            } else {
                // A single file is a table without partitions, as in pyarrow.
                let folders = path.parent().filter(|_| paths.len() > 1);
                all.files.push(PartitionedFile {
                    path: path.clone(),
                    partitions: folders.map(partitions).unwrap_or_default(),
                });
            }
        }
        Ok(all)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), FormatError> {
        let mut paths = Vec::new();
        walk(folder, 0, &mut paths)?;
        // The order is that of the bytes of whole paths, not folder by folder: "a-b" is before "a/b".
        paths.sort_by(|a, b| {
            (a.as_os_str().as_encoded_bytes()).cmp(b.as_os_str().as_encoded_bytes())
        });
        let before = self.files.len();
        for path in paths {
            let below = path.strip_prefix(folder).unwrap_or(&path);
            let partitions = below.parent().map(partitions).unwrap_or_default();
            if is_parquet(&path) {
                self.files.push(PartitionedFile { path, partitions });
            } else {
                self.others.push(path);
            }
        }
        if self.files.len() == before {
            bail!(Missing, Place::file(folder), say!("it contains no Parquet file");
                say!("Choose another folder, or a file"));
        }
        Ok(())
    }

    /// Returns a warning about the ignored files.
    pub(super) fn note(&self) -> Option<String> {
        let first = self.others.first()?;
        Some(format!(
            "{} files that are not Parquet are left out ({}, for example). pyarrow refuses a folder with such a file, unless its name \
             begins with . or _.",
            self.others.len(),
            first.display()
        ))
    }
}

/// Adds all files of a folder and its subfolders, except names that begin with `.` or `_`.
fn walk(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<(), FormatError> {
    let wrong = |fault, reason: String, remedy: &str| {
        FormatError::new(fault, Place::file(folder), reason, remedy)
    };
    if depth > DEEPEST {
        return Err(wrong(
            Fault::Unreadable,
            say!("folders are nested more than {DEEPEST} deep"),
            say!("Look for a symbolic link that points to its own parent"),
        ));
    }
    let unreadable = |e: std::io::Error| FormatError::io(folder, &e);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        if name.starts_with(b".") || name.starts_with(b"_") {
            continue;
        }
        if path.is_dir() {
            walk(&path, depth + 1, paths)?;
        } else {
            paths.push(path);
        }
        if paths.len() > MOST {
            return Err(wrong(
                Fault::TooLarge,
                say!("it contains more than {MOST} files"),
                say!("Choose a smaller folder"),
            ));
        }
    }
    Ok(())
}

/// Returns true if a file is Parquet by its extension or its magic number.
fn is_parquet(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    if ["parquet", "parq", "pq"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
    {
        return true;
    }
    let mut begin = [0; 4];
    let read =
        loadscope_files::open_regular(path).map(|mut file: File| file.read_exact(&mut begin));
    matches!(read, Ok(Ok(()))) && &begin == b"PAR1"
}

/// Returns the partitions in the folders of a path.
fn partitions(folders: &Path) -> Vec<(String, Option<String>)> {
    let mut all: Vec<(String, Option<String>)> = Vec::new();
    for folder in folders {
        let name = folder.to_string_lossy();
        let Some((key, value)) = name.split_once('=') else {
            continue;
        };
        let key = decoded(key);
        if !all.iter().any(|(known, _)| *known == key) {
            let value = Some(decoded(value)).filter(|value| value != NULL);
            all.push((key, value));
        }
    }
    all
}

/// Resolves percent escapes such as `%20`.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(escaped) => {
                out.push(escaped);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_read_from_key_value_folders() {
        let of = |path: &str| partitions(Path::new(path));
        let text = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
        assert_eq!(of("a/k=1/m=a%20b"), [text("k", "1"), text("m", "a b")]);
        assert_eq!(of("k=a=b/k=2"), [text("k", "a=b")]);
        assert_eq!(of("k=%zz/%6b=é%"), [text("k", "%zz")]);
        assert_eq!(of("k=__HIVE_DEFAULT_PARTITION__"), [("k".to_owned(), None)]);
    }

    #[test]
    fn hidden_and_foreign_files_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let names = [
            "a-b/1",
            "a/2.parquet",
            "_SUCCESS",
            ".a.crc",
            "_delta_log/0.parquet",
            "x=_y/3",
            "README.md",
        ];
        for name in names {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[allow(clippy::disallowed_methods, reason = "a file of a test")]
            fs::write(
                &path,
                if name.ends_with("md") {
                    "# PAR1"
                } else {
                    "PAR1…"
                },
            )
            .unwrap();
        }
        let all = Listing::of(&[dir.path().to_owned()]).unwrap();
        let found = all
            .files
            .iter()
            .map(|found| found.path.strip_prefix(dir.path()).unwrap());
        let found: Vec<_> = found.map(|path| path.display().to_string()).collect();
        assert_eq!(found, ["a-b/1", "a/2.parquet", "x=_y/3"]);
        assert!(
            all.note()
                .unwrap()
                .starts_with("1 files that are not Parquet")
        );
        let empty = tempfile::tempdir().unwrap();
        assert!(Listing::of(&[empty.path().to_owned()]).is_err());
    }
}
