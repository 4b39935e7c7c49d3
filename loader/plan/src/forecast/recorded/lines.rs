//! Time of samples in the hottest lines of code, from sampled stacks.

use std::collections::HashMap;

use loadscope_diagnose::HotCode;
use loadscope_trace::{Activity, Nanos, Run, place};

use super::batch::BatchFacts;
use super::stage::StageCosts;
use crate::forecast::number;

/// Maximum number of lines.
const MAX_LINES: usize = 8;

/// Minimum share of a line in the time of fetching.
const MIN_SHARE: f64 = 0.02;

/// Number of periods below which the stacks of a single sample say nothing about it.
const FEW_PERIODS: i64 = 10;

/// Time of the samples in the hottest lines of fetching. The lines are parts of the named stages, or of the rest.
#[derive(Clone, Debug, Default)]
pub(in crate::forecast) struct Lines {
    /// Lines by name, the hottest first: `dataset.py:42`.
    pub costs: Vec<StageCosts>,
    /// Line of each stack.
    line_of: HashMap<u32, usize>,
    short: ShortSamples,
}

/// Samples that are shorter than a few periods of the stacks, all together.
#[derive(Clone, Debug, Default)]
struct ShortSamples {
    /// Position and time of each sample, without waits for a core, ns.
    samples: Vec<(usize, f64)>,
    /// Number of their stacks, and of those in each line.
    stacks: u64,
    in_line: Vec<u64>,
}

impl Lines {
    /// Returns the hottest lines of a run, without times.
    pub fn of(run: &Run) -> Self {
        let Some(code) = HotCode::of(run, Activity::Fetching) else {
            return Self::default();
        };
        let hot = code.lines.iter();
        let hot = hot.filter(|line| code.share(line).share >= MIN_SHARE);
        let costs: Vec<StageCosts> = (hot.take(MAX_LINES))
            .map(|line| StageCosts {
                name: line.place(),
                walls: Vec::new(),
            })
            .collect();
        let log = run.stacks();
        let line_of = code.profile.counts().filter_map(|(stack, _)| {
            let (function, line) = log.line_of(stack)?;
            let name = place(&function.file, line);
            Some((stack, costs.iter().position(|cost| cost.name == name)?))
        });
        Self {
            line_of: line_of.collect(),
            short: ShortSamples {
                in_line: vec![0; costs.len()],
                ..ShortSamples::default()
            },
            costs,
        }
    }

    /// Adds the times of a batch's samples, which have the positions from `first` on. `kept` is the share of each sample's time that was no
    /// wait for a core.
    pub fn add(&mut self, run: &Run, facts: &BatchFacts, first: usize, kept: &[f64]) {
        if self.costs.is_empty() {
            return;
        }
        let total = first + kept.len();
        for cost in &mut self.costs {
            cost.walls.resize(total, Nanos::ZERO);
        }
        let worker = run.batches().get(facts.row).and_then(|batch| batch.worker);
        let log = run.stacks();
        for ((at, sample), kept) in (first..).zip(run.samples(facts.row)).zip(kept) {
            let span = sample.start..sample.start + sample.wall;
            if sample.wall.0 < log.period().0.saturating_mul(FEW_PERIODS) {
                let time = number::float(sample.wall) * kept;
                self.short.samples.push((at, time));
                for stack in log.samples(worker, span) {
                    let count = u64::from(stack.count);
                    self.short.stacks += count;
                    let line = self.line_of.get(&stack.stack);
                    let known = line.and_then(|line| self.short.in_line.get_mut(*line));
                    known.into_iter().for_each(|known| *known += count);
                }
                continue;
            }
            let count = log.samples(worker, span.clone()).map(|one| one.count);
            let seen = number::float(log.period()) * f64::from(count.sum::<u32>());
            // A busy host misses samples.
            let missed = (number::float(sample.wall) / seen.max(1.0)).max(1.0);
            for samples in log.samples(worker, span) {
                let line = self.line_of.get(&samples.stack);
                let wall = line.and_then(|line| self.costs.get_mut(*line)?.walls.get_mut(at));
                let time = number::float(log.period()) * f64::from(samples.count) * missed * kept;
                wall.into_iter()
                    .for_each(|wall| *wall += Nanos(time as i64));
            }
        }
    }

    /// Gives each line its share of all short samples. Most of them have no stack, and the stack of another counts for a whole period.
    pub fn spread_short_samples(&mut self) {
        let short = std::mem::take(&mut self.short);
        for (cost, in_line) in self.costs.iter_mut().zip(short.in_line) {
            let share = in_line as f64 / short.stacks.max(1) as f64;
            for (at, time) in &short.samples {
                if let Some(wall) = cost.walls.get_mut(*at) {
                    *wall = Nanos((time * share) as i64);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
