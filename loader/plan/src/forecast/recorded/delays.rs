//! Short delays between the stages, as medians, percentiles or means. Waits for a core and causes outside the loader lengthen single delays.

use std::collections::HashMap;

use loadscope_trace::{Nanos, Run, WorkerId};

use super::batch::BatchFacts;
use crate::forecast::number::clamp_cost;

/// Interval after which Python switches threads: `sys.getswitchinterval()`.
pub(in super::super) const SWITCH_INTERVAL: Nanos = Nanos::from_millis(5);

/// Minimum number of measurements.
const MIN_MEASURED: usize = 5;

/// Delays between stages.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Delays {
    /// From the end of a batch to the start of the next one that was already in the index queue.
    pub next_task: Nanos,
    /// From the sending of a task to its start in an idle worker.
    pub wake_worker: Nanos,
    /// From the end of a batch in its worker to its arrival at a waiting trainer.
    pub returning: Nanos,
    /// Number of times that the sending thread waits for the interpreter, while the worker computes the next batch. Each wait is at most
    /// that batch or [`SWITCH_INTERVAL`]. `None`: not measured.
    pub interpreter: Option<f64>,
    /// Part of `returning` that the main process needs to receive the batch. It also applies to batches that already arrived.
    pub receive: Nanos,
    /// From the end of a batch in its worker to an idle pin thread.
    pub to_pin: Nanos,
    /// From the turn of a batch to its training step. The main process sends the next task meanwhile.
    pub yielding: Nanos,
    /// From the call of `next` to the start of fetching, without workers. It includes the sampler.
    pub pull: Nanos,
    /// From the end of fetching to the training step, without workers.
    pub give: Nanos,
}

impl Delays {
    /// Reads the delays from `facts`. `is_measured`: the waits of threads for each other are known and simulated, so delays are those
    /// without competition. `usual_receive`: the time for receiving a batch of this size on an ordinary host.
    pub fn of(run: &Run, facts: &[BatchFacts], is_measured: bool, usual_receive: Nanos) -> Self {
        let waits: HashMap<u32, Nanos> = run
            .waits()
            .iter()
            .filter_map(|w| Some((w.batch?, w.start)))
            .collect();
        let mut all = DelaySamples::default();
        all.note_receiving(run, facts);
        all.note_pinning(facts);
        let mut free: HashMap<WorkerId, Nanos> = HashMap::new();
        let mut before = None;
        let mut latest: HashMap<WorkerId, &BatchFacts> = HashMap::new();
        for batch in facts {
            // The previous batches of the workers are unknown at the start of an epoch and after a gap.
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
                    if is_measured && let Some(before) = latest.insert(worker, batch) {
                        all.note_sending(before, Some(batch), &waits);
                    }
                    all.note_worker(batch, free.get(&worker).copied());
                    all.note_main(batch, asked.copied());
                    if let Some(made) = batch.made() {
                        free.insert(worker, made);
                    }
                }
                None => all.note_single(batch, asked.copied()),
            }
        }
        let receive = all.receiving(facts.len(), is_measured, usual_receive);
        let (interpreter, idle) = all.sending(receive, is_measured);
        let usual = |times: &mut Vec<Nanos>| match is_measured {
            true => tenth_percentile(times),
            false => median(times),
        };
        let wake_worker = usual(&mut all.wake_worker);
        // The thread that sends the previous batch competes with the worker. That cost is counted separately.
        let next_task = match is_measured {
            true if !all.wake_worker.is_empty() => usual(&mut all.next_task).min(wake_worker),
            _ => usual(&mut all.next_task),
        };
        Self {
            next_task,
            wake_worker,
            returning: match is_measured {
                true => idle,
                false => median(&mut all.returning),
            },
            interpreter,
            receive,
            to_pin: median(&mut all.to_pin),
            yielding: median(&mut all.yielding),
            pull: median(&mut all.pull),
            give: median(&mut all.give),
        }
    }
}

#[derive(Default)]
struct DelaySamples {
    next_task: Vec<Nanos>,
    wake_worker: Vec<Nanos>,
    returning: Vec<Nanos>,
    /// Times of receiving, and whether the worker computed its next batch meanwhile.
    receive: Vec<(Nanos, bool)>,
    /// From the end of a batch, or the later call of `next`, to its arrival. Receiving is a part of it.
    arriving: Vec<Nanos>,
    /// From the end of a batch to its arrival at a waiting trainer, from idle workers.
    idle: Vec<Nanos>,
    /// Arrival times from busy workers, with the maximum delay by their next batch.
    busy: Vec<(Nanos, Nanos)>,
    /// Arrival times from busy workers since a call of `next` that came after the end of the batch, with the same maximum delay.
    busy_late: Vec<(Nanos, Nanos)>,
    to_pin: Vec<Nanos>,
    yielding: Vec<Nanos>,
    pull: Vec<Nanos>,
    give: Vec<Nanos>,
}

impl DelaySamples {
    /// Collects the times that the main process needs to receive a batch that arrived long before. They start at the call of `next`, or at
    /// the previous batch received in the same call.
    fn note_receiving(&mut self, run: &Run, facts: &[BatchFacts]) {
        /// Age after which a batch is certainly in the result queue.
        const LONG: Nanos = Nanos::from_millis(4);
        let mut arrivals: Vec<(Nanos, Nanos, WorkerId)> = facts
            .iter()
            .filter(|f| f.worker.is_some())
            .filter_map(|f| {
                let sent = f.pinning.map(|(_, end)| end).or(f.made())?;
                Some((f.arrived?, sent, f.worker?))
            })
            .collect();
        arrivals.sort_unstable();
        let mut work: HashMap<WorkerId, Vec<(Nanos, Nanos)>> = HashMap::new();
        for batch in facts {
            if let (Some(worker), Some(start), Some(end)) =
                (batch.worker, batch.fetching, batch.made())
            {
                work.entry(worker).or_default().push((start, end));
            }
        }
        work.values_mut().for_each(|spans| spans.sort_unstable());
        let is_busy = |worker, at: Nanos| {
            let spans = work.get(&worker)?;
            let next = spans.partition_point(|(start, _)| *start <= at);
            let (_, end) = spans.get(next.checked_sub(1)?)?;
            Some(*end > at)
        };
        for wait in run.waits() {
            let end = wait.end.min(run.end());
            let first = arrivals.partition_point(|(at, ..)| *at < wait.start);
            let mut from = wait.start;
            for (at, sent, worker) in arrivals[first..].iter().take_while(|(at, ..)| *at <= end) {
                if *sent + LONG < from {
                    let is_busy = is_busy(*worker, from) == Some(true);
                    self.receive.push((clamp_cost(*at - from), is_busy));
                }
                from = *at;
            }
        }
    }

    /// Records the sending of a batch. `next`: the next batch of its worker.
    fn note_sending(
        &mut self,
        batch: &BatchFacts,
        next: Option<&BatchFacts>,
        waits: &HashMap<u32, Nanos>,
    ) {
        /// Maximum delay of a worker that already had its next task.
        const AT_ONCE: Nanos = Nanos(500_000);
        let asked = u32::try_from(batch.row)
            .ok()
            .and_then(|row| waits.get(&row));
        let (Some(asked), Some(sent), Some(arrived)) = (asked, batch.made(), batch.arrived) else {
            return;
        };
        if batch.pinning.is_some() {
            return;
        }
        let is_waiting = *asked <= sent;
        let from = sent.max(*asked);
        let took = clamp_cost(arrived - from);
        let begun = next.and_then(|n| n.fetching);
        let goes_on = next.filter(|_| begun.is_some_and(|at| at - sent < AT_ONCE));
        let longest = goes_on.and_then(BatchFacts::work);
        match longest.map(|work| (took, work.min(SWITCH_INTERVAL))) {
            Some(wait) if is_waiting => self.busy.push(wait),
            Some(wait) if next.and_then(BatchFacts::made) > Some(from) => self.busy_late.push(wait),
            // A worker that starts a batch meanwhile is not idle.
            None if is_waiting && begun.is_none_or(|at| at >= arrived) => self.idle.push(took),
            _ => {}
        }
    }

    /// Returns the time for receiving a batch. A worker that computes delays it further, because both need its interpreter. If all workers
    /// compute, the result is at most `usual`.
    fn receiving(&mut self, batches: usize, is_measured: bool, usual: Nanos) -> Nanos {
        let mut all: Vec<Nanos> = self.receive.iter().map(|(took, _)| *took).collect();
        if !is_measured {
            return median(&mut all);
        }
        let idle = self.receive.iter().filter(|(_, is_busy)| !is_busy);
        let mut idle: Vec<Nanos> = idle.map(|(took, _)| *took).collect();
        match (idle.len(), all.len() - idle.len()) {
            // A few batches that arrived early are not typical. Their mean would include the cause.
            (MIN_MEASURED.., _) if idle.len() * 2 >= batches => mean(&mut idle),
            (MIN_MEASURED.., _) => median(&mut idle),
            (_, MIN_MEASURED..) => tenth_percentile(&mut all).min(usual),
            _ => tenth_percentile(&mut self.arriving).min(usual),
        }
    }

    /// Returns the number of waits for the interpreter per batch, and the transport time from an idle worker.
    fn sending(&mut self, receive: Nanos, is_measured: bool) -> (Option<f64>, Nanos) {
        let idle = match self.idle.len() {
            n if n >= MIN_MEASURED => median(&mut self.idle),
            _ if self.busy.len() < MIN_MEASURED => receive,
            _ => {
                let mut all: Vec<Nanos> = self.busy.iter().map(|(took, _)| *took).collect();
                tenth_percentile(&mut all).min(receive + Nanos(1_000_000))
            }
        };
        // After a late call, only receiving is left.
        let (busy, usual) = match self.busy.len() {
            MIN_MEASURED.. => (&self.busy, idle),
            _ => (&self.busy_late, receive),
        };
        let waits = busy.iter().map(|(took, longest)| {
            let waited = (*took - usual).0.max(0) as f64;
            waited / longest.0.max(1) as f64
        });
        let mut waits: Vec<f64> = waits.collect();
        waits.sort_unstable_by(f64::total_cmp);
        match waits.len() {
            n if n >= MIN_MEASURED => (waits.get(n / 2).copied(), idle),
            _ if is_measured => (None, idle),
            _ => (Some(0.0), idle),
        }
    }

    /// Collects the delay before a worker starts a batch. `free` is the end of the worker's previous batch, `None` before its first batch.
    fn note_worker(&mut self, batch: &BatchFacts, free: Option<Nanos>) {
        if let (Some(start), Some(free)) = (batch.fetching, free) {
            match batch.queued <= free {
                true => self.next_task.push(clamp_cost(start - free)),
                false => self.wake_worker.push(clamp_cost(start - batch.queued)),
            }
        }
    }

    /// Collects the delays to an idle pin thread. The wait for a busy pin thread is not a transport delay.
    fn note_pinning(&mut self, facts: &[BatchFacts]) {
        let way = |f: &BatchFacts| f.worker.and(f.pinning).zip(f.made());
        let mut pinned: Vec<_> = facts.iter().filter_map(way).collect();
        pinned.sort_unstable();
        let mut free = None;
        for ((start, end), sent) in pinned {
            if free <= Some(sent) {
                self.to_pin.push(clamp_cost(start - sent));
            }
            free = free.max(Some(end));
        }
    }

    /// Collects the delays between a worker, the main process and the trainer. `asked` is the time at which the trainer began to wait for
    /// the batch.
    fn note_main(&mut self, batch: &BatchFacts, asked: Option<Nanos>) {
        let Some(asked) = asked else { return };
        let sent = batch.pinning.map(|(_, end)| end).or(batch.made());
        if let (Some(sent), Some(arrived)) = (sent, batch.arrived)
            && asked <= sent
        {
            self.returning.push(clamp_cost(arrived - sent));
        }
        if let (Some(sent), Some(arrived)) = (sent, batch.arrived)
            && asked <= arrived
        {
            self.arriving.push(clamp_cost(arrived - sent.max(asked)));
        }
        if let (Some(ready), Some((start, _))) = (batch.ready, batch.training) {
            self.yielding.push(clamp_cost(start - ready.max(asked)));
        }
    }

    fn note_single(&mut self, batch: &BatchFacts, asked: Option<Nanos>) {
        if let (Some(asked), Some(start)) = (asked, batch.fetching) {
            self.pull.push(clamp_cost(start - asked));
        }
        let made = batch.pinning.map(|(_, end)| end).or(batch.made());
        if let (Some(made), Some((start, _))) = (made, batch.training) {
            self.give.push(clamp_cost(start - made));
        }
    }
}

/// Returns the tenth percentile, or zero if empty.
fn tenth_percentile(times: &mut [Nanos]) -> Nanos {
    times.sort_unstable();
    times.get(times.len() / 10).copied().unwrap_or_default()
}

/// Returns the mean without the longest 1 %, or zero if empty. A mean includes the tail, because costs per batch add up.
fn mean(times: &mut [Nanos]) -> Nanos {
    times.sort_unstable();
    let usual = &times[..times.len() - times.len() / 100];
    let sum: i128 = usual.iter().map(|time| i128::from(time.0)).sum();
    Nanos((sum / usual.len().max(1) as i128) as i64)
}

/// Returns the median, or zero if empty.
pub(in super::super) fn median(times: &mut [Nanos]) -> Nanos {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
