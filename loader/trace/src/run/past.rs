//! What a recording with a limit keeps of the far past, beside what is there in full.

use super::Run;
use crate::event::State;
use crate::{Event, EventKind, Nanos, Past};

impl Run {
    /// What is known of it before the stretch of which everything is known; `None` if that is all of it.
    pub fn past(&self) -> Option<&Past> {
        self.past.as_deref().filter(|past| !past.is_empty())
    }

    /// Applies an event about the far past, or about the state of the run after it. Returns false for other events.
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

    /// Begins where a part of a recording does. How it stood where a later part begins is known by then.
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
            .change_each(|_, worker| worker.was_running = true);
        self.epochs.change_each(|_, epoch| epoch.has_gap = true);
        if !self.ended {
            self.last = self.last.max(at);
        }
        // Batches between those in flight are over, not lost.
        (self.late, self.inconsistent) = (0, 0);
        let carried = (self.events, self.epochs.len() as u64);
        self.events = self.events.max(1);
        let past = self.past.get_or_insert_default();
        past.carried = (carried.0.max(1), carried.1);
        past.end_at(state.part, at);
    }
}
