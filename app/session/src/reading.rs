//! Reading of a recording: all its events in order, or its blocks of lines in parallel.
//!
//! For blocks, one thread applies events to the run. All threads read lines from the file and parse them. The applying thread helps if
//! it has nothing to apply. Blocks are read in turn and applied in file order.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use loadscope_exchange::{ImportError, read};
use loadscope_live::folder;
use loadscope_trace::{Event, Lines, LogError, LogReader, Parsed};

/// Maximum number of helper threads. More do not help, because applying events is the bottleneck.
const HELPERS: usize = 3;

/// Maximum number of blocks per thread that are read ahead.
const AHEAD: u64 = 4;

/// Blocks of a recording between file and run.
pub(super) struct Blocks {
    source: Mutex<Source>,
    queue: Mutex<BlockQueue>,
    /// Signals a new block in the queue, or the end of reading.
    block_ready: Condvar,
    /// Signals a block that left the queue.
    block_taken: Condvar,
    /// Maximum number of blocks read ahead.
    ahead: u64,
}

/// The file, with its read position.
struct Source {
    reader: LogReader,
    /// Number of the next block.
    next: u64,
}

/// Parsed blocks that wait to be applied.
#[derive(Default)]
struct BlockQueue {
    blocks: BTreeMap<u64, Parsed>,
    /// Number of blocks claimed by reader threads.
    claimed: u64,
    /// Number of the block that is applied next.
    wanted: u64,
    /// Total number of blocks. `None` until the end is reached.
    count: Option<u64>,
    /// True if reading was canceled or a thread failed.
    is_over: bool,
}

impl Blocks {
    pub fn new(reader: LogReader) -> Self {
        Self {
            source: Mutex::new(Source { reader, next: 0 }),
            queue: Mutex::default(),
            block_ready: Condvar::new(),
            block_taken: Condvar::new(),
            ahead: AHEAD * (1 + Self::helpers() as u64),
        }
    }

    /// Returns the number of helper threads to start.
    pub fn helpers() -> usize {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        (cores - 1).clamp(1, HELPERS)
    }

    /// Reads blocks until the end of the file.
    pub fn help(&self) {
        let _over = StopOnPanic(self);
        let mut lines = Lines::default();
        loop {
            let mut queue = lock(&self.queue);
            while queue.claimed >= queue.wanted + self.ahead && !queue.is_done() {
                queue = wait(&self.block_taken, queue);
            }
            if queue.is_done() {
                return;
            }
            queue.claimed += 1;
            drop(queue);
            self.read(lock(&self.source), &mut lines);
        }
    }

    /// Returns the next block in file order. Returns `None` after the last one. Reads a block itself if that is faster than waiting.
    pub fn next(&self, lines: &mut Lines) -> Option<Parsed> {
        let mut queue = lock(&self.queue);
        loop {
            let wanted = queue.wanted;
            if let Some(block) = queue.blocks.remove(&wanted) {
                queue.wanted += 1;
                self.block_taken.notify_all();
                return Some(block);
            }
            if queue.is_over || queue.count == Some(wanted) {
                return None;
            }
            if queue.count.is_none()
                && let Ok(source) = self.source.try_lock()
            {
                queue.claimed += 1;
                drop(queue);
                self.read(source, lines);
                queue = lock(&self.queue);
            } else {
                queue = wait(&self.block_ready, queue);
            }
        }
    }

    /// Cancels reading.
    pub fn stop(&self) {
        lock(&self.queue).is_over = true;
        self.block_ready.notify_all();
        self.block_taken.notify_all();
    }

    /// Reads and parses a block.
    fn read(&self, mut source: MutexGuard<'_, Source>, lines: &mut Lines) {
        let number = source.next;
        let is_there = source.reader.read_lines(lines);
        source.next += u64::from(is_there);
        drop(source);
        // A waiting thread can read the next block now. That thread checks and waits under the lock.
        drop(lock(&self.queue));
        self.block_ready.notify_all();
        let block = is_there.then(|| lines.parse());
        let mut queue = lock(&self.queue);
        match block {
            Some(block) => {
                queue.blocks.insert(number, block);
            }
            None => queue.count = Some(number),
        }
        self.block_ready.notify_all();
        self.block_taken.notify_all();
    }
}

impl BlockQueue {
    /// Returns true if no more blocks must be read.
    fn is_done(&self) -> bool {
        self.is_over || self.count.is_some()
    }
}

/// Guard that ends reading if a thread panics, so no thread waits for its block. The thread scope propagates the panic.
struct StopOnPanic<'a>(&'a Blocks);

impl Drop for StopOnPanic<'_> {
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

/// Returns true for a folder of event streams that a program wrote without a listener.
pub(super) fn is_program(path: &Path) -> bool {
    path.is_dir() && !folder::streams(path).is_empty()
}

/// Calls `each` with the events of a recording in order of time, until it returns false. Returns true if the recording is truncated.
///
/// # Errors
/// If the recording cannot be opened or is damaged.
pub(super) fn each_event(
    path: &Path,
    mut each: impl FnMut(&Event) -> bool,
) -> Result<bool, ImportError> {
    if is_program(path) {
        return Ok(each_of_streams(path, |event| each(&event))?);
    }
    let outcome = read(path, |event, _| event.is_none_or(|event| each(&event)))?;
    Ok(outcome.cut)
}

/// Calls `each` with the events of a folder of streams, until it returns false. Returns true if a stream is truncated.
pub(super) fn each_of_streams(
    path: &Path,
    each: impl FnMut(Event) -> bool,
) -> Result<bool, LogError> {
    folder::read(path, each).map_err(|cause| LogError::Open {
        path: path.to_owned(),
        cause,
    })
}
