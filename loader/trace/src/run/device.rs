//! Times of waits that were measured on the device.

use serde::{Deserialize, Serialize};

use crate::Nanos;
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
    /// Returns the sum of all waits.
    pub(super) fn sum(&self) -> DeviceTime {
        self.0.last().map(|last| last.sum).unwrap_or_default()
    }

    /// Adds a wait that ended at `end` and became known at `known`. The end is at least that of the wait before.
    pub(super) fn push(&mut self, known: Nanos, end: Nanos, row: u32, time: DeviceTime) {
        let last = self.0.last().map(|last| last.end);
        let end = end.max(last.unwrap_or(Nanos(i64::MIN)));
        let mut sum = self.sum();
        sum.add(time);
        self.0.push(Measured {
            known,
            end,
            row,
            time,
            sum,
        });
    }

    /// Returns the wait for the batch at `row`, which ended at `end`.
    pub(super) fn of(&self, row: usize, end: Nanos) -> Option<DeviceTime> {
        let first = self.0.partition_point(|one| one.end < end);
        let mut same = self
            .0
            .range(first..)
            .iter()
            .take_while(|one| one.end == end);
        let found = same.find(|one| one.row as usize == row);
        found.map(|one| one.time)
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
