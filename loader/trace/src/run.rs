//! The fold: events in, everything that can be known about a run out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::batch::{Batch, Extent};
use crate::event::{Dispatch, Event, EventKind, GaugeKind};
use crate::keyframe::Keyframe;
use crate::lanes::Lanes;
use crate::series::{Series, Ticks};
use crate::step::OpenStep;
use crate::timings::Timings;
use crate::transition::Transition;
use crate::{
    BatchContent, BatchId, Fact, Lane, Level, Message, Moment, Nanos, Past, RunInfo, Stage,
    WorkerId,
};
use loadscope_column::Column;

mod ending;
mod epoch;
mod facts;
mod fetched;
mod gauges;
mod hide;
mod loop_time;
mod memory;
mod past;
mod phases;
mod place;
mod processor;
mod query;
mod range;
mod size;
mod steps;
mod times;
mod transition;
mod wait;
mod worker;

pub use epoch::Epoch;
pub use loop_time::LeftOut;
pub use memory::Memory;
pub use range::RangeSummary;
pub use times::Computed;
pub use wait::Wait;
pub use worker::Worker;

/// Batches that an epoch may leave out, over the whole run: after lost events some stay unknown.
const MAX_GAPS: usize = 1 << 20;

/// Everything known about one run. Grows by [`Run::apply`] and by nothing else.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// How it introduced itself.
    pub info: RunInfo,
    pub(crate) batches: Column<Batch>,
    pub(crate) epochs: Column<Epoch>,
    pub(crate) workers: Column<Worker>,
    pub(crate) lanes: Lanes,
    pub(crate) transitions: Column<Transition>,
    /// By position, which transition before it is of the same batch, where that is very far away.
    far_back: BTreeMap<u32, u32>,
    pub(crate) keyframes: Column<Keyframe>,
    pub(crate) waits: Column<Wait>,
    /// When batches were handed to the trainer.
    pub(crate) yields: Ticks,
    /// When batches were dispatched.
    pub(crate) dispatched: Ticks,
    /// When they were received by the main thread, or given up.
    pub(crate) arrived: Ticks,
    pub(crate) messages: Column<(Nanos, Message)>,
    pub(crate) facts: Column<(Nanos, Fact)>,
    pub(crate) gauges: BTreeMap<(Option<Lane>, GaugeKind), Series>,
    /// Names of the parts of a pipeline that is no `DataLoader`, in the order in which they were heard of.
    pub(crate) parts: Column<String>,
    /// What was measured of them, by position in `parts`.
    pub(crate) part_gauges: BTreeMap<(u16, GaugeKind), Series>,
    /// Contents of batches, in the order in which they became known.
    pub(crate) contents: Column<Kept>,
    /// What fetches and steps needed of the processor, where it was measured, by position of the batch.
    pub(crate) processor: times::Times,
    pub(crate) indices: Column<u64>,
    pub(crate) timings: Timings,
    pub(crate) stage_walls: Column<Nanos>,
    pub(crate) stage_names: Column<Vec<String>>,
    /// When each of these lists was met first.
    stage_names_at: Column<Nanos>,
    /// When the samples of which batch became known.
    fetches: Column<(Nanos, u32)>,
    /// Positions of the batches that are in no final stage, in no order; each knows its place.
    pub(crate) in_flight: Vec<u32>,
    /// The training steps that are over.
    steps: steps::Steps,
    /// The step after the last batch, while `next` was not called.
    step: Option<OpenStep>,
    /// When epochs ended that yielded one batch of several.
    singles: Column<Nanos>,
    /// An iterator was made, and when it gave its last task so far; `next` was not called yet.
    opened: Option<(Nanos, Nanos)>,
    /// How long making iterators took, up to each first `next`.
    openings: Column<(Nanos, Nanos)>,
    /// Positions of the batches that the trainer works on.
    training: BTreeSet<u32>,
    /// Positions in `epochs` by number.
    epoch_at: BTreeMap<u32, usize>,
    /// Numbers of the epochs that last.
    open_epochs: BTreeSet<u32>,
    /// Batches that an error was about before they were dispatched.
    early_errors: BTreeSet<BatchId>,
    /// Positions in `workers` of those that have not ended.
    running: BTreeMap<WorkerId, Vec<usize>>,
    /// Number of batches that epochs left out so far.
    gaps: usize,
    pub(crate) last: Nanos,
    pub(crate) ended: bool,
    /// When the run said so.
    ended_at: Nanos,
    /// No further events follow: the file was read to its end.
    closed: bool,
    pub(crate) events: u64,
    pub(crate) dropped: u64,
    /// When the observer told that it had lost events, and how many.
    pub(crate) losses: Column<(Nanos, u64)>,
    pub(crate) late: u64,
    pub(crate) inconsistent: u64,
    /// What is known of before, where not everything is kept.
    pub(crate) past: Option<Box<Past>>,
    /// The run with its end, if that is hidden.
    hidden: Option<Hidden>,
}

/// A run whose end is hidden in another one.
#[derive(Clone, Debug)]
struct Hidden {
    moment: Moment,
    whole: Arc<Run>,
}

/// The content of a batch, and when it became known.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Position of the batch.
    pub row: u32,
    pub at: Nanos,
    pub content: Arc<BatchContent>,
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
        if self.apply_summary(event) {
            return;
        }
        let at = self.advance_clock(event);
        match &event.kind {
            EventKind::RunStarted(info) => self.info = (**info).clone(),
            EventKind::EpochStarted { epoch } => self.start_epoch(at, *epoch),
            EventKind::EpochEnded { epoch } => self.end_epoch(at, *epoch),
            EventKind::RunEnded => self.end_run(at),
            EventKind::WorkerStarted(info) => self.start_worker(at, info),
            EventKind::WorkerEnded {
                worker,
                reason,
                os_id,
            } => self.end_worker(at, *worker, *reason, *os_id),
            EventKind::WorkerSeeded(of) => self.seed_worker(of),
            EventKind::Dispatched(dispatch) => self.dispatch(at, dispatch),
            EventKind::Entered { batch, stage } => match self.row(*batch) {
                Some(row) => self.enter(at, row, *stage),
                None => self.inconsistent += 1,
            },
            EventKind::Fetched(fetched) => self.fetched(at, fetched),
            EventKind::Processor(time) => self.processor(time),
            EventKind::Aside(aside) => self.put_aside(at, aside),
            EventKind::Content(content) => self.keep_content(at, content.clone()),
            EventKind::Consumer { waiting: true } => self.start_wait(at),
            EventKind::Consumer { waiting: false } => self.end_wait(at, None),
            EventKind::Gauge(gauge) => self.measured(at, gauge),
            EventKind::Message(message) => self.message(at, message),
            EventKind::Dropped { count } => {
                self.dropped = self.dropped.saturating_add(*count);
                self.losses.push((at, *count));
            }
            EventKind::EpochContinued { epoch, first } => self.continue_epoch(at, *epoch, *first),
            EventKind::Fact(fact) => self.learn(at, fact),
            EventKind::Retention(_)
            | EventKind::Summed(_)
            | EventKind::Kept(_)
            | EventKind::State(_) => {}
        }
    }

    /// The same for one without another owner: what is large in it is kept and not copied.
    pub fn take(&mut self, event: Event) {
        match event.kind {
            EventKind::Content(_) => {
                let at = self.advance_clock(&event);
                if let EventKind::Content(content) = event.kind {
                    self.keep_content(at, content);
                }
            }
            _ => self.apply(&event),
        }
    }

    /// Counts an event and advances the clock of the run. Returns the time at which the event counts.
    fn advance_clock(&mut self, event: &Event) -> Nanos {
        self.hide_after(None);
        self.events += 1;
        if event.at < self.last && !matches!(event.kind, EventKind::RunStarted(_)) {
            self.late += 1;
        }
        // `Nanos::MAX` is the end of what still lasts, so nothing happens then.
        let at = event.at.max(self.last).min(Nanos(i64::MAX - 1));
        if self.events > 1 || !matches!(event.kind, EventKind::RunStarted(_)) {
            self.last = at;
        }
        at
    }

    fn dispatch(&mut self, at: Nanos, dispatch: &Dispatch) {
        let row = self.batches.len() as u32;
        let position = self.epoch_at.get(&dispatch.batch.epoch);
        let Some(epoch) = position.map(|at| &mut self.epochs[*at]) else {
            self.inconsistent += 1;
            return;
        };
        // After lost events some rows stay unknown; a batch index far beyond what was seen is a broken source.
        let place = dispatch.batch.idx.checked_sub(epoch.first);
        let missing = place.and_then(|place| (place as usize).checked_sub(epoch.rows.len()));
        let Some(missing) = missing.filter(|m| epoch.end.is_none() && *m <= MAX_GAPS - self.gaps)
        else {
            self.inconsistent += 1;
            return;
        };
        self.gaps += missing;
        epoch.rows.extend(std::iter::repeat_n(u32::MAX, missing));
        epoch.rows.push(row);
        let is_known = std::mem::take(&mut epoch.has_gap);
        self.inconsistent += u64::from(missing > 0 && !is_known);
        let indices = Extent::new(self.indices.len(), dispatch.indices.len() as u32);
        self.indices.extend(dispatch.indices.iter().copied());
        self.batches.push(Batch {
            id: dispatch.batch,
            worker: dispatch.worker,
            stage: Stage::Queued,
            was_held: false,
            was_yielded: false,
            has_error: self.early_errors.contains(&dispatch.batch),
            pinned: false,
            flying: self.in_flight.len() as u32,
            place: None,
            first: self.transitions.len() as u32,
            last: u32::MAX,
            indices,
            timings: Extent::default(),
            stages: Extent::default(),
            stage_names: None,
            content: u32::MAX,
        });
        self.note_dispatch(at);
        self.dispatched.push(at);
        self.note_transition(at, row, Stage::Queued);
        self.in_flight.push(row);
        self.move_to(at, row, Stage::Queued);
    }

    /// The batch at `row` enters `stage`.
    fn enter(&mut self, at: Nanos, row: usize, stage: Stage) {
        let batch = &mut self.batches[row];
        if batch.stage == Stage::Discarded {
            // A persistent worker still goes through what an epoch that was stopped early has left in its queue.
            return;
        }
        if !batch.stage.may_enter(stage) {
            self.inconsistent += 1;
            return;
        }
        batch.pinned |= stage == Stage::Pinning;
        if stage == Stage::Discarded {
            self.note_discarded(row);
        }
        let batch = &mut self.batches[row];
        batch.was_held |= stage == Stage::Held;
        batch.was_yielded |= stage == Stage::Training;
        if stage.has_arrived() && !batch.stage.has_arrived() {
            self.arrived.push(at);
        }
        let before = std::mem::replace(&mut batch.stage, stage);
        let since = self.transitions.get(batch.last as usize).map(|t| t.at);
        let row = row as u32;
        self.note_transition(at, row, stage);
        if before == Stage::Training {
            self.training.remove(&row);
            self.end_step(at, row, since.unwrap_or(at));
        }
        if stage == Stage::Training {
            self.training.insert(row);
            self.yields.push(at);
            self.begin_step(at, row);
        }
        if stage.is_final() {
            self.finish_batch(row);
        }
        if matches!(stage, Stage::Training | Stage::Failed) {
            self.end_wait(at, Some(row));
        }
        self.move_to(at, row, stage);
    }

    /// Removes a batch from those in flight.
    fn finish_batch(&mut self, row: u32) {
        let place = self.batches[row as usize].flying;
        self.in_flight.swap_remove(place as usize);
        if let Some(moved) = self.in_flight.get(place as usize) {
            self.batches[*moved as usize].flying = place;
        }
    }

    /// Notes why a batch was discarded while its epoch lasts. A task that a worker has taken was answered with the end of its stream,
    /// which the main process received just now. Other tasks get no answer, because their worker has ended.
    fn note_discarded(&mut self, row: usize) {
        let batch = &self.batches[row];
        let Some(epoch) = self.epoch_at.get(&batch.id.epoch) else {
            return;
        };
        let epoch = &mut self.epochs[*epoch];
        if epoch.end.is_some() {
            return;
        }
        let at = self.transitions.len() as u32;
        let is_gone = |w: &WorkerId| self.running.get(w).is_some_and(Vec::is_empty);
        match batch.worker.filter(|w| !is_gone(w)) {
            Some(worker) if batch.stage > Stage::Queued => epoch.exhausted.push((at, worker)),
            _ => epoch.lost.push(at),
        }
    }

    fn keep_content(&mut self, at: Nanos, content: Box<BatchContent>) {
        let Some(row) = self.row(content.batch) else {
            self.inconsistent += 1;
            return;
        };
        // The first content counts. The time of another one is unknown.
        if self.content_at(row).is_some() {
            return;
        }
        self.batches[row].content = self.contents.len() as u32;
        let content = content.into();
        let row = row as u32;
        self.contents.push(Kept { row, at, content });
    }

    fn note_transition(&mut self, at: Nanos, row: u32, stage: Stage) {
        let position = self.transitions.len();
        let last = self.keyframes.last();
        if Keyframe::is_due(last, position, self.in_flight.len()) {
            let keyframe = self.keyframe();
            self.keyframes.push(keyframe);
        }
        let batch = &mut self.batches[row as usize];
        let previous = std::mem::replace(&mut batch.last, position as u32);
        self.push_transition((at, row, stage), previous);
    }

    fn message(&mut self, at: Nanos, message: &Message) {
        if message.level == Level::Error
            && let Some(id) = message.about
        {
            match self.row(id) {
                Some(row) => self.batches[row].has_error = true,
                None => _ = self.early_errors.insert(id),
            }
        }
        self.messages.push((at, message.clone()));
    }

    /// Position in [`Run::batches`] of a batch.
    pub fn row(&self, id: BatchId) -> Option<usize> {
        // Nearly always the last one.
        let last = self.epochs.len().wrapping_sub(1);
        let epoch = match self.epochs.last() {
            Some(epoch) if epoch.epoch == id.epoch => last,
            _ => *self.epoch_at.get(&id.epoch)?,
        };
        let epoch = self.epochs.get(epoch)?;
        let row = *epoch.rows.get(id.idx.checked_sub(epoch.first)? as usize)?;
        (row != u32::MAX).then_some(row as usize)
    }
}
