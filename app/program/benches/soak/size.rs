//! Size of the files in a folder.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Returns the size of all files below `folder`, bytes.
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
                // The file was removed in between.
                Err(_) => {}
            }
        }
    }
    Ok(sum)
}
