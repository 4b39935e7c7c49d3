//! Reduces a run to sums per minute and a few full events, for recordings with a limit.
//!
//! A recording with a limit consists of parts, and the oldest parts are dropped. [`RetentionFilter`] reads every event before that. It
//! extracts the data that outlives a part: sums per minute, long waits, errors and the slowest batches. It also returns the state of each
//! run, so that a part is readable without earlier parts.
//!
//! Each run is a [`crate::Run`] of the latest events. It starts again from its state after each minute, so the memory of the filter grows with
//! the batches in flight, not with the length of a run.

use std::collections::BTreeMap;

use crate::{Event, EventKind, Kept, Level, Message, Nanos, Retention, RunId};

mod state;
mod tracked;

use tracked::{Finished, Tracked};

/// Interval of one sum, on the clock of the recording.
const MINUTE: Nanos = Nanos(60_000_000_000);

/// Maximum number of errors and warnings that are kept in full. Later messages are only counted.
const MAX_MESSAGES: u64 = 1000;

/// Maximum number of runs, as in [`crate::Fleet`].
const MAX_RUNS: usize = crate::Fleet::MAX_RUNS;

/// Limits for events that are kept in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Minimum length of a wait that is kept in full.
    pub long_wait: Nanos,
    /// Number of slowest batches that are kept in full.
    pub keep_slowest: usize,
}

/// Selector of the data that a recording keeps after the part with its events is dropped.
#[derive(Debug)]
pub struct RetentionFilter {
    policy: RetentionPolicy,
    /// Number of the current part.
    part: u32,
    runs: BTreeMap<RunId, Tracked>,
    /// Start and end of the current minute, `None` before the first event.
    minute: Option<(Nanos, Nanos)>,
    /// Slowest batches by time of fetching and collating. For equal times, the earliest batches stay.
    slowest: BTreeMap<(Nanos, std::cmp::Reverse<u64>), (RunId, Nanos, Kept)>,
    /// Number of batches that were ever inserted into `slowest`.
    ranked: u64,
    messages: u64,
    finished: Vec<Finished>,
}

impl RetentionFilter {
    /// Creates a filter before the first event.
    pub fn new(policy: RetentionPolicy) -> Self {
        Self {
            policy,
            part: 0,
            runs: BTreeMap::new(),
            minute: None,
            slowest: BTreeMap::new(),
            ranked: 0,
            messages: 0,
            finished: Vec::new(),
        }
    }

    /// Returns the number of the current part.
    pub fn part(&self) -> u32 {
        self.part
    }

    /// Sets the minimum length of a long wait for later events.
    pub fn set_long_wait(&mut self, long_wait: Nanos) {
        self.policy.long_wait = long_wait;
    }

    /// Processes an event, in order of time. Appends data to `keep`: [`EventKind::Summed`] after each minute, [`EventKind::Kept`] after a
    /// long wait, an error or a warning.
    pub fn apply(&mut self, event: &Event, keep: &mut Vec<Event>) {
        match self.minute {
            None => self.minute = Some((event.at, minute_after(event.at))),
            Some((_, end)) if event.at >= end => {
                self.sum_up(end, keep);
                let start = Nanos(minute_after(event.at).0.saturating_sub(MINUTE.0));
                self.minute = Some((start.max(end), minute_after(event.at)));
            }
            Some(_) => {}
        }
        if self.runs.len() >= MAX_RUNS && !self.runs.contains_key(&event.run) {
            return;
        }
        let part = self.part;
        let run = self.runs.entry(event.run);
        let run = run.or_insert_with(|| Tracked::new(event.at, part));
        let mut finished = std::mem::take(&mut self.finished);
        run.apply(event, self.policy.long_wait, &mut finished);
        for finished in finished.drain(..) {
            match finished {
                Finished::Wait { wait, events } => {
                    let kept = Kept {
                        part,
                        wait: Some(wait),
                        events,
                    };
                    keep.push(kept_event(event.run, wait.1, kept));
                }
                Finished::Fetched { took, events } => self.rank(event, took, events),
            }
        }
        self.finished = finished;
        if let EventKind::Message(message) = &event.kind {
            self.keep_message(event, message, keep);
        }
    }

    fn keep_message(&mut self, event: &Event, message: &Message, keep: &mut Vec<Event>) {
        if message.level < Level::Warning || self.messages >= MAX_MESSAGES {
            return;
        }
        self.messages += 1;
        let kept = Kept {
            part: self.part,
            wait: None,
            events: vec![event.clone()],
        };
        keep.push(kept_event(event.run, event.at, kept));
    }

    /// Adds a finished batch to the slowest batches if its fetch time `took` is long enough.
    fn rank(&mut self, event: &Event, took: Nanos, events: Vec<Event>) {
        let least = self.slowest.first_key_value().map(|((took, _), _)| *took);
        let is_full = self.slowest.len() >= self.policy.keep_slowest;
        if self.policy.keep_slowest == 0 || (is_full && least.is_some_and(|least| took <= least)) {
            return;
        }
        self.ranked += 1;
        let kept = Kept {
            part: self.part,
            wait: None,
            events,
        };
        let key = (took, std::cmp::Reverse(self.ranked));
        self.slowest.insert(key, (event.run, event.at, kept));
        if is_full {
            self.slowest.pop_first();
        }
    }

    /// Returns the slowest batches so far, in order of time.
    pub fn slowest(&self) -> Vec<Event> {
        self.slowest_of(usize::MAX)
    }

    /// Returns the `most` slowest batches, in order of time.
    pub fn slowest_of(&self, most: usize) -> Vec<Event> {
        let slowest_first = self.slowest.values().rev();
        let mut all: Vec<Event> = slowest_first
            .take(most)
            .map(|(run, at, kept)| kept_event(*run, *at, kept.clone()))
            .collect();
        all.sort_by_key(|event| event.at);
        all
    }

    /// Returns an [`EventKind::Retention`] for each run, in order of time.
    pub fn retention_events(&self, of_all: &Retention) -> Vec<Event> {
        let event_of = |(run, tracked): (&RunId, &Tracked)| {
            let retention = Retention {
                part: tracked.part(),
                long_wait: self.policy.long_wait,
                info: tracked.info(),
                ..of_all.clone()
            };
            Event {
                at: tracked.since(),
                run: *run,
                kind: EventKind::Retention(Box::new(retention)),
            }
        };
        let mut all: Vec<Event> = self.runs.iter().map(event_of).collect();
        all.sort_by_key(|event| event.at);
        all
    }

    /// Starts a new part at `at`. Appends the sums so far to `keep`, and returns the state of each run as one event.
    pub fn start_part(&mut self, at: Nanos, keep: &mut Vec<Event>) -> Vec<Event> {
        self.finish(at, keep);
        self.minute = self.minute.map(|_| (at, minute_after(at)));
        self.part = self.part.saturating_add(1);
        let part = self.part;
        let state_of = |(run, tracked): (&RunId, &Tracked)| tracked.state(*run, at, part);
        self.runs.iter().map(state_of).collect()
    }

    /// Appends the remaining sums to `keep` at the end of the recording.
    pub fn finish(&mut self, at: Nanos, keep: &mut Vec<Event>) {
        let end = self.minute.map_or(at, |(_, end)| end.min(at));
        self.sum_up(end, keep);
    }

    fn sum_up(&mut self, to: Nanos, keep: &mut Vec<Event>) {
        let Some((from, _)) = self.minute else {
            return;
        };
        for (run, tracked) in &mut self.runs {
            if let Some(mut sums) = tracked.sum_up() {
                (sums.part, sums.from, sums.to) = (self.part, from, to);
                keep.push(Event {
                    at: to,
                    run: *run,
                    kind: EventKind::Summed(Box::new(sums)),
                });
            }
        }
    }
}

fn kept_event(run: RunId, at: Nanos, kept: Kept) -> Event {
    let kind = EventKind::Kept(Box::new(kept));
    Event { at, run, kind }
}

/// Returns the end of the minute that contains `at`.
fn minute_after(at: Nanos) -> Nanos {
    Nanos(
        at.0.div_euclid(MINUTE.0)
            .saturating_add(1)
            .saturating_mul(MINUTE.0),
    )
}

#[cfg(test)]
mod tests;
