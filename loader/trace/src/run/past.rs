//! Reduced data of recordings with a limit.

use super::Run;
use crate::event::State;
use crate::{Event, EventKind, Nanos, Past};

impl Run {
    /// Returns the reduced data from before the complete part of the recording. Returns `None` if the recording is complete.
    pub fn past(&self) -> Option<&Past> {
        self.past.as_deref().filter(|past| !past.is_empty())
    }

    /// Applies an event with reduced data or the state after it. Returns false for other events.
    pub(super) fn apply_summary(&mut self, event: &Event) -> bool {
        match &event.kind {
            EventKind::Retention(retention) => {
                if self.events == 0 {
                    self.info = retention.info.clone();
                }
                self.past.get_or_insert_default().retention = Some(retention.clone());
            }
            EventKind::Summed(sums) => self.past.get_or_insert_default().put((**sums).clone()),
            EventKind::Kept(kept) => {
                let past = self.past.get_or_insert_default();
                past.keep(event.at, (**kept).clone());
            }
            EventKind::State(state) => self.resume(event.at, state),
            _ => return false,
        }
        true
    }

    /// Restores the state at the beginning of a part. Ignored for later parts, because their state is already known.
    fn resume(&mut self, at: Nanos, state: &State) {
        if self.events > 0 {
            return;
        }
        for event in &state.events {
            match event.kind {
                EventKind::Retention(_)
                | EventKind::Summed(_)
                | EventKind::Kept(_)
                | EventKind::State(_) => {}
                _ => self.apply(event),
            }
        }
        self.workers
            .for_each_mut(|_, worker| worker.was_running = true);
        self.epochs.for_each_mut(|_, epoch| epoch.has_gap = true);
        if !self.ended {
            self.last = self.last.max(at);
        }
        // Batches between those in flight are finished, not lost.
        (self.late, self.inconsistent) = (0, 0);
        let carried = (self.events, self.epochs.len() as u64);
        self.events = self.events.max(1);
        let past = self.past.get_or_insert_default();
        past.carried = (carried.0.max(1), carried.1);
        past.end_at(state.part, at);
    }
}
