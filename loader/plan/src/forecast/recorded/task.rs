//! Costs of a batch.

use loadscope_trace::{Nanos, Part as CpuPart, Run};

use super::sample::sample_cost;
use super::{BatchFacts, Recorded, StageCosts, TaskCost};
use crate::forecast::number::{self, clamp_cost};

impl Recorded {
    /// Returns the costs of a batch, or `None` if they are unknown. A batch without fetch times has the costs of the previous one.
    pub(super) fn task(
        &mut self,
        run: &Run,
        facts: &BatchFacts,
        before: Option<&TaskCost>,
    ) -> Option<TaskCost> {
        if self.streams && !facts.was_yielded() {
            // The batch has no fetch: its stream had ended, or the epoch was stopped early.
            return None;
        }
        let Some(fetch) = facts.fetch() else {
            return before.map(|b| TaskCost {
                fails: facts.failed,
                ..*b
            });
        };
        // The batch was discarded while in progress, so it would take longer.
        let longer = facts.returning.is_none() && !facts.was_yielded();
        let fetch = clamp_cost(fetch + Nanos(i64::from(longer)));
        let first = self.samples.len();
        let named = run.sample_stages(facts.row);
        let mut sum = Nanos::ZERO;
        for sample in run.samples(facts.row) {
            let wall = clamp_cost(sample.wall);
            sum += wall;
            self.processor.note(self.samples.len(), &sample);
            self.samples.push(sample_cost(wall, sample.cpu));
        }
        let mut len = self.samples.len() - first;
        if len == 0 {
            // The samples were not measured separately, or the first one failed.
            len = run.indices(facts.row).len().max(1);
            let each = Nanos(fetch.0 / len as i64);
            let cost = sample_cost(each, None);
            self.samples.extend(std::iter::repeat_n(cost, len));
            sum = Nanos(each.0 * len as i64);
        }
        let raw: Vec<f64> = self.sample_walls(first).collect();
        let measured = self.remove_core_wait(run, facts, first);
        // Stages and lines lose the same share of waiting for a core as their samples.
        let kept = self.sample_walls(first).zip(raw);
        let kept: Vec<f64> = kept.map(|(now, raw)| now / raw.max(1.0)).collect();
        self.lines.add(run, facts, first, &kept);
        if let Some(named) = named {
            for (at, name) in named.names.iter().enumerate() {
                let walls = kept.iter().enumerate().map(|(position, kept)| {
                    let wall = clamp_cost(named.wall(at, position));
                    Nanos((number::float(wall) * kept) as i64)
                });
                let stage = self.stage_mut(name);
                stage.walls.resize(first, Nanos::ZERO);
                stage.walls.extend(walls);
            }
        }
        let total = self.samples.len();
        self.stages
            .iter_mut()
            .for_each(|s| s.walls.resize(total, Nanos::ZERO));
        let (extra, collate, off, beside) = match measured {
            Some(rest) => (Nanos::ZERO, rest.computes, rest.off, rest.beside),
            None => {
                let collate = clamp_cost(facts.collate());
                (clamp_cost(fetch - sum), collate, Nanos::ZERO, Nanos::ZERO)
            }
        };
        Some(TaskCost {
            first,
            len,
            extra,
            collate,
            off,
            beside,
            pin: clamp_cost(facts.pin()),
            worker: facts.worker.map_or(0, usize::from),
            fails: facts.failed,
        })
    }

    /// Returns the wall times of the samples from `first` on, ns.
    fn sample_walls(&self, first: usize) -> impl Iterator<Item = f64> + '_ {
        let samples = self.samples[first..].iter();
        samples.map(|sample| number::float(sample.off + sample.cpu))
    }

    /// Removes the measured wait for a core from the batch's samples. Returns the costs beyond the samples, or `None` if nothing was
    /// measured.
    fn remove_core_wait(
        &mut self,
        run: &Run,
        facts: &BatchFacts,
        first: usize,
    ) -> Option<BatchOverhead> {
        let computed = run.cpu_time(facts.row, CpuPart::Fetch)?;
        let wall = facts.work()?;
        if self.core_waits.known == 0 && computed.core_wait.is_none() {
            return None;
        }
        let waited = self.core_waits.within(computed, wall);
        let off = (wall - computed.cpu - waited).max(Nanos::ZERO);
        let samples = &mut self.samples[first..];
        let (mut sum, mut cpu) = (Nanos::ZERO, Nanos::ZERO);
        for sample in samples.iter() {
            sum += sample.off + sample.cpu;
            cpu += sample.cpu;
        }
        if cpu == Nanos::ZERO && sum > Nanos::ZERO {
            // The CPU time of quick samples is not measured. They get the batch's CPU time by their share of its time.
            let share = number::float(computed.cpu.min(sum)) / number::float(wall.max(Nanos(1)));
            samples.iter_mut().for_each(|s| {
                let wall = s.off + s.cpu;
                s.cpu = Nanos((number::float(wall) * share) as i64).min(wall);
                s.off = wall - s.cpu;
                cpu += s.cpu;
            });
        }
        // The remaining wait is distributed over the samples by their time off a core.
        let idle: f64 = samples.iter().map(|s| number::float(s.off)).sum();
        let truly = number::float(off).min(idle);
        let kept = if idle > 0.0 { truly / idle } else { 0.0 };
        samples
            .iter_mut()
            .for_each(|s| s.off = Nanos((number::float(s.off) * kept) as i64));
        Some(BatchOverhead {
            computes: clamp_cost(computed.cpu - cpu),
            off: clamp_cost(off - Nanos(truly as i64)),
            // Without workers no thread sends. The threads are those of OpenMP, which run while the main thread waits for them.
            beside: match self.options.num_workers {
                0 => Nanos::ZERO,
                _ => clamp_cost(computed.other_threads.unwrap_or_default()),
            },
        })
    }

    fn stage_mut(&mut self, name: &str) -> &mut StageCosts {
        let known = self.stages.iter().position(|s| s.name == name);
        let at = known.unwrap_or_else(|| {
            self.stages.push(StageCosts {
                name: name.to_owned(),
                walls: Vec::new(),
            });
            self.stages.len() - 1
        });
        &mut self.stages[at]
    }
}

/// Costs of a batch beyond its samples.
struct BatchOverhead {
    computes: Nanos,
    off: Nanos,
    beside: Nanos,
}
