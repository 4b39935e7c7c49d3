//! A recording with a limit. It is written in parts; whole parts are dropped as they become too old or too many, and what leaves is
//! kept as sums, with every long wait, every error and the slowest batches in full ([`Keeper`] says which).
//!
//! The limit is kept at every moment: each file has its share of it, and is not written to if it could become longer than that.
//! It is sound whenever it is killed: what is kept of a part is on the disk before the part goes.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use loadscope_files::{Existing, GrowingFile, NewFile};
use loadscope_trace::parted::Member;
use loadscope_trace::{Event, EventKind, Heading, Keeper, LogError, Nanos};
use loadscope_words::say;

mod bounded;
mod course;
mod limits;
mod new;
mod waits;

pub(super) use course::in_pairs;
pub use limits::Limits;
pub use new::NewLimited;
pub(super) use new::{parts_of, remove_folder};

use bounded::{Bounded, head, line, written};
use course::Course;
use waits::{Put, Waits};

/// A part that is complete.
struct Old {
    path: PathBuf,
    number: u32,
    bytes: u64,
    end: Nanos,
}

/// Writes a recording with a limit. A session does so with [`Record::Limited`](super::Record::Limited); by itself it is for events that
/// come from elsewhere.
pub struct Limited {
    main: GrowingFile,
    folder: PathBuf,
    limits: Limits,
    replaced: Option<PathBuf>,
    keeper: Keeper,
    /// The part that is written, and when it began.
    part: Option<(Bounded, Nanos)>,
    old: VecDeque<Old>,
    course: Course,
    waits: Waits,
    /// Events and things to be kept that there was no room for.
    left_out: u64,
    newest: Nanos,
    text: Vec<u8>,
    keep: Vec<Event>,
}

impl Limited {
    /// Writes the recording that was created.
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
            keeper: Keeper::new(limits.policy()),
            part: None,
            old: VecDeque::new(),
            course: Course::new(folder.clone(), limits.course()),
            waits: Waits::new(folder.clone(), limits.waits(), limits.long_wait),
            left_out: 0,
            newest: Nanos(i64::MIN),
            text: Vec::new(),
            keep: Vec::new(),
            folder,
        }
    }

    /// Where it can be read now.
    pub fn path(&self) -> &Path {
        self.main.current_path()
    }

    /// Writes events, in order of time: what comes late counts as happening when the one before did.
    ///
    /// # Errors
    /// If the disk is full, or a part cannot be created or dropped.
    pub fn write(&mut self, events: &[Event]) -> Result<(), LogError> {
        events.iter().try_for_each(|event| self.take(event))
    }

    fn take(&mut self, event: &Event) -> Result<(), LogError> {
        // What comes late counts as happening now: what was before is summed up.
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
        self.keeper.hear(event, &mut keep);
        let kept = self.keep_all(&mut keep);
        self.keep = keep;
        kept
    }

    /// Sees to it that there is a part with room for a line of so many bytes; false if it is too long for any.
    fn make_room(&mut self, at: Nanos, line: usize) -> Result<bool, LogError> {
        let most = self.limits.part();
        let Some((part, begin)) = &mut self.part else {
            self.part = Some((self.begin(&[])?, at));
            // From now on there is something to read.
            self.main.keep();
            return self.make_room(at, line);
        };
        let time = self.limits.time_of_part();
        let is_over = time.is_some_and(|time| at - *begin >= time);
        if part.with(line) > most {
            part.flush()?;
        }
        // What is left at the end is not worth a flush for each line.
        let is_full = part.with(line) > most || part.written() > most / 16 * 15;
        if is_over || (is_full && part.with(0) > most / 2) {
            self.next_part(at)?;
        }
        let part = self.part.as_ref();
        Ok(part.is_some_and(|(part, _)| part.with(line) <= most))
    }

    /// The first events of a part say how the runs stand.
    fn begin(&self, state: &[Event]) -> Result<Bounded, LogError> {
        let number = self.keeper.part();
        let path = self.folder.join(Member::Part(number).name());
        let mut first = head(Heading::Part(number), state)?;
        if first.len() as u64 > self.limits.part() / 2 {
            let bare: Vec<Event> = state.iter().map(without_batches).collect();
            first = head(Heading::Part(number), &bare)?;
        }
        if first.len() as u64 > self.limits.part() / 2 {
            first = head(Heading::Part(number), &[])?;
        }
        Bounded::create(path, &first)
    }

    fn next_part(&mut self, at: Nanos) -> Result<(), LogError> {
        let number = self.keeper.part();
        if let Some((part, _)) = self.part.take() {
            let path = part.path().to_owned();
            let bytes = part.finish()?;
            self.old.push_back(Old {
                path,
                number,
                bytes,
                end: at,
            });
        }
        let mut keep = Vec::new();
        let state = self.keeper.cut(at, &mut keep);
        self.keep_all(&mut keep)?;
        self.put_down()?;
        self.drop_old(at)?;
        self.part = Some((self.begin(&state)?, at));
        Ok(())
    }

    /// Drops parts that are too old, and those that there is no room for.
    fn drop_old(&mut self, at: Nanos) -> Result<(), LogError> {
        loop {
            let bytes: u64 = self.old.iter().map(|old| old.bytes).sum();
            let is_too_old = |old: &Old| self.limits.last.is_some_and(|last| at - old.end > last);
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

    /// Number of the first part that is there.
    fn first(&self) -> u32 {
        let old = self.old.front().map(|old| old.number);
        old.unwrap_or(self.keeper.part())
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
                    self.course.put(&text, first)?
                }
                Some((start, end)) => match self.waits.put(end - start, &text)? {
                    Put::Kept => true,
                    Put::From(longer) => {
                        self.keeper.set_long_wait(longer);
                        true
                    }
                    Put::TooLarge => false,
                },
            };
            self.left_out += u64::from(!is_kept);
        }
        Ok(())
    }

    /// Puts on the disk what is to be known when the oldest part goes.
    fn put_down(&mut self) -> Result<(), LogError> {
        self.course.flush()?;
        self.waits.flush()?;
        let runs = self
            .keeper
            .introductions(&self.limits.retention(self.left_out));
        let mut most = usize::MAX;
        let bytes = loop {
            let slowest = self.keeper.slowest_of(most);
            let mut events = runs.clone();
            events.extend_from_slice(&slowest);
            events.sort_by_key(|event| event.at);
            let bytes = head(Heading::Limited, &events)?;
            if bytes.len() as u64 <= self.limits.kept() {
                break bytes;
            }
            if slowest.is_empty() {
                // With too many runs for the limit, the remaining parts describe them.
                break head(Heading::Limited, &runs[..0])?;
            }
            // The recording contains the number of kept batches.
            most = slowest.len() / 2;
        };
        let path = self.folder.join(Member::Kept.name());
        NewFile::write_all_to(&path, Existing::Replace, &bytes).map_err(written)
    }

    /// Makes everything written so far readable to others.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn flush(&mut self) -> Result<(), LogError> {
        let part = self.part.as_mut();
        part.map_or(Ok(()), |(part, _)| part.flush())
    }

    /// Completes it. One to which nothing was written is removed.
    ///
    /// # Errors
    /// The sentence tells what could not be written, and where the rest is.
    pub fn finish(mut self) -> Result<(), String> {
        if self.is_empty() {
            self.discard();
            return Ok(());
        }
        let path = self.path().display().to_string();
        let incomplete =
            |e: &dyn std::fmt::Display| say!("The recording in {path} is incomplete: {e}");
        // On a full disk some of them still succeed. The first error is the cause of the others.
        let completed = self.complete();
        let summed = self.course.finish();
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

    /// Ends it where something could not be written. Where the rest can be read, if there is anything.
    pub(super) fn give_up(self) -> Option<PathBuf> {
        if self.is_empty() {
            self.discard();
            return None;
        }
        Some(self.path().to_owned())
    }

    /// True if there is no part.
    fn is_empty(&self) -> bool {
        self.part.is_none() && self.old.is_empty()
    }

    /// Removes it: it is of no use.
    pub(super) fn discard(self) {
        let Self {
            main, folder, part, ..
        } = self;
        drop(part);
        main.discard();
        remove_folder(&folder);
    }

    fn complete(&mut self) -> Result<(), LogError> {
        // The part first: it has the newest events.
        let part = self.part.take();
        let ended = part.map_or(Ok(()), |(part, _)| part.finish().map(drop));
        let mut keep = Vec::new();
        self.keeper.finish(self.newest, &mut keep);
        let kept = self.keep_all(&mut keep).and_then(|()| self.put_down());
        ended.and(kept)
    }
}

/// How a run stands, without its batches in flight.
fn without_batches(event: &Event) -> Event {
    let mut event = event.clone();
    if let EventKind::State(state) = &mut event.kind {
        state.events.retain(|event| {
            !matches!(
                event.kind,
                EventKind::Dispatched(_)
                    | EventKind::Entered { .. }
                    | EventKind::Fetched(_)
                    | EventKind::Processor(_)
                    | EventKind::Aside(_)
                    | EventKind::Content(_)
            )
        });
    }
    event
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests;
