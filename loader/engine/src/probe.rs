//! Recording of the engine's events. A disabled probe costs one branch per event.
//!
//! An enabled probe never blocks the loader: if the reader is too slow, events are dropped and counted.

mod buffer;
mod events;
mod record;
mod spending;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use loadscope_trace::{
    BatchId, EventKind, Fetched, Level, Message, Nanos, SampleTiming, Stage, StageTiming, WorkerId,
};

use loadscope_words::say;

use crate::clock::{Clock, Stamp};
use crate::gate::Gate;
use crate::sync::AtomicBool;
use buffer::{BufferPool, Writer};
pub use events::Events;
use record::Payload;
use spending::Spending;

/// Budget for summarizing the contents of batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContentPolicy {
    /// No summaries, only events.
    Off,
    /// Maximum share of a worker's time, including [charged](Events::charge) time, after a short grace period.
    Share(f64),
}

/// Recorder of events, or of nothing. Clones share the same buffers.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    shared: Option<Arc<Shared>>,
    gate: Option<Gate>,
    done: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Shared {
    pool: Arc<BufferPool>,
    /// Token that is dropped with the last probe.
    _alive: Arc<()>,
    clock: Clock,
    content: ContentPolicy,
    spending: Arc<Spending>,
    /// True if a message has reported that whole batches are timed.
    batch_timing_reported: AtomicBool,
}

impl Probe {
    /// Returns a probe that records nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Returns a probe and its events. At most `capacity` events of 24 bytes can wait to be read.
    ///
    /// Larger events count as several.
    pub fn new(clock: Clock, content: ContentPolicy, capacity: usize) -> (Self, Events) {
        let (pool, new_sources) = BufferPool::new(capacity);
        let alive = Arc::new(());
        let spending = Arc::<Spending>::default();
        let events = Events::new(
            Arc::clone(&pool),
            Arc::clone(&spending),
            Arc::downgrade(&alive),
            new_sources,
        );
        let shared = Shared {
            pool,
            _alive: alive,
            clock,
            content,
            spending,
            batch_timing_reported: AtomicBool::new(false),
        };
        let probe = Self {
            shared: Some(Arc::new(shared)),
            gate: None,
            done: Arc::default(),
        };
        (probe, events)
    }

    /// Returns this probe with a gate that every change of stage passes.
    #[must_use]
    pub fn with_gate(self, gate: Gate) -> Self {
        Self {
            gate: Some(gate),
            ..self
        }
    }

    /// Returns this probe for threads that the gate no longer blocks once `done` is set.
    #[must_use]
    pub(crate) fn with_done(&self, done: Arc<AtomicBool>) -> Self {
        Self {
            done,
            ..self.clone()
        }
    }

    /// Returns a probe that records nothing and shares this probe's `done` flag.
    #[must_use]
    pub(crate) fn silent(&self) -> Self {
        Self {
            done: Arc::clone(&self.done),
            ..Self::off()
        }
    }

    /// Returns the flag that is set when the thread's results are no longer wanted.
    pub(crate) fn done(&self) -> &Arc<AtomicBool> {
        &self.done
    }

    /// Wakes the threads at the gate, so that they check `done`.
    pub(crate) fn wake(&self) {
        if let Some(gate) = &self.gate {
            gate.wake();
        }
    }

    /// Returns true if there is an observer.
    pub fn is_on(&self) -> bool {
        self.shared.is_some()
    }

    /// Returns the policy for the contents of batches.
    pub fn content(&self) -> ContentPolicy {
        self.shared
            .as_ref()
            .map_or(ContentPolicy::Off, |s| s.content)
    }

    /// Returns true during the grace period, when contents are summarized regardless of the policy's share.
    ///
    /// A short run is summarized completely.
    pub fn is_in_grace_period(&self) -> bool {
        (self.shared.as_ref()).is_some_and(|s| s.spending.is_in_grace())
    }

    /// Pays the debt for contents up to `credit`. Returns the paid time, and true if no debt is left.
    #[inline]
    pub(crate) fn pay_debt(&self, credit: Duration) -> (Duration, bool) {
        let pay = |s: &Arc<Shared>| s.spending.pay_debt(credit);
        self.shared.as_ref().map_or((Duration::ZERO, true), pay)
    }

    /// Adds time spent on contents to the debt.
    pub(crate) fn add_debt(&self, debt: Duration) {
        if let Some(shared) = &self.shared {
            shared.spending.add_debt(debt);
        }
    }

    /// Subtracts `took` from the run's grace budget. Returns false if the budget was already spent.
    pub(crate) fn spend_grace(&self, took: Duration) -> bool {
        let spend = |s: &Arc<Shared>| s.spending.spend_grace(took, || s.clock.now());
        self.shared.as_ref().is_some_and(spend)
    }

    /// Returns the run's clock, if there is an observer.
    pub fn clock(&self) -> Option<Clock> {
        self.shared.as_ref().map(|s| s.clock.clone())
    }

    /// Returns a reference to the run's clock, if there is an observer.
    #[inline]
    pub(crate) fn clock_ref(&self) -> Option<&Clock> {
        self.shared.as_ref().map(|s| &s.clock)
    }

    /// Returns the number of lost events that were not yet reported.
    pub fn dropped(&self) -> u64 {
        let lost = |s: &Arc<Shared>| s.pool.lost.load(Ordering::Relaxed);
        self.shared.as_ref().map_or(0, lost)
    }

    /// Records the event that `kind` makes. `kind` runs only if there is room.
    pub fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(shared) = &self.shared {
            shared.emit(kind);
        }
    }

    /// Records that a batch enters `stage`, after passing the gate.
    pub fn enter(&self, batch: BatchId, stage: Stage) {
        self.pass();
        self.record(|| Payload::Entered(batch, stage));
    }

    /// Works like [`enter`](Self::enter), with the time of the thread's last event, unless the gate blocked the thread.
    #[inline]
    pub(crate) fn enter_at_last_stamp(&self, batch: BatchId, stage: Stage) {
        match &self.gate {
            Some(gate) if gate.is_paused() => self.enter(batch, stage),
            _ => self.record_at_last_stamp(|| Payload::Entered(batch, stage)),
        }
    }

    /// Records that the consumer begins or ends waiting, with the time of the thread's last event.
    #[inline]
    pub(crate) fn consumer_at_last_stamp(&self, waiting: bool) {
        self.record_at_last_stamp(|| Payload::Consumer { waiting });
    }

    /// Records that the consumer begins waiting.
    #[inline]
    pub(crate) fn consumer_waits(&self) {
        self.record(|| Payload::Consumer { waiting: true });
    }

    /// Records that a batch is sent to a worker, after passing the gate.
    #[inline]
    pub(crate) fn record_dispatch(
        &self,
        batch: BatchId,
        worker: Option<WorkerId>,
        indices: &[usize],
    ) {
        self.pass();
        self.record(|| Payload::Dispatched(batch, worker, indices));
    }

    /// Returns the time of the calling thread's last event.
    #[inline]
    pub(crate) fn last_event_time(&self) -> Option<Nanos> {
        let shared = self.shared.as_ref()?;
        Writer::with(&shared.pool, |writer, _| writer.last.at)
    }

    /// Reads the clock for the next event that the calling thread records at once. Returns the time.
    #[inline]
    pub(crate) fn stamp_next_event(&self) -> Option<Nanos> {
        let shared = self.shared.as_ref()?;
        let stamp = shared.clock.stamp();
        Writer::with(&shared.pool, |writer, _| writer.set_stamp(stamp))
    }

    /// Records the sample times of a batch that the calling thread has fetched.
    pub(crate) fn record_fetched(
        &self,
        batch: BatchId,
        samples: Vec<SampleTiming>,
        stages: Vec<StageTiming>,
    ) {
        if stages.is_empty() {
            self.record(|| Payload::Fetched(batch, &samples));
        } else {
            self.emit(|| {
                EventKind::Fetched(Box::new(Fetched {
                    batch,
                    samples,
                    stages,
                }))
            });
        }
    }

    #[inline]
    fn pass(&self) {
        if let Some(gate) = &self.gate {
            gate.pass_unless(&self.done);
        }
    }

    #[inline]
    fn record<'a>(&self, payload: impl FnOnce() -> Payload<'a>) {
        if let Some(shared) = &self.shared {
            let stamp = shared.clock.stamp();
            shared.record(|_| stamp, payload);
        }
    }

    #[inline]
    fn record_at_last_stamp<'a>(&self, payload: impl FnOnce() -> Payload<'a>) {
        if let Some(shared) = &self.shared {
            let reuse_stamp = |last: Stamp| match last.is_unique {
                true => last,
                false => shared.clock.stamp(),
            };
            shared.record(reuse_stamp, payload);
        }
    }

    /// Reports once per run that whole batches are timed after this batch.
    #[cold]
    pub(crate) fn report_batch_timing(&self, batch: BatchId) {
        let is_first = |s: &Arc<Shared>| !s.batch_timing_reported.swap(true, Ordering::Relaxed);
        if self.shared.as_ref().is_some_and(is_first) {
            let BatchId { epoch, idx } = batch;
            self.emit_message(Level::Info, || {
                say!(
                    "samples take less than 200 ns each: after batch {idx} of epoch {epoch}, only whole batches are timed"
                )
            });
        }
    }

    /// Records a message about the run.
    pub fn emit_message(&self, level: Level, text: impl FnOnce() -> String) {
        self.emit(|| {
            EventKind::Message(Box::new(Message {
                level,
                text: text(),
                about: None,
                worker: None,
                sample: None,
            }))
        });
    }
}

impl Shared {
    /// Records an event. `stamp` receives the stamp of this thread's last event.
    #[inline]
    fn record<'a>(
        &self,
        stamp: impl FnOnce(Stamp) -> Stamp,
        payload: impl FnOnce() -> Payload<'a>,
    ) {
        let record = |writer: &mut Writer, pool: &BufferPool| {
            let stamp = stamp(writer.last);
            writer.record(pool, stamp, payload());
        };
        if Writer::with(&self.pool, record).is_none() {
            self.pool.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn emit(&self, kind: impl FnOnce() -> EventKind) {
        let stamp = self.clock.stamp();
        // Building an event may allocate, so the room is checked first.
        match Writer::with(&self.pool, |writer, pool| writer.has_room(pool)) {
            Some(true) => {}
            Some(false) => return,
            None => {
                self.pool.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        match kind() {
            EventKind::Entered { batch, stage } => {
                self.record(|_| stamp, || Payload::Entered(batch, stage));
            }
            EventKind::Consumer { waiting } => {
                self.record(|_| stamp, || Payload::Consumer { waiting });
            }
            kind => {
                let record = |writer: &mut Writer, pool: &BufferPool| {
                    writer.record_to_side_queue(pool, stamp, kind);
                };
                let _ = Writer::with(&self.pool, record);
            }
        }
    }
}

#[cfg(test)]
mod tests;
