//! CPU times of fetches and training steps.

use super::Run;
use super::cpu_times::CpuTime;
use crate::Stage;
use crate::event::{Part, ProcessorTime};

impl Run {
    pub(super) fn apply_processor_time(&mut self, time: &ProcessorTime) {
        let Some(row) = self.row(time.batch) else {
            self.inconsistent += 1;
            return;
        };
        self.cpu_times.note(row, time);
    }

    /// Returns the CPU time of `part` of the work on the batch at `row`. Returns `None` if not measured.
    pub fn cpu_time(&self, row: usize, part: Part) -> Option<CpuTime> {
        let stage = self.batches.get(row)?.stage;
        let is_known = match (self.hidden_after(), part) {
            (None, _) => true,
            (Some(_), Part::Fetch) => stage > Stage::Fetching,
            (Some(_), Part::Step) => stage > Stage::Training,
        };
        self.cpu_times.get(row, part).filter(|_| is_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchId, Event, EventKind, Nanos, RunId};

    #[test]
    fn cpu_times_are_stored_by_batch_and_part() {
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
                other_threads: None,
            }))
        };
        tell(time(1, Part::Fetch, 12_000_000, Some(Nanos(500))));
        tell(time(1, Part::Step, 7, None));
        tell(time(9, Part::Step, 7, None));
        let measured = run.cpu_time(1, Part::Fetch).expect("measured");
        assert_eq!(measured.cpu, Nanos(12_000_000));
        assert_eq!(measured.core_wait, Some(Nanos(500)));
        assert_eq!(measured.other_threads, None);
        assert_eq!(run.cpu_time(1, Part::Step).map(|c| c.cpu), Some(Nanos(7)));
        assert_eq!(run.cpu_time(0, Part::Fetch), None);
        assert_eq!(run.inconsistent, 1, "a batch that was never dispatched");
    }
}
