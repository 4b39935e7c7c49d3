//! CPU times of parts of the work on batches.

use crate::Nanos;
use crate::event::{Part, ProcessorTime};
use loadscope_column::Column;

/// CPU time of a part of the work on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// CPU time of the fetching thread, or of all threads of the training process, ns.
    pub cpu: Nanos,
    /// Time in which the thread was runnable and waited for a core, ns.
    pub core_wait: Option<Nanos>,
    /// CPU time of the other threads of its process, ns.
    pub other_threads: Option<Nanos>,
}

/// CPU times by position of the batch. `f32` saves memory, and seven digits are enough.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuTimes {
    fetch: Column<PackedCpuTime>,
    step: Column<PackedCpuTime>,
}

#[derive(Clone, Copy, Debug)]
struct PackedCpuTime {
    cpu: f32,
    core_wait: f32,
    other_threads: f32,
}

impl PackedCpuTime {
    const UNKNOWN: Self = Self {
        cpu: f32::NAN,
        core_wait: f32::NAN,
        other_threads: f32::NAN,
    };

    fn of(time: &ProcessorTime) -> Self {
        let number = |time: Option<Nanos>| time.map_or(f32::NAN, |t| t.0.max(0) as f32);
        Self {
            cpu: number(Some(time.cpu)),
            core_wait: number(time.core_wait),
            other_threads: number(time.other_threads),
        }
    }

    fn unpacked(self) -> Option<CpuTime> {
        let time = |number: f32| (!number.is_nan()).then_some(Nanos(number as i64));
        Some(CpuTime {
            cpu: time(self.cpu)?,
            core_wait: time(self.core_wait),
            other_threads: time(self.other_threads),
        })
    }
}

impl CpuTimes {
    fn of_part(&self, part: Part) -> &Column<PackedCpuTime> {
        match part {
            Part::Fetch => &self.fetch,
            Part::Step => &self.step,
        }
    }

    /// Returns the times of `part` of the work on the batch at `row`.
    pub(super) fn get(&self, row: usize, part: Part) -> Option<CpuTime> {
        self.of_part(part).get(row)?.unpacked()
    }

    /// Stores measured times of the batch at `row`.
    pub(super) fn note(&mut self, row: usize, time: &ProcessorTime) {
        let times = match time.part {
            Part::Fetch => &mut self.fetch,
            Part::Step => &mut self.step,
        };
        let missing = (row + 1).saturating_sub(times.len());
        times.extend(std::iter::repeat_n(PackedCpuTime::UNKNOWN, missing));
        times[row] = PackedCpuTime::of(time);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.fetch.bytes() + self.step.bytes()
    }
}
