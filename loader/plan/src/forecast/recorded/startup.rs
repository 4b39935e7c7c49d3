//! Costs of the start and the end of an epoch.

use std::collections::HashMap;

use loadscope_trace::{Fact, GaugeKind, Lane, Nanos, ProcessCost, Run, RunInfo, WorkerId};

use super::batch::BatchFacts;
use super::delays::median;
use crate::forecast::number::clamp_cost;

/// Time after a worker's start in which CPU gauges are ignored. They may cover the time before the start.
const LOOKED_AT: Nanos = Nanos::from_millis(50);

/// Costs of starting and ending workers, and of the time before the first task.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Startup {
    /// From `iter(loader)` to the first task, without starting workers.
    pub first_task: Nanos,
    /// Time that the main process needs to start one worker.
    pub spawn: Nanos,
    /// From the end of `spawn` until the worker runs.
    pub until_runs: Nanos,
    /// From that instant, or from its first task if that is later, until its first fetch.
    pub first_fetch: Nanos,
    /// Computing part of `first_fetch`, where known.
    pub first_computes: Nanos,
    /// Time from the first task to the first fetch in an epoch that starts no workers.
    pub wake: Nanos,
    /// Part of `first_fetch` that a process itself needs, as assumed. The rest is setup work of the program.
    pub usual_begin: Nanos,
    /// Assumed time to end the workers of an epoch. It applies if no recorded epoch ends its workers.
    pub end: Nanos,
}

impl Startup {
    /// Measures the start of each epoch, and returns the medians. Costs of processes that the recording lacks are assumed.
    pub fn of(run: &Run, facts: &[BatchFacts]) -> Self {
        let mut measured = Measured::default();
        for batches in facts.chunk_by(|a, b| a.epoch == b.epoch) {
            let first = &batches[0];
            let Some(epoch) = run.epochs().iter().find(|e| e.epoch == first.epoch) else {
                continue;
            };
            let before = clamp_cost(first.queued - epoch.start);
            let end = epoch.end.unwrap_or(run.end());
            let mut started: Vec<(Nanos, WorkerId)> = run
                .workers()
                .iter()
                .filter(|w| w.start >= epoch.start && w.start <= end)
                .map(|w| (clamp_cost(w.start - epoch.start), w.info.worker))
                .collect();
            started.sort_unstable();
            let runs: HashMap<WorkerId, Nanos> = started
                .iter()
                .map(|(at, w)| (*w, epoch.start + *at))
                .collect();
            let mut seen = Vec::new();
            for batch in batches {
                let (Some(worker), Some(fetching)) = (batch.worker, batch.fetching) else {
                    continue;
                };
                if seen.contains(&worker) {
                    continue;
                }
                seen.push(worker);
                match runs.get(&worker) {
                    Some(at) => {
                        let since = batch.queued.max(*at);
                        let took = clamp_cost(fetching - since);
                        let share = computing(run, worker, since, fetching);
                        let computes = Nanos((took.0 as f64 * share) as i64);
                        // All workers start at once. The simulation adds their waits for a core.
                        let shared = Nanos((computes.0 as f64 * crowd(run)) as i64);
                        let off = clamp_cost(took - shared);
                        measured.first_fetch.push(computes + off);
                        measured.first_computes.push(computes);
                    }
                    None => measured.wake.push(clamp_cost(fetching - batch.queued)),
                }
                if seen.len() >= run.info.options.num_workers {
                    break;
                }
            }
            if started.is_empty() {
                measured.without.push(before);
            } else {
                let each = start_of_one(run, epoch.start, end);
                measured.note_start(before, &started, each, &run.info);
            }
        }
        let startup = measured.sum_up();
        match ProcessCost::assumed(&run.info) {
            Some(cost) => startup.with(cost, run.info.options.num_workers > 0),
            None => startup,
        }
    }

    /// Fills values that were not measured from the `cost` of processes.
    fn with(self, cost: ProcessCost, has_workers: bool) -> Self {
        let known = Self {
            usual_begin: cost.begin,
            end: cost.end,
            ..self
        };
        match has_workers {
            true => known,
            false => Self {
                spawn: cost.start,
                first_fetch: cost.begin,
                first_computes: cost.import,
                ..known
            },
        }
    }
}

/// Returns the mean time that the main process needed to start a worker that is not forked. The main process sends the dataset through a
/// pipe. If the dataset exceeds the capacity of the pipe, the main process waits until the worker has imported the program.
fn start_of_one(run: &Run, from: Nanos, until: Nanos) -> Option<Nanos> {
    let mut sent = run.facts().iter().filter_map(|(at, fact)| match fact {
        Fact::Sent(sent) if *at >= from && *at <= until => Some(sent),
        _ => None,
    });
    let sent = sent.next()?;
    Some(Nanos(
        clamp_cost(sent.took).0 / i64::from(sent.workers.max(1)),
    ))
}

/// Returns the number of workers per core, at least 1.
fn crowd(run: &Run) -> f64 {
    let cores = f64::from(run.info.cores.max(1));
    (run.info.options.num_workers as f64 / cores).max(1.0)
}

/// Returns the share of a core that `worker` used in an interval, 0 to 1. Returns 0 without a gauge value.
fn computing(run: &Run, worker: WorkerId, from: Nanos, until: Nanos) -> f64 {
    let Some(cores) = run.gauge(Some(Lane::Worker(worker)), GaugeKind::Cpu) else {
        return 0.0;
    };
    let points = cores.points().iter();
    // A gauge value covers the time before it.
    let within =
        points.filter(|(at, cores)| *at > from + LOOKED_AT && *at <= until && cores.is_finite());
    let (sum, count) = within.fold((0.0, 0), |(sum, n), (_, cores)| {
        (sum + cores.min(1.0), n + 1)
    });
    if count == 0 {
        0.0
    } else {
        sum / f64::from(count)
    }
}

#[derive(Default)]
struct Measured {
    /// From `iter` to the first task, in epochs that start no workers.
    without: Vec<Nanos>,
    /// From `iter` to the first task without `spawn`, in epochs that start workers.
    first_task: Vec<Nanos>,
    spawn: Vec<Nanos>,
    until_runs: Vec<Nanos>,
    first_fetch: Vec<Nanos>,
    first_computes: Vec<Nanos>,
    wake: Vec<Nanos>,
}

impl Measured {
    /// Estimates the start of workers. They start in sequence before the first task, after work that is done once. Threads report their
    /// own start. The main process reports the start of processes: each one if they are forked, otherwise all at the end.
    fn note_start(
        &mut self,
        before: Nanos,
        started: &[(Nanos, WorkerId)],
        each: Option<Nanos>,
        info: &RunInfo,
    ) {
        let count = started.len() as i64;
        if let (Some(usual), Some((first, _)), Some((last, _))) =
            (ProcessCost::assumed(info), started.first(), started.last())
        {
            let last = (*last).min(before);
            let estimate = match (last - *first).0 {
                // All times are equal, or there is a single worker.
                0 if count == 1 => last.min(usual.start),
                0 => Nanos(last.0 / count),
                // The time before the first start includes other work.
                apart => Nanos(apart / (count - 1)).min(*first),
            };
            let spawn = each.unwrap_or(estimate).min(Nanos(last.0 / count));
            self.spawn.push(spawn);
            self.first_task.push(before - Nanos(spawn.0 * count));
            self.until_runs.push(Nanos::ZERO);
            return;
        }
        let apart = match started {
            [(first, _), .., (last, _)] => Nanos((*last - *first).0 / (count - 1)),
            _ => before,
        };
        let spawn = apart.min(Nanos(before.0 / count));
        self.spawn.push(spawn);
        self.first_task.push(before - Nanos(spawn.0 * count));
        let late = started
            .iter()
            .enumerate()
            .map(|(k, (at, _))| clamp_cost(*at - Nanos(spawn.0 * (k as i64 + 1))));
        self.until_runs.extend(late);
    }

    fn sum_up(mut self) -> Startup {
        let with = median(&mut self.first_task);
        let first_task = match self.without.is_empty() {
            true => with,
            false => median(&mut self.without),
        };
        let wake = median(&mut self.wake);
        Startup {
            first_task,
            spawn: median(&mut self.spawn),
            until_runs: median(&mut self.until_runs),
            first_fetch: median(&mut self.first_fetch),
            first_computes: median(&mut self.first_computes),
            wake,
            ..Startup::default()
        }
    }
}

#[cfg(test)]
mod tests;
