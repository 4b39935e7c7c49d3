//! The log of a process: the lines of the main process, and the batches of a worker, each with its transforms and collating.

use super::line::Line;

/// Log of a process.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub pid: u64,
    /// Lines of the main process, in the order of the file. [`Process::complete`] sorts shuffled lines by time.
    pub main: Vec<Line>,
    pub worker: Worker,
}

impl Process {
    /// Sorts the lines in the order of writing if many of them are out of order, as in a merged or filtered log.
    pub fn complete(&mut self) {
        if is_shuffled(&self.main, |line| line.written().0) {
            self.main.sort_by_key(Line::written);
        }
        self.worker.complete();
    }
}

/// Batch of a worker. Times are ns since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    pub idx: u32,
    pub start: i64,
    pub end: i64,
    /// Start of collating.
    pub collated: Option<i64>,
    /// Calls of transforms, in order of time.
    pub calls: Vec<Call>,
}

/// Call of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Index in the list of all names.
    pub name: u16,
    pub start: i64,
    pub end: i64,
}

/// Kind of a line, in the sort order of lines with the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LineKind {
    /// Transform, by the index of its name in the list of all names.
    Transform(u16),
    Collate,
    Batch(u32),
}

/// Line of a worker.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: i64,
    end: i64,
    kind: LineKind,
}

/// Log of a worker.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub batches: Vec<Batch>,
    /// Lines that are not assigned to a batch yet.
    entries: Vec<Entry>,
    /// Calls of transforms since the last batch.
    calls: Vec<Call>,
    collated: Option<(i64, i64)>,
    /// Number of calls outside of any batch.
    pub stray: u64,
}

impl Worker {
    pub fn transform(&mut self, name: u16, start: i64, end: i64) {
        self.add(LineKind::Transform(name), start, end);
    }

    pub fn collate(&mut self, start: i64, end: i64) {
        self.add(LineKind::Collate, start, end);
    }

    pub fn batch(&mut self, idx: u32, start: i64, end: i64) {
        self.add(LineKind::Batch(idx), start, end);
    }

    fn add(&mut self, kind: LineKind, start: i64, end: i64) {
        self.entries.push(Entry { start, end, kind });
    }

    /// Assigns the lines to batches, in the order of writing. Each line is written at its end.
    pub fn complete(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        if is_shuffled(&entries, |entry| entry.end) {
            entries.sort_unstable_by_key(|entry| (entry.end, entry.kind, entry.start));
        }
        for Entry { start, end, kind } in entries {
            match kind {
                LineKind::Transform(name) => self.calls.push(Call { name, start, end }),
                LineKind::Collate => self.collated = Some((start, end)),
                LineKind::Batch(idx) => self.end_batch(idx, start, end),
            }
        }
    }

    /// Completes a batch. Its line is written after the lines of its transforms and collating.
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

/// Returns true if more than 1 % of the lines have an earlier time than the previous line. After the clock was set back, only a few lines
/// have one, and the order in the file is correct.
pub(super) fn is_shuffled<T>(lines: &[T], time: impl Fn(&T) -> i64) -> bool {
    /// Divisor of the number of lines: 1 %.
    const LINES_PER_DESCENT: usize = 100;
    let descents = lines.windows(2).filter(|two| match two {
        [before, after] => time(after) < time(before),
        _ => false,
    });
    descents.count() > lines.len() / LINES_PER_DESCENT
}
