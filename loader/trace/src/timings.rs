//! The times of all samples, in as little room as they need.

use std::ops::Range;

use crate::column::Column;
use crate::room::make_room;
use crate::{Nanos, SampleTiming};

/// The times of samples. Processor time takes room only from the first sample on for which it was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timings {
    /// Start and wall time.
    times: Column<(Nanos, Nanos)>,
    /// Processor times of the first samples; [`Timings::UNKNOWN`] where there is none.
    cpus: Vec<Nanos>,
}

impl Timings {
    const UNKNOWN: Nanos = Nanos(i64::MIN);

    pub fn len(&self) -> usize {
        self.times.len()
    }

    pub fn extend(&mut self, samples: &[SampleTiming]) {
        if samples.iter().any(|s| s.cpu.is_some()) {
            self.cpus.resize(self.times.len(), Self::UNKNOWN);
            let cpus = samples.iter().map(|s| s.cpu.unwrap_or(Self::UNKNOWN));
            self.cpus.extend(cpus);
        }
        self.times.extend(samples.iter().map(|s| (s.start, s.wall)));
    }

    /// The samples in a part of all.
    pub fn range(&self, part: Range<usize>) -> impl ExactSizeIterator<Item = SampleTiming> + '_ {
        self.with_cpus(part.start, &self.times[part])
    }

    fn with_cpus<'a>(
        &'a self,
        first: usize,
        times: &'a [(Nanos, Nanos)],
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

    /// The samples in a part of all, also if they are hidden. Without those that are not there.
    pub fn whole_range(&self, part: Range<usize>) -> impl Iterator<Item = SampleTiming> + '_ {
        let first = part.start;
        let times = self.times.all().get(part).unwrap_or_default();
        self.with_cpus(first, times)
    }

    /// Hides all but the first `count`.
    pub fn show(&mut self, count: usize) {
        self.times.show(count);
    }

    /// Hides nothing.
    pub fn show_all(&mut self) {
        self.times.show_all();
    }

    pub fn bytes(&self) -> usize {
        let times = self.times.capacity() * size_of::<(Nanos, Nanos)>();
        times + self.cpus.capacity() * size_of::<Nanos>()
    }

    pub fn make_room(&mut self, share: f64) {
        make_room(self.times.list(), share);
        make_room(&mut self.cpus, share);
    }

    pub fn shrink_to_fit(&mut self) {
        self.times.shrink_to_fit();
        self.cpus.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_out_as_they_went_in() {
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
