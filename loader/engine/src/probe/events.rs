//! Reader of the events of all threads, ordered by time.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crossbeam_channel::{Receiver, TryRecvError};
use loadscope_trace::{Event, EventKind, Nanos};

use super::buffer::{BufferPool, FULL, Segment, Source, side_queue_weight, weight};
use super::record::{read, sort_key};
use super::spending::Spending;

/// Events of a [`Probe`](super::Probe) and its clones.
pub struct Events {
    reader: Mutex<Reader>,
    spending: Arc<Spending>,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

/// Number of events after which the reader yields.
///
/// Without a free core, the reader may otherwise block a thread whose batch other threads need.
const YIELD_EVERY: u32 = 64;

struct Reader {
    pool: Arc<BufferPool>,
    /// Reference that is dangling when no probe is left.
    probes: Weak<()>,
    new_sources: Receiver<Source>,
    streams: Vec<Stream>,
    /// Time of the last event taken.
    last: Nanos,
    late: u64,
    /// Number of events taken since the last yield.
    since_yield: u32,
}

/// Events of one thread.
struct Stream {
    source: Source,
    segment: Option<Arc<Segment>>,
    /// Next segment, if already known.
    next_segment: Option<Arc<Segment>>,
    /// Number of words read from the segment.
    read: usize,
    /// Number of words in the segment known to contain records.
    written: usize,
    /// True if the thread no longer writes the segment.
    is_full: bool,
    /// Time and sequence number of the next event.
    next: Option<(Nanos, u64)>,
    is_over: bool,
}

impl Events {
    pub(super) fn new(
        pool: Arc<BufferPool>,
        spending: Arc<Spending>,
        probes: Weak<()>,
        new_sources: Receiver<Source>,
    ) -> Self {
        let reader = Reader {
            pool,
            probes,
            new_sources,
            streams: Vec::new(),
            last: Nanos(i64::MIN),
            late: 0,
            since_yield: 0,
        };
        Self {
            reader: Mutex::new(reader),
            spending,
        }
    }

    /// Charges the time that writing an event's contents took. `at` is the time of the event.
    ///
    /// The time counts like that of a batch summary, so the [policy](super::ContentPolicy) covers all costs of contents.
    /// Contents of the grace period are free.
    pub fn charge(&self, at: Nanos, took: Duration) {
        self.spending.charge(at, took);
    }

    /// Takes the available events up to the time `until` (all for `None`) and passes them to `on_event`, ordered by time.
    ///
    /// An event that a thread has stamped but not yet stored is not available. `until` should therefore be some milliseconds ago.
    ///
    /// An event that arrives after later ones were taken gets the time of the last of them, and counts as [late](Self::late).
    pub fn take(&self, until: Option<Nanos>, on_event: impl FnMut(Event)) {
        self.reader()
            .take(until.unwrap_or(Nanos(i64::MAX)), on_event);
    }

    /// Takes all available events.
    pub fn try_iter(&self) -> std::vec::IntoIter<Event> {
        let mut events = Vec::new();
        self.take(None, |event| events.push(event));
        events.into_iter()
    }

    /// Returns true if no probe is left. Recorded events may not have been taken yet.
    pub fn is_over(&self) -> bool {
        self.reader().probes.strong_count() == 0
    }

    /// Returns the number of events that arrived too late for their place.
    pub fn late(&self) -> u64 {
        self.reader().late
    }

    fn reader(&self) -> std::sync::MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// Merges the streams of all threads by time (k-way merge), up to the time `until`.
    fn take(&mut self, until: Nanos, mut on_event: impl FnMut(Event)) {
        let new_sources = self.new_sources.try_iter().map(Stream::new);
        self.streams.extend(new_sources);
        for stream in &mut self.streams {
            stream.poll(&self.pool);
        }
        self.streams.retain(|stream| !stream.is_over);
        while let Some((place, end)) = self.earliest() {
            let Some(stream) = self.streams.get_mut(place) else {
                return;
            };
            let mut weight = 0;
            while let Some(next) = stream.next
                && next <= end
            {
                if next.0 > until {
                    self.pool.release(weight);
                    return;
                }
                let Some((mut event, weighs)) = stream.pop(&self.pool) else {
                    break;
                };
                weight += weighs;
                self.late += u64::from(event.at < self.last);
                self.last = self.last.max(event.at);
                event.at = self.last;
                on_event(event);
                self.since_yield += 1;
                if self.since_yield == YIELD_EVERY {
                    self.since_yield = 0;
                    std::thread::yield_now();
                }
            }
            self.pool.release(weight);
        }
    }

    /// Returns the stream of the earliest event, and the order up to which this stream precedes all others.
    fn earliest(&self) -> Option<(usize, (Nanos, u64))> {
        let mut first: Option<(usize, (Nanos, u64))> = None;
        let mut end = (Nanos(i64::MAX), u64::MAX);
        for (place, stream) in self.streams.iter().enumerate() {
            let Some(next) = stream.next else { continue };
            match first {
                Some((_, earliest)) if earliest <= next => end = end.min(next),
                before => {
                    end = before.map_or(end, |(_, next)| end.min(next));
                    first = Some((place, next));
                }
            }
        }
        first.map(|(place, next)| (place, end.max(next)))
    }
}

impl Stream {
    fn new(source: Source) -> Self {
        Self {
            source,
            segment: None,
            next_segment: None,
            read: 0,
            written: 0,
            is_full: false,
            next: None,
            is_over: false,
        }
    }

    /// Reads the thread's progress.
    fn poll(&mut self, pool: &BufferPool) {
        self.next = None;
        loop {
            let Some(segment) = &self.segment else {
                if !self.advance_segment(pool) {
                    return;
                }
                continue;
            };
            let written = segment.written.load(Ordering::Acquire);
            (self.written, self.is_full) = (written & !FULL, written & FULL > 0);
            if self.read < self.written {
                self.next = segment.words.get(self.read..).and_then(sort_key);
                return;
            }
            if !self.is_full {
                if self.next_segment.is_none() {
                    match self.source.segments.try_recv() {
                        Ok(next) => self.next_segment = Some(next),
                        // The thread has ended. Its last write may be visible only now.
                        Err(TryRecvError::Disconnected) => {
                            self.is_over = segment.written.load(Ordering::Acquire) == written;
                        }
                        Err(TryRecvError::Empty) => {}
                    }
                }
                return;
            }
            if !self.advance_segment(pool) {
                return;
            }
        }
    }

    /// Advances to the next segment. Returns false if there is none.
    fn advance_segment(&mut self, pool: &BufferPool) -> bool {
        let next = match self.next_segment.take() {
            Some(next) => Ok(next),
            None => self.source.segments.try_recv(),
        };
        let next = match next {
            Ok(next) => next,
            Err(error) => {
                self.is_over = error == TryRecvError::Disconnected;
                return false;
            }
        };
        (self.read, self.written, self.is_full) = (0, 0, false);
        if let Some(full) = self.segment.replace(next) {
            pool.recycle(full);
        }
        true
    }

    /// Returns the next event and its weight.
    fn pop(&mut self, pool: &BufferPool) -> Option<(Event, i64)> {
        let segment = self.segment.as_ref()?;
        let words = segment.words.get(self.read..self.written)?;
        let mut more = 0;
        let side_queue = || -> Option<EventKind> {
            let kind = self.source.side_queue.try_recv().ok()?;
            more = side_queue_weight(&kind);
            Some(kind)
        };
        let Some((event, length)) = read(words, side_queue) else {
            // Unreachable: records are always complete.
            self.next = None;
            self.read = self.written;
            return None;
        };
        self.read += length;
        if self.read < self.written {
            self.next = sort_key(words.get(length..)?);
        } else if self.is_full {
            self.poll(pool);
        } else {
            self.next = None;
        }
        Some((event, weight(length) + more))
    }
}
