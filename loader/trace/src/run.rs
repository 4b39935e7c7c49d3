//! Fold of the events of a run.

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

mod cpu_times;
mod device;
mod device_wait;
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
mod stacks;
mod steps;
mod sums;
mod transition;
mod wait;
mod worker;

pub use cpu_times::CpuTime;
pub use device::DeviceTime;
pub use epoch::Epoch;
pub use loop_time::TimeOutsideLoop;
pub use memory::Memory;
pub use range::RangeSummary;
pub use wait::Wait;
pub use worker::Worker;

/// Maximum number of missing batches per run. Lost events can leave batches unknown.
const MAX_GAPS: usize = 1 << 20;

/// State of one run. Only [`Run::apply`] adds to it.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Description of the loader.
    pub info: RunInfo,
    pub(crate) batches: Column<Batch>,
    pub(crate) epochs: Column<Epoch>,
    pub(crate) workers: Column<Worker>,
    pub(crate) lanes: Lanes,
    pub(crate) transitions: Column<Transition>,
    /// Position of the previous transition of the same batch, for transitions that are too far apart for the compact form.
    far_back: BTreeMap<u32, u32>,
    pub(crate) keyframes: Column<Keyframe>,
    pub(crate) waits: Column<Wait>,
    /// Running sums of the waits, one per [`wait::BLOCK`] waits.
    wait_sums: Column<wait::WaitSum>,
    /// Times at which the trainer received a batch.
    pub(crate) yields: Ticks,
    /// Times of dispatches.
    pub(crate) dispatched: Ticks,
    /// Times at which the main process received a batch or gave it up.
    pub(crate) arrived: Ticks,
    pub(crate) messages: Column<(Nanos, Message)>,
    pub(crate) facts: Column<(Nanos, Fact)>,
    pub(crate) gauges: BTreeMap<(Option<Lane>, GaugeKind), Series>,
    stacks: crate::StackLog,
    /// Waits that were measured on the device.
    device_waits: device::DeviceWaits,
    /// Parts of a pipeline other than a `DataLoader`, in order of appearance.
    pub(crate) parts: Column<String>,
    /// Gauges of these parts, by position in `parts`.
    pub(crate) part_gauges: BTreeMap<(u16, GaugeKind), Series>,
    /// Contents of batches, in order of arrival.
    pub(crate) contents: Column<Kept>,
    /// Size of these contents, bytes.
    content_bytes: u64,
    /// CPU times of fetches and steps, by position of the batch.
    pub(crate) cpu_times: cpu_times::CpuTimes,
    pub(crate) indices: Column<u64>,
    pub(crate) timings: Timings,
    pub(crate) stage_walls: Column<Nanos>,
    pub(crate) stage_names: Column<Vec<String>>,
    /// Time of the first use of each list of stage names.
    stage_names_at: Column<Nanos>,
    /// Times at which sample times arrived, and the position of the batch.
    fetches: Column<(Nanos, u32)>,
    /// Positions of the batches in flight, unordered. Each batch stores its index in this list.
    pub(crate) in_flight: Vec<u32>,
    /// Finished training steps.
    steps: steps::Steps,
    /// Step on the latest batch, until the next call of `next`.
    step: Option<OpenStep>,
    /// Ends of epochs that yielded only one of several batches.
    singles: Column<Nanos>,
    /// Start and latest dispatch of an iterator whose `next` was not called yet.
    pub(crate) opened: Option<(Nanos, Nanos)>,
    /// Running total of the time in `iter`, at each first call of `next`.
    openings: Column<(Nanos, Nanos)>,
    /// Positions of the batches in stage *training*.
    training: BTreeSet<u32>,
    /// Positions in `epochs` by epoch number.
    pub(crate) epoch_at: BTreeMap<u32, usize>,
    /// Numbers of the running epochs.
    pub(crate) open_epochs: BTreeSet<u32>,
    /// Batches with an error message before their dispatch.
    early_errors: BTreeSet<BatchId>,
    /// Positions in `workers` of the running workers.
    pub(crate) running: BTreeMap<WorkerId, Vec<usize>>,
    /// Number of missing batches so far.
    gaps: usize,
    pub(crate) last: Nanos,
    pub(crate) ended: bool,
    /// Time of [`EventKind::RunEnded`].
    pub(crate) ended_at: Nanos,
    /// True if no further events follow, because the file was read to its end.
    closed: bool,
    pub(crate) events: u64,
    pub(crate) dropped: u64,
    /// Times at which the recorder reported dropped events, and their numbers.
    pub(crate) losses: Column<(Nanos, u64)>,
    pub(crate) late: u64,
    pub(crate) inconsistent: u64,
    /// Reduced data from before the complete part of the recording.
    pub(crate) past: Option<Box<Past>>,
    /// Complete run, if its end is hidden.
    hidden: Option<Hidden>,
}

/// Complete run whose end is hidden.
#[derive(Clone, Debug)]
struct Hidden {
    moment: Moment,
    whole: Arc<Run>,
}

/// Content of a batch, and the time of its arrival.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Position of the batch.
    pub row: u32,
    pub at: Nanos,
    pub content: Arc<BatchContent>,
}

impl Run {
    /// Creates an empty run.
    pub fn new(info: RunInfo) -> Self {
        Self {
            info,
            ..Self::default()
        }
    }

    /// Applies one event. Events must be sorted by time ([`crate::Sorter`]). A late event is counted and gets the current time. A
    /// contradictory event, for example after lost events, is counted and otherwise ignored.
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
            EventKind::Fetched(fetched) => self.apply_fetched(at, fetched),
            EventKind::Processor(time) => self.apply_processor_time(time),
            EventKind::Aside(aside) => self.apply_aside(at, aside),
            EventKind::DeviceWait(wait) => self.apply_device_wait(at, wait),
            EventKind::Content(content) => self.keep_content(at, content),
            EventKind::Consumer { waiting: true } => self.start_wait(at),
            EventKind::Consumer { waiting: false } => self.end_wait(at, None),
            EventKind::Stacks(stacks) => self.apply_stacks(at, stacks),
            EventKind::Gauge(gauge) => self.apply_gauge(at, gauge),
            EventKind::Message(message) => self.apply_message(at, message),
            EventKind::Dropped { count } => {
                self.dropped = self.dropped.saturating_add(*count);
                self.losses.push((at, *count));
            }
            EventKind::EpochContinued { epoch, first } => self.continue_epoch(at, *epoch, *first),
            EventKind::Fact(fact) => self.apply_fact(at, fact),
            EventKind::Retention(_)
            | EventKind::Summed(_)
            | EventKind::Kept(_)
            | EventKind::State(_) => {}
        }
    }

    /// Counts an event and advances the clock of the run. Returns the effective time of the event.
    fn advance_clock(&mut self, event: &Event) -> Nanos {
        self.hide_after(None);
        self.events += 1;
        // The end of a program becomes known after its last measurements.
        let is_exempt = matches!(event.kind, EventKind::RunStarted(_) | EventKind::RunEnded);
        if event.at < self.last && !is_exempt {
            self.late += 1;
        }
        // `Nanos::MAX` marks spans and waits that have not ended, so no event has this time.
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
        // Lost events leave gaps. A batch number far beyond the previous ones is an error of the source.
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
            in_flight_position: self.in_flight.len() as u32,
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

    /// Moves the batch at `row` to `stage`.
    fn enter(&mut self, at: Nanos, row: usize, stage: Stage) {
        let batch = &mut self.batches[row];
        if batch.stage == Stage::Discarded {
            // A persistent worker still processes the queued tasks of an epoch that was stopped early.
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

    /// Removes a batch from the batches in flight.
    fn finish_batch(&mut self, row: u32) {
        let place = self.batches[row as usize].in_flight_position;
        self.in_flight.swap_remove(place as usize);
        if let Some(moved) = self.in_flight.get(place as usize) {
            self.batches[*moved as usize].in_flight_position = place;
        }
    }

    /// Records why a batch was discarded during its epoch. If the worker took the task, the main process has just received the end of its
    /// stream. Otherwise, the worker has ended and the task gets no answer.
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

    fn apply_message(&mut self, at: Nanos, message: &Message) {
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

    /// Returns the position of a batch in [`Run::batches`].
    pub fn row(&self, id: BatchId) -> Option<usize> {
        // The batch is usually in the last epoch.
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
