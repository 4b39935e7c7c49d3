//! Output files of programs started from the window. Only this user can read them. They are next to the journal, and outlive the window.
//! The next window removes the oldest.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use loadscope_files::{
    TemporaryFolder, WriteError, create_private_file_for_process, is_abandoned, private_folder,
};
use loadscope_session::Journal;

/// Maximum number of files.
const MOST_FILES: usize = 20;
/// Maximum size of all files, bytes.
const MOST_BYTES: u64 = 1 << 30;
/// Maximum number of names to try for a file.
const MOST_NAMES: u32 = 1000;

/// Output files.
pub(super) struct Outputs {
    /// Folder of the files, `None` without a journal.
    folder: Option<PathBuf>,
    /// Temporary folder without a journal. It is removed with the window.
    temporary: Option<TemporaryFolder>,
}

impl Outputs {
    /// Returns the files next to the journal.
    pub fn of(journal: Option<&Journal>) -> Self {
        Self {
            folder: journal.map(Journal::output_folder),
            temporary: None,
        }
    }

    /// Creates a file, and returns its path.
    pub fn create(&mut self) -> Result<(PathBuf, File), WriteError> {
        let folder = self.place()?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let millis = since.unwrap_or_default().as_millis();
        let mut last = WriteError::Exists(folder.clone());
        // The names sort by time.
        for n in 0..MOST_NAMES {
            let path = folder.join(format!("{millis:015}-{n:03}.txt"));
            match create_private_file_for_process(&path) {
                Err(e @ WriteError::Exists(_)) => last = e,
                made => return made.map(|file| (path, file)),
            }
        }
        Err(last)
    }

    fn place(&mut self) -> Result<PathBuf, WriteError> {
        if let Some(folder) = &self.folder {
            private_folder(folder)?;
            return Ok(folder.clone());
        }
        let made = match self.temporary.take() {
            Some(made) => made,
            None => TemporaryFolder::new("loadscope-output-").map_err(|cause| WriteError::Io {
                path: std::env::temp_dir(),
                doing: "create",
                cause,
            })?,
        };
        Ok(self.temporary.insert(made).path().to_owned())
    }

    /// Removes the oldest files of programs that have ended.
    pub fn sweep(&self) {
        let Some(folder) = &self.folder else {
            return;
        };
        let (mut files, mut bytes) = (0, 0);
        for (path, length) in latest_first(folder) {
            files += 1;
            bytes += length;
            if (files > MOST_FILES || bytes > MOST_BYTES) && is_abandoned(&path) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn latest_first(folder: &Path) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<(PathBuf, u64)> = entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .filter(|(path, found)| found.is_file() && path.extension().is_some_and(|e| e == "txt"))
        .map(|(path, found)| (path, found.len()))
        .collect();
    all.sort_by(|(a, _), (b, _)| b.cmp(a));
    all
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_unused_outputs_are_removed_at_the_next_start() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let journal = Journal::at(&dir.path().join("loadscope/journal"));
        let mut outputs = Outputs::of(Some(&journal));
        let (first, written) = outputs.create().expect("room");
        let others: Vec<PathBuf> = (0..MOST_FILES + 3)
            .map(|_| outputs.create().expect("room").0)
            .collect();
        let foreign = dir.path().join("loadscope/output/000.md");
        fs::write(&foreign, "").expect("room");
        let there = || latest_first(&dir.path().join("loadscope/output")).len();
        assert_eq!(there(), MOST_FILES + 4);
        Outputs::of(Some(&journal)).sweep();
        assert_eq!(there(), MOST_FILES + 1);
        assert!(first.exists(), "a program writes it");
        assert!(!others[0].exists() && !others[2].exists() && others[3].exists());
        drop(written);
        outputs.sweep();
        assert!(!first.exists() && foreign.exists());
    }

    #[test]
    fn outputs_without_a_journal_are_removed_with_the_window() {
        let mut outputs = Outputs::of(None);
        let (first, _) = outputs.create().expect("room");
        let (second, _) = outputs.create().expect("room");
        assert!(first != second && first.parent() == second.parent());
        outputs.sweep();
        assert!(first.exists());
        drop(outputs);
        assert!(!first.exists());
    }
}
