//! Puts events from several threads or processes into order of time.
//!
//! Each thread stamps its events before it sends them, so two threads' events may arrive the wrong way round. The fold
//! wants them in order; this holds events back for a moment, no longer than `window`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::{Event, Nanos};

/// Holds events back until no earlier one is to be expected. Events with the same time keep the order in which they came.
#[derive(Debug)]
pub struct Sorter {
    window: Nanos,
    /// What came in order: nearly everything.
    queue: VecDeque<Pending>,
    /// What came after something later.
    stragglers: BinaryHeap<Reverse<Pending>>,
    next: u64,
    newest: Nanos,
    /// Time of the last event yielded.
    last: Nanos,
    late: u64,
    weight: usize,
}

/// An event in its place: by time, then as they came.
#[derive(Debug)]
pub(crate) struct Pending {
    pub order: (Nanos, u64),
    pub weight: usize,
    pub event: Event,
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}
impl Eq for Pending {}
impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

impl Sorter {
    /// A sorter that waits up to `window` (in the time of the events) for stragglers.
    pub fn new(window: Nanos) -> Self {
        Self {
            window,
            queue: VecDeque::new(),
            stragglers: BinaryHeap::new(),
            next: 0,
            newest: Nanos(i64::MIN),
            last: Nanos(i64::MIN),
            late: 0,
            weight: 0,
        }
    }

    /// Takes in an event.
    pub fn push(&mut self, event: Event) {
        self.push_weighing(event, 0);
    }

    /// Takes in an event that counts as `weight` in [`Sorter::weight`].
    pub(crate) fn push_weighing(&mut self, event: Event, weight: usize) {
        self.newest = self.newest.max(event.at);
        self.weight += weight;
        let pending = Pending {
            order: (event.at, self.next),
            weight,
            event,
        };
        if self.queue.back().is_none_or(|last| *last <= pending) {
            self.queue.push_back(pending);
        } else {
            self.stragglers.push(Reverse(pending));
        }
        self.next += 1;
    }

    /// What the events that are held back weigh.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// The next event that is older than the window, measured from the newest event seen or from `now` if that is later.
    pub fn pop(&mut self, now: Option<Nanos>) -> Option<Event> {
        let newest = now.map_or(self.newest, |now| now.max(self.newest));
        let first = match (self.queue.front(), self.stragglers.peek()) {
            (Some(a), Some(Reverse(b))) => a.min(b),
            (Some(first), None) | (None, Some(Reverse(first))) => first,
            (None, None) => return None,
        };
        if first.event.at > newest - self.window {
            return None;
        }
        self.flush()
    }

    /// The next event, however young: after the last event of a source.
    ///
    /// An event that comes after later ones were yielded counts as happening now, so that what is yielded is in
    /// order for everyone who hears it.
    pub fn flush(&mut self) -> Option<Event> {
        let straggler = self.stragglers.peek().map(|Reverse(first)| first);
        let from_queue = match (self.queue.front(), straggler) {
            (Some(first), Some(straggler)) => first < straggler,
            (first, _) => first.is_some(),
        };
        let Pending {
            mut event, weight, ..
        } = if from_queue {
            self.queue.pop_front()?
        } else {
            self.stragglers.pop()?.0
        };
        self.weight -= weight;
        self.late += u64::from(event.at < self.last);
        self.last = self.last.max(event.at);
        event.at = self.last;
        Some(event)
    }

    /// Number of events that came too late to be put in their place.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Number of events held back.
    pub fn len(&self) -> usize {
        self.queue.len() + self.stragglers.len()
    }

    /// True if none is held back.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.stragglers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventKind, RunId};

    fn event(at: i64, epoch: u32) -> Event {
        Event {
            at: Nanos(at),
            run: RunId(0),
            kind: EventKind::EpochStarted { epoch },
        }
    }

    #[test]
    fn stragglers_within_the_window_come_in_order() {
        let mut sorter = Sorter::new(Nanos(10));
        for (at, epoch) in [(5, 0), (3, 1), (5, 2), (20, 3), (14, 4)] {
            sorter.push(event(at, epoch));
        }
        let mut out = Vec::new();
        while let Some(e) = sorter.pop(None) {
            out.push(e.at.0);
        }
        assert_eq!(out, [3, 5, 5]);
        assert_eq!(sorter.pop(Some(Nanos(24))).map(|e| e.at.0), Some(14));
        assert_eq!(sorter.flush().map(|e| e.at.0), Some(20));
        assert!(sorter.is_empty() && sorter.late() == 0);
        sorter.push(event(7, 5));
        assert_eq!(sorter.flush().map(|e| e.at.0), Some(20));
        assert_eq!(sorter.late(), 1);
    }
}
