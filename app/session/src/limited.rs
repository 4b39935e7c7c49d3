//! A recording with a limit, written in parts. Parts that are too old or too many are dropped.
//! Sums replace them, with every long wait, every error and the slowest batches in full ([`RetentionFilter`] selects them).
//!
//! The limit holds at every moment: each file has a share, and is not written if it could exceed it.
//! The recording is valid if the process is killed: the kept data of a part are on disk before the part is removed.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use loadscope_files::{AtomicFile, Existing, GrowingFile};
use loadscope_trace::multipart::PartFile;
use loadscope_trace::{Event, EventKind, Fact, LogError, Nanos, RetentionFilter};
use loadscope_words::say;

mod bounded;
mod kept;
mod limits;

pub(super) use kept::merge_pairs;
pub use limits::{Limits, NewLimited};
pub(super) use limits::{parts_of, remove_folder};

use bounded::{BoundedLog, head, head_of_part, line, written};
use kept::{SumFile, WaitFiles, WaitResult};

/// A complete part.
struct ClosedPart {
    path: PathBuf,
    number: u32,
    bytes: u64,
    end: Nanos,
}

/// Writer of a recording with a limit. A session uses it through [`Record::Limited`](super::Record::Limited).
/// Use it directly for events from elsewhere.
pub struct Limited {
    main: GrowingFile,
    folder: PathBuf,
    limits: Limits,
    replaced: Option<PathBuf>,
    retention_filter: RetentionFilter,
    /// Current part, and the time of its start.
    part: Option<(BoundedLog, Nanos)>,
    old: VecDeque<ClosedPart>,
    sums: SumFile,
    waits: WaitFiles,
    /// Number of events and kept items without room.
    left_out: u64,
    newest: Nanos,
    text: Vec<u8>,
    keep: Vec<Event>,
}

impl Limited {
    /// Starts writing a created recording.
    pub fn new(new: NewLimited) -> Self {
        let NewLimited {
            main,
            folder,
            limits,
            replaced,
        } = new;
        Self {
            main,
            limits,
            replaced,
            retention_filter: RetentionFilter::new(limits.policy()),
            part: None,
            old: VecDeque::new(),
            sums: SumFile::new(folder.clone(), limits.sums()),
            waits: WaitFiles::new(folder.clone(), limits.waits(), limits.long_wait),
            left_out: 0,
            newest: Nanos(i64::MIN),
            text: Vec::new(),
            keep: Vec::new(),
            folder,
        }
    }

    /// Returns the current path of the recording.
    pub fn path(&self) -> &Path {
        self.main.current_path()
    }

    /// Writes events in order of time. A late event gets the time of the previous event.
    ///
    /// # Errors
    /// If the disk is full, or a part cannot be created or dropped.
    pub fn write(&mut self, events: &[Event]) -> Result<(), LogError> {
        events.iter().try_for_each(|event| self.take(event))
    }

    fn take(&mut self, event: &Event) -> Result<(), LogError> {
        // A late event gets the current time, because the earlier time is already summed up.
        let event = match event.at < self.newest {
            false => Cow::Borrowed(event),
            true => Cow::Owned(Event {
                at: self.newest,
                ..event.clone()
            }),
        };
        self.newest = event.at;
        let mut text = std::mem::take(&mut self.text);
        let taken = line(&event, &mut text).and_then(|()| self.take_line(&event, &text));
        self.text = text;
        taken
    }

    fn take_line(&mut self, event: &Event, text: &[u8]) -> Result<(), LogError> {
        if !self.make_room(event.at, text.len())? {
            self.left_out += 1;
            return Ok(());
        }
        if let Some((part, _)) = &mut self.part {
            part.put(text)?;
        }
        let mut keep = std::mem::take(&mut self.keep);
        self.retention_filter.apply(event, &mut keep);
        let kept = self.keep_all(&mut keep);
        self.keep = keep;
        kept
    }

    /// Ensures that the current part has room for a line of `line` bytes. Returns false if it is too long for any part.
    fn make_room(&mut self, at: Nanos, line: usize) -> Result<bool, LogError> {
        let most = self.limits.part();
        let Some((part, begin)) = &mut self.part else {
            self.part = Some((self.begin(&[])?, at));
            // The recording now has content, so it is kept.
            self.main.keep();
            return self.make_room(at, line);
        };
        let time = self.limits.time_of_part();
        let is_over = time.is_some_and(|time| at - *begin >= time);
        if part.with(line) > most {
            part.flush()?;
        }
        // The rest of a nearly full part is not worth a flush per line.
        let is_full = part.with(line) > most || part.written() > most / 16 * 15;
        if is_over || (is_full && part.with(0) > most / 2) {
            self.next_part(at)?;
        }
        let part = self.part.as_ref();
        Ok(part.is_some_and(|(part, _)| part.with(line) <= most))
    }

    /// Creates a part. Its first events are the state of the runs.
    fn begin(&self, state: &[Event]) -> Result<BoundedLog, LogError> {
        let number = self.retention_filter.part();
        let path = self.folder.join(PartFile::Part(number).name());
        let mut first = head_of_part(number, state)?;
        if first.len() as u64 > self.limits.part() / 2 {
            let bare: Vec<Event> = state.iter().map(without_batches).collect();
            first = head_of_part(number, &bare)?;
        }
        if first.len() as u64 > self.limits.part() / 2 {
            first = head_of_part(number, &[])?;
        }
        BoundedLog::create(path, &first)
    }

    fn next_part(&mut self, at: Nanos) -> Result<(), LogError> {
        let number = self.retention_filter.part();
        if let Some((part, _)) = self.part.take() {
            let path = part.path().to_owned();
            let bytes = part.finish()?;
            self.old.push_back(ClosedPart {
                path,
                number,
                bytes,
                end: at,
            });
        }
        let mut keep = Vec::new();
        let state = self.retention_filter.start_part(at, &mut keep);
        self.keep_all(&mut keep)?;
        self.write_retained()?;
        self.drop_old(at)?;
        self.part = Some((self.begin(&state)?, at));
        Ok(())
    }

    /// Drops parts that are too old or that exceed the size.
    fn drop_old(&mut self, at: Nanos) -> Result<(), LogError> {
        loop {
            let bytes: u64 = self.old.iter().map(|old| old.bytes).sum();
            let is_too_old =
                |old: &ClosedPart| self.limits.last.is_some_and(|last| at - old.end > last);
            let is_full = bytes + self.limits.part() > self.limits.parts();
            if !is_full && !self.old.front().is_some_and(is_too_old) {
                return Ok(());
            }
            let Some(old) = self.old.pop_front() else {
                return Ok(());
            };
            let path = old.path;
            fs::remove_file(&path).map_err(|cause| LogError::Open { path, cause })?;
        }
    }

    /// Returns the number of the first existing part.
    fn first(&self) -> u32 {
        let old = self.old.front().map(|old| old.number);
        old.unwrap_or(self.retention_filter.part())
    }

    fn keep_all(&mut self, keep: &mut Vec<Event>) -> Result<(), LogError> {
        let mut text = Vec::new();
        for event in keep.drain(..) {
            line(&event, &mut text)?;
            let wait = match &event.kind {
                EventKind::Kept(kept) => kept.wait,
                _ => None,
            };
            let is_kept = match wait {
                None => {
                    let first = self.first();
                    self.sums.put(&text, first)?
                }
                Some((start, end)) => match self.waits.put(end - start, &text)? {
                    WaitResult::Kept => true,
                    WaitResult::From(longer) => {
                        self.retention_filter.set_long_wait(longer);
                        true
                    }
                    WaitResult::TooLarge => false,
                },
            };
            self.left_out += u64::from(!is_kept);
        }
        Ok(())
    }

    /// Writes the data to disk that must survive the oldest part.
    fn write_retained(&mut self) -> Result<(), LogError> {
        self.sums.flush()?;
        self.waits.flush()?;
        let runs = self
            .retention_filter
            .retention_events(&self.limits.retention(self.left_out));
        let mut most = usize::MAX;
        let bytes = loop {
            let slowest = self.retention_filter.slowest_of(most);
            let mut events = runs.clone();
            events.extend_from_slice(&slowest);
            events.sort_by_key(|event| event.at);
            let bytes = head(&events)?;
            if bytes.len() as u64 <= self.limits.kept() {
                break bytes;
            }
            if slowest.is_empty() {
                // There are too many runs for the limit. The remaining parts describe them.
                break head(&runs[..0])?;
            }
            // The recording contains the number of kept batches.
            most = slowest.len() / 2;
        };
        let path = self.folder.join(PartFile::Kept.name());
        AtomicFile::write_all_to(&path, Existing::Replace, &bytes).map_err(written)
    }

    /// Makes everything written so far readable to others.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn flush(&mut self) -> Result<(), LogError> {
        let part = self.part.as_mut();
        part.map_or(Ok(()), |(part, _)| part.flush())
    }

    /// Completes the recording. An empty one is removed.
    ///
    /// # Errors
    /// An error message that names the lost data and the path of the rest.
    pub fn finish(mut self) -> Result<(), String> {
        if self.is_empty() {
            self.discard();
            return Ok(());
        }
        let path = self.path().display().to_string();
        let incomplete =
            |e: &dyn std::fmt::Display| say!("The recording in {path} is incomplete: {e}");
        // Some of these steps succeed even on a full disk. The first error is the cause of the others.
        let completed = self.complete();
        let summed = self.sums.finish();
        let waited = self.waits.finish();
        completed
            .and(summed)
            .and(waited)
            .map_err(|e| incomplete(&e))?;
        self.main.finish().map_err(|e| incomplete(&e))?;
        if let Some(folder) = self.replaced.filter(|replaced| *replaced != self.folder) {
            remove_folder(&folder);
        }
        Ok(())
    }

    /// Ends the recording after a write error. Returns the path of the rest, if there is any.
    pub(super) fn abort(self) -> Option<PathBuf> {
        if self.is_empty() {
            self.discard();
            return None;
        }
        Some(self.path().to_owned())
    }

    fn is_empty(&self) -> bool {
        self.part.is_none() && self.old.is_empty()
    }

    /// Removes the recording.
    pub(super) fn discard(self) {
        let Self {
            main, folder, part, ..
        } = self;
        drop(part);
        main.discard();
        remove_folder(&folder);
    }

    fn complete(&mut self) -> Result<(), LogError> {
        // The part is completed first, because it has the newest events.
        let part = self.part.take();
        let ended = part.map_or(Ok(()), |(part, _)| part.finish().map(drop));
        let mut keep = Vec::new();
        self.retention_filter.finish(self.newest, &mut keep);
        let kept = self
            .keep_all(&mut keep)
            .and_then(|()| self.write_retained());
        ended.and(kept)
    }
}

/// Returns the state of a run without its batches in flight.
fn without_batches(event: &Event) -> Event {
    let mut event = event.clone();
    if let EventKind::State(state) = &mut event.kind {
        let events = &mut state.events;
        let is_large = |kind: &EventKind| match kind {
            EventKind::Stacks(_) => true,
            EventKind::Fact(fact) => matches!(**fact, Fact::Source { .. }),
            _ => false,
        };
        events.retain(|event| event.kind.batch().is_none() && !is_large(&event.kind));
    }
    event
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests;
