//! What fetches and training steps needed of the processor.

use super::Run;
use crate::Nanos;
use crate::event::{Part, ProcessorTime};

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
    fetch: Vec<Packed>,
    step: Vec<Packed>,
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
        let time = |number: f32| (!number.is_nan()).then(|| Nanos(number as i64));
        Some(Computed {
            cpu: time(self.cpu)?,
            core_wait: time(self.core_wait),
            beside: time(self.beside),
        })
    }
}

impl Times {
    fn of_part(&self, part: Part) -> &Vec<Packed> {
        match part {
            Part::Fetch => &self.fetch,
            Part::Step => &self.step,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.fetch.capacity() + self.step.capacity()) * size_of::<Packed>()
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.fetch.shrink_to_fit();
        self.step.shrink_to_fit();
    }
}

impl Run {
    pub(super) fn processor(&mut self, time: &ProcessorTime) {
        let Some(row) = self.row(time.batch) else {
            self.inconsistent += 1;
            return;
        };
        let times = match time.part {
            Part::Fetch => &mut self.processor.fetch,
            Part::Step => &mut self.processor.step,
        };
        if times.len() <= row {
            times.resize(row + 1, Packed::UNKNOWN);
        }
        times[row] = Packed::of(time);
    }

    /// What `part` of the work on the batch at `row` needed of the processor; `None` if it was not measured.
    pub fn computed(&self, row: usize, part: Part) -> Option<Computed> {
        self.processor.of_part(part).get(row)?.unpacked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchId, Event, EventKind, RunId};

    #[test]
    fn what_was_measured_is_kept_by_batch_and_part() {
        let mut run = Run::default();
        let mut tell = |kind| {
            run.apply(&Event {
                at: Nanos(1),
                run: RunId(0),
                kind,
            });
        };
        let batch = |idx| BatchId { epoch: 0, idx };
        tell(EventKind::EpochStarted { epoch: 0 });
        tell(EventKind::dispatched(batch(0), Some(0), [1]));
        tell(EventKind::dispatched(batch(1), Some(0), [2]));
        let time = |idx, part, cpu, core_wait| {
            EventKind::Processor(Box::new(ProcessorTime {
                batch: batch(idx),
                part,
                cpu: Nanos(cpu),
                core_wait,
                beside: None,
            }))
        };
        tell(time(1, Part::Fetch, 12_000_000, Some(Nanos(500))));
        tell(time(1, Part::Step, 7, None));
        tell(time(9, Part::Step, 7, None));
        let measured = run.computed(1, Part::Fetch).expect("measured");
        assert_eq!(measured.cpu, Nanos(12_000_000));
        assert_eq!(measured.core_wait, Some(Nanos(500)));
        assert_eq!(measured.beside, None);
        assert_eq!(run.computed(1, Part::Step).map(|c| c.cpu), Some(Nanos(7)));
        assert_eq!(run.computed(0, Part::Fetch), None);
        assert_eq!(run.inconsistent, 1, "a batch that was never dispatched");
    }
}
