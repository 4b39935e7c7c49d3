//! Reading the events of all threads, ordered by time.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crossbeam_channel::{Receiver, TryRecvError};
use loadscope_trace::{Event, EventKind, Nanos};

use super::buffer::{FULL, Outlet, Segment, Source, weight, weight_beside};
use super::record::{order_of, read};
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
    outlet: Arc<Outlet>,
    /// Dropped when no probe is left.
    probes: Weak<()>,
    joined: Receiver<Source>,
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
    following: Option<Arc<Segment>>,
    /// Number of words read from the segment.
    read: usize,
    /// Number of words in the segment known to contain records.
    written: usize,
    /// True if the segment will not be written any more.
    is_full: bool,
    /// Time and sequence number of the next event.
    next: Option<(Nanos, u64)>,
    is_over: bool,
}

impl Events {
    pub(super) fn new(
        outlet: Arc<Outlet>,
        spending: Arc<Spending>,
        probes: Weak<()>,
        joined: Receiver<Source>,
    ) -> Self {
        let reader = Reader {
            outlet,
            probes,
            joined,
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
    /// It counts like summarizing the batch, so the [policy](super::ContentPolicy) covers all costs of contents.
    /// Contents of the grace period are free.
    pub fn charge(&self, at: Nanos, took: Duration) {
        self.spending.charge(at, took);
    }

    /// Takes the available events up to the time `until` (`None`: all) and passes them to `hear`, ordered by time.
    ///
    /// An event that a thread has stamped but not yet stored is not available. `until` should therefore be some milliseconds ago.
    ///
    /// An event that arrives after later ones were taken gets the time of the last of them, and counts as [late](Self::late).
    pub fn take(&self, until: Option<Nanos>, hear: impl FnMut(Event)) {
        self.reader().take(until.unwrap_or(Nanos(i64::MAX)), hear);
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
    fn take(&mut self, until: Nanos, mut hear: impl FnMut(Event)) {
        let joined = self.joined.try_iter().map(Stream::new);
        self.streams.extend(joined);
        for stream in &mut self.streams {
            stream.look(&self.outlet);
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
                    self.outlet.give_back(weight);
                    return;
                }
                let Some((mut event, weighs)) = stream.pop(&self.outlet) else {
                    break;
                };
                weight += weighs;
                self.late += u64::from(event.at < self.last);
                self.last = self.last.max(event.at);
                event.at = self.last;
                hear(event);
                self.since_yield += 1;
                if self.since_yield == YIELD_EVERY {
                    self.since_yield = 0;
                    std::thread::yield_now();
                }
            }
            self.outlet.give_back(weight);
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
            following: None,
            read: 0,
            written: 0,
            is_full: false,
            next: None,
            is_over: false,
        }
    }

    /// Reads the thread's progress.
    fn look(&mut self, outlet: &Outlet) {
        self.next = None;
        loop {
            let Some(segment) = &self.segment else {
                if !self.follow(outlet) {
                    return;
                }
                continue;
            };
            let written = segment.written.load(Ordering::Acquire);
            (self.written, self.is_full) = (written & !FULL, written & FULL > 0);
            if self.read < self.written {
                self.next = segment.words.get(self.read..).and_then(order_of);
                return;
            }
            if !self.is_full {
                if self.following.is_none() {
                    match self.source.segments.try_recv() {
                        Ok(next) => self.following = Some(next),
                        // The thread has ended. Its last write may be visible only now.
                        Err(TryRecvError::Disconnected) => {
                            self.is_over = segment.written.load(Ordering::Acquire) == written;
                        }
                        Err(TryRecvError::Empty) => {}
                    }
                }
                return;
            }
            if !self.follow(outlet) {
                return;
            }
        }
    }

    /// Advances to the next segment. Returns false if there is none.
    fn follow(&mut self, outlet: &Outlet) -> bool {
        let next = match self.following.take() {
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
            outlet.recycle(full);
        }
        true
    }

    /// Returns the next event and its weight.
    fn pop(&mut self, outlet: &Outlet) -> Option<(Event, i64)> {
        let segment = self.segment.as_ref()?;
        let words = segment.words.get(self.read..self.written)?;
        let mut more = 0;
        let beside = || -> Option<EventKind> {
            let kind = self.source.beside.try_recv().ok()?;
            more = weight_beside(&kind);
            Some(kind)
        };
        let Some((event, length)) = read(words, beside) else {
            // Unreachable: records are always complete.
            self.next = None;
            self.read = self.written;
            return None;
        };
        self.read += length;
        if self.read < self.written {
            self.next = order_of(words.get(length..)?);
        } else if self.is_full {
            self.look(outlet);
        } else {
            self.next = None;
        }
        Some((event, weight(length) + more))
    }
}
