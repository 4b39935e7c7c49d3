//! The work of a setting: the recorded samples in its batches, at its costs.

use std::ops::Range;

use super::number::{self, chance};
use super::recorded::{EpochCosts, TaskCost, Weight};
use super::step::StepLoad;
use super::transport::Change;
use super::{Recorded, Setting};

/// Parts into which the fetching of a batch is divided at most where cores are shared.
const PARTS: usize = 8;
/// Parts of an epoch: one of very many batches is divided less, since what is left out evens out in it.
const ALL_PARTS: usize = 15_000;

/// All epochs.
#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    pub epochs: Vec<EpochLoad>,
}

/// The work of one epoch. Times are ns.
#[derive(Clone, Debug, Default)]
pub(super) struct EpochLoad {
    pub tasks: Vec<Task>,
    /// Time off the cores, then on one.
    pub parts: Vec<(f64, f64)>,
    /// The tasks of each worker, if each has its own stream.
    pub streams: Option<Vec<Vec<u32>>>,
    /// Training steps in the order in which batches are yielded.
    pub steps: Vec<StepLoad>,
    /// True if anything computes.
    pub computes: bool,
    /// For how much it stands.
    pub weight: Weight,
}

/// One batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub samples: usize,
    /// Fetching and collating on a core of its own.
    pub alone: f64,
    /// The same in [`EpochLoad::parts`].
    pub parts: Range<usize>,
    pub pin: f64,
    pub fails: bool,
}

/// A batch before its samples are added up.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// Off and on a core.
    pub samples: Vec<(f64, f64)>,
    /// Computing beyond the samples: collating, mostly.
    pub rest: f64,
    /// Waiting beyond the samples, without a core.
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
    /// What all training steps take together.
    pub fn steps_taken(&self) -> f64 {
        let handed = self.tasks.iter().filter(|t| !t.fails).count();
        (0..handed).map(|k| self.step(k).alone).sum()
    }

    /// What so many batches compute, with their steps, ns.
    pub fn computed(&self, batches: u64) -> f64 {
        let parts = self.parts.iter().map(|(_, cpu)| cpu).sum::<f64>();
        let steps = (0..batches as usize).map(|k| self.step(k).cpu);
        parts + steps.sum::<f64>()
    }

    /// True if a training step computes on so many cores that a worker may have to wait for one.
    pub fn steps_are_wide(&self, cores: f64) -> bool {
        let width = |s: &StepLoad| s.cpu / s.alone.max(1.0);
        self.steps.iter().any(|s| width(s) > 1.05) && cores.is_finite()
    }

    /// The training step on the batch that is yielded as number `k`.
    pub fn step(&self, k: usize) -> StepLoad {
        let known = self.steps.get(k).or(self.steps.last());
        known.copied().unwrap_or_default()
    }
}

/// Applies a setting to recorded costs.
pub(super) struct Costs<'a> {
    recorded: &'a Recorded,
    setting: &'a Setting,
    transport: Change,
}

impl<'a> Costs<'a> {
    pub fn new(recorded: &'a Recorded, setting: &'a Setting) -> Self {
        Self {
            recorded,
            setting,
            transport: recorded.transport(setting),
        }
    }

    /// The batches of an epoch.
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
        let computes = |time: f64| time * free_of_queueing / self.recorded.slowed;
        let rest = computes(number::float(task.extra + task.collate));
        Draft {
            samples: samples.collect(),
            rest: self
                .transport
                .rest(rest, computes(number::float(task.beside)), task.len),
            off: number::float(task.off),
            pin: number::float(task.pin) * free_of_queueing,
            worker: task.worker,
            fails: task.fails,
        }
    }

    /// What sample `at` takes off and on a core.
    fn sample(&self, at: usize) -> (f64, f64) {
        if self.setting.cache > 0.0 && chance(at as u64) < self.setting.cache {
            return (0.0, 0.0);
        }
        let cost = self.recorded.samples[at];
        let mut off = self.recorded.truly_off(cost.off, cost.cpu);
        let mut cpu = number::float(cost.cpu) / self.recorded.slowed;
        for (name, factor) in &self.setting.faster {
            let Some(wall) = self.recorded.time_in(name, at) else {
                continue;
            };
            // Computing first: that is what can be made faster, unless the stage took longer than that.
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

    /// The same samples in batches of another size; what belongs to a batch goes with its samples.
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

    /// The training steps.
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
            // As large a share of it computes.
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

    /// Adds the samples of the batches up.
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

/// True for names of stages that wait rather than compute.
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
