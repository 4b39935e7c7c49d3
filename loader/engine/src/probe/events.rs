//! Taking events: from the buffers of all threads, in order of time.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crossbeam_channel::{Receiver, TryRecvError};
use loadscope_trace::{Event, EventKind, Nanos};

use super::buffer::{FULL, Outlet, Segment, Source, weight, weight_beside};
use super::record::{order_of, read};
use super::spending::Spending;

/// The events that a [`Probe`](super::Probe) and its clones tell.
pub struct Events {
    reader: Mutex<Reader>,
    spending: Arc<Spending>,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

/// After so many events taken, other threads have their turn: where no core is free, a thread that this one keeps from running keeps
/// those from going on that wait for its batch.
const YIELD_EVERY: u32 = 64;

struct Reader {
    outlet: Arc<Outlet>,
    /// Gone when no one can tell anything any more.
    probes: Weak<()>,
    joined: Receiver<Source>,
    streams: Vec<Stream>,
    /// Time of the last event taken.
    last: Nanos,
    late: u64,
    /// Events taken since other threads had their turn.
    since_yield: u32,
}

/// What one thread tells.
struct Stream {
    source: Source,
    segment: Option<Arc<Segment>>,
    /// The one after it, if it is known already.
    following: Option<Arc<Segment>>,
    /// Words of it that were read.
    read: usize,
    /// Words of it that are known to have records in them.
    written: usize,
    /// Nothing more will be written to it.
    is_full: bool,
    /// When the next event was recorded, and its number among others of the same time.
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

    /// The contents of a batch, an event of the time `at`, took so long to write. It counts as if the batch had been looked into for longer, so
    /// that the [policy](super::ContentPolicy) holds for all that contents cost. Those of the beginning of a run are free.
    pub fn charge(&self, at: Nanos, took: Duration) {
        self.spending.charge(at, took);
    }

    /// Takes the events that are there, up to and with those of the time `until` (`None`: all), and hands them to `hear` in order of
    /// time. What a thread has stamped and not yet stored is not there; so `until` should be some milliseconds ago.
    ///
    /// An event that comes after later ones were taken counts as happening with the last of them, and as [late](Self::late).
    pub fn take(&self, until: Option<Nanos>, hear: impl FnMut(Event)) {
        self.reader().take(until.unwrap_or(Nanos(i64::MAX)), hear);
    }

    /// Takes all events that are there.
    pub fn try_iter(&self) -> std::vec::IntoIter<Event> {
        let mut events = Vec::new();
        self.take(None, |event| events.push(event));
        events.into_iter()
    }

    /// True if no one can tell anything any more. What was recorded before may not have been taken yet.
    pub fn is_over(&self) -> bool {
        self.reader().probes.strong_count() == 0
    }

    /// Number of events that came too late to be put in their place.
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

    /// Where the earliest event is, and up to which one that stream comes before all others.
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

    /// Looks how far the thread has come.
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
                        // The thread has ended; what it wrote last before may be there only now.
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

    /// Goes on with the next segment; false if there is none.
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

    /// The next event, and how many it counts as.
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
            // It cannot be: what is written is whole.
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
