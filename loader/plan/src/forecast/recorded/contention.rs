//! Removes the threads' waits for a core from the recorded costs.
//!
//! A sample's wall time beyond its CPU time is a wait: for a core, or for a disk, a lock, a clock or the like. Only waits for a core depend
//! on the number of workers. If there are no more threads than cores, all of it is a wait for something else. Otherwise, contention made
//! computing slower by one factor for all samples. This is the largest factor with which a simulation of the recorded setting keeps its
//! workers as busy as recorded. While all cores are busy a smaller factor would also fit: a thread that waits for a disk would have waited
//! for a core anyway. The simpler explanation is that all of it is a wait for a core.

use loadscope_trace::{Nanos, Origin};

use super::super::cores::memory_slowdown;
use super::super::load::Load;
use super::super::number;
use super::super::simulation::{self, Parameters};
use super::{Recorded, Step};
use crate::limits;

/// Number of batches of an epoch that are simulated.
const SIMULATED_BATCHES: usize = 600;
/// Bisection steps for the factor.
const ROUNDS: usize = 14;
/// Minimum simulated busy time, as a share of the recorded one.
const AS_BUSY: f64 = 0.995;

/// Inverse share of the steps that count as undisturbed: the shortest fifth.
const SHORTEST: usize = 5;
/// Minimum ratio of CPU time to wall time of a step that uses several threads.
const SEVERAL_THREADS: f64 = 1.15;

/// Limit for the time in which the other OpenMP thread of two spins after parallel work, ns. With more threads, nothing is removed.
const SPIN: i64 = 10_000_000;

impl Recorded {
    /// Removes the CPU time of OpenMP threads that spin during the step, after the main process has collated a batch. Workers have one
    /// OpenMP thread. A step that uses much more is itself parallel.
    pub(super) fn remove_spin(&mut self) {
        if self.options.num_workers > 0 || !matches!(self.origin, Origin::Pytorch(_)) {
            return;
        }
        for step in self.epochs.iter_mut().flat_map(|epoch| &mut epoch.steps) {
            let beside = (step.cpu - step.alone).0;
            if (1..SPIN).contains(&beside) {
                step.cpu = step.alone;
            }
        }
    }

    /// Returns factors for the training step and for its CPU time if no worker competes. A step with several threads is
    /// delayed as soon as one of them has no core. Its other threads spin meanwhile, which counts as CPU time. The shortest steps are
    /// the best estimate of an undisturbed step.
    pub(super) fn steps_alone(&self) -> (f64, f64) {
        let steps = self.epochs.iter().flat_map(|e| &e.steps);
        let mut all: Vec<Step> = steps.filter(|s| s.cpu > Nanos::ZERO).copied().collect();
        all.sort_unstable_by_key(|step| step.alone);
        let few = all.len() / SHORTEST;
        let Some(middle) = all.get(all.len() / 2).filter(|_| few > 0) else {
            return (1.0, 1.0);
        };
        let (alone, cpu) = (number::float(middle.alone), number::float(middle.cpu));
        if cpu < alone * SEVERAL_THREADS {
            return (1.0, 1.0);
        }
        let mean = |time: fn(&Step) -> Nanos| {
            let sum: f64 = all[..few].iter().map(|s| number::float(time(s))).sum();
            sum / few as f64
        };
        let (less, less_cpu) = (mean(|s| s.alone) / alone, mean(|s| s.cpu) / cpu);
        (less, less_cpu.min(1.0))
    }

    /// Returns the mean factor by which computing took longer with other threads than alone.
    pub(super) fn slowed_by_others(&self) -> f64 {
        let (Some(cores), true) = (self.cores, self.is_measured()) else {
            return 1.0;
        };
        let tasks = self.epochs.iter().flat_map(|e| &e.tasks);
        let of_tasks = tasks.map(|t| {
            let samples = &self.samples[t.first..t.first + t.len];
            let samples = samples.iter().map(|s| number::float(s.cpu)).sum::<f64>();
            samples + number::float(t.extra + t.collate + t.beside)
        });
        let steps = self.epochs.iter().flat_map(|e| &e.steps);
        let computed = of_tasks.sum::<f64>() + steps.map(|s| number::float(s.cpu)).sum::<f64>();
        let busy = computed / number::float(self.time).max(1.0);
        memory_slowdown(busy.min(cores as f64))
    }

    pub(super) fn remove_contention(&mut self) {
        let workers = self.options.num_workers;
        if workers > limits::WORKERS {
            // A recording may claim any number of workers. Larger numbers are not forecast.
            return;
        }
        let Some(cores) = self.cores.filter(|cores| workers >= *cores) else {
            return;
        };
        let longest = (0..self.epochs.len()).max_by_key(|e| self.epochs[*e].tasks.len());
        let Some(longest) = longest.filter(|_| workers > 0) else {
            return;
        };
        let mut part = self.clone();
        part.epochs = vec![self.epochs[longest].clone()];
        part.epochs[0].tasks.truncate(SIMULATED_BATCHES);
        let busy = part.busy_recorded().min(part.busy_simulated(0.0)) * AS_BUSY;
        // All other threads together limit the delay of one thread.
        let (mut low, mut high) = (0.0, (workers as f64 / cores as f64).max(1.0) * 2.0);
        for _ in 0..ROUNDS {
            let middle = (low + high) / 2.0;
            match part.busy_simulated(middle) >= busy {
                true => low = middle,
                false => high = middle,
            }
        }
        self.queueing = low;
    }

    /// Returns the recorded time of all workers in fetching and collating.
    fn busy_recorded(&self) -> f64 {
        let tasks = self.epochs.iter().flat_map(|e| &e.tasks);
        let busy = tasks.map(|t| {
            let samples = &self.samples[t.first..t.first + t.len];
            let fetch = samples
                .iter()
                .fold(t.extra + t.collate, |sum, s| sum + s.off + s.cpu);
            number::float(fetch)
        });
        busy.sum()
    }

    /// Returns the simulated time of all workers in fetching and collating. `queueing` is the assumed relative increase of computing time
    /// by waits for a core.
    fn busy_simulated(&mut self, queueing: f64) -> f64 {
        self.queueing = queueing;
        let setting = self.setting();
        let load = Load::of(self, &setting);
        let parameters = Parameters::of(self, &setting, 0);
        load.epochs.first().map_or(0.0, |epoch| {
            simulation::simulate_epoch(epoch, &parameters).busy
        })
    }

    /// Returns the relative increase of pure computing time: at most the value for equal shares of the cores.
    pub(in super::super) fn fair_queueing(&self) -> f64 {
        let workers = self.options.num_workers as f64;
        let fair = self.cores.map_or(0.0, |cores| workers / cores as f64 - 1.0);
        self.queueing.min(fair.max(0.0))
    }

    /// Returns the part of `off` that is not a wait for a core. `off` and `cpu` are times of the same work.
    pub(in super::super) fn truly_off(&self, off: Nanos, cpu: Nanos) -> f64 {
        (number::float(off) - number::float(cpu) * self.queueing).max(0.0)
    }

    /// Returns the relative error of the forecast of the recorded run.
    pub(in super::super) fn refit_error(&self) -> f64 {
        match self.time > Nanos::ZERO {
            true => number::float(self.refit) / number::float(self.time) - 1.0,
            false => 0.0,
        }
    }

    /// Returns the forecast of the recorded run.
    pub(super) fn simulate_recorded(&self) -> Nanos {
        let Ok(setting) = self.checked(&self.setting()) else {
            return self.time;
        };
        let load = Load::of(self, &setting);
        self.simulate_all(&setting, &load).time
    }
}
