//! Event buffers, one per thread, so that no thread waits for another.
//!
//! A buffer is a list of segments. The writing thread appends a record and then publishes the new length, so the reader
//! can also read a segment that is not full. All buffers of a probe share one bound.

use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crossbeam_channel::{Receiver, Sender, unbounded};
use loadscope_trace::{EventKind, Nanos};

use super::record::{Payload, Record};
use crate::clock::Stamp;

/// Words per segment: 32 KiB.
const SEGMENT: usize = 4 << 10;
/// Flag in [`Segment::written`] of a segment that its thread no longer writes.
pub(super) const FULL: usize = 1 << (usize::BITS - 1);
/// Words that count as one event.
const EVENT: usize = 3;
/// Maximum number of segments kept for reuse.
const SPARE: usize = 256;

#[derive(Debug)]
pub(super) struct Segment {
    pub words: Box<[AtomicU64]>,
    /// Number of words with records, and the flag [`FULL`].
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

/// Shared state of all threads of a probe.
#[derive(Debug)]
pub(super) struct BufferPool {
    /// Process-wide unique ID.
    id: u64,
    /// Number of events for which there is room in all buffers and that no thread has reserved.
    free: AtomicI64,
    /// Number of events for which a thread reserves room at once.
    reserve_chunk: i64,
    /// Number of lost events that were not yet reported.
    pub lost: AtomicU64,
    /// Last sequence number of an event whose time does not order it.
    number: AtomicU64,
    new_sources: Sender<Source>,
    spare: Mutex<Vec<Arc<Segment>>>,
}

/// Reading end of a thread's buffer.
#[derive(Debug)]
pub(super) struct Source {
    pub segments: Receiver<Arc<Segment>>,
    pub side_queue: Receiver<EventKind>,
}

impl BufferPool {
    /// Creates a pool with room for `capacity` events. The receiver gets the buffers of writing threads.
    pub fn new(capacity: usize) -> (Arc<Self>, Receiver<Source>) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (new_sources, sources) = unbounded();
        let capacity = i64::try_from(capacity).unwrap_or(i64::MAX);
        let pool = Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            free: AtomicI64::new(capacity),
            reserve_chunk: (capacity / 128).clamp(1, 1024),
            lost: AtomicU64::new(0),
            number: AtomicU64::new(0),
            new_sources,
            spare: Mutex::default(),
        };
        (Arc::new(pool), sources)
    }

    /// Reserves room for `wanted` events, or for the rest. Returns the reserved number.
    fn reserve(&self, wanted: i64) -> i64 {
        let take = |free: i64| (free > 0).then(|| free - free.min(wanted));
        let before = (self.free).fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        before.map_or(0, |free| free.min(wanted))
    }

    /// Returns the room for `events` events.
    pub fn release(&self, events: i64) {
        self.free.fetch_add(events, Ordering::Relaxed);
    }

    fn segment(&self, words: usize) -> Arc<Segment> {
        let spare = match words <= SEGMENT {
            true => (self.spare.lock().unwrap_or_else(PoisonError::into_inner)).pop(),
            false => None,
        };
        spare.unwrap_or_else(|| Arc::new(Segment::new(words.max(SEGMENT))))
    }

    /// Recycles a segment that was read completely and will not be written any more.
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

/// Returns the number of events that a record of `words` words counts as.
pub(super) fn weight(words: usize) -> i64 {
    words.div_ceil(EVENT) as i64
}

/// Returns the additional weight of an event outside the buffers.
pub(super) fn side_queue_weight(kind: &EventKind) -> i64 {
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
    /// Buffers of this thread, the last used one first. There is one per probe, and rarely more than one.
    static WRITERS: RefCell<Vec<Writer>> = const { RefCell::new(Vec::new()) };
}

/// Writing end of a thread's buffer.
pub(super) struct Writer {
    id: u64,
    pool: Weak<BufferPool>,
    segments: Sender<Arc<Segment>>,
    side_queue: Sender<EventKind>,
    segment: Arc<Segment>,
    /// Number of words with records.
    written: usize,
    /// Number of events for which room is reserved.
    room: i64,
    /// Number of lost events since the last stored one.
    lost: u64,
    /// Stamp of the thread's last event.
    pub last: Stamp,
}

impl Writer {
    /// Passes this thread's buffer to `record`. Returns `None` if the thread is ending, or is already recording an event.
    #[inline]
    pub fn with<R>(
        pool: &Arc<BufferPool>,
        record: impl FnOnce(&mut Self, &BufferPool) -> R,
    ) -> Option<R> {
        let within = |writers: &RefCell<Vec<Self>>| {
            let mut writers = writers.try_borrow_mut().ok()?;
            let is_first = writers.first().is_some_and(|first| first.id == pool.id);
            if !is_first {
                Self::bring_to_front(&mut writers, pool);
            }
            Some(record(writers.first_mut()?, pool))
        };
        WRITERS.try_with(within).ok().flatten()
    }

    #[cold]
    fn bring_to_front(writers: &mut Vec<Self>, pool: &Arc<BufferPool>) {
        let place = writers.iter().position(|writer| writer.id == pool.id);
        let place = place.unwrap_or_else(|| {
            // Removes the buffers of dropped pools.
            writers.retain(|writer| writer.pool.strong_count() > 0);
            writers.push(Self::register(pool));
            writers.len() - 1
        });
        writers.swap(0, place);
    }

    fn register(pool: &Arc<BufferPool>) -> Self {
        let (segments, full) = unbounded();
        let (side_queue, rare) = unbounded();
        let segment = pool.segment(SEGMENT);
        // The receiver may no longer exist, which does not matter.
        let _ = segments.send(Arc::clone(&segment));
        let source = Source {
            segments: full,
            side_queue: rare,
        };
        let _ = pool.new_sources.send(source);
        Self {
            id: pool.id,
            pool: Arc::downgrade(pool),
            segments,
            side_queue,
            segment,
            written: 0,
            room: 0,
            lost: 0,
            last: Stamp {
                at: Nanos(i64::MIN),
                is_unique: false,
            },
        }
    }

    /// Returns true if there is room for a small event. Otherwise counts one more lost event.
    pub fn has_room(&mut self, pool: &BufferPool) -> bool {
        let has = self.reserve(pool, 1);
        if !has {
            self.count_lost(pool);
        }
        has
    }

    /// Stores a record.
    #[inline]
    pub fn record(&mut self, pool: &BufferPool, stamp: Stamp, payload: Payload<'_>) {
        let number = self.next_sequence_number(pool, stamp);
        let record = Record::new(self.last.at, number, payload);
        if !self.report_lost_if_any(pool) || !self.append(pool, &record) {
            self.count_lost(pool);
        }
    }

    /// Stores an event outside the buffer, with a small record in the buffer.
    pub fn record_to_side_queue(&mut self, pool: &BufferPool, stamp: Stamp, kind: EventKind) {
        let number = self.next_sequence_number(pool, stamp);
        let record = Record::new(self.last.at, number, Payload::SideQueue);
        let more = side_queue_weight(&kind);
        if !self.report_lost_if_any(pool) || !self.reserve(pool, weight(record.words) + more) {
            self.count_lost(pool);
            return;
        }
        self.room -= more;
        let _ = self.side_queue.send(kind);
        self.append(pool, &record);
    }

    /// Records the stamp. Its time is not before that of the last event.
    #[inline]
    pub fn set_stamp(&mut self, stamp: Stamp) -> Nanos {
        self.last = Stamp {
            at: stamp.at.max(self.last.at),
            ..stamp
        };
        self.last.at
    }

    /// Records the stamp of the next event. Returns a sequence number if the time does not order the event.
    #[inline]
    fn next_sequence_number(&mut self, pool: &BufferPool, stamp: Stamp) -> Option<u64> {
        self.set_stamp(stamp);
        (!stamp.is_unique).then(|| 1 + pool.number.fetch_add(1, Ordering::AcqRel))
    }

    /// Reports lost events, if any. Returns false if there is no room for the report.
    #[inline]
    fn report_lost_if_any(&mut self, pool: &BufferPool) -> bool {
        self.lost == 0 || self.report_lost(pool)
    }

    #[cold]
    fn report_lost(&mut self, pool: &BufferPool) -> bool {
        let number = (!self.last.is_unique).then(|| pool.number.load(Ordering::Acquire));
        let record = Record::new(self.last.at, number, Payload::Dropped(self.lost));
        let stored = self.append(pool, &record);
        if stored {
            pool.lost.fetch_sub(self.lost, Ordering::Relaxed);
            self.lost = 0;
        }
        stored
    }

    #[cold]
    fn count_lost(&mut self, pool: &BufferPool) {
        self.lost += 1;
        pool.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Appends a record. Returns false if there is no room.
    #[inline]
    fn append(&mut self, pool: &BufferPool, record: &Record<'_>) -> bool {
        let weight = weight(record.words);
        if self.room < weight && !self.reserve(pool, weight) {
            return false;
        }
        if self.segment.words.len() - self.written < record.words {
            self.next_segment(pool, record.words);
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

    fn reserve(&mut self, pool: &BufferPool, events: i64) -> bool {
        if self.room < events {
            self.room += pool.reserve(pool.reserve_chunk.max(events - self.room));
        }
        self.room >= events
    }

    #[cold]
    fn next_segment(&mut self, pool: &BufferPool, words: usize) {
        let next = pool.segment(words);
        // The next segment is sent before the flag `FULL` makes the reader look for it.
        let _ = self.segments.send(Arc::clone(&next));
        let full = std::mem::replace(&mut self.segment, next);
        let written = std::mem::take(&mut self.written);
        full.written.store(written | FULL, Ordering::Release);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.release(self.room);
        }
    }
}
