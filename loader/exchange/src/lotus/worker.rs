//! What a worker wrote: batches, each after the transforms and the collating in it.

use super::order::is_shuffled;

/// A batch of a worker. Times are ns since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    pub idx: u32,
    pub start: i64,
    pub end: i64,
    /// When its collating began.
    pub collated: Option<i64>,
    /// Calls of transforms in it, in order of time.
    pub calls: Vec<Call>,
}

/// A call of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Position in the list of all names.
    pub name: u16,
    pub start: i64,
    pub end: i64,
}

/// Subject of a line of a worker. The lower one of two lines of one instant comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A transform, by the position of its name in the list of all names.
    Transform(u16),
    Collate,
    Batch(u32),
}

/// A line of a worker.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: i64,
    end: i64,
    what: What,
}

/// What a worker wrote.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub batches: Vec<Batch>,
    /// Lines that are in no batch yet.
    entries: Vec<Entry>,
    /// Calls since the last batch.
    calls: Vec<Call>,
    collated: Option<(i64, i64)>,
    /// Calls that lie in no batch.
    pub stray: u64,
}

impl Worker {
    pub fn transform(&mut self, name: u16, start: i64, end: i64) {
        self.add(What::Transform(name), start, end);
    }

    pub fn collate(&mut self, start: i64, end: i64) {
        self.add(What::Collate, start, end);
    }

    pub fn batch(&mut self, idx: u32, start: i64, end: i64) {
        self.add(What::Batch(idx), start, end);
    }

    fn add(&mut self, what: What, start: i64, end: i64) {
        self.entries.push(Entry { start, end, what });
    }

    /// Puts the lines into batches, in the order in which they were written: each at its end.
    pub fn complete(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        if is_shuffled(&entries, |entry| entry.end) {
            entries.sort_unstable_by_key(|entry| (entry.end, entry.what, entry.start));
        }
        for Entry { start, end, what } in entries {
            match what {
                What::Transform(name) => self.calls.push(Call { name, start, end }),
                What::Collate => self.collated = Some((start, end)),
                What::Batch(idx) => self.end_batch(idx, start, end),
            }
        }
    }

    /// A batch is written after everything in it.
    fn end_batch(&mut self, idx: u32, start: i64, end: i64) {
        let inside = |s: i64, e: i64| start <= s && e <= end;
        let all = std::mem::take(&mut self.calls);
        let before = all.len();
        let mut calls: Vec<Call> = all.into_iter().filter(|c| inside(c.start, c.end)).collect();
        self.stray += (before - calls.len()) as u64;
        calls.sort_by_key(|c| (c.start, c.end));
        let collated = self.collated.take().filter(|(s, e)| inside(*s, *e));
        self.batches.push(Batch {
            idx,
            start,
            end,
            collated: collated.map(|(start, _)| start),
            calls,
        });
    }
}
