//! Journal of live runs in the user's data folder. After a crash, the next start offers the unsaved runs. The log is flushed every 25 ms.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use loadscope_files::{WriteError, is_abandoned, private_folder};
pub use loadscope_insight::session_event::UnsavedRun;
use loadscope_words::say;

use super::recording::new_recording_in;
use super::{Limits, NewLimited};

mod entry;

pub(super) use entry::NewFiles;
pub use entry::{Entry, NewEntry};
use entry::{Files, MAX_RUN_BYTES, RunDescription, sweep};

/// Maximum number of runs. Older ones are removed.
const MOST_RUNS: usize = 20;

/// Maximum total size, bytes. Older runs are removed.
const MOST_BYTES: u64 = 4 << 30;

/// Extension of the files.
const ENDING: &str = ".jsonl.zst";

/// The folder of journals. It contains at most 20 runs and 4 GiB, with at most 2 GiB per run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    folder: PathBuf,
}

impl Journal {
    /// Returns the journal of the user. Returns `None` if the system has no data folder.
    pub fn of_user() -> Option<Self> {
        let data = dirs::data_dir()?;
        Some(Self::at(&data.join("loadscope").join("journal")))
    }

    /// Returns the journal in `folder`, which the first run creates.
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Returns the folder for the output of programs that a window starts.
    pub fn output_folder(&self) -> PathBuf {
        self.folder.with_file_name("output")
    }

    /// Starts the journal of a run, and removes the oldest runs if there is no room.
    ///
    /// # Errors
    /// If the folder cannot be created or written to.
    pub fn begin(&self) -> Result<NewEntry, WriteError> {
        self.begin_with(None)
    }

    /// Starts the journal of a run. With limits, it contains the end of the run and sums of the earlier part.
    ///
    /// # Errors
    /// If the folder cannot be created or written to.
    pub fn begin_with(&self, limits: Option<Limits>) -> Result<NewEntry, WriteError> {
        private_folder(&self.folder)?;
        self.prune();
        let millis = since_1970(SystemTime::now()).as_millis();
        // Names sort by time. Two windows can start in the same millisecond.
        let names = (0..1000).map(|n| self.folder.join(format!("{millis:015}-{n:03}{ENDING}")));
        let files = match limits {
            None => NewFiles::Whole(new_recording_in(names)?),
            Some(limits) => {
                let max_size = limits.max_size.min(MAX_RUN_BYTES);
                let limits = Limits { max_size, ..limits };
                NewFiles::Limited(NewLimited::create_free(names, limits)?)
            }
        };
        Ok(NewEntry::new(files))
    }

    /// Returns the runs of windows that have ended, latest first. A file with only a header is removed.
    /// A damaged file is offered with its known facts. A file that cannot be opened is ignored.
    pub fn unsaved_runs(&self) -> Vec<UnsavedRun> {
        let mut all = Vec::new();
        for files in self.entries() {
            let path = files.path.clone();
            if !is_abandoned(&path) {
                continue;
            }
            let Ok(file) = loadscope_files::open_regular(&path) else {
                continue;
            };
            let (dataset, workers) = match RunDescription::of(&path, file) {
                RunDescription::Run(info) => (info.dataset, info.options.num_workers),
                RunDescription::Unknown(what) => (what.to_owned(), 0),
                // The file was truncated before its first event.
                RunDescription::Nothing => {
                    let _ = files.remove();
                    continue;
                }
            };
            all.push(UnsavedRun {
                until: since_1970(files.until),
                bytes: files.bytes,
                dataset,
                workers,
                path,
            });
        }
        all
    }

    /// Removes a run that is not being written.
    ///
    /// # Errors
    /// If the path is not in the journal, or if the system refuses.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let is_ended = path.parent() == Some(&self.folder) && is_abandoned(path);
        match Files::of(path).filter(|_| is_ended) {
            Some(files) => files.remove(),
            None => Err(io::Error::other(say!(
                "the journal has no finished run at this path. Reload the list of runs."
            ))),
        }
    }

    /// Returns all runs, latest first.
    fn entries(&self) -> Vec<Files> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_ours = |entry: &fs::DirEntry| {
            entry
                .file_name()
                .as_encoded_bytes()
                .ends_with(ENDING.as_bytes())
        };
        let mut all: Vec<Files> = entries
            .filter(is_ours)
            .filter_map(|entry| Files::of(&entry.path()))
            .collect();
        all.sort_by(|a, b| b.path.cmp(&a.path));
        all
    }

    /// Removes old runs to make room for a new one.
    fn prune(&self) {
        // Killed processes leave temporary files.
        loadscope_files::sweep_folder(&self.folder);
        let all = self.entries();
        sweep(&self.folder, &all);
        let (mut runs, mut bytes) = (1, MAX_RUN_BYTES);
        for files in all {
            runs += 1;
            bytes += files.bytes;
            if (runs > MOST_RUNS || bytes > MOST_BYTES) && is_abandoned(&files.path) {
                let _ = files.remove();
            }
        }
    }
}

/// Returns the time since 1970, or zero for earlier times.
fn since_1970(time: SystemTime) -> Duration {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}

#[cfg(test)]
mod tests;
