//! The buffers that events lie in until they are taken: one a thread, so that no thread waits for another one.
//!
//! A buffer is a row of segments. The thread that tells stores a record behind the others and then how far it has come, which is all
//! that the reader needs to take also what is in a segment that is not full. All buffers of a probe share one bound.

use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crossbeam_channel::{Receiver, Sender, unbounded};
use loadscope_trace::{EventKind, Nanos};

use super::record::{Payload, Record};
use crate::clock::Stamp;

/// Words of a segment: 32 KiB.
const SEGMENT: usize = 4 << 10;
/// Set in [`Segment::written`] when nothing more will be written to it.
pub(super) const FULL: usize = 1 << (usize::BITS - 1);
/// Words that count as one event.
const EVENT: usize = 3;
/// Segments that are kept to be used again.
const SPARE: usize = 256;

#[derive(Debug)]
pub(super) struct Segment {
    pub words: Box<[AtomicU64]>,
    /// Words with records in them, and whether it is [`FULL`].
    pub written: AtomicUsize,
}

impl Segment {
    fn new(words: usize) -> Self {
        Self {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            written: AtomicUsize::new(0),
        }
    }
}

/// What all threads of a probe have in common.
#[derive(Debug)]
pub(super) struct Outlet {
    /// Tells it apart from all others of the process.
    id: u64,
    /// Events for which there is room in all buffers together and that no thread has been promised.
    free: AtomicI64,
    /// A thread is promised room for so many events at a time.
    lump: i64,
    /// Events lost and not yet reported.
    pub lost: AtomicU64,
    /// The last number given to an event whose time does not tell its place.
    number: AtomicU64,
    joined: Sender<Source>,
    spare: Mutex<Vec<Arc<Segment>>>,
}

/// The reader's end of a buffer.
#[derive(Debug)]
pub(super) struct Source {
    pub segments: Receiver<Arc<Segment>>,
    pub beside: Receiver<EventKind>,
}

impl Outlet {
    /// With room for `capacity` events, and where the buffers of threads that tell something appear.
    pub fn new(capacity: usize) -> (Arc<Self>, Receiver<Source>) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (joined, sources) = unbounded();
        let capacity = i64::try_from(capacity).unwrap_or(i64::MAX);
        let outlet = Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            free: AtomicI64::new(capacity),
            lump: (capacity / 128).clamp(1, 1024),
            lost: AtomicU64::new(0),
            number: AtomicU64::new(0),
            joined,
            spare: Mutex::default(),
        };
        (Arc::new(outlet), sources)
    }

    /// Room for `wanted` events, or what is left.
    fn promise(&self, wanted: i64) -> i64 {
        let take = |free: i64| (free > 0).then(|| free - free.min(wanted));
        let before = (self.free).fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        before.map_or(0, |free| free.min(wanted))
    }

    /// There is room for so many events again.
    pub fn give_back(&self, events: i64) {
        self.free.fetch_add(events, Ordering::Relaxed);
    }

    fn segment(&self, words: usize) -> Arc<Segment> {
        let spare = match words <= SEGMENT {
            true => (self.spare.lock().unwrap_or_else(PoisonError::into_inner)).pop(),
            false => None,
        };
        spare.unwrap_or_else(|| Arc::new(Segment::new(words.max(SEGMENT))))
    }

    /// All of it was read, and nothing more will be written to it.
    pub fn recycle(&self, segment: Arc<Segment>) {
        if segment.words.len() == SEGMENT {
            segment.written.store(0, Ordering::Relaxed);
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.len() < SPARE {
                spare.push(segment);
            }
        }
    }
}

/// How many events something counts as.
pub(super) fn weight(words: usize) -> i64 {
    words.div_ceil(EVENT) as i64
}

/// How many events something beside the buffers counts as, on top.
pub(super) fn weight_beside(kind: &EventKind) -> i64 {
    match kind {
        EventKind::Content(content) => weight(content.nbytes() / size_of::<u64>()),
        EventKind::Fetched(fetched) => {
            let walls = fetched.stages.iter().map(|stage| stage.walls.len());
            weight(3 * fetched.samples.len() + walls.sum::<usize>())
        }
        _ => 0,
    }
}

thread_local! {
    /// The buffers of this thread, the last one used first. A thread has one for each probe: rarely more than one.
    static WRITERS: RefCell<Vec<Writer>> = const { RefCell::new(Vec::new()) };
}

/// The end of a buffer that its thread has.
pub(super) struct Writer {
    id: u64,
    outlet: Weak<Outlet>,
    segments: Sender<Arc<Segment>>,
    beside: Sender<EventKind>,
    segment: Arc<Segment>,
    /// Words with records in them.
    written: usize,
    /// Events for which there is room.
    room: i64,
    /// Events lost since the last one that was stored.
    lost: u64,
    /// The last stamp.
    pub last: Stamp,
}

impl Writer {
    /// Hands the buffer of this thread to `tell`; `None` if the thread is about to end, or in the middle of telling.
    #[inline]
    pub fn with<R>(outlet: &Arc<Outlet>, tell: impl FnOnce(&mut Self, &Outlet) -> R) -> Option<R> {
        let within = |writers: &RefCell<Vec<Self>>| {
            let mut writers = writers.try_borrow_mut().ok()?;
            let is_first = writers.first().is_some_and(|first| first.id == outlet.id);
            if !is_first {
                Self::bring_to_front(&mut writers, outlet);
            }
            Some(tell(writers.first_mut()?, outlet))
        };
        WRITERS.try_with(within).ok().flatten()
    }

    #[cold]
    fn bring_to_front(writers: &mut Vec<Self>, outlet: &Arc<Outlet>) {
        let place = writers.iter().position(|writer| writer.id == outlet.id);
        let place = place.unwrap_or_else(|| {
            // Those that no one can tell to any more.
            writers.retain(|writer| writer.outlet.strong_count() > 0);
            writers.push(Self::join(outlet));
            writers.len() - 1
        });
        writers.swap(0, place);
    }

    fn join(outlet: &Arc<Outlet>) -> Self {
        let (segments, full) = unbounded();
        let (beside, rare) = unbounded();
        let segment = outlet.segment(SEGMENT);
        // Who reads may be gone; so be it.
        let _ = segments.send(Arc::clone(&segment));
        let source = Source {
            segments: full,
            beside: rare,
        };
        let _ = outlet.joined.send(source);
        Self {
            id: outlet.id,
            outlet: Arc::downgrade(outlet),
            segments,
            beside,
            segment,
            written: 0,
            room: 0,
            lost: 0,
            last: Stamp {
                at: Nanos(i64::MIN),
                orders: false,
            },
        }
    }

    /// True if there is room for a small event; else one more is lost.
    pub fn has_room(&mut self, outlet: &Outlet) -> bool {
        let has = self.reserve(outlet, 1);
        if !has {
            self.lose(outlet);
        }
        has
    }

    /// Stores a record.
    #[inline]
    pub fn tell(&mut self, outlet: &Outlet, stamp: Stamp, payload: Payload<'_>) {
        let number = self.order(outlet, stamp);
        let record = Record::new(self.last.at, number, payload);
        if !self.report(outlet) || !self.put(outlet, &record) {
            self.lose(outlet);
        }
    }

    /// Stores something that has no record of its own.
    pub fn tell_beside(&mut self, outlet: &Outlet, stamp: Stamp, kind: EventKind) {
        let number = self.order(outlet, stamp);
        let record = Record::new(self.last.at, number, Payload::Beside);
        let more = weight_beside(&kind);
        if !self.report(outlet) || !self.reserve(outlet, weight(record.words) + more) {
            self.lose(outlet);
            return;
        }
        self.room -= more;
        let _ = self.beside.send(kind);
        self.put(outlet, &record);
    }

    /// Takes note of the time, which is not before that of the last event.
    #[inline]
    pub fn mark(&mut self, stamp: Stamp) -> Nanos {
        self.last = Stamp {
            at: stamp.at.max(self.last.at),
            ..stamp
        };
        self.last.at
    }

    /// Takes note of the time of the next event, which is not before that of the last one; its number, if it needs one.
    #[inline]
    fn order(&mut self, outlet: &Outlet, stamp: Stamp) -> Option<u64> {
        self.mark(stamp);
        (!stamp.orders).then(|| 1 + outlet.number.fetch_add(1, Ordering::AcqRel))
    }

    /// Says that events were lost, if some were; false if there is no room for that.
    #[inline]
    fn report(&mut self, outlet: &Outlet) -> bool {
        self.lost == 0 || self.report_lost(outlet)
    }

    #[cold]
    fn report_lost(&mut self, outlet: &Outlet) -> bool {
        let number = (!self.last.orders).then(|| outlet.number.load(Ordering::Acquire));
        let record = Record::new(self.last.at, number, Payload::Dropped(self.lost));
        let told = self.put(outlet, &record);
        if told {
            outlet.lost.fetch_sub(self.lost, Ordering::Relaxed);
            self.lost = 0;
        }
        told
    }

    #[cold]
    fn lose(&mut self, outlet: &Outlet) {
        self.lost += 1;
        outlet.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// False if there is no room.
    #[inline]
    fn put(&mut self, outlet: &Outlet, record: &Record<'_>) -> bool {
        let weight = weight(record.words);
        if self.room < weight && !self.reserve(outlet, weight) {
            return false;
        }
        if self.segment.words.len() - self.written < record.words {
            self.next_segment(outlet, record.words);
        }
        let end = self.written + record.words;
        if let Some(place) = self.segment.words.get(self.written..end) {
            record.store(place);
            self.segment.written.store(end, Ordering::Release);
            self.written = end;
        }
        self.room -= weight;
        true
    }

    fn reserve(&mut self, outlet: &Outlet, events: i64) -> bool {
        if self.room < events {
            self.room += outlet.promise(outlet.lump.max(events - self.room));
        }
        self.room >= events
    }

    #[cold]
    fn next_segment(&mut self, outlet: &Outlet, words: usize) {
        let next = outlet.segment(words);
        // It is there before the reader learns that it has to look for it.
        let _ = self.segments.send(Arc::clone(&next));
        let full = std::mem::replace(&mut self.segment, next);
        let written = std::mem::take(&mut self.written);
        full.written.store(written | FULL, Ordering::Release);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(outlet) = self.outlet.upgrade() {
            outlet.give_back(self.room);
        }
    }
}
