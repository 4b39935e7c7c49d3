//! Taking out what threads waited for each other.
//!
//! A sample's wall time beyond its processor time is either waiting for something else (a disk, a lock, a clock) or for a
//! core. The first stays whatever the number of workers, the second does not. Where there were no more threads than cores it
//! is the first. Otherwise computing was stretched by some factor, the same for all: the largest with which a simulation of
//! the recorded setting keeps its workers as busy as they were. While all cores are busy a smaller one would do so as well,
//! because what waits for a disk then would have waited for a core anyway; that all of it is waiting for a core is the simpler
//! explanation.

use loadscope_trace::Nanos;

use super::super::load::Load;
use super::super::number;
use super::super::play::{self, Way};
use super::{Recorded, Step};
use crate::limits;

/// Batches of an epoch that are looked at.
const ENOUGH: usize = 600;
/// Halvings of the interval in which the factor lies.
const ROUNDS: usize = 14;
/// As busy as they were: up to this share less.
const AS_BUSY: f64 = 0.995;

/// One of so many steps is looked at for what steps take that nothing holds up.
const SHORTEST: usize = 5;
/// A step computes in several threads if they compute for so many times as long as it takes.
const SEVERAL_THREADS: f64 = 1.15;

impl Recorded {
    /// What is left of the training steps, and of what they compute, as shares, where no worker competes with them. A step that
    /// computes in several threads is held up as soon as one of them has no core, and its other threads turn in circles meanwhile,
    /// which looks like computing. Those that took least are nearest to what it takes alone.
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

    pub(super) fn take_out_contention(&mut self) {
        let workers = self.options.num_workers;
        if workers > limits::WORKERS {
            // Larger numbers are not forecast: a recording may claim any number.
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
        part.epochs[0].tasks.truncate(ENOUGH);
        let busy = part.busy_recorded().min(part.busy_simulated(0.0)) * AS_BUSY;
        // One thread cannot be held up by more than all the others.
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

    /// How long the workers were fetching and collating.
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

    /// The same in a simulation, if computing was stretched by 1 + `queueing`.
    fn busy_simulated(&mut self, queueing: f64) -> f64 {
        self.queueing = queueing;
        let setting = self.setting();
        let load = Load::of(self, &setting);
        let way = Way::of(self, &setting, 0);
        load.epochs
            .first()
            .map_or(0.0, |epoch| play::play(epoch, &way).busy)
    }

    /// The same for what is known to compute only: no more than if all had equal shares.
    pub(in super::super) fn fair_queueing(&self) -> f64 {
        let workers = self.options.num_workers as f64;
        let fair = self.cores.map_or(0.0, |cores| workers / cores as f64 - 1.0);
        self.queueing.min(fair.max(0.0))
    }

    /// What of `off`, spent by something that computed for `cpu`, is waiting for something else than a core.
    pub(in super::super) fn truly_off(&self, off: Nanos, cpu: Nanos) -> f64 {
        (number::float(off) - number::float(cpu) * self.queueing).max(0.0)
    }

    /// By how much the forecast of the recorded setting is off.
    pub(super) fn refit(&self) -> f64 {
        let Ok(setting) = self.checked(&self.setting()) else {
            return 0.0;
        };
        let load = Load::of(self, &setting);
        let took = number::float(self.play_all(&setting, &load).time);
        match self.time > Nanos::ZERO {
            true => took / number::float(self.time) - 1.0,
            false => 0.0,
        }
    }
}
