//! Sorting of events from several threads or processes by time.
//!
//! Each thread timestamps its events before it sends them, so events of two threads can arrive in the wrong order. The sorter holds events
//! for at most `window`, because the fold needs them in order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::{Event, Nanos};

/// Sorter that holds events until no earlier one is expected. Events with the same time keep their order of arrival.
#[derive(Debug)]
pub struct Sorter {
    window: Nanos,
    /// Events that arrived in order, which is nearly all of them.
    queue: VecDeque<Pending>,
    /// Events that arrived after a later one.
    stragglers: BinaryHeap<Reverse<Pending>>,
    next: u64,
    newest: Nanos,
    /// Time of the last returned event.
    last: Nanos,
    late: u64,
    weight: usize,
}

/// Event with its sort key: time, then order of arrival.
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
    /// Creates a sorter that waits up to `window` for late events, in the time of the events.
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

    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        self.push_weighing(event, 0);
    }

    /// Adds an event that counts as `weight` in [`Sorter::weight`].
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

    /// Returns the total weight of the held events.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Returns the next event older than the window. The window ends at the newest event, or at `now` if that is later.
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

    /// Returns the next event of any age, for the end of a source.
    ///
    /// If later events were already returned, the event gets the time of the last one, so that the output is sorted.
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

    /// Returns the number of events that arrived too late to be sorted.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Returns the number of held events.
    pub fn len(&self) -> usize {
        self.queue.len() + self.stragglers.len()
    }

    /// Returns true if no event is held.
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
    fn late_events_within_the_window_are_sorted() {
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
