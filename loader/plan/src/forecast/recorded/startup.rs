//! What the beginning and the end of an epoch take.

use std::collections::HashMap;

use loadscope_trace::{GaugeKind, Lane, Nanos, Origin, ProcessCost, Run, WorkerId};

use super::batch::BatchFacts;
use super::delays::median;
use crate::forecast::number::sane;

/// So long after a worker was started the first look at its use of cores may have been before that.
const LOOKED_AT: Nanos = Nanos::from_millis(50);

/// Starting and ending workers, and what happens before the first task is sent.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Startup {
    /// From `iter(loader)` to the first task, without starting workers.
    pub first_task: Nanos,
    /// Starting one worker holds the main thread up for so long.
    pub spawn: Nanos,
    /// From then on until the worker runs.
    pub until_runs: Nanos,
    /// From then on, with a task in its queue, until it begins to fetch.
    pub first_fetch: Nanos,
    /// Of which it computes, as far as that is known.
    pub first_computes: Nanos,
    /// The same in an epoch for which no workers were started.
    pub wake: Nanos,
    /// Ending the workers of an epoch, where the recording has none that ended with one.
    pub end: Nanos,
}

impl Startup {
    pub fn of(run: &Run, facts: &[BatchFacts]) -> Self {
        let mut measured = Measured::default();
        for batches in facts.chunk_by(|a, b| a.epoch == b.epoch) {
            let first = &batches[0];
            let Some(epoch) = run.epochs().iter().find(|e| e.epoch == first.epoch) else {
                continue;
            };
            let before = sane(first.queued - epoch.start);
            let end = epoch.end.unwrap_or(run.end());
            let mut started: Vec<(Nanos, WorkerId)> = run
                .workers()
                .iter()
                .filter(|w| w.start >= epoch.start && w.start <= end)
                .map(|w| (sane(w.start - epoch.start), w.info.worker))
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
                        let took = sane(fetching - since);
                        measured.first_fetch.push(took);
                        let share = computing(run, worker, since, fetching);
                        let computes = Nanos((took.0 as f64 * share) as i64);
                        measured.first_computes.push(computes);
                    }
                    None => measured.wake.push(sane(fetching - batch.queued)),
                }
                if seen.len() >= run.info.options.num_workers {
                    break;
                }
            }
            if started.is_empty() {
                measured.without.push(before);
            } else {
                measured.note_start(before, &started, &run.info.origin);
            }
        }
        let startup = measured.sum_up();
        match ProcessCost::assumed(&run.info.origin) {
            Some(cost) => startup.with(cost, run.info.options.num_workers > 0),
            None => startup,
        }
    }

    /// What was not measured, as with processes of this `cost`.
    fn with(self, cost: ProcessCost, has_workers: bool) -> Self {
        let end = cost.end;
        match has_workers {
            true => Self { end, ..self },
            false => Self {
                spawn: cost.start,
                first_fetch: cost.begin,
                end,
                ..self
            },
        }
    }
}

/// The share of a time in which `worker` used a core, 0 to 1; 0 if it was too short to be measured from outside.
fn computing(run: &Run, worker: WorkerId, from: Nanos, until: Nanos) -> f64 {
    let Some(cores) = run.gauge(Some(Lane::Worker(worker)), GaugeKind::Cpu) else {
        return 0.0;
    };
    let points = cores.points().iter();
    // A value is about the time before it.
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
    /// From `iter` to the first task, in epochs without new workers.
    without: Vec<Nanos>,
    /// In epochs with new workers.
    first_task: Vec<Nanos>,
    spawn: Vec<Nanos>,
    until_runs: Vec<Nanos>,
    first_fetch: Vec<Nanos>,
    first_computes: Vec<Nanos>,
    wake: Vec<Nanos>,
}

impl Measured {
    /// Workers are started one after the other before the first task is sent. What there is to do before the first one is done once,
    /// whatever their number. Threads tell of themselves; of processes the main process tells when it had started each, if they
    /// are forked, and else when it had started all of them.
    fn note_start(&mut self, before: Nanos, started: &[(Nanos, WorkerId)], origin: &Origin) {
        let count = started.len() as i64;
        if let (Some(usual), Some((first, _)), Some((last, _))) = (
            ProcessCost::assumed(origin),
            started.first(),
            started.last(),
        ) {
            let last = (*last).min(before);
            let spawn = match (last - *first).0 {
                // The times of all are the same, or there is one.
                0 if count == 1 => last.min(usual.start),
                0 => Nanos(last.0 / count),
                // Before the first one there is more to do than to start it.
                apart => Nanos(apart / (count - 1)).min(*first),
            };
            let spawn = spawn.min(Nanos(last.0 / count));
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
            .map(|(k, (at, _))| sane(*at - Nanos(spawn.0 * (k as i64 + 1))));
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
            end: Nanos::ZERO,
        }
    }
}
