//! Sums per minute in one file. If there is no room, older minutes are merged.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use loadscope_trace::multipart::PartFile;
use loadscope_trace::{Event, EventKind, LogError, LogReader, RecordingKind, RunId};

use super::bounded::{BoundedLog, head};

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
            [] => BoundedLog::create(self.path(), &head(RecordingKind::Limited, &[])?),
            head => BoundedLog::create(self.path(), head),
        }
    }

    /// Merges the sums of older minutes until a quarter of the file is free.
    fn shorten(&mut self, first: u32) -> Result<(), LogError> {
        let old = self.path();
        let mut events = LogReader::open(&old)?.collect::<Result<Vec<Event>, LogError>>()?;
        for older in [true, false, false, false] {
            events = merge_pairs(events, first, older);
            let head = head(RecordingKind::Limited, &events)?;
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
