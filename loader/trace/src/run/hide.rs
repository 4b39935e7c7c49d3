//! Hides what came after a moment: every answer of the run is then that of the run that ended at that moment.
//!
//! Nothing is copied. Lists show a shorter part of themselves, and what lasted at that moment is changed in place and put back
//! later: so the cost follows the number of batches in flight and of lanes, not the length of the run.

use super::Run;
use crate::batch::{Batch, Extent};
use crate::hidden::{Hidden, Moment};
use crate::keyframe::Flying;
use crate::pipeline::flying;
use crate::{BatchId, Level, Nanos, Stage, Wait};

/// Errors and times of samples after the moment that are looked at: a batch may have come to its end before them.
const LATE: usize = 1000;

impl Run {
    /// Hides what came after `moment`, or nothing. What lasts at the moment is as if it still lasted.
    pub fn hide_after(&mut self, moment: Option<Moment>) {
        if self.hidden_after() == moment {
            return;
        }
        if let Some(hidden) = self.hidden.take() {
            self.reveal(*hidden);
        }
        if let Some(moment) = moment {
            let hidden = self.hide(moment);
            self.hidden = Some(Box::new(hidden));
        }
    }

    /// The moment after which everything is hidden.
    pub fn hidden_after(&self) -> Option<Moment> {
        self.hidden.as_ref().map(|hidden| hidden.moment)
    }

    /// A number that differs whenever something else is shown: with each event, and with the moment after which everything is hidden.
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

    /// Time of the last event, also if it is hidden.
    pub fn whole_end(&self) -> Nanos {
        self.hidden.as_ref().map_or(self.last, |hidden| hidden.last)
    }

    /// The begin of the first epoch, also if it is hidden.
    pub fn whole_start(&self) -> Option<Nanos> {
        self.epochs.all().first().map(|epoch| epoch.start)
    }

    /// Every change of stage, also those that are hidden.
    pub fn whole_transitions(&self) -> &[super::Transition] {
        self.transitions.all()
    }

    /// The stretches in which the trainer waited, also those that are hidden. One that lasts at the moment after which everything is
    /// hidden lasts here, too.
    pub fn whole_waits(&self) -> &[Wait] {
        self.waits.all()
    }

    /// Range of the times of the samples of a batch, also if they are hidden.
    pub(super) fn timings_of(&self, row: usize) -> Extent {
        let hidden = self.hidden.iter().flat_map(|hidden| &hidden.batches);
        // One that was changed twice is there twice: first as it was.
        let mut whole = hidden.filter(|(at, _)| *at == row).map(|(_, batch)| batch);
        let batch = whole.next().or_else(|| self.batches.get(row));
        batch.map_or(Extent::default(), |batch| batch.timings)
    }

    /// Positions of the batches that the trainer works on.
    pub(super) fn in_training(&self) -> impl Iterator<Item = u32> + '_ {
        let hidden = self.hidden.as_ref();
        let then = hidden.map(|hidden| hidden.training.iter().copied());
        let now = hidden.is_none().then(|| self.training.iter().copied());
        then.into_iter().flatten().chain(now.into_iter().flatten())
    }

    fn hide(&mut self, moment: Moment) -> Hidden {
        let step = moment.step.min(self.transitions.len());
        let at = moment.at;
        let flying = flying(self, step);
        let training = flying.iter().filter(|f| f.stage == Stage::Training);
        let training: Vec<u32> = training.map(|f| f.batch).collect();
        let mut hidden = Hidden {
            moment,
            last: self.last,
            ended: self.ended,
            dropped: self.dropped,
            batches: Vec::new(),
            pinned: Vec::new(),
            wait: None,
            spans: Vec::new(),
            epochs: Vec::new(),
            workers: Vec::new(),
            training,
        };
        self.hide_waits(step, at, &mut hidden);
        self.hide_measured(at);
        self.hide_ticks(step, at);
        let rows = self.batches.partition_point(|b| (b.first as usize) < step);
        self.hide_batches(step, at, rows, &flying, &mut hidden);
        self.hide_phases(step, at, rows, &mut hidden);
        hidden.spans = self.lanes.hide_after(at);
        self.transitions.show(step);
        self.ended &= self.ended_at <= at;
        self.last = at;
        hidden
    }

    fn hide_waits(&mut self, step: usize, at: Nanos, hidden: &mut Hidden) {
        let begun = |w: &Wait| w.start <= at && w.step as usize <= step;
        let shown = self.waits.partition_point(begun);
        self.waits.show(shown);
        let Some(wait) = self.waits.last().copied() else {
            return;
        };
        if wait.end > at
            || wait
                .batch
                .is_some_and(|row| self.came_after(row, wait.end, step))
        {
            hidden.wait = Some((wait.end, wait.batch));
            if let Some(last) = self.waits.last_mut() {
                (last.end, last.batch) = (Nanos::MAX, None);
            }
        }
    }

    /// True if the batch at `row`, with which a wait ended, came with a transition after the first `step`.
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

    /// What was measured and written down.
    fn hide_measured(&mut self, at: Nanos) {
        let messages = self.messages.partition_point(|(t, _)| *t <= at);
        self.messages.show(messages);
        let facts = self.facts.partition_point(|(t, _)| *t <= at);
        self.facts.show(facts);
        let losses = self.losses.partition_point(|(t, _)| *t <= at);
        self.losses.show(losses);
        let lost = self.losses.iter().map(|(_, count)| *count);
        self.dropped = lost.fold(0, u64::saturating_add);
        let openings = self.openings.partition_point(|(t, _)| *t <= at);
        self.openings.show(openings);
        let singles = self.singles.partition_point(|t| *t <= at);
        self.singles.show(singles);
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
        self.parts.show(parts.map_or(0, |last| last + 1));
        let fetches = self.fetches.partition_point(|(t, _)| *t <= at);
        let last = fetches.checked_sub(1).and_then(|k| self.fetches.get(k));
        let last = last.and_then(|(_, row)| self.batches.get(*row as usize));
        self.timings.show(last.map_or(0, |b| b.timings.range().end));
        let names = self.stage_names_at.partition_point(|t| *t <= at);
        self.stage_names.show(names);
    }

    /// Arrivals and yields. Several transitions may share the instant `at`: those after the first `step` are hidden.
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
            ticks.show(shown.saturating_sub(hidden));
        }
    }

    /// The first `rows` batches are shown.
    fn hide_batches(
        &mut self,
        step: usize,
        at: Nanos,
        rows: usize,
        flying: &[Flying],
        hidden: &mut Hidden,
    ) {
        let ended = self
            .yields
            .all()
            .len()
            .saturating_sub(hidden.training.len());
        self.steps.show(ended, at);
        self.dispatched.show(rows);
        for f in flying {
            let row = f.batch as usize;
            let Some(now) = self.batches.get(row) else {
                continue;
            };
            let then = self.batch_after(now, step);
            if f.stage < Stage::Done
                && let Some(kept) = self.contents.get_mut(&f.batch)
                && now.pinned
                && !f.pinned
                && kept.at <= at
            {
                let fields = kept.content.fields.iter_mut();
                let flags = fields.map(|field| std::mem::take(&mut field.pinned));
                hidden.pinned.push((f.batch, flags.collect()));
            }
            hidden
                .batches
                .push((row, std::mem::replace(&mut self.batches[row], then)));
        }
        let known = self.fetches.partition_point(|(t, _)| *t <= at);
        for (_, row) in self.fetches.iter().skip(known).take(LATE) {
            let Some(batch) = self.batches.get_mut(*row as usize) else {
                continue;
            };
            if (*row as usize) < rows && batch.is_measured() {
                hidden.batches.push((*row as usize, batch.clone()));
                forget_samples(batch);
            }
        }
        let all = self.messages.all();
        let late = all.get(self.messages.len()..).unwrap_or_default().iter();
        let errors = late.filter(|(_, m)| m.level == Level::Error).take(LATE);
        let about: Vec<BatchId> = errors.filter_map(|(_, m)| m.about).collect();
        for id in about {
            let Some(row) = self.row(id).filter(|row| *row < rows) else {
                continue;
            };
            if self.batches[row].has_error && !self.has_error_so_far(id) {
                hidden.batches.push((row, self.batches[row].clone()));
                self.batches[row].has_error = false;
            }
        }
        self.batches.show(rows);
    }

    /// The batch as it was after the first `step` transitions.
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

    /// Epochs and workers; the first `rows` batches are shown.
    fn hide_phases(&mut self, step: usize, at: Nanos, rows: usize, hidden: &mut Hidden) {
        let shown = self.epochs.partition_point(|e| e.start <= at);
        self.epochs.show(shown);
        let gaps = self.gaps;
        for (k, epoch) in self.epochs.iter_mut().enumerate() {
            let is_whole = epoch.end.is_some_and(|end| end <= at)
                && epoch.rows.last().is_none_or(|row| (*row as usize) < rows);
            if is_whole {
                continue;
            }
            hidden.epochs.push((k, epoch.end));
            epoch.end = epoch.end.filter(|end| *end <= at);
            let is_hidden = |row: &u32| *row as usize >= rows && *row != u32::MAX;
            let of_rows = match gaps {
                0 => epoch.rows.partition_point(|row| !is_hidden(row)),
                _ => {
                    let last = epoch.rows.iter().rposition(|row| (*row as usize) < rows);
                    last.map_or(0, |last| last + 1)
                }
            };
            epoch.rows.show(of_rows);
            let exhausted = epoch
                .exhausted
                .partition_point(|(k, _)| (*k as usize) < step);
            epoch.exhausted.show(exhausted);
            let lost = epoch.lost.partition_point(|k| (*k as usize) < step);
            epoch.lost.show(lost);
        }
        let started = self.workers.partition_point(|w| w.start <= at);
        self.workers.show(started);
        for (k, worker) in self.workers.iter_mut().enumerate() {
            if let Some(end) = worker.end.take_if(|(end, _)| *end > at) {
                hidden.workers.push((k, end));
            }
        }
    }

    /// Puts everything back.
    fn reveal(&mut self, hidden: Hidden) {
        (self.last, self.ended, self.dropped) = (hidden.last, hidden.ended, hidden.dropped);
        self.lanes.show_all(&hidden.spans);
        for (k, end) in hidden.workers {
            self.workers[k].end = Some(end);
        }
        self.workers.show_all();
        for (k, end) in hidden.epochs {
            let epoch = &mut self.epochs[k];
            epoch.end = end;
            epoch.rows.show_all();
            epoch.exhausted.show_all();
            epoch.lost.show_all();
        }
        self.epochs.show_all();
        if let (Some(wait), Some(last)) = (hidden.wait, self.waits.last_mut()) {
            (last.end, last.batch) = wait;
        }
        self.waits.show_all();
        // The other way round: one may have been changed twice.
        for (row, batch) in hidden.batches.into_iter().rev() {
            self.batches[row] = batch;
        }
        self.batches.show_all();
        for (row, flags) in hidden.pinned {
            let kept = self.contents.get_mut(&row);
            let fields = kept.into_iter().flat_map(|k| k.content.fields.iter_mut());
            fields
                .zip(flags)
                .for_each(|(field, flag)| field.pinned = flag);
        }
        self.transitions.show_all();
        self.messages.show_all();
        self.facts.show_all();
        self.losses.show_all();
        self.openings.show_all();
        self.singles.show_all();
        let gauges = self.gauges.values_mut();
        gauges
            .chain(self.part_gauges.values_mut())
            .for_each(|series| series.show_all());
        self.parts.show_all();
        self.timings.show_all();
        self.stage_names.show_all();
        self.steps.show_all();
        for ticks in [&mut self.yields, &mut self.dispatched, &mut self.arrived] {
            ticks.show_all();
        }
    }
}

/// The times of its samples are not known.
fn forget_samples(batch: &mut Batch) {
    (batch.timings, batch.stages) = (Extent::default(), Extent::default());
    batch.stage_names = None;
}
