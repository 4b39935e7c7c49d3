//! A recording of which the far past is kept as sums: what is summed up, and what is kept in full.
//!
//! The recording is cut into parts, and whole parts are dropped. [`Keeper`] hears every event and says, while the events are still at
//! hand, what is to be known of them when their part is gone: what each minute came to, every long wait, every error, the
//! slowest batches. It also says how the runs stand at any moment, so that a part can be read without those before it.
//!
//! Its memory grows with the batches in flight, not with the length of a run.

use std::collections::BTreeMap;

use crate::{Event, EventKind, Kept, Level, Message, Nanos, Retention, RunId};

mod flying;
mod gauges;
mod state;
mod steps;
mod tracked;

use tracked::{Finished, Tracked};

/// Sums are made of so much time, on the clock of the recording.
const MINUTE: Nanos = Nanos(60_000_000_000);

/// Errors and warnings that are kept in full; more are counted.
const MOST_MESSAGES: u64 = 1000;

/// Runs that are looked at, as in [`crate::Fleet`].
const MOST_RUNS: usize = crate::Fleet::MOST;

/// What is to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Waits of at least this length are kept in full.
    pub long_wait: Nanos,
    /// So many of the slowest batches are kept in full.
    pub keep_slowest: usize,
}

/// Says what is to be kept of the events that go by.
#[derive(Debug)]
pub struct Keeper {
    policy: Policy,
    /// Number of the part that is written.
    part: u32,
    runs: BTreeMap<RunId, Tracked>,
    /// The minute that is being summed up; `None` before the first event.
    minute: Option<(Nanos, Nanos)>,
    /// The slowest batches, by how long fetching and collating took; of the same length those that came first.
    slowest: BTreeMap<(Nanos, std::cmp::Reverse<u64>), (RunId, Nanos, Kept)>,
    /// How many were among them at some time.
    ranked: u64,
    messages: u64,
    finished: Vec<Finished>,
}

impl Keeper {
    /// One that has heard nothing.
    pub fn new(policy: Policy) -> Self {
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

    /// Number of the part that is written.
    pub fn part(&self) -> u32 {
        self.part
    }

    /// From now on longer waits count as long.
    pub fn set_long_wait(&mut self, long_wait: Nanos) {
        self.policy.long_wait = long_wait;
    }

    /// Hears an event, in order of time. What is to be kept in addition is put into `keep`: [`EventKind::Summed`] where a minute is
    /// over, [`EventKind::Kept`] after a long wait, an error or a warning.
    pub fn hear(&mut self, event: &Event, keep: &mut Vec<Event>) {
        match self.minute {
            None => self.minute = Some((event.at, minute_after(event.at))),
            Some((_, end)) if event.at >= end => {
                self.sum_up(end, keep);
                let start = Nanos(minute_after(event.at).0.saturating_sub(MINUTE.0));
                self.minute = Some((start.max(end), minute_after(event.at)));
            }
            Some(_) => {}
        }
        if self.runs.len() >= MOST_RUNS && !self.runs.contains_key(&event.run) {
            return;
        }
        let part = self.part;
        let run = self.runs.entry(event.run);
        let run = run.or_insert_with(|| Tracked::new(event.at, part));
        run.long_wait = self.policy.long_wait;
        run.hear(event, &mut self.finished);
        let mut finished = std::mem::take(&mut self.finished);
        for finished in finished.drain(..) {
            match finished {
                Finished::Wait { at, wait, events } => {
                    let kept = Kept {
                        part,
                        wait: Some(wait),
                        events,
                    };
                    keep.push(kept_event(event.run, at, kept));
                }
                Finished::Fetched { at, took, events } => self.rank(event.run, at, took, events),
            }
        }
        self.finished = finished;
        if let EventKind::Message(message) = &event.kind {
            self.keep_message(event, message, keep);
        }
    }

    fn recycle(&mut self, run: RunId, events: Vec<Event>) {
        if let Some(run) = self.runs.get_mut(&run) {
            run.recycle(events);
        }
    }

    fn keep_message(&mut self, event: &Event, message: &Message, keep: &mut Vec<Event>) {
        if message.level < Level::Warning || self.messages >= MOST_MESSAGES {
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

    /// A batch has come to its end whose fetch took so long.
    fn rank(&mut self, run: RunId, at: Nanos, took: Nanos, events: Vec<Event>) {
        let least = self.slowest.first_key_value().map(|((took, _), _)| *took);
        let is_full = self.slowest.len() >= self.policy.keep_slowest;
        if self.policy.keep_slowest == 0 || (is_full && least.is_some_and(|least| took <= least)) {
            return self.recycle(run, events);
        }
        self.ranked += 1;
        let kept = Kept {
            part: self.part,
            wait: None,
            events,
        };
        let key = (took, std::cmp::Reverse(self.ranked));
        self.slowest.insert(key, (run, at, kept));
        if is_full && let Some((_, (run, _, kept))) = self.slowest.pop_first() {
            self.recycle(run, kept.events);
        }
    }

    /// The slowest batches so far, in order of time.
    pub fn slowest(&self) -> Vec<Event> {
        self.slowest_of(usize::MAX)
    }

    /// Of those the slowest ones, `most` at most, in order of time.
    pub fn slowest_of(&self, most: usize) -> Vec<Event> {
        let slowest_first = self.slowest.values().rev();
        let mut all: Vec<Event> = slowest_first
            .take(most)
            .map(|(run, at, kept)| kept_event(*run, *at, kept.clone()))
            .collect();
        all.sort_by_key(|event| event.at);
        all
    }

    /// Says of each run who it is and what is kept of it, in order of time.
    pub fn introductions(&self, of_all: &Retention) -> Vec<Event> {
        let of = |(run, tracked): (&RunId, &Tracked)| {
            let retention = Retention {
                part: tracked.part(),
                long_wait: self.policy.long_wait,
                info: tracked.info().cloned().unwrap_or_default(),
                ..of_all.clone()
            };
            Event {
                at: tracked.since(),
                run: *run,
                kind: EventKind::Retention(Box::new(retention)),
            }
        };
        let mut all: Vec<Event> = self.runs.iter().map(of).collect();
        all.sort_by_key(|event| event.at);
        all
    }

    /// A part of the recording ends at `at`, and another begins: the sums so far are put into `keep`, and how the runs stand is
    /// answered, one event for each.
    pub fn cut(&mut self, at: Nanos, keep: &mut Vec<Event>) -> Vec<Event> {
        self.finish(at, keep);
        self.minute = self.minute.map(|_| (at, minute_after(at)));
        self.part = self.part.saturating_add(1);
        let part = self.part;
        let of = |(run, tracked): (&RunId, &Tracked)| tracked.state(*run, at, part);
        self.runs.iter().map(of).collect()
    }

    /// Sums up what is not yet: at the end.
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

/// The end of the minute that `at` is in.
fn minute_after(at: Nanos) -> Nanos {
    Nanos(
        at.0.div_euclid(MINUTE.0)
            .saturating_add(1)
            .saturating_mul(MINUTE.0),
    )
}

#[cfg(test)]
mod tests;
