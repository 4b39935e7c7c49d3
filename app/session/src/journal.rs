//! Runs under way are written into the user's data folder as they come, so that a crash loses nothing: the next start offers
//! what was not saved.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use loadscope_files::{GrowingFile, WriteError, is_abandoned};
pub use loadscope_insight::unsaved::LeftOver;
use loadscope_trace::{EventKind, LogError, LogReader, RunInfo};
use loadscope_words::say;

use super::Selection;
use super::recording::new_recording_in;

/// So many runs are kept; older ones are removed.
const MOST_RUNS: usize = 20;

/// All runs together have at most so many bytes; older ones are removed.
const MOST_BYTES: u64 = 4 << 30;

/// One run has at most so many bytes.
const MOST_OF_ONE: u64 = 2 << 30;

/// The ending of the names.
const ENDING: &str = ".jsonl.zst";

/// So many events are looked at for the first that names the dataset.
const LOOK: usize = 64;

/// The folder of journals. At most 20 runs and 4 GB are kept in it, of one run at most 2 GB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    folder: PathBuf,
}

/// A journal that is to be written.
#[derive(Debug)]
pub struct NewEntry {
    file: GrowingFile,
    entry: Entry,
}

/// A journal that is being written, or was.
#[derive(Clone, Debug)]
pub struct Entry {
    path: PathBuf,
    unwanted: Arc<AtomicBool>,
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

    /// Begins a journal, and removes the oldest ones that there is no room for.
    ///
    /// # Errors
    /// If the folder cannot be made or written to.
    pub fn begin(&self) -> Result<NewEntry, WriteError> {
        self.begin_with(&Selection::default())
    }

    /// Begins the journal of a run of which not everything is recorded.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn begin_with(&self, selection: &Selection) -> Result<NewEntry, WriteError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&self.folder)
            .map_err(|cause| WriteError::Io {
                path: self.folder.clone(),
                doing: "create",
                cause,
            })?;
        self.prune();
        let millis = since_1970(SystemTime::now()).as_millis();
        // Names sort by time; two windows may begin in the same millisecond.
        let names = (0..1000).map(|n| self.folder.join(format!("{millis:015}-{n:03}{ENDING}")));
        let file = new_recording_in(names, selection)?;
        let entry = Entry {
            path: file.path().to_owned(),
            unwanted: Arc::default(),
        };
        Ok(NewEntry { file, entry })
    }

    /// What was written by windows that are no more, latest first. A file that holds a header and nothing else is removed; one that
    /// is damaged is offered with what is known of it, and one that cannot be opened is left alone.
    pub fn left_over(&self) -> Vec<LeftOver> {
        let mut all = Vec::new();
        for (path, found) in self.entries() {
            if !is_abandoned(&path) {
                continue;
            }
            let Ok(file) = loadscope_files::open_regular(&path) else {
                continue;
            };
            let (dataset, workers) = match Beginning::of(file) {
                Beginning::Run(info) => (info.dataset, info.options.num_workers),
                Beginning::Unknown(what) => (what.to_owned(), 0),
                // Cut off before it told anything.
                Beginning::Nothing => {
                    remove(&path);
                    continue;
                }
            };
            all.push(LeftOver {
                until: since_1970(found.modified().unwrap_or(SystemTime::UNIX_EPOCH)),
                bytes: found.len(),
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
        match path.parent() == Some(&self.folder) && is_abandoned(path) {
            true => fs::remove_file(path),
            false => Err(io::Error::other(say!(
                "it is not an ended run of the journal"
            ))),
        }
    }

    /// Journals, latest first.
    fn entries(&self) -> Vec<(PathBuf, fs::Metadata)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_ours = |entry: &fs::DirEntry| {
            entry
                .file_name()
                .as_encoded_bytes()
                .ends_with(ENDING.as_bytes())
        };
        let mut all: Vec<(PathBuf, fs::Metadata)> = entries
            .filter(is_ours)
            .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
            .filter(|(_, found)| found.is_file())
            .collect();
        all.sort_by(|(a, _), (b, _)| b.cmp(a));
        all
    }

    /// Makes room for one more.
    fn prune(&self) {
        // What processes had begun to create when they were killed.
        loadscope_files::sweep_folder(&self.folder);
        let (mut runs, mut bytes) = (1, MOST_OF_ONE);
        for (path, found) in self.entries() {
            runs += 1;
            bytes += found.len();
            if (runs > MOST_RUNS || bytes > MOST_BYTES) && is_abandoned(&path) {
                remove(&path);
            }
        }
    }
}

/// Zero for what is older.
fn since_1970(time: SystemTime) -> Duration {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}

impl NewEntry {
    /// What stays with the session.
    pub fn entry(&self) -> Entry {
        self.entry.clone()
    }

    pub(super) fn split(self) -> (GrowingFile, Entry) {
        (self.file, self.entry)
    }
}

impl Entry {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// It is saved, or of no use: it is removed, now or when its last event has been written.
    pub fn discard(&self) {
        self.unwanted.store(true, Ordering::Release);
        remove(&self.path);
    }

    pub(super) fn is_unwanted(&self) -> bool {
        self.unwanted.load(Ordering::Acquire)
    }

    /// Refuses to grow without end.
    pub(super) fn check(&self, written: u64) -> io::Result<()> {
        match written < MOST_OF_ONE {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                say!("a run in the journal has at most {} GB", MOST_OF_ONE >> 30),
            )),
        }
    }
}

fn remove(path: &Path) {
    // It may be gone already, or be open on a system that keeps open files.
    let _ = fs::remove_file(path);
}

/// What is found out about a run from its first events.
enum Beginning {
    /// There is no event, and none was being written: nothing is lost with it.
    Nothing,
    /// What was recorded.
    Run(Box<RunInfo>),
    /// There is something, and this is what can be said of it.
    Unknown(&'static str),
}

impl Beginning {
    fn of(file: fs::File) -> Self {
        // A disk that was full from the beginning, or a system that stopped, leaves not even the header.
        if file.metadata().is_ok_and(|found| found.len() == 0) {
            return Self::Nothing;
        }
        match Self::read(file) {
            Ok(found) => found,
            Err(LogError::Version { .. }) => Self::Unknown(say!("A run of a newer Loadscope")),
            Err(_) => Self::Unknown(say!("A run that is damaged")),
        }
    }

    fn read(file: fs::File) -> Result<Self, LogError> {
        let mut events = LogReader::new(file)?;
        let mut run = None;
        let mut damage = None;
        for event in events.by_ref().take(LOOK) {
            match event.map(|event| event.kind) {
                Ok(EventKind::RunStarted(started)) => run = Some(started),
                Ok(_) if run.is_some() => break,
                Ok(_) => {}
                Err(error) => damage = Some(error),
            }
        }
        match (run, damage) {
            (Some(run), _) => Ok(Self::Run(run)),
            (None, Some(error)) => Err(error),
            // Lines that this version does not know count as well.
            (None, None) if events.lines() <= 1 && !events.was_cut() => Ok(Self::Nothing),
            (None, None) => Ok(Self::Unknown(say!("A run whose dataset is not known"))),
        }
    }
}

#[cfg(test)]
mod tests;
