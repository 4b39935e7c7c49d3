//! The work of a setting: recorded samples, grouped into its batches, at its costs.

use std::ops::Range;

use super::number::{self, uniform};
use super::recorded::{EpochCosts, TaskCost, Weight};
use super::step::StepLoad;
use super::transport::TransportChange;
use super::{Recorded, Setting};

/// Maximum number of parts of a fetch on shared cores.
const PARTS: usize = 8;
/// Maximum number of parts of an epoch. Long epochs have fewer parts per batch, since errors average out.
const ALL_PARTS: usize = 15_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    pub epochs: Vec<EpochLoad>,
}

/// Work of one epoch. Times are ns.
#[derive(Clone, Debug, Default)]
pub(super) struct EpochLoad {
    pub tasks: Vec<Task>,
    /// Time off the cores, then time on a core.
    pub parts: Vec<(f64, f64)>,
    /// Tasks of each worker. `None`: the workers share the tasks of one sampler.
    pub streams: Option<Vec<Vec<u32>>>,
    /// Training steps in the order in which batches are yielded.
    pub steps: Vec<StepLoad>,
    /// True if any part needs a core.
    pub computes: bool,
    pub weight: Weight,
}

/// Work of one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub samples: usize,
    /// Time of fetching and collating on a core of its own.
    pub alone: f64,
    /// Positions of the same work in [`EpochLoad::parts`].
    pub parts: Range<usize>,
    pub pin: f64,
    pub fails: bool,
}

/// Costs of a batch, with its samples still separate.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// Time off a core and time on a core, per sample.
    pub samples: Vec<(f64, f64)>,
    /// Computing in addition to the samples, mostly collating.
    pub rest: f64,
    /// Waiting off a core in addition to the samples.
    pub off: f64,
    pub pin: f64,
    pub worker: usize,
    pub fails: bool,
}

impl Load {
    pub fn of(recorded: &Recorded, setting: &Setting) -> Self {
        let costs = Costs::new(recorded, setting);
        let epochs = recorded.epochs.iter().map(|epoch| {
            let drafts = costs.drafts(epoch);
            let steps = costs.steps(epoch, &drafts);
            EpochLoad {
                weight: epoch.weight,
                ..costs.epoch(drafts, steps)
            }
        });
        Self {
            epochs: epochs.collect(),
        }
    }
}

impl EpochLoad {
    /// Returns the sum of all training steps.
    pub fn steps_taken(&self) -> f64 {
        let handed = self.tasks.iter().filter(|t| !t.fails).count();
        (0..handed).map(|k| self.step(k).alone).sum()
    }

    /// Returns the CPU time of all fetches and of the first `batches` training steps, ns.
    pub fn computed(&self, batches: u64) -> f64 {
        let parts = self.parts.iter().map(|(_, cpu)| cpu).sum::<f64>();
        let steps = (0..batches as usize).map(|k| self.step(k).cpu);
        parts + steps.sum::<f64>()
    }

    /// Returns true if a training step uses several cores and a worker may have to wait for one.
    pub fn steps_are_wide(&self, cores: f64) -> bool {
        let width = |s: &StepLoad| s.cpu / s.alone.max(1.0);
        self.steps.iter().any(|s| width(s) > 1.05) && cores.is_finite()
    }

    /// Returns the training step on the `k`-th yielded batch.
    pub fn step(&self, k: usize) -> StepLoad {
        let known = self.steps.get(k).or(self.steps.last());
        known.copied().unwrap_or_default()
    }
}

pub(super) struct Costs<'a> {
    recorded: &'a Recorded,
    setting: &'a Setting,
    transport: TransportChange,
}

impl<'a> Costs<'a> {
    pub fn new(recorded: &'a Recorded, setting: &'a Setting) -> Self {
        Self {
            recorded,
            setting,
            transport: recorded.transport(setting),
        }
    }

    pub fn drafts(&self, epoch: &EpochCosts) -> Vec<Draft> {
        let drafts: Vec<Draft> = epoch.tasks.iter().map(|t| self.draft(t)).collect();
        match self.setting.batch_size == self.recorded.options.batch_size {
            true => drafts,
            false => self.regrouped(drafts),
        }
    }

    fn draft(&self, task: &TaskCost) -> Draft {
        let free_of_queueing = 1.0 / (1.0 + self.recorded.fair_queueing());
        let samples = (task.first..task.first + task.len).map(|at| self.sample(at));
        let mut samples: Vec<(f64, f64)> = samples.collect();
        let mut off = number::float(task.off);
        let computes = |time: f64| time * free_of_queueing / self.recorded.slowed;
        let rest = computes(number::float(task.extra + task.collate));
        let beside = computes(number::float(task.beside));
        // The thread that sends runs while the worker waits, so that part of the wait is no further time.
        let all_off = off + samples.iter().map(|(off, _)| off).sum::<f64>();
        let still_off = 1.0 - (self.transport.sending(beside) / all_off.max(1.0)).min(1.0);
        samples.iter_mut().for_each(|(off, _)| *off *= still_off);
        off *= still_off;
        Draft {
            rest: self.transport.rest(rest, beside, samples.len()),
            samples,
            off,
            pin: number::float(task.pin) * free_of_queueing,
            worker: task.worker,
            fails: task.fails,
        }
    }

    /// Returns the times of sample `at` off and on a core.
    fn sample(&self, at: usize) -> (f64, f64) {
        if self.setting.cache > 0.0 && uniform(at as u64) < self.setting.cache {
            return (0.0, 0.0);
        }
        let cost = self.recorded.samples[at];
        let mut off = self.recorded.truly_off(cost.off, cost.cpu);
        let mut cpu = number::float(cost.cpu) / self.recorded.slowed;
        for (name, factor) in &self.setting.faster {
            let Some(wall) = self.recorded.time_in(name, at) else {
                continue;
            };
            // A factor first reduces computing. Waiting stages first reduce the time off a core.
            let (on, waits) = match waits(name) {
                true => {
                    let waits = number::float(wall).min(off);
                    ((number::float(wall) - waits).min(cpu), waits)
                }
                false => {
                    let on = number::float(wall).min(cpu);
                    (on, (number::float(wall) - on).min(off))
                }
            };
            let saved = 1.0 - 1.0 / factor;
            off -= waits * saved;
            cpu -= on * saved;
        }
        (off.max(0.0), cpu.max(0.0))
    }

    /// Regroups the samples into batches of the setting's size. Costs per batch are divided among its samples.
    fn regrouped(&self, drafts: Vec<Draft>) -> Vec<Draft> {
        let size = self.setting.batch_size.unwrap_or(1);
        let workers = match self.recorded.streams {
            true => self.setting.num_workers.max(1),
            false => 1,
        };
        let mut open: Vec<Draft> = (0..workers)
            .map(|worker| Draft {
                worker,
                ..Draft::default()
            })
            .collect();
        let mut out = Vec::new();
        for draft in drafts {
            let worker = if workers > 1 {
                draft.worker % workers
            } else {
                0
            };
            let count = draft.samples.len();
            let each = 1.0 / count.max(1) as f64;
            for (position, sample) in draft.samples.into_iter().enumerate() {
                let batch = &mut open[worker];
                batch.samples.push(sample);
                batch.rest += draft.rest * each;
                batch.off += draft.off * each;
                batch.pin += draft.pin * each;
                batch.fails |= draft.fails && position + 1 == count;
                if batch.samples.len() >= size {
                    let next = Draft {
                        worker,
                        ..Draft::default()
                    };
                    out.push(std::mem::replace(batch, next));
                }
            }
        }
        if !self.recorded.options.drop_last || self.setting.batch_size.is_none() {
            out.extend(open.into_iter().filter(|d| !d.samples.is_empty()));
        }
        out
    }

    pub fn steps(&self, epoch: &EpochCosts, drafts: &[Draft]) -> Vec<StepLoad> {
        let steps = epoch.steps.iter().map(|step| {
            self.transport.step(StepLoad {
                alone: number::float(step.alone),
                cpu: number::float(step.cpu) / self.recorded.slowed,
            })
        });
        let steps: Vec<StepLoad> = steps.collect();
        let sum = steps.iter().fold(StepLoad::default(), |sum, s| StepLoad {
            alone: sum.alone + s.alone,
            cpu: sum.cpu + s.cpu,
        });
        let scaled = |by: f64| StepLoad {
            alone: sum.alone * by,
            cpu: sum.cpu * by,
        };
        if let Some(step) = self.setting.step {
            // The computing share of the step stays the same.
            let step = number::float(step);
            let cpu = if sum.alone > 0.0 {
                step * sum.cpu / sum.alone
            } else {
                0.0
            };
            return vec![StepLoad { alone: step, cpu }];
        }
        if self.setting.batch_size == self.recorded.options.batch_size || steps.is_empty() {
            return steps;
        }
        if self.recorded.fixed_step {
            return vec![scaled(1.0 / steps.len() as f64)];
        }
        let tasks = epoch.tasks.iter().filter(|t| !t.fails);
        let samples: usize = tasks.map(|t| t.len).sum();
        let each = 1.0 / samples.max(1) as f64;
        drafts
            .iter()
            .filter(|d| !d.fails)
            .map(|d| scaled(each * d.samples.len() as f64))
            .collect()
    }

    /// Sums the samples of each batch into the work of an epoch.
    pub fn epoch(&self, drafts: Vec<Draft>, steps: Vec<StepLoad>) -> EpochLoad {
        let mut load = EpochLoad {
            steps,
            ..EpochLoad::default()
        };
        if self.recorded.streams {
            let workers = self.setting.num_workers.max(1);
            let mut streams = vec![Vec::new(); workers];
            let is_divided_anew = self.recorded.changes_workers(self.setting);
            let among = self.recorded.shards.map_or(workers, |n| n.min(workers));
            for (at, draft) in drafts.iter().enumerate() {
                let worker = match is_divided_anew {
                    true => at % among,
                    false => draft.worker,
                };
                streams[worker % workers].push(at as u32);
            }
            load.streams = Some(streams);
        }
        let parts = (ALL_PARTS / drafts.len().max(1)).clamp(2, PARTS);
        for draft in drafts {
            let first = load.parts.len();
            let piece = draft.samples.len().div_ceil(parts).max(1);
            for samples in draft.samples.chunks(piece) {
                let sum = samples
                    .iter()
                    .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
                load.parts.push(sum);
            }
            load.parts.push((draft.off, draft.rest));
            let parts = first..load.parts.len();
            let alone = load.parts[parts.clone()].iter().map(|(off, cpu)| off + cpu);
            let alone = alone.sum();
            let cpu = |(_, cpu): &(f64, f64)| *cpu > 0.0;
            load.computes |= load.parts[parts.clone()].iter().any(cpu);
            load.tasks.push(Task {
                samples: draft.samples.len(),
                alone,
                parts,
                pin: draft.pin,
                fails: draft.fails,
            });
        }
        load
    }
}

/// Returns true if the name of a stage indicates waiting rather than computing.
fn waits(stage: &str) -> bool {
    let name = stage.to_ascii_lowercase();
    [
        "read", "open", "fetch", "download", "sleep", "wait", "io", "load",
    ]
    .iter()
    .any(|word| {
        name.split(|c: char| !c.is_alphanumeric())
            .any(|part| part == *word)
    })
}
