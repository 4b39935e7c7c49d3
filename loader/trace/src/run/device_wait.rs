//! Waits of the trainer, measured on the device. Launches are asynchronous, so the device can have work during a wait.

use super::{DeviceTime, Run};
use crate::event::DeviceWait;
use crate::{Nanos, Stage};

impl Run {
    /// Returns the time of the trainer's waits that were measured on the device, without data that is reduced to sums. Returns `None`
    /// without measurements.
    pub fn device_time(&self) -> Option<DeviceTime> {
        let sum = self.device_waits.sum();
        (sum.waited > Nanos::ZERO).then_some(sum)
    }

    /// Returns the time in which the device had no work during the wait for the batch at `row`. The device finishes its work first, so
    /// this is the end of the wait. Returns `None` if it was not measured.
    pub fn device_idle(&self, row: usize) -> Option<Nanos> {
        Some(self.device_wait(row)?.idle)
    }

    /// Returns the measured wait for the batch at `row`.
    pub fn device_wait(&self, row: usize) -> Option<DeviceTime> {
        self.device_time()?;
        let end = self.entered(row, Stage::Training)?;
        self.device_waits.of(row, end)
    }

    /// Applies a measurement. A batch from before the known part of a recording has no position.
    pub(super) fn apply_device_wait(&mut self, at: Nanos, wait: &DeviceWait) {
        let row = self.row(wait.batch);
        let end = row.and_then(|row| self.entered(row, Stage::Training));
        let waited = wait.waited.max(Nanos::ZERO);
        let idle = wait.idle.clamp(Nanos::ZERO, waited);
        let time = DeviceTime { waited, idle };
        let row = row.map_or(u32::MAX, |row| row as u32);
        self.device_waits.push(at, end.unwrap_or(at), row, time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchId, Event, EventKind, RunId};

    /// Returns a run with waits from `20 k` to `20 k + 10`. Two are measured, each during the next step.
    fn run() -> Run {
        let mut run = Run::default();
        let mut apply = |at: i64, kind| {
            run.apply(&Event {
                at: Nanos(at),
                run: RunId(0),
                kind,
            });
        };
        apply(0, EventKind::EpochStarted { epoch: 0 });
        for idx in 0..3 {
            let (start, batch) = (20 * i64::from(idx), BatchId { epoch: 0, idx });
            let enter = |stage| EventKind::Entered { batch, stage };
            apply(start, EventKind::dispatched(batch, Some(0), [1]));
            apply(start, EventKind::Consumer { waiting: true });
            apply(start + 10, enter(Stage::Training));
            if idx < 2 {
                let wait = DeviceWait {
                    batch,
                    waited: Nanos(10),
                    idle: Nanos(4 + 3 * i64::from(idx)),
                };
                apply(start + 15, EventKind::DeviceWait(Box::new(wait)));
            }
            apply(start + 20, enter(Stage::Done));
        }
        run
    }

    fn time(waited: i64, idle: i64) -> DeviceTime {
        DeviceTime {
            waited: Nanos(waited),
            idle: Nanos(idle),
        }
    }

    #[test]
    fn measured_waits_have_a_sum() {
        let run = run();
        assert_eq!(run.device_time(), Some(time(20, 11)));
        assert_eq!(time(20, 11).hidden(), Nanos(9));
        let idle = [0, 1, 2].map(|row| run.device_idle(row));
        assert_eq!(idle, [Some(Nanos(4)), Some(Nanos(7)), None]);
    }

    #[test]
    fn a_hidden_measurement_is_unknown() {
        let mut run = run();
        for (at, wanted) in [
            (100, Some(time(20, 11))),
            (34, Some(time(10, 4))),
            (14, None),
        ] {
            let step = run.transitions.partition_point(|t| t.at <= Nanos(at));
            run.hide_after(Some(crate::Moment {
                step,
                at: Nanos(at),
            }));
            assert_eq!(run.device_time(), wanted, "{at}");
        }
    }
}
