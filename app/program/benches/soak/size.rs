//! How many bytes the files in a folder have.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Bytes of all files below `folder`.
///
/// # Errors
/// If a folder cannot be listed.
pub fn size(folder: &Path) -> Result<u64> {
    let (mut sum, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder);
        for entry in entries.with_context(|| folder.display().to_string())? {
            let entry = entry.with_context(|| folder.display().to_string())?;
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => sum += found.len(),
                // It was removed meanwhile.
                Err(_) => {}
            }
        }
    }
    Ok(sum)
}
