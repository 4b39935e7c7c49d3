//! Waits of the trainer, measured on the device. Launches are asynchronous, so a wait can be hidden behind work in the device's queue.

use serde::{Deserialize, Serialize};

use super::Run;
use crate::event::DeviceWait;
use crate::{Nanos, Stage};
use loadscope_column::Column;

/// Time of the trainer's waits that were measured on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceTime {
    /// Total time of the waits.
    pub waited: Nanos,
    /// Time in which the device had no work.
    pub idle: Nanos,
}

impl DeviceTime {
    /// Returns true without measured waits.
    pub(crate) fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the share of the waits in which the device had no work, 0 to 1. Without waits, 1.
    pub fn idle_share(self) -> f64 {
        match self.waited.0 {
            waited if waited > 0 => self.idle.0 as f64 / waited as f64,
            _ => 1.0,
        }
    }

    /// Returns the time of the waits in which the device had work.
    pub fn hidden(self) -> Nanos {
        self.waited - self.idle
    }

    /// Adds the time of other waits.
    pub fn add(&mut self, other: Self) {
        self.waited += other.waited;
        self.idle += other.idle;
    }
}

/// Measured waits of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceWaits(Column<Measured>);

/// Measured wait.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// Time at which the measurement became known.
    known: Nanos,
    /// End of the wait.
    end: Nanos,
    row: u32,
    time: DeviceTime,
    /// Running sum, including this wait.
    sum: DeviceTime,
}

impl DeviceWaits {
    fn sum_of_first(&self, count: usize) -> DeviceTime {
        let last = count.checked_sub(1).and_then(|last| self.0.get(last));
        last.map(|last| last.sum).unwrap_or_default()
    }

    /// Returns the sum of all waits.
    pub(super) fn sum(&self) -> DeviceTime {
        self.sum_of_first(self.0.len())
    }

    /// Hides the waits that were measured after `at`.
    pub(super) fn hide_after(&mut self, at: Nanos) {
        let known = self.0.partition_point(|one| one.known <= at);
        self.0.truncate(known);
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl Run {
    /// Returns the time of the trainer's waits that were measured on the device, without data that is reduced to sums. Returns `None`
    /// without measurements.
    pub fn device_time(&self) -> Option<DeviceTime> {
        let sum = self.device_waits.sum();
        (sum.waited > Nanos::ZERO).then_some(sum)
    }

    /// Returns the time of the measured waits that ended in `from..until`.
    pub fn device_time_within(&self, from: Nanos, until: Nanos) -> DeviceTime {
        let waits = &self.device_waits;
        let before = |time| {
            let count = waits.0.partition_point(|one| one.end < time);
            waits.sum_of_first(count)
        };
        let (first, last) = (before(from), before(until));
        DeviceTime {
            waited: last.waited - first.waited,
            idle: last.idle - first.idle,
        }
    }

    /// Returns the time in which the device had no work during the wait for the batch at `row`. The device finishes its work first, so
    /// this is the end of the wait. Returns `None` if it was not measured.
    pub fn device_idle(&self, row: usize) -> Option<Nanos> {
        Some(self.device_wait(row)?.idle)
    }

    /// Returns the measured wait for the batch at `row`.
    pub fn device_wait(&self, row: usize) -> Option<DeviceTime> {
        let end = self.entered(row, Stage::Training)?;
        let waits = &self.device_waits.0;
        let first = waits.partition_point(|one| one.end < end);
        let mut same = waits.range(first..).iter().take_while(|one| one.end == end);
        let found = same.find(|one| one.row as usize == row);
        found.map(|one| one.time)
    }

    /// Applies a measurement. A batch from before the known part of a recording has no position.
    pub(super) fn apply_device_wait(&mut self, at: Nanos, wait: &DeviceWait) {
        let row = self.row(wait.batch);
        let end = row.and_then(|row| self.entered(row, Stage::Training));
        let last = self.device_waits.0.last().map(|last| last.end);
        let end = end.unwrap_or(at).max(last.unwrap_or(Nanos(i64::MIN)));
        let waited = wait.waited.max(Nanos::ZERO);
        let idle = wait.idle.clamp(Nanos::ZERO, waited);
        let time = DeviceTime { waited, idle };
        let mut sum = self.device_waits.sum();
        sum.add(time);
        self.device_waits.0.push(Measured {
            known: at,
            end,
            row: row.map_or(u32::MAX, |row| row as u32),
            time,
            sum,
        });
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
    fn measured_waits_have_sums_in_any_range() {
        let run = run();
        assert_eq!(run.device_time(), Some(time(20, 11)));
        assert_eq!(time(20, 11).hidden(), Nanos(9));
        let within = |from, until| run.device_time_within(Nanos(from), Nanos(until));
        assert_eq!(within(0, 100), time(20, 11));
        assert_eq!(within(0, 30), time(10, 4));
        assert_eq!(within(11, 31), time(10, 7));
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
