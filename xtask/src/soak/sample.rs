//! What a process takes at a moment, as the system tells it.

use std::fs;
use std::io;
use std::path::Path;

/// What a process takes at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Events that had gone through.
    pub done: u64,
    /// Resident memory, bytes.
    pub memory: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// Threads.
    pub threads: u64,
    /// Bytes of the files of the recording; 0 without one.
    pub files: u64,
}

impl Sample {
    /// Looks at the process with this id, and at the files in `recording`; `None` once it is gone.
    pub fn of(process: u32, done: u64, recording: Option<&Path>) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        Some(Self {
            done,
            memory: number(&status, "VmRSS:")? * 1024,
            descriptors: fs::read_dir(format!("/proc/{process}/fd")).ok()?.count() as u64,
            threads: number(&status, "Threads:")?,
            files: recording.map_or(0, |folder| size(folder).unwrap_or(0)),
        })
    }
}

/// The number behind a word in what the system tells of a process.
fn number(status: &str, word: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> io::Result<u64> {
    let (mut sum, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_takes_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("parts")).expect("room");
        fs::write(folder.path().join("one"), "12345").expect("room");
        fs::write(folder.path().join("parts/two"), "678").expect("room");
        let found = Sample::of(std::process::id(), 7, Some(folder.path())).expect("it runs");
        assert!(found.memory > 1 << 20 && found.descriptors >= 3 && found.threads >= 1);
        assert_eq!((found.done, found.files), (7, 8));
        assert_eq!(Sample::of(u32::MAX, 0, None), None);
    }
}
