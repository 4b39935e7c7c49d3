//! Reads a recording with all processors: one thread folds events into the run, and all of them, that one too when it has
//! nothing to fold, take lines from the file and make events of them. Each reader goes on where the last one stopped, and the
//! blocks are folded in that order.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use loadscope_trace::{Lines, LogReader, Parsed};

/// Threads that help at most: folding does not get faster.
const HELPERS: usize = 3;

/// Blocks that may be ahead of the one that is folded, for each thread.
const AHEAD: u64 = 4;

/// The blocks of a recording, on their way from the file to the run.
pub(super) struct Blocks {
    source: Mutex<Source>,
    queue: Mutex<BlockQueue>,
    /// Signals a new block in the queue.
    came: Condvar,
    /// Signals a block that left the queue.
    went: Condvar,
    /// How far reading may be ahead.
    ahead: u64,
}

/// The file.
struct Source {
    reader: LogReader,
    /// Number of the next block.
    next: u64,
}

/// Blocks that are ready to be folded.
#[derive(Default)]
struct BlockQueue {
    blocks: BTreeMap<u64, Parsed>,
    /// Blocks claimed by a reader thread.
    begun: u64,
    /// Number of the block that is folded next.
    wanted: u64,
    /// How many blocks there are, once that is known.
    count: Option<u64>,
    /// The rest is not wanted, or a thread cannot go on.
    is_over: bool,
}

impl Blocks {
    pub fn new(reader: LogReader) -> Self {
        Self {
            source: Mutex::new(Source { reader, next: 0 }),
            queue: Mutex::default(),
            came: Condvar::new(),
            went: Condvar::new(),
            ahead: AHEAD * (1 + Self::helpers() as u64),
        }
    }

    /// How many threads should help.
    pub fn helpers() -> usize {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        (cores - 1).clamp(1, HELPERS)
    }

    /// Reads until there is nothing left to be read.
    pub fn help(&self) {
        let _over = OverOnPanic(self);
        let mut lines = Lines::default();
        loop {
            let mut queue = lock(&self.queue);
            while queue.begun >= queue.wanted + self.ahead && !queue.is_done() {
                queue = wait(&self.went, queue);
            }
            if queue.is_done() {
                return;
            }
            queue.begun += 1;
            drop(queue);
            self.read(lock(&self.source), &mut lines);
        }
    }

    /// The next block in the order of the file; `None` after the last one. Reads one itself where that is faster than to wait.
    pub fn next(&self, lines: &mut Lines) -> Option<Parsed> {
        let mut queue = lock(&self.queue);
        loop {
            let wanted = queue.wanted;
            if let Some(block) = queue.blocks.remove(&wanted) {
                queue.wanted += 1;
                self.went.notify_all();
                return Some(block);
            }
            if queue.is_over || queue.count == Some(wanted) {
                return None;
            }
            if queue.count.is_none()
                && let Ok(source) = self.source.try_lock()
            {
                queue.begun += 1;
                drop(queue);
                self.read(source, lines);
                queue = lock(&self.queue);
            } else {
                queue = wait(&self.came, queue);
            }
        }
    }

    /// The rest is not wanted.
    pub fn stop(&self) {
        lock(&self.queue).is_over = true;
        self.came.notify_all();
        self.went.notify_all();
    }

    /// Reads a block and makes events of it.
    fn read(&self, mut source: MutexGuard<'_, Source>, lines: &mut Lines) {
        let number = source.next;
        let is_there = source.reader.read_lines(lines);
        source.next += u64::from(is_there);
        drop(source);
        // A thread that waits for a block can read the next one now. It checks and waits under the lock.
        drop(lock(&self.queue));
        self.came.notify_all();
        let block = is_there.then(|| lines.parse());
        let mut queue = lock(&self.queue);
        match block {
            Some(block) => {
                queue.blocks.insert(number, block);
            }
            None => queue.count = Some(number),
        }
        self.came.notify_all();
        self.went.notify_all();
    }
}

impl BlockQueue {
    /// True if nothing more is to be read.
    fn is_done(&self) -> bool {
        self.is_over || self.count.is_some()
    }
}

/// So that no thread waits for what a thread that has failed would have brought. The scope of the threads passes its panic on.
struct OverOnPanic<'a>(&'a Blocks);

impl Drop for OverOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}
