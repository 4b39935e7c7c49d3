//! Compact storage of sample times.

use std::ops::Range;

use crate::{Nanos, SampleTiming};
use loadscope_column::{Column, View};

/// Times of samples. CPU times use memory only if some were measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timings {
    /// Start and wall time of each sample.
    times: Column<(Nanos, Nanos)>,
    /// CPU times of the first samples, or [`Timings::UNKNOWN`]. Can be shorter than `times`.
    cpus: Column<Nanos>,
}

impl Timings {
    const UNKNOWN: Nanos = Nanos(i64::MIN);

    pub fn len(&self) -> usize {
        self.times.len()
    }

    pub fn extend(&mut self, samples: &[SampleTiming]) {
        if samples.iter().any(|s| s.cpu.is_some()) {
            let unknown = self.times.len() - self.cpus.len();
            self.cpus
                .extend(std::iter::repeat_n(Self::UNKNOWN, unknown));
            let cpus = samples.iter().map(|s| s.cpu.unwrap_or(Self::UNKNOWN));
            self.cpus.extend(cpus);
        }
        self.times.extend(samples.iter().map(|s| (s.start, s.wall)));
    }

    /// Returns the times of a range of samples.
    pub fn range(&self, part: Range<usize>) -> impl ExactSizeIterator<Item = SampleTiming> + '_ {
        self.with_cpus(part.start, self.times.range(part))
    }

    fn with_cpus<'a>(
        &'a self,
        first: usize,
        times: View<'a, (Nanos, Nanos)>,
    ) -> impl ExactSizeIterator<Item = SampleTiming> + 'a {
        let times = times.iter().enumerate();
        times.map(move |(k, &(start, wall))| {
            let cpu = self.cpus.get(first + k).copied();
            SampleTiming {
                start,
                wall,
                cpu: cpu.filter(|cpu| *cpu != Self::UNKNOWN),
            }
        })
    }

    /// Keeps only the times of the first `count` samples.
    pub fn truncate(&mut self, count: usize) {
        self.times.truncate(count);
    }

    pub fn bytes(&self) -> usize {
        self.times.bytes() + self.cpus.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_times_are_read_back_unchanged() {
        let sample = |k: i64, cpu: Option<i64>| SampleTiming {
            start: Nanos(k),
            wall: Nanos(2 * k),
            cpu: cpu.map(Nanos),
        };
        let lists = [
            vec![sample(1, None), sample(2, None)],
            vec![sample(3, Some(0)), sample(4, None)],
            vec![sample(5, None)],
            vec![sample(6, Some(7))],
        ];
        let mut timings = Timings::default();
        let mut first = Vec::new();
        for list in &lists {
            first.push(timings.len());
            timings.extend(list);
        }
        for (list, first) in lists.iter().zip(first) {
            let out: Vec<SampleTiming> = timings.range(first..first + list.len()).collect();
            assert_eq!(&out, list);
        }
    }
}
