//! The calls of `next()` in a trace per thread, and the computation after each.

use std::collections::HashMap;

use super::slice::text;
use super::slice::{Names, Slice, SliceKind};

/// Maximum number of kept calls. Each takes about 250 bytes of a run.
pub(super) const MOST_CALLS: usize = 4 << 20;
/// Maximum number of separate threads with calls.
const MOST_THREADS: usize = 1 << 10;
/// Maximum number of separate iterator classes per thread.
const MOST_CLASSES: usize = 64;

/// Call of `next()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Times on the clock of the trace, ns.
    pub start: i64,
    pub end: i64,
    /// Index in [`Thread::classes`].
    pub class: u8,
    /// Number of operators after the call and before the next one.
    pub computed: u32,
    /// True if an iterator was created before the next call. The iterator drew the seed of its workers.
    pub new_iterator: bool,
}

/// Thread that calls `next()`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Thread {
    /// Process and thread, as the trace names them.
    pub pid: String,
    pub tid: String,
    /// Iterator classes, such as `_MultiProcessingDataLoaderIter`.
    pub classes: Vec<String>,
    pub calls: Vec<Call>,
    /// Latest end of a slice in the thread, ns.
    pub end: i64,
    /// Number of calls inside of another call: an iterator that calls an iterator.
    pub nested: u64,
    /// Number of seed-drawing operators seen in sequence.
    drawing: u8,
}

/// All calls of a trace.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub threads: Vec<Thread>,
    /// Indices in `threads`, by the number of the thread in [`Names`].
    positions: HashMap<u32, usize>,
    /// Number of skipped calls, because there are too many.
    pub lost: u64,
    count: usize,
}

/// Operators with which an iterator draws the seed of its workers, in order.
const DRAWING: [SliceKind; 3] = [SliceKind::Empty, SliceKind::Random, SliceKind::Item];

impl Calls {
    /// Adds the next slice. Slices arrive in [order of time](Names::order).
    pub fn add_slice(&mut self, names: &Names, slice: &Slice) {
        match slice.kind {
            SliceKind::Call(class) => self.call(names, slice, class),
            SliceKind::Empty
            | SliceKind::Random
            | SliceKind::Item
            | SliceKind::Other
            | SliceKind::Step => {
                if let Some(at) = self.positions.get(&slice.thread) {
                    self.threads[*at].computed(slice);
                }
            }
        }
    }

    /// Adds a call of `next()` to its thread. Nested calls and calls beyond the limits are only counted.
    fn call(&mut self, names: &Names, slice: &Slice, class: u16) {
        let at = match self.positions.get(&slice.thread) {
            Some(at) => *at,
            None if self.threads.len() >= MOST_THREADS => {
                self.lost += 1;
                return;
            }
            None => {
                let (pid, tid) = names.thread(slice.thread);
                self.threads.push(Thread {
                    pid: text(pid),
                    tid: text(tid),
                    end: i64::MIN,
                    ..Thread::default()
                });
                self.positions.insert(slice.thread, self.threads.len() - 1);
                self.threads.len() - 1
            }
        };
        let thread = &mut self.threads[at];
        let last = thread.calls.last();
        if last.is_some_and(|last| slice.start < last.end) {
            thread.nested += 1;
            return;
        }
        if self.count >= MOST_CALLS {
            self.lost += 1;
            return;
        }
        self.count += 1;
        let class = thread.class(&text(names.class(class)));
        thread.end_seed_sequence();
        thread.calls.push(Call {
            start: slice.start,
            end: slice.end,
            class,
            computed: 0,
            new_iterator: false,
        });
        thread.end = thread.end.max(slice.end);
    }
}

impl Thread {
    fn class(&mut self, name: &str) -> u8 {
        if let Some(known) = self.classes.iter().position(|c| c == name) {
            return known as u8;
        }
        if self.classes.len() < MOST_CLASSES {
            self.classes.push(name.to_owned());
        }
        (self.classes.len() - 1) as u8
    }

    /// Adds an operator of this thread, or an annotation of operators.
    fn computed(&mut self, slice: &Slice) {
        self.end = self.end.max(slice.end);
        let Some(call) = self.calls.last_mut() else {
            return;
        };
        // Operators inside of the call are the loader's own.
        if slice.start < call.end || call.new_iterator || slice.kind == SliceKind::Step {
            return;
        }
        if slice.kind == DRAWING[usize::from(self.drawing)] {
            self.drawing += 1;
            if usize::from(self.drawing) == DRAWING.len() {
                self.drawing = 0;
                call.new_iterator = true;
            }
            return;
        }
        // The sequence was not a seed, but this operator may begin one.
        let begins = u8::from(slice.kind == DRAWING[0]);
        let before = std::mem::replace(&mut self.drawing, begins);
        let computed = u32::from(before) + u32::from(1 - begins);
        call.computed = call.computed.saturating_add(computed);
    }

    /// Counts an incomplete seed sequence as computation.
    fn end_seed_sequence(&mut self) {
        let before = std::mem::take(&mut self.drawing);
        if let Some(call) = self.calls.last_mut() {
            call.computed = call.computed.saturating_add(u32::from(before));
        }
    }

    /// Returns true for each call that yielded a batch, and false for calls that exhausted their iterator.
    pub fn yielded(&mut self) -> Vec<bool> {
        self.end_seed_sequence();
        let steps = self.calls.iter().filter(|c| !c.new_iterator);
        let mut computed: Vec<u32> = steps.map(|c| c.computed).filter(|n| *n > 0).collect();
        computed.sort_unstable();
        let usual = computed.get(computed.len() / 2).copied().unwrap_or(0);
        let last = self.calls.len().saturating_sub(1);
        let calls = self.calls.iter().enumerate();
        calls
            .map(|(k, call)| match usual {
                // Without any computation in this thread, only the creation of iterators is known.
                0 => !call.new_iterator && k != last,
                _ if call.new_iterator => call.computed >= usual.div_ceil(4),
                _ => call.computed > 0,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::slice::Raw;
    use super::*;

    fn raw(name: &str, start: i64, duration: i64) -> Raw {
        Raw {
            is_complete: true,
            is_python: false,
            name: name.into(),
            pid: b"1".to_vec(),
            tid: b"1".to_vec(),
            start: Some(start),
            duration: Some(duration),
        }
    }

    /// Returns the calls of events that are in order.
    fn calls(events: &[Raw]) -> Calls {
        let mut names = Names::default();
        let mut calls = Calls::default();
        for raw in events {
            if let Some(slice) = names.slice(raw) {
                calls.add_slice(&names, &slice);
            }
        }
        calls
    }

    const NEXT: &str = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

    /// Creates a trace: `n` is a call, `d` draws a seed, `c` computes, `e` is an `aten::empty` for another reason.
    fn outcomes(tape: &str) -> Vec<bool> {
        let mut events = Vec::new();
        let mut at = 0;
        for letter in tape.chars() {
            let names: &[&str] = match letter {
                'n' => &[NEXT],
                'd' => &["aten::empty", "aten::random_", "aten::item"],
                'e' => &["aten::empty"],
                _ => &["aten::mm"],
            };
            for name in names {
                events.push(raw(name, at, 5));
                at += 10;
            }
        }
        calls(&events).threads[0].yielded()
    }

    #[test]
    fn a_call_without_computation_ends_the_epoch() {
        let (yes, no) = (true, false);
        assert_eq!(outcomes("nccnccn"), [yes, yes, no]);
        assert_eq!(outcomes("nccnccndnccncc"), [yes, yes, no, yes, yes]);
        // In-order loading with persistent workers draws no seed.
        assert_eq!(outcomes("nccnnccn"), [yes, no, yes, no]);
        // The program computes something small after the epoch, such as a mean.
        assert_eq!(
            outcomes("nccccccccnccccccccncdncccccccc"),
            [yes, yes, no, yes]
        );
        // The loop was stopped in the middle.
        assert_eq!(outcomes("nccccdncccc"), [yes, yes]);
        assert_eq!(outcomes("neccnecc"), [yes, yes]);
        assert_eq!(outcomes("nene"), [yes, yes]);
        assert_eq!(outcomes("nccccccccnedncccccccc"), [yes, no, yes]);
        // The program only loads and does not compute.
        assert_eq!(outcomes("nnndnnn"), [yes, yes, no, yes, yes, no]);
    }

    #[test]
    fn nested_calls_and_invalid_times_are_skipped() {
        let calls = calls(&[
            raw(NEXT, 0, 100),
            raw(NEXT, 50, 10),
            raw(NEXT, 200, -1),
            raw(NEXT, i64::MAX - 1, i64::MAX),
        ]);
        let thread = &calls.threads[0];
        assert_eq!((thread.calls.len(), thread.nested), (2, 1));
        assert_eq!(thread.calls[1].end, i64::MAX);
    }
}
