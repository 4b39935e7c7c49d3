//! The probe: how the engine tells what it does. Off, it costs one branch; on, it never blocks the loader: when they are not read
//! fast enough, events are counted and dropped.

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
use buffer::{Outlet, Writer};
pub use events::Events;
use record::Payload;
use spending::Spending;

/// How much work may go into looking inside the batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContentPolicy {
    /// None.
    Off,
    /// At most this share of a worker's time, with what is [charged](Events::charge), after a short grace.
    Share(f64),
}

/// Tells what happens, or nothing. Clones share the same outlet.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    shared: Option<Arc<Shared>>,
    gate: Option<Gate>,
    done: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Shared {
    outlet: Arc<Outlet>,
    /// Gone with the last probe.
    _alive: Arc<()>,
    clock: Clock,
    content: ContentPolicy,
    spending: Arc<Spending>,
    /// A message has reported that samples are timed by the batch.
    by_batch: AtomicBool,
}

impl Probe {
    /// Tells nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Tells everything to who takes the events that are returned with it; at most `capacity` of 24 bytes each may wait there, and
    /// what is larger counts as several.
    pub fn new(clock: Clock, content: ContentPolicy, capacity: usize) -> (Self, Events) {
        let (outlet, joined) = Outlet::new(capacity);
        let alive = Arc::new(());
        let spending = Arc::<Spending>::default();
        let events = Events::new(
            Arc::clone(&outlet),
            Arc::clone(&spending),
            Arc::downgrade(&alive),
            joined,
        );
        let shared = Shared {
            outlet,
            _alive: alive,
            clock,
            content,
            spending,
            by_batch: AtomicBool::new(false),
        };
        let probe = Self {
            shared: Some(Arc::new(shared)),
            gate: None,
            done: Arc::default(),
        };
        (probe, events)
    }

    /// The same probe with a gate that every change of stage passes.
    #[must_use]
    pub fn with_gate(self, gate: Gate) -> Self {
        Self {
            gate: Some(gate),
            ..self
        }
    }

    /// The same probe for threads that are not held at the gate any more once `done` is set.
    #[must_use]
    pub(crate) fn until(&self, done: Arc<AtomicBool>) -> Self {
        Self {
            done,
            ..self.clone()
        }
    }

    /// A probe that tells nothing, for threads that are done when this one is.
    #[must_use]
    pub(crate) fn silent(&self) -> Self {
        Self {
            done: Arc::clone(&self.done),
            ..Self::off()
        }
    }

    /// Set when the results of the thread that holds this probe are not wanted any more.
    pub(crate) fn done(&self) -> &Arc<AtomicBool> {
        &self.done
    }

    /// Makes threads at the gate look whether they are done.
    pub(crate) fn wake(&self) {
        if let Some(gate) = &self.gate {
            gate.wake();
        }
    }

    /// True if there is an observer.
    pub fn is_on(&self) -> bool {
        self.shared.is_some()
    }

    /// How much may be told about what is inside the batches.
    pub fn content(&self) -> ContentPolicy {
        self.shared
            .as_ref()
            .map_or(ContentPolicy::Off, |s| s.content)
    }

    /// True while contents may be looked at whatever the policy's share: of a short run, all are.
    pub fn looks_at_all(&self) -> bool {
        (self.shared.as_ref()).is_some_and(|s| s.spending.is_in_grace())
    }

    /// Pays what was spent on the contents of batches, as far as `credit` goes: how much was paid, and whether nothing is owed any more.
    #[inline]
    pub(crate) fn pay(&self, credit: Duration) -> (Duration, bool) {
        let pay = |s: &Arc<Shared>| s.spending.pay(credit);
        self.shared.as_ref().map_or((Duration::ZERO, true), pay)
    }

    /// So much was spent on the contents of batches.
    pub(crate) fn owe(&self, debt: Duration) {
        if let Some(shared) = &self.shared {
            shared.spending.owe(debt);
        }
    }

    /// Takes what a look took from the time of grace of the run; false if that was used up before.
    pub(crate) fn spend_grace(&self, took: Duration) -> bool {
        let spend = |s: &Arc<Shared>| s.spending.spend_grace(took, || s.clock.now());
        self.shared.as_ref().is_some_and(spend)
    }

    /// The run's clock, if there is an observer.
    pub fn clock(&self) -> Option<Clock> {
        self.shared.as_ref().map(|s| s.clock.clone())
    }

    /// The same, to be looked at.
    #[inline]
    pub(crate) fn its_clock(&self) -> Option<&Clock> {
        self.shared.as_ref().map(|s| &s.clock)
    }

    /// Events lost and not yet reported.
    pub fn dropped(&self) -> u64 {
        let lost = |s: &Arc<Shared>| s.outlet.lost.load(Ordering::Relaxed);
        self.shared.as_ref().map_or(0, lost)
    }

    /// Tells what `kind` makes, which runs only if there is room for it.
    pub fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(shared) = &self.shared {
            shared.emit(kind);
        }
    }

    /// A batch enters `stage`: passes the gate, then tells.
    pub fn enter(&self, batch: BatchId, stage: Stage) {
        self.pass();
        self.tell(true, || Payload::Entered(batch, stage));
    }

    /// The same, by a thread that has told something and heard of no other thread since: half as much work.
    #[inline]
    pub(crate) fn enter_next(&self, batch: BatchId, stage: Stage) {
        self.pass();
        self.tell(false, || Payload::Entered(batch, stage));
    }

    /// The same, by a thread that told something this very moment: it counts as happening then, unless the gate held the thread.
    #[inline]
    pub(crate) fn enter_at_once(&self, batch: BatchId, stage: Stage) {
        match &self.gate {
            Some(gate) if gate.is_paused() => self.enter(batch, stage),
            _ => self.tell_at_once(|| Payload::Entered(batch, stage)),
        }
    }

    /// The trainer begins or ends to wait, in the thread that told something this very moment.
    #[inline]
    pub(crate) fn consumer_at_once(&self, waiting: bool) {
        self.tell_at_once(|| Payload::Consumer { waiting });
    }

    /// The trainer begins to wait.
    #[inline]
    pub(crate) fn consumer_waits(&self) {
        self.tell(false, || Payload::Consumer { waiting: true });
    }

    /// A batch of these samples is given to a worker, by a thread that has heard of no other one since it told something: passes the gate,
    /// then tells.
    #[inline]
    pub(crate) fn dispatch(&self, batch: BatchId, worker: Option<WorkerId>, indices: &[usize]) {
        self.pass();
        self.tell(false, || Payload::Dispatched(batch, worker, indices));
    }

    /// When the calling thread told something last.
    #[inline]
    pub(crate) fn last(&self) -> Option<Nanos> {
        let shared = self.shared.as_ref()?;
        Writer::with(&shared.outlet, |writer, _| writer.last.at)
    }

    /// Takes note of the time, so that what the calling thread tells at once counts as happening now.
    #[inline]
    pub(crate) fn mark(&self) -> Option<Nanos> {
        let shared = self.shared.as_ref()?;
        let stamp = shared.clock.stamp(false);
        Writer::with(&shared.outlet, |writer, _| writer.mark(stamp))
    }

    /// How long the samples of a batch took, which the calling thread has fetched.
    pub(crate) fn fetched(
        &self,
        batch: BatchId,
        samples: Vec<SampleTiming>,
        stages: Vec<StageTiming>,
    ) {
        if stages.is_empty() {
            self.tell(false, || Payload::Fetched(batch, &samples));
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
    fn tell<'a>(&self, ordered: bool, payload: impl FnOnce() -> Payload<'a>) {
        if let Some(shared) = &self.shared {
            let stamp = shared.clock.stamp(ordered);
            shared.tell(|_| stamp, payload);
        }
    }

    #[inline]
    fn tell_at_once<'a>(&self, payload: impl FnOnce() -> Payload<'a>) {
        if let Some(shared) = &self.shared {
            let again = |last: Stamp| match last.orders {
                true => last,
                false => shared.clock.stamp(true),
            };
            shared.tell(again, payload);
        }
    }

    /// Says, once a run, that samples are not timed one by one behind this batch.
    #[cold]
    pub(crate) fn say_by_batch(&self, batch: BatchId) {
        let is_first = |s: &Arc<Shared>| !s.by_batch.swap(true, Ordering::Relaxed);
        if self.shared.as_ref().is_some_and(is_first) {
            let BatchId { epoch, idx } = batch;
            self.say(Level::Info, || {
                say!(
                    "samples take less than 200 ns each: after batch {idx} of epoch {epoch}, only whole batches are timed"
                )
            });
        }
    }

    /// Says something about the run.
    pub fn say(&self, level: Level, text: impl FnOnce() -> String) {
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
    /// `stamp` gets the time of the last event of this thread.
    #[inline]
    fn tell<'a>(&self, stamp: impl FnOnce(Stamp) -> Stamp, payload: impl FnOnce() -> Payload<'a>) {
        let tell = |writer: &mut Writer, outlet: &Outlet| {
            let stamp = stamp(writer.last);
            writer.tell(outlet, stamp, payload());
        };
        if Writer::with(&self.outlet, tell).is_none() {
            self.outlet.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn emit(&self, kind: impl FnOnce() -> EventKind) {
        let stamp = self.clock.stamp(true);
        // Building an event may allocate; do it only when there is room.
        match Writer::with(&self.outlet, |writer, outlet| writer.has_room(outlet)) {
            Some(true) => {}
            Some(false) => return,
            None => {
                self.outlet.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        match kind() {
            EventKind::Entered { batch, stage } => {
                self.tell(|_| stamp, || Payload::Entered(batch, stage));
            }
            EventKind::Consumer { waiting } => {
                self.tell(|_| stamp, || Payload::Consumer { waiting });
            }
            kind => {
                let tell = |writer: &mut Writer, outlet: &Outlet| {
                    writer.tell_beside(outlet, stamp, kind);
                };
                let _ = Writer::with(&self.outlet, tell);
            }
        }
    }
}

#[cfg(test)]
mod tests;
