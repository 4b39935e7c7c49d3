//! Files of a folder or a pattern.

use std::fs;
use std::path::{Path, PathBuf};

use loadscope_words::say;

use crate::error::{FormatError, Place};

/// Maximum number of files.
const MOST: usize = 1_000_000;

/// Returns the sorted files of `pattern`: a file, a folder of files with the extension `ending`, or a pattern with `*`, `?` and `[…]`.
///
/// # Errors
/// If no file matches, or a folder cannot be read.
pub fn files(pattern: &str, ending: &str) -> Result<Vec<PathBuf>, FormatError> {
    let path = Path::new(pattern);
    if path.is_dir() {
        return in_folder(path, ending);
    }
    if path.exists() || !pattern.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    let wrong = |reason: String| {
        fault!(InvalidOption, Place::named(pattern), reason;
            say!("Write a pattern such as /data/train-*.parquet"))
    };
    let found = glob::glob(pattern)
        .map_err(|e| wrong(say!("it is not a valid pattern ({e})", e = e.msg)))?;
    let mut files = Vec::new();
    for path in found {
        files.push(path.map_err(|e| FormatError::io(e.path(), e.error()))?);
        if files.len() > MOST {
            return Err(wrong(say!("it names more than {MOST} files")));
        }
    }
    if files.is_empty() {
        bail!(Missing, Place::named(pattern), say!("no file matches this pattern"); say!("Check the path"));
    }
    Ok(files)
}

/// Returns the sorted files of a folder with the extension `ending`.
pub(crate) fn in_folder(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, FormatError> {
    let unreadable = |e: std::io::Error| FormatError::io(folder, &e);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|found| found.eq_ignore_ascii_case(ending))
        {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!(Missing, Place::file(folder), say!("it contains no .{ending} file");
            say!("Choose another folder, or a file"));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_expand_to_files() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.parquet", "a.parquet", "c.txt"] {
            #[allow(clippy::disallowed_methods, reason = "a file of a test")]
            fs::write(dir.path().join(name), name).unwrap();
        }
        let names = |pattern: &str| {
            let found = files(&dir.path().join(pattern).display().to_string(), "parquet");
            found.map(|all| {
                let name =
                    |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
                all.iter().map(name).collect::<Vec<_>>()
            })
        };
        assert_eq!(names("").unwrap(), ["a.parquet", "b.parquet"]);
        assert_eq!(names("?.parquet").unwrap(), ["a.parquet", "b.parquet"]);
        assert_eq!(names("b*").unwrap(), ["b.parquet"]);
        // The open call reports a missing file.
        assert_eq!(names("x.parquet").unwrap(), ["x.parquet"]);
        for (pattern, says) in [
            ("x*", "x*: no file matches this pattern. Check the path."),
            ("[", "it is not a valid pattern"),
        ] {
            let error = names(pattern).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let error = files(&dir.path().display().to_string(), "arrow").unwrap_err();
        assert!(error.to_string().contains("no .arrow file"), "{error}");
    }
}
