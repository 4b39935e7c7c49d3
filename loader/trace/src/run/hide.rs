//! Hiding of the events after a moment. All queries then return the state at that moment.
//!
//! The hidden run is a snapshot. Its lists are truncated, and unfinished items get their state at that moment. The cost depends on the
//! number of batches in flight and lanes, not on the length of the run.

use std::sync::Arc;

use super::{Hidden, Run};
use crate::batch::{Batch, Extent};
use crate::keyframe::InFlightBatch;
use crate::pipeline::in_flight;
use crate::{BatchId, Level, Moment, Nanos, Stage, Wait};

/// Maximum number of errors and sample times after the moment that are checked. They can concern a batch that finished before the moment.
const LATE: usize = 1000;

impl Run {
    /// Hides the events after `moment`. With `None`, all events are shown.
    pub fn hide_after(&mut self, moment: Option<Moment>) {
        if self.hidden_after() == moment {
            return;
        }
        let whole = match self.hidden.take() {
            Some(hidden) => hidden.whole,
            None => Arc::new(std::mem::take(self)),
        };
        *self = match moment {
            None => Arc::unwrap_or_clone(whole),
            Some(moment) => Self::until(whole, moment),
        };
    }

    /// Returns the moment after which events are hidden, if any.
    pub fn hidden_after(&self) -> Option<Moment> {
        self.hidden.as_ref().map(|hidden| hidden.moment)
    }

    /// Returns the complete run, including hidden events.
    pub fn whole(&self) -> &Self {
        self.hidden.as_ref().map_or(self, |hidden| &hidden.whole)
    }

    /// Returns a number that changes with each event and each change of the hidden part.
    pub fn version(&self) -> u64 {
        let Some(Moment { step, at }) = self.hidden_after() else {
            return self.events;
        };
        let mut mixed = self.events;
        for part in [step as u64, at.0 as u64] {
            mixed = (mixed ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            mixed ^= mixed >> 29;
        }
        mixed | 1 << 63
    }

    fn until(whole: Arc<Self>, moment: Moment) -> Self {
        let mut run = Self::clone(&whole);
        run.hidden = Some(Hidden { moment, whole });
        let step = moment.step.min(run.transitions.len());
        let at = moment.at;
        let in_flight = in_flight(&run, step);
        let training = in_flight.iter().filter(|f| f.stage == Stage::Training);
        run.training = training.map(|f| f.batch).collect();
        run.hide_waits(step, at);
        run.hide_measured(at);
        run.hide_ticks(step, at);
        let rows = run.batches.partition_point(|b| (b.first as usize) < step);
        run.hide_batches(step, at, rows, &in_flight);
        run.hide_phases(step, at, rows);
        run.lanes.hide_after(at);
        run.transitions.truncate(step);
        run.ended &= run.ended_at <= at;
        run.last = at;
        run
    }

    fn hide_waits(&mut self, step: usize, at: Nanos) {
        let begun = |w: &Wait| w.start <= at && w.step as usize <= step;
        let shown = self.waits.partition_point(begun);
        self.waits.truncate(shown);
        self.wait_sums.truncate(shown.div_ceil(super::wait::BLOCK));
        let Some(wait) = self.waits.last().copied() else {
            return;
        };
        let came_after = |row| self.came_after(row, wait.end, step);
        let lasts = wait.end > at || wait.batch.is_some_and(came_after);
        if let Some(last) = self.waits.last_mut().filter(|_| lasts) {
            (last.end, last.batch) = (Nanos::MAX, None);
        }
    }

    /// Returns true if the batch at `row`, which ended a wait, arrived after the first `step` transitions.
    fn came_after(&self, row: u32, end: Nanos, step: usize) -> bool {
        let mut k = self.batches.get(row as usize).map_or(u32::MAX, |b| b.last);
        while let Some(t) = self.transitions.get(k as usize) {
            if t.at == end && matches!(t.stage, Stage::Training | Stage::Failed) {
                return k as usize >= step;
            }
            k = self.previous(k);
        }
        false
    }

    /// Hides measurements and messages.
    fn hide_measured(&mut self, at: Nanos) {
        let messages = self.messages.partition_point(|(t, _)| *t <= at);
        self.messages.truncate(messages);
        let facts = self.facts.partition_point(|(t, _)| *t <= at);
        self.facts.truncate(facts);
        self.stacks.hide_after(at);
        self.device_waits.hide_after(at);
        let losses = self.losses.partition_point(|(t, _)| *t <= at);
        self.losses.truncate(losses);
        let lost = self.losses.iter().map(|(_, count)| *count);
        self.dropped = lost.fold(0, u64::saturating_add);
        let openings = self.openings.partition_point(|(t, _)| *t <= at);
        self.openings.truncate(openings);
        let singles = self.singles.partition_point(|t| *t <= at);
        self.singles.truncate(singles);
        let gauges = self.gauges.values_mut();
        gauges
            .chain(self.part_gauges.values_mut())
            .for_each(|series| series.hide_after(at));
        let has_points = |part: usize| {
            let of = self
                .part_gauges
                .iter()
                .filter(|((k, _), _)| usize::from(*k) == part);
            of.into_iter()
                .any(|(_, series)| !series.points().is_empty())
        };
        let parts = (0..self.parts.len()).rev().find(|part| has_points(*part));
        self.parts.truncate(parts.map_or(0, |last| last + 1));
        let fetches = self.fetches.partition_point(|(t, _)| *t <= at);
        let last = fetches.checked_sub(1).and_then(|k| self.fetches.get(k));
        let last = last.and_then(|(_, row)| self.batches.get(*row as usize));
        self.timings
            .truncate(last.map_or(0, |b| b.timings.range().end));
        let names = self.stage_names_at.partition_point(|t| *t <= at);
        self.stage_names.truncate(names);
    }

    /// Hides arrivals and yields. Several transitions can have the time `at`. Those after the first `step` are hidden.
    fn hide_ticks(&mut self, step: usize, at: Nanos) {
        let (mut yields, mut arrived) = (0, 0);
        let later = (step..).map_while(|k| Some((k, self.transitions.get(k)?)));
        for (k, t) in later.take_while(|(_, t)| t.at <= at) {
            let before = self.transitions.get(self.previous(k as u32) as usize);
            let had_arrived = before.is_some_and(|before| before.stage.has_arrived());
            arrived += usize::from(t.stage.has_arrived() && !had_arrived);
            yields += usize::from(t.stage == Stage::Training);
        }
        for (ticks, hidden) in [(&mut self.yields, yields), (&mut self.arrived, arrived)] {
            let shown = ticks.all().partition_point(|t| *t <= at);
            ticks.truncate(shown.saturating_sub(hidden));
        }
    }

    /// Hides all batches after the first `rows`.
    fn hide_batches(&mut self, step: usize, at: Nanos, rows: usize, in_flight: &[InFlightBatch]) {
        let ended = self.yields.all().len().saturating_sub(self.training.len());
        self.steps.truncate(ended, at);
        self.dispatched.truncate(rows);
        for f in in_flight {
            let row = f.batch as usize;
            let Some(now) = self.batches.get(row) else {
                continue;
            };
            let then = self.batch_after(now, step);
            self.batches[row] = then;
        }
        let known = self.fetches.partition_point(|(t, _)| *t <= at);
        for (_, row) in self.fetches.iter().skip(known).take(LATE) {
            let Some(batch) = self.batches.get_mut(*row as usize) else {
                continue;
            };
            if (*row as usize) < rows && batch.is_measured() {
                forget_samples(batch);
            }
        }
        let late = self.whole().messages.range(self.messages.len()..).iter();
        let errors = late.filter(|(_, m)| m.level == Level::Error).take(LATE);
        let about: Vec<BatchId> = errors.filter_map(|(_, m)| m.about).collect();
        for id in about {
            let Some(row) = self.row(id).filter(|row| *row < rows) else {
                continue;
            };
            if self.batches[row].has_error && !self.has_error_so_far(id) {
                self.batches[row].has_error = false;
            }
        }
        self.batches.truncate(rows);
    }

    /// Returns the state of a batch after the first `step` transitions.
    fn batch_after(&self, now: &Batch, step: usize) -> Batch {
        let mut then = now.clone();
        let before = |mut k: u32| {
            while k as usize >= step {
                self.transitions.get(k as usize)?;
                k = self.previous(k);
            }
            Some(k)
        };
        then.last = before(now.last).unwrap_or(u32::MAX);
        (then.was_held, then.was_yielded, then.pinned) = (false, false, false);
        let mut k = then.last;
        while let Some(t) = self.transitions.get(k as usize) {
            if k == then.last {
                then.stage = t.stage;
            }
            then.was_held |= t.stage == Stage::Held;
            then.was_yielded |= t.stage == Stage::Training;
            then.pinned |= t.stage == Stage::Pinning;
            k = self.previous(k);
        }
        then.has_error = now.has_error && self.has_error_so_far(now.id);
        then
    }

    fn has_error_so_far(&self, id: BatchId) -> bool {
        let mut all = self.messages.iter();
        all.any(|(_, m)| m.level == Level::Error && m.about == Some(id))
    }

    /// Hides epochs and workers. The first `rows` batches are shown.
    fn hide_phases(&mut self, step: usize, at: Nanos, rows: usize) {
        let shown = self.epochs.partition_point(|e| e.start <= at);
        self.epochs.truncate(shown);
        let gaps = self.gaps;
        for k in 0..self.epochs.len() {
            let epoch = &self.epochs[k];
            let is_whole = epoch.end.is_some_and(|end| end <= at)
                && epoch.rows.last().is_none_or(|row| (*row as usize) < rows);
            if is_whole {
                continue;
            }
            let epoch = &mut self.epochs[k];
            epoch.end = epoch.end.filter(|end| *end <= at);
            let is_hidden = |row: &u32| *row as usize >= rows && *row != u32::MAX;
            let of_rows = match gaps {
                0 => epoch.rows.partition_point(|row| !is_hidden(row)),
                _ => {
                    let last = epoch.rows.iter().rposition(|row| (*row as usize) < rows);
                    last.map_or(0, |last| last + 1)
                }
            };
            epoch.rows.truncate(of_rows);
            let exhausted = epoch
                .exhausted
                .partition_point(|(k, _)| (*k as usize) < step);
            epoch.exhausted.truncate(exhausted);
            let lost = epoch.lost.partition_point(|k| (*k as usize) < step);
            epoch.lost.truncate(lost);
        }
        let started = self.workers.partition_point(|w| w.start <= at);
        self.workers.truncate(started);
        for k in 0..self.workers.len() {
            if self.workers[k].end.is_some_and(|(end, _)| end > at) {
                self.workers[k].end = None;
            }
        }
    }
}

/// Removes the sample times of a batch.
fn forget_samples(batch: &mut Batch) {
    (batch.timings, batch.stages) = (Extent::default(), Extent::default());
    batch.stage_names = None;
}
