//! Creation of folders, and of files that other processes write.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::WriteError;

/// Creates a folder, or accepts an empty one.
///
/// # Errors
/// If the folder is not empty, or cannot be created.
pub fn new_folder(path: &Path) -> Result<(), WriteError> {
    match fs::create_dir(path) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            let is_empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            match is_empty {
                true => Ok(()),
                false => Err(WriteError::NotEmpty(path.to_owned())),
            }
        }
        made => made.map_err(|e| WriteError::io(path, "create", e)),
    }
}

/// Creates a folder under the first free name.
///
/// # Errors
/// If no name is free, or the folder cannot be created.
pub fn create_free_folder(names: impl IntoIterator<Item = PathBuf>) -> Result<PathBuf, WriteError> {
    let mut last = PathBuf::new();
    for name in names {
        match fs::create_dir(&name) {
            Ok(()) => return Ok(name),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => last = name,
            Err(e) => return Err(WriteError::io(&name, "create", e)),
        }
    }
    Err(WriteError::NotEmpty(last))
}

/// Creates a new file for another process to write.
///
/// # Errors
/// If the file exists or cannot be created.
pub fn create_file_for_process(path: &Path) -> Result<File, WriteError> {
    File::create_new(path).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => WriteError::Exists(path.to_owned()),
        _ => WriteError::io(path, "create", e),
    })
}

/// Creates a file like [`create_file_for_process`] that only this user can read.
/// The new file counts as being written while a process has it open.
///
/// # Errors
/// If the file exists or cannot be created.
pub fn create_private_file_for_process(path: &Path) -> Result<File, WriteError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => WriteError::Exists(path.to_owned()),
        _ => WriteError::io(path, "create", e),
    })?;
    // On other systems, a lock would prevent the other process from writing.
    #[cfg(unix)]
    crate::lock::try_lock(&file);
    Ok(file)
}

/// Creates a folder and its parents with access only for this user. An existing folder is accepted.
///
/// # Errors
/// If the folder cannot be created.
pub fn private_folder(path: &Path) -> Result<(), WriteError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(path);
    made.map_err(|e| WriteError::io(path, "create", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn private_folders_and_files_exclude_other_users() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let folder = dir.path().join("a").join("b");
        private_folder(&folder).expect("it is new");
        private_folder(&folder).expect("it is there");
        let path = folder.join("output.txt");
        let file = create_private_file_for_process(&path).expect("it is new");
        let again = create_private_file_for_process(&path);
        assert!(matches!(again, Err(WriteError::Exists(_))), "{again:?}");
        for (path, mode) in [(&folder, 0o700), (&path, 0o600)] {
            let found = fs::metadata(path).expect("it is there").permissions();
            assert_eq!(found.mode() & 0o777, mode, "{}", path.display());
        }
        // The lock lasts while another process has the file open.
        let same = file.try_clone().expect("a descriptor");
        drop(file);
        assert!(!crate::is_abandoned(&path));
        drop(same);
        assert!(crate::is_abandoned(&path));
    }

    #[test]
    fn a_full_folder_is_refused_and_the_next_name_is_used() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| dir.path().join(name);
        new_folder(&at("a")).expect("it is new");
        new_folder(&at("a")).expect("it is empty");
        drop(create_file_for_process(&at("a").join("log")).expect("it is new"));
        let again = create_file_for_process(&at("a").join("log"));
        assert!(matches!(again, Err(WriteError::Exists(_))), "{again:?}");
        let full = new_folder(&at("a"));
        assert!(matches!(full, Err(WriteError::NotEmpty(_))), "{full:?}");
        let made = create_free_folder(["a", "b"].map(at)).expect("one is free");
        assert_eq!(made, at("b"));
        assert!(create_free_folder(["a", "b"].map(at)).is_err());
        assert!(new_folder(&at("missing").join("c")).is_err());
    }
}
