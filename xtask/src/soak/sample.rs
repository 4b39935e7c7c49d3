//! Resources of a process at one time, from `/proc`.

use std::fs;
use std::io;
use std::path::Path;

/// Resources of a process at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Number of processed events.
    pub done: u64,
    /// Resident memory, bytes.
    pub memory: u64,
    /// Number of open descriptors.
    pub descriptors: u64,
    /// Number of threads.
    pub threads: u64,
    /// Size of the recording's files, bytes. 0 without a recording.
    pub files: u64,
}

impl Sample {
    /// Samples the process with this ID, and the files in `recording`. Returns `None` once the process is gone.
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

/// Returns the number after a key in `/proc/PID/status`.
fn number(status: &str, word: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns the total size of all files in a folder tree, bytes.
fn size(folder: &Path) -> io::Result<u64> {
    let (mut sum, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => sum += found.len(),
                // The file was removed in the meantime.
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
    fn a_sample_has_memory_and_file_sizes() {
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
