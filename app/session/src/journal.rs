//! Runs under way are written into the user's data folder as they come, so that a crash loses nothing: the next start offers
//! what was not saved.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use loadscope_files::{WriteError, is_abandoned, private_folder};
pub use loadscope_insight::unsaved::LeftOver;
use loadscope_words::say;

use super::recording::new_recording_in;
use super::{Limits, NewLimited, Selection};

mod beginning;
mod entry;
mod files;

use beginning::Beginning;
use entry::MOST_OF_ONE;
pub(super) use entry::NewFiles;
pub use entry::{Entry, NewEntry};
use files::{Files, sweep};

/// So many runs are kept; older ones are removed.
const MOST_RUNS: usize = 20;

/// All runs together have at most so many bytes; older ones are removed.
const MOST_BYTES: u64 = 4 << 30;

/// The ending of the names.
const ENDING: &str = ".jsonl.zst";

/// The folder of journals. At most 20 runs and 4 GB are kept in it, of one run at most 2 GB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    folder: PathBuf,
}

impl Journal {
    /// The folder of this user; `None` if the system knows of none.
    pub fn of_user() -> Option<Self> {
        let data = dirs::data_dir()?;
        Some(Self::at(&data.join("loadscope").join("journal")))
    }

    /// The journals in `folder`, which is made when the first is begun.
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The folder beside it of what programs print that are started from a window.
    pub fn beside(&self) -> PathBuf {
        self.folder.with_file_name("output")
    }

    /// Begins a journal, and removes the oldest ones that there is no room for.
    ///
    /// # Errors
    /// If the folder cannot be made or written to.
    pub fn begin(&self) -> Result<NewEntry, WriteError> {
        self.begin_with(&Selection::default(), None)
    }

    /// Begins the journal of a run of which not everything is recorded: of one with limits the end, and sums of what was before.
    ///
    /// # Errors
    /// If the folder cannot be made or written to.
    pub fn begin_with(
        &self,
        selection: &Selection,
        limits: Option<Limits>,
    ) -> Result<NewEntry, WriteError> {
        private_folder(&self.folder)?;
        self.prune();
        let millis = since_1970(SystemTime::now()).as_millis();
        // Names sort by time; two windows may begin in the same millisecond.
        let names = (0..1000).map(|n| self.folder.join(format!("{millis:015}-{n:03}{ENDING}")));
        let files = match limits {
            None => NewFiles::Whole(new_recording_in(names, selection)?),
            Some(limits) => {
                let max_size = limits.max_size.min(MOST_OF_ONE);
                let limits = Limits { max_size, ..limits };
                NewFiles::Limited(NewLimited::create_free(names, limits)?)
            }
        };
        Ok(NewEntry::new(files))
    }

    /// What was written by windows that are no more, latest first. A file that holds a header and nothing else is removed; one that
    /// is damaged is offered with what is known of it, and one that cannot be opened is left alone.
    pub fn left_over(&self) -> Vec<LeftOver> {
        let mut all = Vec::new();
        for files in self.entries() {
            let path = files.path.clone();
            if !is_abandoned(&path) {
                continue;
            }
            let Ok(file) = loadscope_files::open_regular(&path) else {
                continue;
            };
            let (dataset, workers) = match Beginning::of(&path, file) {
                Beginning::Run(info) => (info.dataset, info.options.num_workers),
                Beginning::Unknown(what) => (what.to_owned(), 0),
                // Cut off before it told anything.
                Beginning::Nothing => {
                    let _ = files.remove();
                    continue;
                }
            };
            all.push(LeftOver {
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
    /// If it is none of the journal's, or the system refuses.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let is_ended = path.parent() == Some(&self.folder) && is_abandoned(path);
        match Files::of(path).filter(|_| is_ended) {
            Some(files) => files.remove(),
            None => Err(io::Error::other(say!(
                "the journal has no finished run at this path. Reload the list of runs."
            ))),
        }
    }

    /// Journals, latest first.
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

    /// Makes room for one more.
    fn prune(&self) {
        // What processes had begun to create when they were killed.
        loadscope_files::sweep_folder(&self.folder);
        let all = self.entries();
        sweep(&self.folder, &all);
        let (mut runs, mut bytes) = (1, MOST_OF_ONE);
        for files in all {
            runs += 1;
            bytes += files.bytes;
            if (runs > MOST_RUNS || bytes > MOST_BYTES) && is_abandoned(&files.path) {
                let _ = files.remove();
            }
        }
    }
}

/// Zero for what is older.
fn since_1970(time: SystemTime) -> Duration {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}

#[cfg(test)]
mod tests;
