//! History of a run whose last parts only are stored in full.

use loadscope_trace::{Event, Keeper, Nanos, Policy, Retention};

use super::course::{self, Course};
use crate::Limits;

/// Sums per minute, long waits, errors, the slowest batches, and the current state of each loader, in bounded memory.
pub struct History {
    memory: u64,
    keeper: Keeper,
    course: Course,
    newest: Nanos,
    keep: Vec<Event>,
}

impl History {
    /// Creates an empty history for a memory limit, bytes.
    pub fn new(memory: u64) -> Self {
        let policy = Policy {
            long_wait: Limits::USUAL_LONG_WAIT,
            keep_slowest: Limits::USUAL_SLOWEST as usize,
        };
        Self {
            memory,
            keeper: Keeper::new(policy),
            course: Course::new(memory / 32),
            newest: Nanos(i64::MIN),
            keep: Vec::new(),
        }
    }

    /// Records events. Parts before `first` are dropped.
    pub fn hear(&mut self, events: &[Event], first: u32) {
        for event in events {
            // A late event gets the current time.
            self.newest = self.newest.max(event.at);
            match event.at < self.newest {
                false => self.keeper.hear(event, &mut self.keep),
                true => {
                    let at = self.newest;
                    let event = Event {
                        at,
                        ..event.clone()
                    };
                    self.keeper.hear(&event, &mut self.keep);
                }
            }
        }
        self.keep_all(first);
    }

    /// Starts another part. Returns its number, and the state of the loaders at its start.
    pub fn cut(&mut self, first: u32) -> (u32, Vec<Event>) {
        let state = self.keeper.cut(self.newest, &mut self.keep);
        self.keep_all(first);
        (self.keeper.part(), state)
    }

    /// Returns a summary of the parts before `first` as events, in order of time.
    pub fn before(&self, first: u32) -> Vec<Event> {
        let retention = Retention {
            max_size: self.memory,
            long_wait: self.course.long_wait(),
            keep_slowest: Limits::USUAL_SLOWEST,
            ..Retention::default()
        };
        let mut past = self.keeper.introductions(&retention);
        past.extend(self.course.before(first));
        past.extend(course::of_parts_before(first, self.keeper.slowest()));
        past.sort_by_key(|event| event.at);
        past
    }

    fn keep_all(&mut self, first: u32) {
        for event in self.keep.drain(..) {
            if let Some(longer) = self.course.put(event, first) {
                self.keeper.set_long_wait(longer);
            }
        }
    }
}
