//! The probe: how the engine tells what it does. Off, it costs one branch; on, it never blocks the loader: when they are not read
//! fast enough, events are counted and dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use loadscope_trace::{BatchId, Event, EventKind, Level, Message, Nanos, RunId, Stage};

use crate::clock::Clock;
use crate::gate::Gate;
use crate::sync::AtomicBool;

/// How much work may go into looking inside the batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContentPolicy {
    /// None.
    Off,
    /// At most this share of a worker's time, after a short grace.
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
    tx: Sender<Event>,
    clock: Clock,
    run: RunId,
    dropped: AtomicU64,
    content: ContentPolicy,
    /// Nanoseconds for which contents may be looked at whatever the policy's share.
    grace: AtomicI64,
}

/// Short runs are looked at completely: so long, nanoseconds, all threads of a run may look before their share counts.
const GRACE: i64 = 300_000_000;

impl Probe {
    /// Tells nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Tells everything on the channel that is returned with it, which holds at most `capacity` events.
    pub fn new(clock: Clock, content: ContentPolicy, capacity: usize) -> (Self, Receiver<Event>) {
        let (tx, rx) = bounded(capacity);
        let shared = Shared {
            tx,
            clock,
            run: RunId(0),
            dropped: AtomicU64::new(0),
            content,
            grace: AtomicI64::new(GRACE),
        };
        let probe = Self {
            shared: Some(Arc::new(shared)),
            gate: None,
            done: Arc::default(),
        };
        (probe, rx)
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

    /// True while contents may be looked at whatever the policy's share.
    pub(crate) fn has_grace(&self) -> bool {
        let left = |s: &Arc<Shared>| s.grace.load(Ordering::Relaxed) > 0;
        self.shared.as_ref().is_some_and(left)
    }

    /// Takes what a look took from the time of grace of the run; false if that was used up before.
    pub(crate) fn spend_grace(&self, took: Duration) -> bool {
        let took = i64::try_from(took.as_nanos()).unwrap_or(i64::MAX);
        let spend = |s: &Arc<Shared>| {
            let left = (s.grace).fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                (left > 0).then(|| left.saturating_sub(took))
            });
            left.is_ok()
        };
        self.shared.as_ref().is_some_and(spend)
    }

    /// The run's clock, if there is an observer.
    pub fn clock(&self) -> Option<Clock> {
        self.shared.as_ref().map(|s| s.clock.clone())
    }

    /// Events lost and not yet reported.
    pub fn dropped(&self) -> u64 {
        let lost = |s: &Arc<Shared>| s.dropped.load(Ordering::Relaxed);
        self.shared.as_ref().map_or(0, lost)
    }

    /// Tells what `kind` makes, which runs only if there is room for it.
    pub fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(shared) = &self.shared {
            let at = shared.clock.now();
            shared.send(at, kind);
        }
    }

    /// A batch enters `stage`.
    pub fn enter(&self, batch: BatchId, stage: Stage) {
        self.transition(|| EventKind::Entered { batch, stage });
    }

    /// A change of stage: passes the gate, then tells.
    pub fn transition(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(gate) = &self.gate {
            gate.pass_unless(&self.done);
        }
        self.emit(kind);
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
    fn send(&self, at: Nanos, kind: impl FnOnce() -> EventKind) {
        // Building an event may allocate; do it only when there is room.
        if self.tx.is_full() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let event = |kind| Event {
            at,
            run: self.run,
            kind,
        };
        if self.dropped.load(Ordering::Relaxed) > 0 {
            let count = self.dropped.swap(0, Ordering::Relaxed);
            if count > 0
                && self
                    .tx
                    .try_send(event(EventKind::Dropped { count }))
                    .is_err()
            {
                self.dropped.fetch_add(count, Ordering::Relaxed);
            }
        }
        if self.tx.try_send(event(kind())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_counted_and_reported() {
        let (probe, rx) = Probe::new(Clock::start(), ContentPolicy::Off, 2);
        for epoch in 0..5 {
            probe.emit(|| EventKind::EpochStarted { epoch });
        }
        assert_eq!(probe.dropped(), 3);
        assert_eq!(rx.try_iter().count(), 2);
        probe.emit(|| EventKind::RunEnded);
        let kinds: Vec<EventKind> = rx.try_iter().map(|e| e.kind).collect();
        assert_eq!(
            kinds,
            [EventKind::Dropped { count: 3 }, EventKind::RunEnded]
        );
        assert_eq!(probe.dropped(), 0);
    }

    #[test]
    fn off_means_nothing_is_built() {
        Probe::off().emit(|| unreachable!("no observer"));
    }
}
