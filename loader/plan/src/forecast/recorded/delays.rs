//! The small times between the large ones: the middle of what was recorded, since single ones are often stretched by
//! something that has nothing to do with the loader.

use std::collections::HashMap;

use loadscope_trace::{Nanos, Run, WorkerId};

use super::batch::BatchFacts;
use super::sane;

/// What it takes to go from one stage to the next.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Delays {
    /// From the end of a batch to the beginning of the next that lay in the index queue.
    pub next_task: Nanos,
    /// From the sending of a task to its beginning, when the worker had nothing to do.
    pub wake_worker: Nanos,
    /// From the end of a batch in its worker to its arrival at a trainer that waits for it.
    pub returning: Nanos,
    /// The same where nothing else delays it: the tenth part of them that is shortest.
    pub returning_least: Nanos,
    /// What of that the main thread takes to receive it: also where it lay there before.
    pub receive: Nanos,
    /// From the end of a batch in its worker to a pin thread that has nothing to do.
    pub to_pin: Nanos,
    /// From the turn of a batch to its training step: the next task is sent meanwhile.
    pub yielding: Nanos,
    /// From the call of `next` to the beginning of fetching, without workers: the sampler is asked.
    pub pull: Nanos,
    /// The same from the end of fetching to the step.
    pub give: Nanos,
}

impl Delays {
    pub fn of(run: &Run, facts: &[BatchFacts]) -> Self {
        let waits: HashMap<u32, Nanos> = run
            .waits()
            .iter()
            .filter_map(|w| Some((w.batch?, w.start)))
            .collect();
        let mut all = Lists::default();
        all.note_receiving(run, facts);
        let mut free: HashMap<WorkerId, Nanos> = HashMap::new();
        let mut before = None;
        for batch in facts {
            // What workers did before is not known where an epoch begins, or where batches were left out.
            let follows = |(epoch, row)| epoch == batch.epoch && row + 1 == batch.row;
            if !before
                .replace((batch.epoch, batch.row))
                .is_some_and(follows)
            {
                free.clear();
            }
            let asked = u32::try_from(batch.row)
                .ok()
                .and_then(|row| waits.get(&row));
            match batch.worker {
                Some(worker) => {
                    all.note_worker(batch, free.get(&worker).copied());
                    all.note_main(batch, asked.copied());
                    if let Some(made) = batch.made() {
                        free.insert(worker, made);
                    }
                }
                None => all.note_single(batch, asked.copied()),
            }
        }
        Self {
            next_task: median(&mut all.next_task),
            wake_worker: median(&mut all.wake_worker),
            returning_least: tenth(&mut all.returning),
            returning: median(&mut all.returning),
            receive: median(&mut all.receive),
            to_pin: median(&mut all.to_pin),
            yielding: median(&mut all.yielding),
            pull: median(&mut all.pull),
            give: median(&mut all.give),
        }
    }
}

#[derive(Default)]
struct Lists {
    next_task: Vec<Nanos>,
    wake_worker: Vec<Nanos>,
    returning: Vec<Nanos>,
    receive: Vec<Nanos>,
    to_pin: Vec<Nanos>,
    yielding: Vec<Nanos>,
    pull: Vec<Nanos>,
    give: Vec<Nanos>,
}

impl Lists {
    /// How long it takes the main thread to receive a batch that was sent long before: from the call of `next`, or from the batch
    /// that it received just before in the same call.
    fn note_receiving(&mut self, run: &Run, facts: &[BatchFacts]) {
        /// A batch that was through so long before lies in the result queue.
        const LONG: Nanos = Nanos::from_millis(4);
        let mut arrivals: Vec<(Nanos, Nanos)> = facts
            .iter()
            .filter(|f| f.worker.is_some())
            .filter_map(|f| {
                let sent = f.pinning.map(|(_, end)| end).or(f.made())?;
                Some((f.arrived?, sent))
            })
            .collect();
        arrivals.sort_unstable();
        for wait in run.waits() {
            let end = wait.end.min(run.end());
            let first = arrivals.partition_point(|(at, _)| *at < wait.start);
            let mut from = wait.start;
            for (at, sent) in arrivals[first..].iter().take_while(|(at, _)| *at <= end) {
                if *sent + LONG < from {
                    self.receive.push(sane(*at - from));
                }
                from = *at;
            }
        }
    }

    /// `free`: when its worker was through with the batch before; `None`: this is its first one.
    fn note_worker(&mut self, batch: &BatchFacts, free: Option<Nanos>) {
        if let (Some(start), Some(free)) = (batch.fetching, free) {
            match batch.queued <= free {
                true => self.next_task.push(sane(start - free)),
                false => self.wake_worker.push(sane(start - batch.queued)),
            }
        }
        if let (Some(sent), Some((pinning, _))) = (batch.made(), batch.pinning) {
            self.to_pin.push(sane(pinning - sent));
        }
    }

    /// `asked`: when the trainer began to wait for it.
    fn note_main(&mut self, batch: &BatchFacts, asked: Option<Nanos>) {
        let Some(asked) = asked else { return };
        let sent = batch.pinning.map(|(_, end)| end).or(batch.made());
        if let (Some(sent), Some(arrived)) = (sent, batch.arrived)
            && asked <= sent
        {
            self.returning.push(sane(arrived - sent));
        }
        if let (Some(ready), Some((start, _))) = (batch.ready, batch.training) {
            self.yielding.push(sane(start - ready.max(asked)));
        }
    }

    fn note_single(&mut self, batch: &BatchFacts, asked: Option<Nanos>) {
        if let (Some(asked), Some(start)) = (asked, batch.fetching) {
            self.pull.push(sane(start - asked));
        }
        let made = batch.pinning.map(|(_, end)| end).or(batch.made());
        if let (Some(made), Some((start, _))) = (made, batch.training) {
            self.give.push(sane(start - made));
        }
    }
}

/// The one below which a tenth lies; zero if there is none.
fn tenth(times: &mut [Nanos]) -> Nanos {
    times.sort_unstable();
    times.get(times.len() / 10).copied().unwrap_or_default()
}

/// The middle one; zero if there is none.
pub(in super::super) fn median(times: &mut [Nanos]) -> Nanos {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
