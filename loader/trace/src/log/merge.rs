//! Sorting of events by time, in blocks of lines.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{MAX_HELD, SORT_WINDOW};
use crate::sorter::Pending;
use crate::{Event, Nanos};

/// Equivalent of [`crate::Sorter`] for blocks of events. Nearly all events are already in order and are passed on without moving them.
#[derive(Debug)]
pub struct Merge {
    /// Events that arrived in order.
    blocks: VecDeque<Block>,
    /// Events that arrived after a later one.
    stragglers: BinaryHeap<Reverse<Pending>>,
    /// Number of stragglers so far.
    numbered: u64,
    newest: Nanos,
    /// Time of the last passed event.
    last: Nanos,
    late: u64,
    /// Length of the lines of held events, bytes.
    weight: usize,
}

#[derive(Debug)]
struct Block {
    /// Events in order of time.
    events: Vec<Event>,
    /// Number of events that were passed on.
    next: usize,
    /// Mean length of the lines, bytes.
    weight: usize,
}

impl Default for Merge {
    fn default() -> Self {
        Self {
            blocks: VecDeque::new(),
            stragglers: BinaryHeap::new(),
            numbered: 0,
            newest: Nanos(i64::MIN),
            last: Nanos(i64::MIN),
            late: 0,
            weight: 0,
        }
    }
}

impl Merge {
    /// Adds the events of lines with `length` bytes in total.
    pub fn push(&mut self, mut events: Vec<Event>, length: usize) {
        if events.is_empty() {
            return;
        }
        let weight = length / events.len() + 1;
        self.weight += weight * events.len();
        let before = self.blocks.back().and_then(|b| b.events.last());
        let before = before.map_or(Nanos(i64::MIN), |e| e.at);
        if events[0].at < before || !events.is_sorted_by_key(|e| e.at) {
            events = self.without_stragglers(events, before, weight);
        }
        let Some(last) = events.last() else {
            return;
        };
        self.newest = self.newest.max(last.at);
        self.blocks.push_back(Block {
            events,
            next: 0,
            weight,
        });
    }

    /// Moves the events that are out of order to `stragglers`. Returns the rest.
    fn without_stragglers(
        &mut self,
        events: Vec<Event>,
        before: Nanos,
        weight: usize,
    ) -> Vec<Event> {
        let mut top = before;
        let mut in_order = Vec::with_capacity(events.len());
        for event in events {
            if event.at >= top {
                top = event.at;
                in_order.push(event);
            } else {
                self.numbered += 1;
                self.stragglers.push(Reverse(Pending {
                    order: (event.at, self.numbered),
                    weight,
                    event,
                }));
            }
        }
        in_order
    }

    /// Passes on the events that no earlier event is expected to follow. Also passes on the oldest events while too much is held.
    pub fn drain_ready(&mut self, each: impl FnMut(&Event)) {
        self.drain_until(self.newest - SORT_WINDOW, MAX_HELD, each);
    }

    /// Passes on all remaining events, after the last block.
    pub fn drain_all(&mut self, each: impl FnMut(&Event)) {
        self.drain_until(Nanos::MAX, usize::MAX, each);
    }

    /// Returns the number of events that arrived too late to be sorted. Their time is set to that of their predecessor.
    pub fn late(&self) -> u64 {
        self.late
    }

    fn drain_until(&mut self, until: Nanos, most: usize, mut each: impl FnMut(&Event)) {
        let (last, late) = (&mut self.last, &mut self.late);
        let mut emit = |event: &mut Event| {
            *late += u64::from(event.at < *last);
            *last = event.at.max(*last);
            event.at = *last;
            each(event);
        };
        loop {
            let until = if self.weight > most {
                Nanos::MAX
            } else {
                until
            };
            let first = self.blocks.front().map(|b| b.events[b.next].at);
            let straggler = self.stragglers.peek().map(|Reverse(s)| s.order.0);
            // At equal times, in-order events precede stragglers.
            if let Some(at) = straggler.filter(|at| first.is_none_or(|first| *at < first)) {
                if at > until {
                    return;
                }
                if let Some(Reverse(mut straggler)) = self.stragglers.pop() {
                    self.weight -= straggler.weight;
                    emit(&mut straggler.event);
                }
                continue;
            }
            let Some(block) = self.blocks.front_mut() else {
                return;
            };
            let rest = &mut block.events[block.next..];
            // All events up to `end` are passed on, or only the excess if too much is held.
            let end = straggler.map_or(until, |at| at.min(until));
            let mut count = rest.partition_point(|e| e.at <= end);
            if self.weight > most {
                count = count.min((self.weight - most) / block.weight + 1);
            }
            if count == 0 {
                return;
            }
            rest[..count].iter_mut().for_each(&mut emit);
            self.weight -= count * block.weight;
            block.next += count;
            if block.next == block.events.len() {
                self.blocks.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{EventKind, RunId, Sorter};

    fn event(at: i64, epoch: usize) -> Event {
        let epoch = epoch as u32;
        Event {
            at: Nanos(at),
            run: RunId(0),
            kind: EventKind::EpochStarted { epoch },
        }
    }

    proptest! {
        /// Events within the sort window give the same order as in the single-event sorter, for any block sizes.
        #[test]
        fn blocks_are_sorted_like_single_events(
            steps in prop::collection::vec((0..40_000_000i64, 0..3i64), 0..300),
            sizes in prop::collection::vec(0..20usize, 1..40),
        ) {
            let mut now = 0;
            let mut events = Vec::new();
            for (k, (step, back)) in steps.into_iter().enumerate() {
                now += step / 10 * 10;
                events.push(event(now - back * 300_000_000, k));
            }
            let mut sorter = Sorter::new(SORT_WINDOW);
            events.iter().cloned().for_each(|e| sorter.push(e));
            let single: Vec<Event> = std::iter::from_fn(|| sorter.flush()).collect();
            let (mut merge, mut out) = (Merge::default(), Vec::new());
            let mut rest = events;
            for size in sizes.iter().cycle().take(1000) {
                let after = rest.split_off((*size).min(rest.len()));
                merge.push(rest, 100);
                rest = after;
                merge.drain_ready(|e| out.push(e.clone()));
            }
            merge.push(rest, 100);
            merge.drain_all(|e| out.push(e.clone()));
            prop_assert_eq!(merge.late(), 0);
            prop_assert_eq!(merge.weight, 0);
            prop_assert_eq!(out, single);
        }
    }

    #[test]
    fn held_events_do_not_exceed_the_limit() {
        let mut merge = Merge::default();
        let mut count = 0;
        for k in 0..10 {
            // Times do not advance, and the last event belongs first.
            merge.push(vec![event(5, k), event(5, k), event(4, k)], 3 << 22);
            merge.drain_ready(|_| count += 1);
            assert!(merge.weight <= MAX_HELD, "{}", merge.weight);
        }
        merge.drain_all(|_| count += 1);
        assert_eq!((count, merge.weight), (30, 0));
        assert!(merge.late() > 0);
    }
}
