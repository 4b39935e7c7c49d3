//! What parts of the work on batches needed of the processor.

use crate::Nanos;
use crate::event::{Part, ProcessorTime};
use loadscope_column::Column;

/// What a part of the work on a batch needed of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computed {
    /// Processor time, ns: of the thread that fetches, or of all threads of the trainer's process.
    pub cpu: Nanos,
    /// For how long the thread waited for a core, ns.
    pub core_wait: Option<Nanos>,
    /// Processor time of the other threads of its process, ns.
    pub beside: Option<Nanos>,
}

/// By position of the batch. Four bytes a number are enough: seven digits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    fetch: Column<Packed>,
    step: Column<Packed>,
}

#[derive(Clone, Copy, Debug)]
struct Packed {
    cpu: f32,
    core_wait: f32,
    beside: f32,
}

impl Packed {
    const UNKNOWN: Self = Self {
        cpu: f32::NAN,
        core_wait: f32::NAN,
        beside: f32::NAN,
    };

    fn of(time: &ProcessorTime) -> Self {
        let number = |time: Option<Nanos>| time.map_or(f32::NAN, |t| t.0.max(0) as f32);
        Self {
            cpu: number(Some(time.cpu)),
            core_wait: number(time.core_wait),
            beside: number(time.beside),
        }
    }

    fn unpacked(self) -> Option<Computed> {
        let time = |number: f32| (!number.is_nan()).then_some(Nanos(number as i64));
        Some(Computed {
            cpu: time(self.cpu)?,
            core_wait: time(self.core_wait),
            beside: time(self.beside),
        })
    }
}

impl Times {
    fn of_part(&self, part: Part) -> &Column<Packed> {
        match part {
            Part::Fetch => &self.fetch,
            Part::Step => &self.step,
        }
    }

    /// What is known of `part` of the work on the batch at `row`.
    pub(super) fn get(&self, row: usize, part: Part) -> Option<Computed> {
        self.of_part(part).get(row)?.unpacked()
    }

    /// Keeps what was measured of the batch at `row`.
    pub(super) fn note(&mut self, row: usize, time: &ProcessorTime) {
        let times = match time.part {
            Part::Fetch => &mut self.fetch,
            Part::Step => &mut self.step,
        };
        let missing = (row + 1).saturating_sub(times.len());
        times.extend(std::iter::repeat_n(Packed::UNKNOWN, missing));
        times[row] = Packed::of(time);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.fetch.bytes() + self.step.bytes()
    }
}
