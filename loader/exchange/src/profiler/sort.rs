//! Sorting of a trace's slices by time in bounded memory.
//!
//! A trace contains its events in any order: merged, filtered or sorted by name. A trace that does not fit into memory is read several
//! times. Each pass takes the earliest slices of the rest.

use std::cmp::Ordering;

use super::calls::Calls;
use super::slice::{Names, Raw, Slice};

/// Maximum number of slices in memory, 384 MiB. A trace of up to about 4 GB is read once.
pub(super) const MOST_SLICES: usize = 1 << 24;

/// Slices of a pass over a trace.
#[derive(Debug)]
pub(super) struct Slices {
    names: Names,
    kept: Vec<Slice>,
    most: usize,
    /// Latest slice of the previous passes, and the number of equal slices in them.
    done: Option<(Slice, u64)>,
    /// Number of slices in this pass that equal the latest one of the previous passes.
    equal: u64,
    /// Latest kept slice, after slices were left to the next pass.
    limit: Option<Slice>,
}

impl Slices {
    pub fn new(most: usize) -> Self {
        Self {
            names: Names::default(),
            kept: Vec::new(),
            most,
            done: None,
            equal: 0,
            limit: None,
        }
    }

    /// Adds an event.
    pub fn add_event(&mut self, raw: &Raw) {
        let Some(slice) = self.names.slice(raw) else {
            return;
        };
        if let Some((done, count)) = &self.done {
            match self.names.order(&slice, done) {
                Ordering::Less => return,
                // Equal slices are interchangeable, so the first ones count as done.
                Ordering::Equal if self.equal < *count => {
                    self.equal += 1;
                    return;
                }
                Ordering::Equal | Ordering::Greater => {}
            }
        }
        if self.kept.len() >= self.most {
            self.keep_half();
        }
        let limit = self.limit.as_ref();
        if limit.is_none_or(|limit| self.names.order(&slice, limit).is_lt()) {
            self.kept.push(slice);
        }
    }

    /// Leaves the later half to the next pass.
    fn keep_half(&mut self) {
        let names = &self.names;
        let half = self.most / 2;
        let (_, latest, _) = self
            .kept
            .select_nth_unstable_by(half, |a, b| names.order(a, b));
        self.limit = Some(*latest);
        self.kept.truncate(half + 1);
    }

    /// Ends a pass, and passes its slices to `calls` in order. Returns true if the trace must be read again for the rest.
    pub fn end_pass(&mut self, calls: &mut Calls) -> bool {
        let names = &self.names;
        self.kept.sort_unstable_by(|a, b| names.order(a, b));
        for slice in &self.kept {
            calls.add_slice(names, slice);
        }
        let Some(latest) = self.limit.take() else {
            calls.lost += names.lost;
            return false;
        };
        let is_latest = |slice: &Slice| names.order(slice, &latest).is_eq();
        let equal = self.kept.iter().rev().take_while(|s| is_latest(s)).count() as u64;
        let before = self.done.filter(|(done, _)| is_latest(done));
        self.done = Some((latest, equal + before.map_or(0, |(_, count)| count)));
        self.equal = 0;
        self.kept.clear();
        self.names.lost = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names of slices: calls, operators that draw a seed, and others.
    const NAMES: [&str; 8] = [
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        "enumerate(DataPipe)#Mapper",
        "aten::empty",
        "aten::random_",
        "aten::item",
        "aten::mm",
        "ProfilerStep#1",
    ];

    /// Index in [`NAMES`], thread, start and duration.
    type Drawn = (usize, u8, i64, i64);

    fn raw(drawn: &Drawn) -> Raw {
        let (name, thread, start, duration) = *drawn;
        Raw {
            is_complete: true,
            is_python: false,
            name: NAMES[name].into(),
            pid: b"1".to_vec(),
            tid: thread.to_string().into_bytes(),
            start: Some(start),
            duration: Some(duration),
        }
    }

    /// Returns the calls of a trace in this order, with at most `most` slices in memory.
    fn sorted(trace: &[Drawn], most: usize) -> Calls {
        let mut slices = Slices::new(most);
        let mut calls = Calls::default();
        loop {
            trace.iter().for_each(|drawn| slices.add_event(&raw(drawn)));
            if !slices.end_pass(&mut calls) {
                return calls;
            }
        }
    }

    /// Returns the calls of a trace whose slices are in order.
    fn as_it_is(trace: &[Drawn]) -> Calls {
        let mut names = Names::default();
        let mut calls = Calls::default();
        for drawn in trace {
            let slice = names.slice(&raw(drawn)).expect("a complete event");
            calls.add_slice(&names, &slice);
        }
        calls
    }

    /// Generates a shuffled copy of a trace, next to the original.
    fn shuffled(trace: Vec<Drawn>) -> impl Strategy<Value = (Vec<Drawn>, Vec<Drawn>)> {
        (Just(trace.clone()), Just(trace).prop_shuffle())
    }

    /// Generates slices in order of time. Each drawn start is a distance to the previous start.
    fn in_order() -> impl Strategy<Value = Vec<Drawn>> {
        let slice = (0..NAMES.len(), 0..2u8, 1..9i64, 0..12i64);
        prop::collection::vec(slice, 1..120).prop_map(|mut trace| {
            let mut at = 0;
            for drawn in &mut trace {
                at += drawn.2;
                drawn.2 = at;
            }
            trace
        })
    }

    /// Generates slices, many of them at the same time.
    fn at_once() -> impl Strategy<Value = Vec<Drawn>> {
        let slice = (0..NAMES.len(), 0..3u8, 0..8i64, 0..3i64);
        prop::collection::vec(slice, 1..120)
    }

    proptest! {
        #[test]
        fn any_slice_order_gives_the_calls_of_the_sorted_trace(
            (trace, other) in in_order().prop_flat_map(shuffled), most in 1..150usize,
        ) {
            prop_assert_eq!(sorted(&other, most).threads, as_it_is(&trace).threads);
        }

        #[test]
        fn slices_of_equal_time_have_a_fixed_order(
            (trace, other) in at_once().prop_flat_map(shuffled), most in 1..150usize,
        ) {
            let all = sorted(&trace, trace.len() + 1);
            prop_assert_eq!(sorted(&other, most).threads, all.threads);
        }
    }

    #[test]
    fn each_of_equal_slices_is_counted_once() {
        let mut trace: Vec<Drawn> = vec![(6, 1, 5, 1); 30];
        trace.push((0, 1, 0, 1));
        for most in 1..40 {
            let calls = sorted(&trace, most);
            assert_eq!(calls.threads[0].calls[0].computed, 30, "{most}");
        }
    }
}
