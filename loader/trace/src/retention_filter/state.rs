//! State of a run as events, from which reading can start.

use super::tracked::Tracked;
use crate::event::State;
use crate::{BatchId, Epoch, Event, EventKind, Fact, Nanos, RunId, RunInfo};

/// Maximum number of stored facts per run, without those about batches.
const MAX_FACTS: usize = 64;

impl Tracked {
    /// Returns the state of the run at `at`, where `part` begins.
    pub fn state(&self, run: RunId, at: Nanos, part: u32) -> Event {
        let mut events = self.state_events(at);
        events.iter_mut().for_each(|event| event.run = run);
        let kind = EventKind::State(Box::new(State { part, events }));
        Event { at, run, kind }
    }

    /// Returns the description of the loader, its lasting state, and the events of the batches in flight.
    pub(super) fn state_events(&self, at: Nanos) -> Vec<Event> {
        let run = &self.run;
        let event = |at: Nanos, kind| Event {
            at,
            run: RunId(0),
            kind,
        };
        let mut in_flight: Vec<Event> = self.in_flight.values().flatten().cloned().collect();
        let wait = run.waits.last().filter(|wait| wait.end == Nanos::MAX);
        in_flight.extend(wait.map(|w| event(w.start, EventKind::Consumer { waiting: true })));
        in_flight.sort_by_key(|event| event.at);
        let end = run.ended.then_some(run.ended_at);
        let starts = [
            in_flight.first().map(|e| e.at),
            run.opened.map(|o| o.0),
            end,
        ];
        let begin = starts.into_iter().flatten().fold(at, Nanos::min);
        let mut events = Vec::with_capacity(in_flight.len() + 4);
        if run.info != RunInfo::default() {
            let kind = EventKind::RunStarted(Box::new(self.info()));
            events.push(event(self.since().min(begin), kind));
        }
        events.extend(self.running(false).map(|kind| event(begin, kind)));
        // A fact about earlier workers is about all workers before it.
        let facts = self.facts().into_iter().cloned();
        events.extend(facts.map(|fact| event(begin, EventKind::Fact(Box::new(fact)))));
        events.extend(self.running(true).map(|kind| event(begin, kind)));
        let stacks = run.stacks().definitions();
        events.extend(stacks.map(|one| event(begin, EventKind::Stacks(Box::new(one)))));
        let epochs = run.open_epochs.iter();
        events.extend(epochs.map(|epoch| event(begin, self.started(*epoch))));
        events.append(&mut in_flight);
        events.extend(end.map(|end| event(end, EventKind::RunEnded)));
        events
    }

    /// Returns the start and the random states of each running worker whose work is recorded, or of the others.
    fn running(&self, is_recorded: bool) -> impl Iterator<Item = EventKind> {
        let mut running: Vec<usize> = self.run.running.values().flatten().copied().collect();
        running.sort_unstable();
        let workers = running
            .into_iter()
            .filter_map(|at| self.run.workers.get(at));
        let workers = workers.filter(move |worker| worker.is_recorded == is_recorded);
        workers.flat_map(|worker| {
            let started = EventKind::WorkerStarted(Box::new(worker.info.clone()));
            let seeded = worker.generators.map(Box::new).map(EventKind::WorkerSeeded);
            std::iter::once(started).chain(seeded)
        })
    }

    /// Returns the facts about the whole run.
    fn facts(&self) -> Vec<&Fact> {
        let mut facts: Vec<&Fact> = Vec::new();
        let is_sent = |fact: &Fact| matches!(fact, Fact::Sent(_));
        let starts = self.run.facts.iter().filter(|(_, fact)| is_sent(fact));
        let mut older = starts.count().saturating_sub(1);
        for (_, fact) in &self.run.facts {
            // Each epoch can start workers. Only the newest start is kept.
            if is_sent(fact) && older > 0 {
                older -= 1;
                continue;
            }
            if fact.batch().is_none() && facts.len() < MAX_FACTS && !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        facts
    }

    /// Returns the start of a running epoch, whose first batch is the first one in flight.
    fn started(&self, epoch: u32) -> EventKind {
        let run = &self.run;
        let of_epoch = BatchId { epoch, idx: 0 }..=BatchId {
            epoch,
            idx: u32::MAX,
        };
        let first = self.in_flight.range(of_epoch).next().map(|(id, _)| id.idx);
        let known = run.epoch_at.get(&epoch).and_then(|at| run.epochs.get(*at));
        let first = first.or(known.map(Epoch::next)).unwrap_or_default();
        let is_newest = run.epochs.last().is_some_and(|last| last.epoch == epoch);
        match is_newest && run.opened.is_some() && first == 0 {
            true => EventKind::EpochStarted { epoch },
            false => EventKind::EpochContinued { epoch, first },
        }
    }
}
