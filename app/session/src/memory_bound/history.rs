//! History of a run whose last parts only are stored in full.

use loadscope_trace::{Event, Nanos, Retention, RetentionFilter, RetentionPolicy};

use super::kept_data::{self, KeptData};
use crate::Limits;

/// Sums per minute, long waits, errors, the slowest batches, and the current state of each loader, in bounded memory.
pub struct History {
    memory: u64,
    retention_filter: RetentionFilter,
    kept_data: KeptData,
    newest: Nanos,
    keep: Vec<Event>,
}

impl History {
    /// Creates an empty history for a memory limit, bytes.
    pub fn new(memory: u64) -> Self {
        let policy = RetentionPolicy {
            long_wait: Limits::USUAL_LONG_WAIT,
            keep_slowest: Limits::USUAL_SLOWEST as usize,
        };
        Self {
            memory,
            retention_filter: RetentionFilter::new(policy),
            kept_data: KeptData::new(memory / 32),
            newest: Nanos(i64::MIN),
            keep: Vec::new(),
        }
    }

    /// Records events. Parts before `first` are dropped.
    pub fn record(&mut self, events: &[Event], first: u32) {
        for event in events {
            // A late event gets the current time.
            self.newest = self.newest.max(event.at);
            match event.at < self.newest {
                false => self.retention_filter.apply(event, &mut self.keep),
                true => {
                    let at = self.newest;
                    let event = Event {
                        at,
                        ..event.clone()
                    };
                    self.retention_filter.apply(&event, &mut self.keep);
                }
            }
        }
        self.keep_all(first);
    }

    /// Starts another part. Returns its number, and the state of the loaders at its start.
    pub fn start_part(&mut self, first: u32) -> (u32, Vec<Event>) {
        let state = self
            .retention_filter
            .start_part(self.newest, &mut self.keep);
        self.keep_all(first);
        (self.retention_filter.part(), state)
    }

    /// Returns a summary of the parts before `first` as events, in order of time.
    pub fn before(&self, first: u32) -> Vec<Event> {
        let retention = Retention {
            max_size: self.memory,
            long_wait: self.kept_data.long_wait(),
            keep_slowest: Limits::USUAL_SLOWEST,
            ..Retention::default()
        };
        let mut past = self.retention_filter.retention_events(&retention);
        past.extend(self.kept_data.before(first));
        past.extend(kept_data::of_parts_before(
            first,
            self.retention_filter.slowest(),
        ));
        past.sort_by_key(|event| event.at);
        past
    }

    fn keep_all(&mut self, first: u32) {
        for event in self.keep.drain(..) {
            if let Some(longer) = self.kept_data.put(event, first) {
                self.retention_filter.set_long_wait(longer);
            }
        }
    }
}
