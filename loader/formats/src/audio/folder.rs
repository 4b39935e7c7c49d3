//! List of the sounds in a folder.

use std::path::{Path, PathBuf};

use loadscope_words::say;

use crate::error::{FormatError, Place};

/// Extensions of supported files.
const ENDINGS: [&str; 5] = ["wav", "wave", "flac", "ogg", "oga"];

/// Maximum depth of nested folders, because links can form cycles.
const DEEPEST: usize = 32;

/// Result of a listing.
pub(super) struct AudioListing {
    pub(super) files: Vec<(PathBuf, Option<u32>)>,
    pub(super) classes: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Lists the sounds of a folder by name. Without any, its subfolders are the classes.
pub(super) fn list(path: &Path) -> Result<AudioListing, FormatError> {
    let mut found = AudioListing {
        files: Vec::new(),
        classes: Vec::new(),
        notes: Vec::new(),
    };
    if !path.is_dir() {
        if !path.exists() {
            return Err(FormatError::missing(path));
        }
        found.files.push((path.to_owned(), None));
        return Ok(found);
    }
    let (folders, sounds, mut others) = entries(path)?;
    if sounds.is_empty() {
        for (class, folder) in (0..).zip(&folders) {
            let before = found.files.len();
            collect_recursive(folder, 0, class, &mut found.files, &mut others)?;
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if found.files.len() == before {
                found.notes.push(format!(
                    "{}: the class '{name}' has no sounds.",
                    path.display()
                ));
            }
            found.classes.push(name);
        }
    } else {
        found
            .files
            .extend(sounds.into_iter().map(|sound| (sound, None)));
        if !folders.is_empty() {
            found.notes.push(format!(
                "{}: there are sounds in the folder itself; those in its {} folders are left out.",
                path.display(),
                folders.len()
            ));
        }
    }
    if others > 0 {
        found.notes.push(format!(
            "{}: {others} other files are left out; {} are read.",
            path.display(),
            ENDINGS.join(", ")
        ));
    }
    if found.files.is_empty() {
        bail!(Missing, Place::file(path), say!("it contains no audio ({})", ENDINGS.join(", "));
            say!("Give a folder of audio files, or with one folder of audio files per class"));
    }
    Ok(found)
}

/// Adds the sounds in a folder and its subfolders.
fn collect_recursive(
    folder: &Path,
    depth: usize,
    class: u32,
    files: &mut Vec<(PathBuf, Option<u32>)>,
    others: &mut usize,
) -> Result<(), FormatError> {
    if depth > DEEPEST {
        bail!(Unreadable, Place::file(folder), say!("folders are nested more than {DEEPEST} deep");
            say!("Look for a symbolic link that points to its own parent"));
    }
    let (folders, sounds, more) = entries(folder)?;
    *others += more;
    files.extend(sounds.into_iter().map(|sound| (sound, Some(class))));
    for folder in folders {
        collect_recursive(&folder, depth + 1, class, files, others)?;
    }
    Ok(())
}

/// Returns the subfolders and sounds of a folder by name, and the number of other files.
fn entries(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>, usize), FormatError> {
    let unreadable = |error: std::io::Error| FormatError::io(folder, &error);
    let (mut folders, mut sounds, mut others) = (Vec::new(), Vec::new(), 0);
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // The entry contains the file type. Only a link needs another system call.
        let is_folder = match entry.file_type() {
            Ok(kind) if !kind.is_symlink() => kind.is_dir(),
            _ => path.is_dir(),
        };
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if is_folder {
            folders.push(path);
        } else if ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
        {
            sounds.push(path);
        } else {
            others += 1;
        }
    }
    folders.sort();
    sounds.sort();
    Ok((folders, sounds, others))
}
