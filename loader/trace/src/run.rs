//! The fold: events in, everything that can be known about a run out.

use std::collections::BTreeMap;

use crate::batch::Batch;
use crate::event::{Dispatch, EndReason, Event, EventKind, Fetched, Gauge, WorkerInfo};
use crate::machine::Keyframe;
use crate::span::Spans;
use crate::{
    Activity, BatchContent, BatchId, Lane, Level, Message, Nanos, RunInfo, Span, Stage, WorkerId,
};

mod query;

/// A batch changed its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When.
    pub at: Nanos,
    /// Position of the batch in [`Run::batches`].
    pub batch: u32,
    /// The transition before this one of the same batch; `u32::MAX` for its first.
    pub(crate) previous: u32,
    /// The stage it entered.
    pub stage: Stage,
}

/// A stretch in which the trainer waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// `next` was called.
    pub start: Nanos,
    /// `next` returned; [`Nanos::MAX`] while it lasts.
    pub end: Nanos,
    /// Position in [`Run::batches`] of the batch that came; `None` while it lasts and at the end of an epoch.
    pub batch: Option<u32>,
}

/// One pass over the dataset.
#[derive(Clone, Debug, Default)]
pub struct Epoch {
    /// Its number, from 0.
    pub epoch: u32,
    /// `iter(loader)`.
    pub start: Nanos,
    /// The end of the iterator; `None` while it lasts.
    pub end: Option<Nanos>,
    /// Positions in [`Run::batches`] by task index.
    pub rows: Vec<u32>,
}

/// A worker as far as it introduced itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    /// Id and seed.
    pub info: WorkerInfo,
    /// When it started.
    pub start: Nanos,
    /// When and why it ended.
    pub end: Option<(Nanos, EndReason)>,
}

/// Everything known about one run. Grows by [`Run::apply`] and by nothing else.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// How it introduced itself.
    pub info: RunInfo,
    pub(crate) batches: Vec<Batch>,
    pub(crate) epochs: Vec<Epoch>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) lanes: BTreeMap<Lane, Vec<Spans>>,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) keyframes: Vec<Keyframe>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) messages: Vec<(Nanos, Message)>,
    pub(crate) gauges: Vec<(Nanos, Gauge)>,
    pub(crate) contents: BTreeMap<u32, Box<BatchContent>>,
    pub(crate) indices: Vec<u64>,
    pub(crate) timings: Vec<crate::SampleTiming>,
    pub(crate) stage_walls: Vec<Nanos>,
    pub(crate) stage_names: Vec<Vec<String>>,
    /// Batches that are in no final stage, by position.
    pub(crate) in_flight: Vec<u32>,
    pub(crate) last: Nanos,
    pub(crate) ended: bool,
    pub(crate) events: u64,
    pub(crate) dropped: u64,
    pub(crate) late: u64,
    pub(crate) inconsistent: u64,
}

impl Run {
    /// An empty run.
    pub fn new(info: RunInfo) -> Self {
        Self {
            info,
            ..Self::default()
        }
    }

    /// Takes in one event. Events come in order of time ([`crate::Sorter`]); one that is late counts as happening now and is
    /// counted, one that contradicts what is known (because events were lost, say) is counted and otherwise ignored.
    pub fn apply(&mut self, event: &Event) {
        self.events += 1;
        if event.at < self.last && !matches!(event.kind, EventKind::RunStarted(_)) {
            self.late += 1;
        }
        let at = event.at.max(self.last);
        if self.events > 1 || !matches!(event.kind, EventKind::RunStarted(_)) {
            self.last = at;
        }
        match &event.kind {
            EventKind::RunStarted(info) => self.info = (**info).clone(),
            EventKind::EpochStarted { epoch } => self.start_epoch(at, *epoch),
            EventKind::EpochEnded { epoch } => self.end_epoch(at, *epoch),
            EventKind::RunEnded => self.end_run(at),
            EventKind::WorkerStarted(info) => self.workers.push(Worker {
                info: (**info).clone(),
                start: at,
                end: None,
            }),
            EventKind::WorkerEnded { worker, reason } => self.end_worker(at, *worker, *reason),
            EventKind::Dispatched(dispatch) => self.dispatch(at, dispatch),
            EventKind::Entered { batch, stage } => match self.row(*batch) {
                Some(row) => self.enter(at, row, *stage),
                None => self.inconsistent += 1,
            },
            EventKind::Fetched(fetched) => self.fetched(fetched),
            EventKind::Content(content) => match self.row(content.batch) {
                Some(row) => _ = self.contents.insert(row as u32, content.clone()),
                None => self.inconsistent += 1,
            },
            EventKind::Consumer { waiting: true } => self.start_wait(at),
            EventKind::Consumer { waiting: false } => self.end_wait(at, None),
            EventKind::Gauge(gauge) => self.gauges.push((at, (**gauge).clone())),
            EventKind::Message(message) => self.message(at, message),
            EventKind::Dropped { count } => self.dropped += count,
        }
    }

    fn start_epoch(&mut self, at: Nanos, epoch: u32) {
        if self.epochs.iter().any(|e| e.epoch == epoch) {
            self.inconsistent += 1;
            return;
        }
        self.epochs.push(Epoch {
            epoch,
            start: at,
            ..Epoch::default()
        });
    }

    fn end_epoch(&mut self, at: Nanos, epoch: u32) {
        let Some(known) = self.epochs.iter_mut().rev().find(|e| e.epoch == epoch) else {
            self.inconsistent += 1;
            return;
        };
        known.end = Some(at);
        self.end_wait(at, None);
        let left: Vec<u32> = self.in_flight.clone();
        for row in left {
            let batch = &self.batches[row as usize];
            if batch.id.epoch == epoch {
                let end = match batch.stage {
                    Stage::Training => Stage::Done,
                    _ => Stage::Discarded,
                };
                self.enter(at, row as usize, end);
            }
        }
    }

    fn end_run(&mut self, at: Nanos) {
        let open: Vec<u32> = self
            .epochs
            .iter()
            .filter(|e| e.end.is_none())
            .map(|e| e.epoch)
            .collect();
        for epoch in open {
            self.end_epoch(at, epoch);
        }
        self.end_wait(at, None);
        self.ended = true;
    }

    fn end_worker(&mut self, at: Nanos, worker: WorkerId, reason: EndReason) {
        let known = self
            .workers
            .iter_mut()
            .rev()
            .find(|w| w.info.worker == worker && w.end.is_none());
        match known {
            Some(known) => known.end = Some((at, reason)),
            None => self.inconsistent += 1,
        }
    }

    fn dispatch(&mut self, at: Nanos, dispatch: &Dispatch) {
        let row = self.batches.len() as u32;
        let Some(epoch) = self
            .epochs
            .iter_mut()
            .rev()
            .find(|e| e.epoch == dispatch.batch.epoch)
        else {
            self.inconsistent += 1;
            return;
        };
        // After lost events some rows stay unknown; a batch index far beyond what was seen is a broken source.
        let missing = (dispatch.batch.idx as usize).checked_sub(epoch.rows.len());
        let Some(missing) = missing.filter(|m| *m <= 1 << 20) else {
            self.inconsistent += 1;
            return;
        };
        epoch.rows.extend(std::iter::repeat_n(u32::MAX, missing));
        epoch.rows.push(row);
        self.inconsistent += u64::from(missing > 0);
        let first = self.indices.len() as u64;
        self.indices.extend_from_slice(&dispatch.indices);
        self.batches.push(Batch {
            id: dispatch.batch,
            worker: dispatch.worker,
            stage: Stage::Queued,
            was_held: false,
            was_yielded: false,
            has_error: false,
            pinned: false,
            place: None,
            first: self.transitions.len() as u32,
            last: u32::MAX,
            indices: (first, dispatch.indices.len() as u32),
            timings: (0, 0),
            stages: (0, 0),
            stage_names: 0,
        });
        self.in_flight.push(row);
        self.note_transition(at, row, Stage::Queued);
        self.move_to(at, row, Stage::Queued);
    }

    /// The batch at `row` enters `stage`.
    fn enter(&mut self, at: Nanos, row: usize, stage: Stage) {
        let batch = &mut self.batches[row];
        if !batch.stage.may_enter(stage) {
            self.inconsistent += 1;
            return;
        }
        batch.pinned |= stage == Stage::Pinning;
        batch.was_held |= stage == Stage::Held;
        batch.was_yielded |= stage == Stage::Training;
        batch.stage = stage;
        let row = row as u32;
        if stage.is_final() {
            self.in_flight.retain(|r| *r != row);
        }
        if matches!(stage, Stage::Training | Stage::Failed) {
            self.end_wait(at, Some(row));
        }
        self.note_transition(at, row, stage);
        self.move_to(at, row, stage);
    }

    fn note_transition(&mut self, at: Nanos, row: u32, stage: Stage) {
        let position = self.transitions.len();
        if position.is_multiple_of(Keyframe::EVERY) {
            self.keyframes.push(Keyframe::of(self, row));
        }
        let batch = &mut self.batches[row as usize];
        let previous = std::mem::replace(&mut batch.last, position as u32);
        self.transitions.push(Transition {
            at,
            batch: row,
            previous,
            stage,
        });
    }

    /// Closes the span of a batch and opens the one in its new lane, in the first row that is free.
    fn move_to(&mut self, at: Nanos, row: u32, stage: Stage) {
        let batch = &mut self.batches[row as usize];
        if let Some((lane, track)) = batch.place.take()
            && let Some(rows) = self.lanes.get_mut(&lane)
            && let Some(span) = rows[usize::from(track)].open_mut()
        {
            span.end = at;
        }
        let (Some(lane), Some(activity)) = (
            Lane::of(stage, batch.worker, batch.pinned),
            Activity::of(stage),
        ) else {
            return;
        };
        let rows = self.lanes.entry(lane).or_default();
        let free = rows.iter().position(|spans| spans.is_free_at(at));
        let track = free.unwrap_or_else(|| {
            rows.push(Spans::default());
            rows.len() - 1
        });
        let Ok(track_row) = u16::try_from(track) else {
            self.inconsistent += 1;
            return;
        };
        rows[track].open(at, row, activity);
        batch.place = Some((lane, track_row));
    }

    fn start_wait(&mut self, at: Nanos) {
        if self.waits.last().is_some_and(|w| w.end == Nanos::MAX) {
            self.inconsistent += 1;
            return;
        }
        // Asking for the next batch ends the work on the one before.
        if let Some(row) = self.in_training() {
            self.enter(at, row, Stage::Done);
        }
        self.waits.push(Wait {
            start: at,
            end: Nanos::MAX,
            batch: None,
        });
        let rows = self.lanes.entry(Lane::Trainer).or_default();
        if rows.is_empty() {
            rows.push(Spans::default());
        }
        if rows[0].is_free_at(at) {
            rows[0].open(at, Span::NO_BATCH, Activity::Waiting);
        }
    }

    fn end_wait(&mut self, at: Nanos, batch: Option<u32>) {
        let Some(wait) = self.waits.last_mut().filter(|w| w.end == Nanos::MAX) else {
            return;
        };
        wait.end = at;
        wait.batch = batch;
        if let Some(rows) = self.lanes.get_mut(&Lane::Trainer)
            && let Some(span) = rows[0].open_mut()
            && span.activity == Activity::Waiting
        {
            span.end = at;
            span.batch = batch.unwrap_or(Span::NO_BATCH);
        }
    }

    fn fetched(&mut self, fetched: &Fetched) {
        let Some(row) = self.row(fetched.batch) else {
            self.inconsistent += 1;
            return;
        };
        let count = fetched.samples.len();
        let names: Vec<String> = fetched.stages.iter().map(|s| s.name.clone()).collect();
        let known = self.stage_names.iter().position(|n| *n == names);
        let names_at = known.unwrap_or_else(|| {
            self.stage_names.push(names);
            self.stage_names.len() - 1
        });
        let batch = &mut self.batches[row];
        batch.timings = (self.timings.len() as u64, count as u32);
        batch.stages = (self.stage_walls.len() as u64, fetched.stages.len() as u16);
        batch.stage_names = names_at as u16;
        self.timings.extend_from_slice(&fetched.samples);
        for stage in &fetched.stages {
            let walls = stage.walls.iter().copied();
            self.stage_walls
                .extend(walls.chain(std::iter::repeat(Nanos::ZERO)).take(count));
        }
    }

    fn message(&mut self, at: Nanos, message: &Message) {
        if message.level == Level::Error
            && let Some(row) = message.about.and_then(|id| self.row(id))
        {
            self.batches[row].has_error = true;
        }
        self.messages.push((at, message.clone()));
    }

    /// Position in [`Run::batches`] of a batch.
    pub fn row(&self, id: BatchId) -> Option<usize> {
        let epoch = self.epochs.iter().rev().find(|e| e.epoch == id.epoch)?;
        let row = *epoch.rows.get(id.idx as usize)?;
        (row != u32::MAX).then_some(row as usize)
    }

    fn in_training(&self) -> Option<usize> {
        let row = self
            .in_flight
            .iter()
            .find(|row| self.batches[**row as usize].stage == Stage::Training)?;
        Some(*row as usize)
    }
}
