//! State of a run as events, from which reading can start.

use super::tracked::Tracked;
use crate::{BatchId, Event, EventKind, Fact, Nanos, RunId, State, WorkerId};

/// Maximum number of stored facts per run, without those about batches.
const MAX_FACTS: usize = 64;

impl Tracked {
    /// Stores a fact with its batch, or for the whole run.
    pub(super) fn apply_fact(&mut self, fact: &Fact, event: &Event) {
        if let Some(batch) = fact.batch() {
            self.note(batch, event);
        } else if self.facts.len() < MAX_FACTS {
            let is_known = |known: &Event| known.kind == event.kind;
            if !self.facts.iter().any(is_known) {
                self.facts.push(event.clone());
            }
        }
    }

    pub(super) fn end_worker(&mut self, worker: WorkerId, os_id: Option<u32>) {
        let os_id = os_id.map(u64::from);
        let of = |event: &Event| match &event.kind {
            EventKind::WorkerStarted(info) => Some((info.worker, info.os_id)),
            EventKind::WorkerSeeded(of) => Some((of.worker, of.os_id)),
            _ => None,
        };
        let known = |event: &Event| os_id.is_some() && of(event) == Some((worker, os_id));
        let is_new = |event: &Event| matches!(&event.kind, EventKind::WorkerStarted(info) if info.worker == worker);
        match self.workers.iter().any(known) {
            true => self.workers.retain(|event| !known(event)),
            false => {
                let Some(at) = self.workers.iter().rposition(is_new) else {
                    return;
                };
                let gone = of(&self.workers.remove(at));
                self.workers.retain(|event| of(event) != gone);
            }
        }
    }

    /// Returns the state of the run at `at`, where `part` begins.
    pub fn state(&self, run: RunId, at: Nanos, part: u32) -> Event {
        let event = |at: Nanos, kind| Event { at, run, kind };
        let mut in_flight: Vec<Event> = Vec::new();
        for of in self.in_flight.values() {
            in_flight.extend_from_slice(&of.events);
        }
        in_flight.extend(
            self.wait
                .map(|at| event(at, EventKind::Consumer { waiting: true })),
        );
        in_flight.sort_by_key(|event| event.at);
        let mut begin = in_flight.first().map_or(at, |first| first.at.min(at));
        if let Some((_, start, _)) = self.opened {
            begin = begin.min(start);
        }
        if let Some(end) = self.ended {
            begin = begin.min(end);
        }
        let info = self.info.clone();
        let mut events: Vec<Event> = Vec::with_capacity(in_flight.len() + 4);
        events.extend(info.map(|info| event(self.since.0.min(begin), EventKind::RunStarted(info))));
        let workers = self.workers.iter().cloned();
        events.extend(workers.map(|worker| Event {
            at: begin,
            ..worker
        }));
        let facts = self.facts.iter().cloned();
        events.extend(facts.map(|fact| Event { at: begin, ..fact }));
        for (epoch, next) in &self.epochs {
            let of_it = BatchId {
                epoch: *epoch,
                idx: 0,
            };
            let first = self.in_flight.range(of_it..).next().map(|(id, _)| *id);
            let first = first
                .filter(|id| id.epoch == *epoch)
                .map_or(*next, |id| id.idx);
            let is_opening = self.opened.is_some_and(|(of, ..)| of == *epoch);
            events.push(event(
                begin,
                match is_opening && first == 0 {
                    true => EventKind::EpochStarted { epoch: *epoch },
                    false => EventKind::EpochContinued {
                        epoch: *epoch,
                        first,
                    },
                },
            ));
        }
        events.append(&mut in_flight);
        events.extend(self.ended.map(|end| event(end, EventKind::RunEnded)));
        event(at, EventKind::State(Box::new(State { part, events })))
    }
}
