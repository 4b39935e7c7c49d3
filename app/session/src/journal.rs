//! Runs under way are written into the user's data folder as they come, so that a crash loses nothing: the next start offers
//! what was not saved.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use loadscope_files::{GrowingFile, WriteError, is_being_written};
pub use loadscope_insight::unsaved::LeftOver;
use loadscope_trace::{EventKind, LogReader, RunInfo};

use super::outgoing::new_recording_in;

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
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let millis = now.map_or(0, |since| since.as_millis());
        // Names sort by time; two windows may begin in the same millisecond.
        let names = (0..1000).map(|n| self.folder.join(format!("{millis:015}-{n:03}{ENDING}")));
        let file = new_recording_in(names)?;
        let entry = Entry {
            path: file.path().to_owned(),
            unwanted: Arc::default(),
        };
        Ok(NewEntry { file, entry })
    }

    /// What was written by windows that are no more, latest first. Those without a batch are removed.
    pub fn left_over(&self) -> Vec<LeftOver> {
        let mut all = Vec::new();
        for (path, found) in self.entries() {
            if is_being_written(&path) {
                continue;
            }
            match first_run(&path) {
                Some(info) => all.push(LeftOver {
                    until: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                    bytes: found.len(),
                    dataset: info.dataset,
                    workers: info.options.num_workers,
                    path,
                }),
                // Cut off before it told anything.
                None => remove(&path),
            }
        }
        all
    }

    /// Removes a run that is not being written.
    ///
    /// # Errors
    /// If it is none of the journal's, or the system refuses.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        match path.parent() == Some(&self.folder) && !is_being_written(path) {
            true => fs::remove_file(path),
            false => Err(io::Error::other("it is not an ended run of the journal")),
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
            if (runs > MOST_RUNS || bytes > MOST_BYTES) && !is_being_written(&path) {
                remove(&path);
            }
        }
    }
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
                format!("a run in the journal has at most {} GB", MOST_OF_ONE >> 30),
            )),
        }
    }
}

fn remove(path: &Path) {
    // It may be gone already, or be open on a system that keeps open files.
    let _ = fs::remove_file(path);
}

/// What was recorded, if anything was.
fn first_run(path: &Path) -> Option<RunInfo> {
    let file = loadscope_files::open_regular(path).ok()?;
    let events = LogReader::new(file).ok()?;
    let mut info = None;
    for event in events.take(LOOK) {
        match event.ok()?.kind {
            EventKind::RunStarted(started) => info = Some(*started),
            _ if info.is_some() => return info,
            _ => {}
        }
    }
    info
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use loadscope_trace::{Compression, Event, LogWriter, Nanos, RunId};

    use super::*;

    /// Writes what begins a run, and ends as a killed process would.
    fn killed(journal: &Journal, dataset: &str) -> PathBuf {
        let entry = journal.begin().expect("the folder can be written to");
        let info = RunInfo {
            dataset: dataset.to_owned(),
            ..RunInfo::default()
        };
        // The file begins with the header.
        let mut log = LogWriter::for_copies(Vec::new(), Compression::Zstd).expect("a vector");
        let kind = EventKind::RunStarted(Box::new(info));
        let at = Nanos::ZERO;
        log.write(&Event {
            at,
            run: RunId(0),
            kind,
        })
        .expect("a vector");
        let bytes = log.finish().expect("a vector");
        let (mut file, entry) = entry.split();
        file.write_all(&bytes).expect("room");
        drop(file);
        entry.path
    }

    #[test]
    fn unsaved_runs_of_ended_processes_are_offered_and_live_ones_are_not() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let journal = Journal::at(&dir.path().join("loadscope/journal"));
        assert_eq!(journal.left_over(), []);
        let first = killed(&journal, "first");
        let second = killed(&journal, "second");
        let empty = journal.begin().expect("room").entry();
        assert!(!empty.path().exists(), "nothing was in it");
        // The next one may get the name that is free again.
        let live = journal.begin().expect("room");
        let found = journal.left_over();
        let names: Vec<&str> = found.iter().map(|f| f.dataset.as_str()).collect();
        assert_eq!(names, ["second", "first"]);
        assert_eq!([&found[0].path, &found[1].path], [&second, &first]);
        assert!(live.entry().path().exists(), "it is being written");
        // A second look changes nothing.
        assert_eq!(journal.left_over(), found);
        live.entry().discard();
        assert!(!live.entry().path().exists());
    }

    #[test]
    fn the_oldest_runs_make_room() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let journal = Journal::at(dir.path());
        let all: Vec<PathBuf> = (0..MOST_RUNS + 3)
            .map(|n| killed(&journal, &n.to_string()))
            .collect();
        let kept = journal.entries().len();
        assert_eq!(kept, MOST_RUNS);
        assert!(!all[0].exists() && !all[2].exists());
        assert!(all[3].exists() && all[MOST_RUNS + 2].exists());
        let large = fs::File::options()
            .write(true)
            .open(&all[MOST_RUNS])
            .expect("a file");
        large.set_len(MOST_BYTES).expect("a sparse file");
        journal.begin().expect("room");
        assert!(!all[MOST_RUNS].exists() && all[MOST_RUNS + 1].exists());
    }

    #[test]
    fn a_run_does_not_grow_without_end() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let entry = Journal::at(dir.path()).begin().expect("room").entry();
        assert!(entry.check(0).is_ok());
        let error = entry.check(MOST_OF_ONE).expect_err("full");
        assert_eq!(error.to_string(), "a run in the journal has at most 2 GB");
    }
}
