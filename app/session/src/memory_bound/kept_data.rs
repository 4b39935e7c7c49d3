//! Kept data about the time before the last parts: sums per minute, long waits, errors and warnings, in bounded memory.

use loadscope_trace::{Event, EventKind, Nanos};

use crate::Limits;
use crate::limited::merge_pairs;

/// Estimated size of a minute's sums, bytes. They contain a sketch of waits and one of fetches.
const SUMS: u64 = 2048;

/// Kept data about the time before the last parts.
pub(super) struct KeptData {
    /// Maximum size of the sums, and of the waits, bytes.
    most: u64,
    sums: Vec<Event>,
    waits: Vec<Event>,
    wait_bytes: u64,
    messages: Vec<Event>,
    long_wait: Nanos,
}

impl KeptData {
    pub fn new(most: u64) -> Self {
        Self {
            most,
            sums: Vec::new(),
            waits: Vec::new(),
            wait_bytes: 0,
            messages: Vec::new(),
            long_wait: Limits::USUAL_LONG_WAIT,
        }
    }

    /// Returns the minimum length of the kept waits.
    pub fn long_wait(&self) -> Nanos {
        self.long_wait
    }

    /// Stores an event. Returns the new minimum length of long waits if it rose because there was no room. Parts before `first` are
    /// dropped.
    pub fn put(&mut self, event: Event, first: u32) -> Option<Nanos> {
        match &event.kind {
            EventKind::Summed(_) => {
                self.sums.push(event);
                while self.sums.len() as u64 * SUMS > self.most && self.shorten(first) {}
                None
            }
            EventKind::Kept(kept) if kept.wait.is_some() => {
                self.wait_bytes += size(&event);
                self.waits.push(event);
                (self.wait_bytes > self.most).then(|| self.keep_longer())
            }
            _ => {
                self.messages.push(event);
                None
            }
        }
    }

    /// Returns the kept data about parts before `first`.
    pub fn before(&self, first: u32) -> Vec<Event> {
        let all = [&self.sums, &self.waits, &self.messages];
        of_parts_before(first, all.into_iter().flatten().cloned().collect())
    }

    /// Removes the shorter half of the waits. Returns the new minimum length.
    fn keep_longer(&mut self) -> Nanos {
        let mut all: Vec<Nanos> = self.waits.iter().map(length).collect();
        let middle = all.len() / 2;
        let (_, least, _) = all.select_nth_unstable(middle);
        // The new minimum is greater than the middle length, so waits of this length are removed as well.
        self.long_wait = Nanos(least.0.saturating_add(1)).max(self.long_wait);
        let long = self.long_wait;
        self.waits.retain(|event| length(event) >= long);
        self.wait_bytes = self.waits.iter().map(size).sum();
        long
    }

    /// Merges sums of older minutes, of parts before `first`. Returns false if there are none.
    fn shorten(&mut self, first: u32) -> bool {
        let before = self.sums.len();
        self.sums = merge_pairs(std::mem::take(&mut self.sums), first, true);
        self.sums.len() < before
    }
}

/// Returns the events about dropped parts.
pub(super) fn of_parts_before(first: u32, mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|event| part(event).is_some_and(|part| part < first));
    events
}

fn part(event: &Event) -> Option<u32> {
    match &event.kind {
        EventKind::Summed(sums) => Some(sums.part),
        EventKind::Kept(kept) => Some(kept.part),
        _ => None,
    }
}

fn length(event: &Event) -> Nanos {
    match &event.kind {
        EventKind::Kept(kept) => kept.wait.map_or(Nanos::ZERO, |(start, end)| end - start),
        _ => Nanos::ZERO,
    }
}

fn size(event: &Event) -> u64 {
    match &event.kind {
        EventKind::Kept(kept) => 128 + kept.events.iter().map(Event::bytes_in_run).sum::<u64>(),
        _ => SUMS,
    }
}
