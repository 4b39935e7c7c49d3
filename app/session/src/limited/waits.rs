//! Long waits in full. Each file contains one class of lengths.
//! If there is no room, the file with the shortest waits is dropped, and the minimum length of a long wait rises.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use loadscope_trace::multipart::PartFile;
use loadscope_trace::{LogError, Nanos, RecordingKind};

use super::bounded::{BoundedLog, head, max_compressed_size};

/// Files with long waits.
pub(super) struct WaitFiles {
    folder: PathBuf,
    /// Maximum total size, bytes.
    most: u64,
    /// Requested minimum length of a long wait.
    shortest: Nanos,
    /// Lowest kept class.
    lowest: u32,
    classes: BTreeMap<u32, BoundedLog>,
}

impl WaitFiles {
    pub fn new(folder: PathBuf, most: u64, shortest: Nanos) -> Self {
        Self {
            folder,
            most,
            shortest: shortest.max(Nanos(1)),
            lowest: 0,
            classes: BTreeMap::new(),
        }
    }

    /// Returns the maximum total size after another line of `line` bytes.
    fn with(&self, line: usize) -> u64 {
        self.classes.values().map(|file| file.with(line)).sum()
    }

    /// Writes the line of a wait with this length.
    pub fn put(&mut self, took: Nanos, line: &[u8]) -> Result<WaitResult, LogError> {
        let class = (took.0 / self.shortest.0).max(1).ilog2();
        if class < self.lowest {
            return Ok(WaitResult::Kept);
        }
        if max_compressed_size(line.len() as u64) > self.most / 4 {
            return Ok(WaitResult::TooLarge);
        }
        if !self.classes.contains_key(&class) {
            let head = head(RecordingKind::Limited, &[])?;
            let path = self.folder.join(PartFile::Waits(class).name());
            self.classes.insert(class, BoundedLog::create(path, &head)?);
        }
        if self.with(line.len()) > self.most {
            self.flush()?;
        }
        let before = self.lowest;
        while self.with(line.len()) > self.most {
            let Some((dropped, file)) = self.classes.pop_first() else {
                break;
            };
            let path = file.path().to_owned();
            drop(file);
            fs::remove_file(&path).map_err(|cause| LogError::Open { path, cause })?;
            self.lowest = dropped + 1;
        }
        if let Some(file) = self.classes.get_mut(&class) {
            file.put(line)?;
        }
        Ok(match self.lowest == before {
            true => WaitResult::Kept,
            false => WaitResult::From(Nanos(
                self.shortest.0.saturating_mul(1 << self.lowest.min(62)),
            )),
        })
    }

    pub fn flush(&mut self) -> Result<(), LogError> {
        self.classes.values_mut().try_for_each(BoundedLog::flush)
    }

    pub fn finish(self) -> Result<(), LogError> {
        let mut files = self.classes.into_values();
        files.try_for_each(|file| file.finish().map(drop))
    }
}

/// Result of writing a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitResult {
    /// The wait was written, or is shorter than the kept classes.
    Kept,
    /// From now on, waits need at least this length.
    From(Nanos),
    /// The wait is too large, even without the shorter ones.
    TooLarge,
}
