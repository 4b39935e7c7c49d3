//! Spans of the lanes, and waits of the trainer.

use super::wait::{BLOCK, WaitSum};
use super::{Run, Wait};
use crate::keyframe::{InFlightBatch, Keyframe};
use crate::{Activity, Lane, Nanos, Span, Stage};

impl Run {
    /// Closes the span of a batch, and opens one in the first free row of its new lane.
    pub(super) fn move_to(&mut self, at: Nanos, row: u32, stage: Stage) {
        let batch = &mut self.batches[row as usize];
        if let Some((lane, track)) = batch.place.take()
            && let Some(rows) = self.lanes.get_mut(&lane)
        {
            rows.close(track, at);
        }
        let (Some(lane), Some(activity)) = (
            Lane::of(stage, batch.worker, batch.pinned),
            Activity::of(stage),
        ) else {
            return;
        };
        let rows = self.lanes.get_or_insert(lane);
        match rows.open(at, row, activity) {
            Some(track) => batch.place = Some((lane, track)),
            None => self.inconsistent += 1,
        }
    }

    pub(super) fn start_wait(&mut self, at: Nanos) {
        if self.waits.last().is_some_and(|w| w.end == Nanos::MAX) {
            self.inconsistent += 1;
            return;
        }
        self.end_opening(at);
        // The call for the next batch ends the training step.
        if let Some(row) = self.training.first().copied() {
            self.enter(at, row as usize, Stage::Done);
        }
        self.end_step_at_next(at);
        self.sum_waits();
        self.waits.push(Wait {
            start: at,
            end: Nanos::MAX,
            batch: None,
            step: self.transitions.len() as u32,
        });
        let rows = self.lanes.get_or_insert(Lane::Trainer);
        if rows.first_is_free() {
            rows.open(at, Span::NO_BATCH, Activity::Waiting);
        }
    }

    pub(super) fn end_wait(&mut self, at: Nanos, batch: Option<u32>) {
        let Some(wait) = self.waits.last_mut().filter(|w| w.end == Nanos::MAX) else {
            return;
        };
        wait.end = at;
        wait.batch = batch;
        if let Some(rows) = self.lanes.get_mut(&Lane::Trainer) {
            rows.close_waiting(at, batch.unwrap_or(Span::NO_BATCH));
        }
    }

    /// Returns the total time of the waits, up to the last event.
    pub fn waited(&self) -> Nanos {
        self.wait_sum().total
    }

    /// Returns the position of the longest wait in [`Run::waits`], the first of equal ones. Returns `None` without waits.
    pub fn longest_wait(&self) -> Option<usize> {
        self.wait_sum().longest_at.map(|at| at as usize)
    }

    /// Stores a running sum before the first wait of a block.
    pub(super) fn sum_waits(&mut self) {
        if self.waits.len().is_multiple_of(BLOCK) {
            self.wait_sums.push(self.wait_sum());
        }
    }

    /// Returns the sum of all waits. The last one counts up to the last event.
    fn wait_sum(&self) -> WaitSum {
        let Some(last) = self.waits.len().checked_sub(1) else {
            return WaitSum::default();
        };
        let block = last / BLOCK;
        let mut sum = self.wait_sums.get(block).copied().unwrap_or_default();
        let waits = self.waits.range(block * BLOCK..).iter();
        for (at, wait) in (block * BLOCK..).zip(waits) {
            sum.add(wait.end.min(self.last) - wait.start, at);
        }
        sum
    }

    /// Returns a keyframe for the next transition.
    pub(super) fn keyframe(&self) -> Keyframe {
        let entry = |row: u32| {
            let last = self.batches[row as usize].last;
            let transition = self.transitions.get(last as usize)?;
            Some(InFlightBatch {
                batch: row,
                stage: transition.stage,
                pinned: self.passed_pin(last),
                since: transition.at,
            })
        };
        let rows = self.in_flight.iter();
        let in_flight = rows.filter_map(|row| entry(*row)).collect();
        Keyframe::new(self.transitions.len(), in_flight)
    }

    /// Returns true if the batch entered the pin thread by the transition `at`.
    fn passed_pin(&self, mut at: u32) -> bool {
        while let Some(t) = self.transitions.get(at as usize) {
            if t.stage == Stage::Pinning {
                return true;
            }
            at = self.previous(at);
        }
        false
    }
}
