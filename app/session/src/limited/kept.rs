//! Files that remain when parts are dropped: long waits in full, and sums per minute.
//!
//! Each file of waits contains one class of lengths. If there is no room, the file with the shortest waits is dropped, and the minimum
//! length of a long wait rises. In the file of sums, older minutes are merged.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use loadscope_trace::multipart::PartFile;
use loadscope_trace::{Event, EventKind, LogError, LogReader, Nanos, RunId};

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
            let head = head(&[])?;
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

/// File of the sums.
pub(super) struct SumFile {
    folder: PathBuf,
    /// Maximum size, bytes. Two editions exist for a moment during a rewrite.
    most: u64,
    /// Number of the edition.
    number: u32,
    file: Option<BoundedLog>,
}

impl SumFile {
    pub fn new(folder: PathBuf, most: u64) -> Self {
        Self {
            folder,
            most,
            number: 0,
            file: None,
        }
    }

    /// Writes a line. Returns false if there is no room. Parts before `first` are already dropped.
    pub fn put(&mut self, line: &[u8], first: u32) -> Result<bool, LogError> {
        if self.file.is_none() {
            self.file = Some(self.edition(&[])?);
        }
        if self.is_full(line) {
            self.flush()?;
        }
        if self.is_full(line) {
            self.shorten(first)?;
        }
        let has_room = !self.is_full(line);
        match &mut self.file {
            Some(file) if has_room => file.put(line)?,
            _ => {}
        }
        Ok(has_room)
    }

    fn is_full(&self, line: &[u8]) -> bool {
        let file = self.file.as_ref();
        file.is_some_and(|file| file.with(line.len()) > self.most)
    }

    pub fn flush(&mut self) -> Result<(), LogError> {
        self.file.as_mut().map_or(Ok(()), BoundedLog::flush)
    }

    pub fn finish(self) -> Result<(), LogError> {
        self.file.map_or(Ok(()), |file| file.finish().map(drop))
    }

    fn path(&self) -> PathBuf {
        self.folder.join(PartFile::Course(self.number).name())
    }

    fn edition(&self, head_of: &[u8]) -> Result<BoundedLog, LogError> {
        match head_of {
            [] => BoundedLog::create(self.path(), &head(&[])?),
            head => BoundedLog::create(self.path(), head),
        }
    }

    /// Merges the sums of older minutes until a quarter of the file is free.
    fn shorten(&mut self, first: u32) -> Result<(), LogError> {
        let old = self.path();
        let mut events = LogReader::open(&old)?.collect::<Result<Vec<Event>, LogError>>()?;
        for older in [true, false, false, false] {
            events = merge_pairs(events, first, older);
            let head = head(&events)?;
            if head.len() as u64 > self.most / 4 * 3 {
                continue;
            }
            self.number += 1;
            // The new edition is complete before the old one is removed.
            self.file = Some(self.edition(&head)?);
            fs::remove_file(&old).map_err(|cause| LogError::Open { path: old, cause })?;
            return Ok(());
        }
        Ok(())
    }
}

/// Merges each pair of consecutive sums of a run, for parts before `first`: the older half of them, or all.
pub(crate) fn merge_pairs(events: Vec<Event>, first: u32, older: bool) -> Vec<Event> {
    let may = |event: &Event| matches!(&event.kind, EventKind::Summed(sums) if sums.part < first);
    let all = events.iter().filter(|event| may(event)).count();
    let mut left = if older { all.div_ceil(2) } else { all };
    let mut out: Vec<Event> = Vec::with_capacity(events.len());
    // Position of the first sum of a pair, per run.
    let mut open: BTreeMap<RunId, usize> = BTreeMap::new();
    for event in events {
        if !may(&event) || left == 0 {
            out.push(event);
            continue;
        }
        left -= 1;
        let known = open.remove(&event.run).and_then(|at| out.get_mut(at));
        match (known.map(|e| &mut e.kind), &event.kind) {
            (Some(EventKind::Summed(before)), EventKind::Summed(sums)) => before.add(sums),
            _ => {
                open.insert(event.run, out.len());
                out.push(event);
            }
        }
    }
    for event in &mut out {
        if let EventKind::Summed(sums) = &event.kind {
            event.at = sums.to;
        }
    }
    out.sort_by_key(|event| event.at);
    out
}
