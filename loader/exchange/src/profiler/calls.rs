//! The calls of `next()` in a trace, thread by thread, and how much was computed after each.

use std::collections::HashMap;

use super::header::text;
use super::slice::{Names, Slice, What};

/// So many calls are kept: each costs a run some 250 bytes.
pub(super) const MOST_CALLS: usize = 4 << 20;
/// At most so many threads with calls are kept separate.
const MOST_THREADS: usize = 1 << 10;
/// At most so many kinds of iterators are kept separate in a thread.
const MOST_CLASSES: usize = 64;

/// A call of `next()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// ns, on the clock of the trace.
    pub start: i64,
    pub end: i64,
    /// Position in [`Thread::classes`].
    pub class: u8,
    /// Operators that ran after it and before the next call.
    pub computed: u32,
    /// Before the next call an iterator was made: it drew the seed of its workers.
    pub new_iterator: bool,
}

/// A thread that calls `next()`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Thread {
    /// Process and thread as the trace names them.
    pub pid: String,
    pub tid: String,
    /// Kinds of iterators, `_MultiProcessingDataLoaderIter`.
    pub classes: Vec<String>,
    pub calls: Vec<Call>,
    /// End of the last thing that ran in it, ns.
    pub end: i64,
    /// Calls that lie in another one: an iterator that asks an iterator.
    pub nested: u64,
    /// How much of the drawing of a seed was seen.
    drawing: u8,
}

/// All calls of a trace.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub threads: Vec<Thread>,
    /// Positions in `threads`, by the number of the thread in [`Names`].
    positions: HashMap<u32, usize>,
    /// Calls that were left out because there are too many.
    pub lost: u64,
    count: usize,
}

/// What an iterator does to draw the seed of its workers, in this order.
const DRAWING: [What; 3] = [What::Empty, What::Random, What::Item];

impl Calls {
    /// Takes in the next slice. Slices come in [the order in time](Names::order).
    pub fn take(&mut self, names: &Names, slice: &Slice) {
        match slice.what {
            What::Call(class) => self.call(names, slice, class),
            What::Empty | What::Random | What::Item | What::Other | What::Step => {
                if let Some(at) = self.positions.get(&slice.thread) {
                    self.threads[*at].computed(slice);
                }
            }
        }
    }

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
        thread.settle();
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

    /// An operator ran in this thread, or an annotation covers some that did.
    fn computed(&mut self, slice: &Slice) {
        self.end = self.end.max(slice.end);
        let Some(call) = self.calls.last_mut() else {
            return;
        };
        // Inside of the call: what the loader itself computes.
        if slice.start < call.end || call.new_iterator || slice.what == What::Step {
            return;
        }
        if slice.what == DRAWING[usize::from(self.drawing)] {
            self.drawing += 1;
            if usize::from(self.drawing) == DRAWING.len() {
                self.drawing = 0;
                call.new_iterator = true;
            }
            return;
        }
        // It was none, but this may begin one.
        let begins = u8::from(slice.what == DRAWING[0]);
        let before = std::mem::replace(&mut self.drawing, begins);
        let computed = u32::from(before) + u32::from(1 - begins);
        call.computed = call.computed.saturating_add(computed);
    }

    /// What looked like the beginning of a drawing was none.
    fn settle(&mut self) {
        let before = std::mem::take(&mut self.drawing);
        if let Some(call) = self.calls.last_mut() {
            call.computed = call.computed.saturating_add(u32::from(before));
        }
    }

    /// For each call whether it handed a batch out; otherwise it found its iterator exhausted.
    pub fn yielded(&mut self) -> Vec<bool> {
        self.settle();
        let steps = self.calls.iter().filter(|c| !c.new_iterator);
        let mut computed: Vec<u32> = steps.map(|c| c.computed).filter(|n| *n > 0).collect();
        computed.sort_unstable();
        let usual = computed.get(computed.len() / 2).copied().unwrap_or(0);
        let last = self.calls.len().saturating_sub(1);
        let calls = self.calls.iter().enumerate();
        calls
            .map(|(k, call)| match usual {
                // Nothing was ever computed in this thread: all that is known is where iterators begin.
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

    /// The calls of events that are in order.
    fn calls(events: &[Raw]) -> Calls {
        let mut names = Names::default();
        let mut calls = Calls::default();
        for raw in events {
            if let Some(slice) = names.slice(raw) {
                calls.take(&names, &slice);
            }
        }
        calls
    }

    const NEXT: &str = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

    /// `n`: a call, `d`: a seed is drawn, `c`: something is computed, `e`: `aten::empty` for another reason.
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
    fn the_call_after_which_nothing_is_computed_ends_the_epoch() {
        let (yes, no) = (true, false);
        assert_eq!(outcomes("nccnccn"), [yes, yes, no]);
        assert_eq!(outcomes("nccnccndnccncc"), [yes, yes, no, yes, yes]);
        // With persistent workers and in order nothing is drawn.
        assert_eq!(outcomes("nccnnccn"), [yes, no, yes, no]);
        // Something is computed after the epoch, but little: a mean, say.
        assert_eq!(
            outcomes("nccccccccnccccccccncdncccccccc"),
            [yes, yes, no, yes]
        );
        // The loop was left in the middle.
        assert_eq!(outcomes("nccccdncccc"), [yes, yes]);
        assert_eq!(outcomes("neccnecc"), [yes, yes]);
        assert_eq!(outcomes("nene"), [yes, yes]);
        assert_eq!(outcomes("nccccccccnedncccccccc"), [yes, no, yes]);
        // Nothing but loading.
        assert_eq!(outcomes("nnndnnn"), [yes, yes, no, yes, yes, no]);
    }

    #[test]
    fn calls_in_calls_and_odd_times_are_no_calls() {
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
