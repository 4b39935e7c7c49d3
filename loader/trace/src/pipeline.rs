//! State of the pipeline at an instant: the place of each batch, and PyTorch's counters.

use crate::keyframe::InFlightBatch;
use crate::{BatchId, Epoch, Lane, Nanos, Run, Stage, Wait};

mod task;
mod variables;

pub use task::TaskInfo;

/// State of the pipeline at an instant.
#[derive(Clone, Debug)]
pub struct Pipeline<'a> {
    run: &'a Run,
    /// Instant of this state.
    pub at: Nanos,
    /// Number of transitions so far.
    pub step: usize,
    /// Current epoch. `None` before the first.
    pub epoch: Option<u32>,
    /// Number of batches dispatched in this epoch. PyTorch's `_send_idx`.
    pub send_idx: u32,
    /// Index of the next batch to yield, PyTorch's `_rcvd_idx`.
    pub rcvd_idx: u32,
    /// Batches that were dispatched and not yet received, PyTorch's `_tasks_outstanding`.
    pub tasks_outstanding: u32,
    /// Current wait of the trainer, if any.
    pub waiting: Option<Wait>,
    in_flight: Vec<InFlightBatch>,
    /// Entries of `_task_info`, sorted by index.
    tasks: Vec<TaskInfo>,
}

/// Batch in the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBatch {
    /// Position in [`Run::batches`].
    pub row: usize,
    /// Epoch and number.
    pub id: BatchId,
    /// Current stage.
    pub stage: Stage,
    /// Current lane. `None` in a final stage.
    pub lane: Option<Lane>,
    /// Time of entering the stage.
    pub since: Nanos,
}

impl<'a> Pipeline<'a> {
    pub(crate) fn after(run: &'a Run, step: usize, at: Nanos) -> Self {
        let mut in_flight = in_flight(run, step);
        // The batch that left the pipeline with the last transition stays in the list, so that the window can show it.
        let moved = run.transitions.range(..step).last().map(|t| t.batch);
        in_flight.retain(|f| !f.stage.is_final() || Some(f.batch) == moved);
        let begun = run.epochs.partition_point(|e| e.start <= at);
        let epoch = run.epochs.range(..begun).last();
        let mut pipeline = Self {
            run,
            at,
            step,
            epoch: epoch.map(|e| e.epoch),
            send_idx: 0,
            rcvd_idx: 0,
            tasks_outstanding: 0,
            waiting: run.wait_at(at),
            in_flight,
            tasks: Vec::new(),
        };
        if let Some(epoch) = epoch {
            pipeline.count(epoch);
        }
        pipeline
    }

    /// Counts the dispatched, received and outstanding batches of `epoch`.
    fn count(&mut self, epoch: &Epoch) {
        let (run, step) = (self.run, self.step);
        // Rows are in dispatch order, so the dispatched batches are a prefix.
        let sent = epoch
            .rows
            .partition_point(|row| run.first_transition(*row) < step);
        self.send_idx = epoch.first.saturating_add(sent as u32);
        self.tasks = self.pending();
        let call = self.last_call(epoch);
        let call = self.take_kept(call);
        self.rcvd_idx = self.derive_rcvd_idx(call);
        let ended = self.ended(epoch, call);
        self.tasks.extend(ended);
        self.tasks.sort_unstable_by_key(|task| task.idx);
        let lost = epoch.lost.partition_point(|at| (*at as usize) < step);
        let is_over = epoch.end.is_some_and(|end| end <= self.at);
        let on_their_way = self.task_info().filter(|t| !t.stage.has_arrived()).count();
        self.tasks_outstanding = (on_their_way + if is_over { 0 } else { lost }) as u32;
    }

    /// Returns the batches in the pipeline in order of dispatch, including a batch that left it with the last transition.
    pub fn batches(&self) -> impl Iterator<Item = HeldBatch> + '_ {
        self.in_flight.iter().map(|f| {
            let batch = &self.run.batches[f.batch as usize];
            HeldBatch {
                row: f.batch as usize,
                id: batch.id,
                stage: f.stage,
                lane: Lane::of(f.stage, batch.worker, f.pinned),
                since: f.since,
            }
        })
    }

    /// Returns the batches in `lane`, in order of dispatch.
    pub fn in_lane(&self, lane: Lane) -> impl Iterator<Item = HeldBatch> + '_ {
        self.batches().filter(move |b| b.lane == Some(lane))
    }

    /// Returns the stage of a batch. Returns `None` before its dispatch.
    pub fn stage_of(&self, id: BatchId) -> Option<Stage> {
        let row = self.run.row(id)?;
        let found = self
            .in_flight
            .binary_search_by_key(&row, |f| f.batch as usize);
        if let Ok(found) = found {
            return Some(self.in_flight[found].stage);
        }
        let mut at = self.run.batches[row].last;
        while at as usize >= self.step {
            self.run.transitions.get(at as usize)?;
            at = self.run.previous(at);
        }
        self.run.transitions.get(at as usize).map(|t| t.stage)
    }

    /// Returns the awaited batch: the first one in sampler order that the trainer has not received. The trainer need not wait for it yet.
    pub fn awaited(&self) -> Option<HeldBatch> {
        self.batches()
            .find(|b| Some(b.id.epoch) == self.epoch && b.stage < Stage::Training)
    }
}

/// Returns the batches in flight after the first `step` transitions, in order of dispatch. The result can include batches that finished
/// since the last keyframe.
pub(crate) fn in_flight(run: &Run, step: usize) -> Vec<InFlightBatch> {
    let frames = run.keyframes.partition_point(|k| k.step < step);
    let (from, mut in_flight) = match frames.checked_sub(1).map(|last| &run.keyframes[last]) {
        Some(frame) => (frame.step, frame.in_flight.to_vec()),
        None => (0, Vec::new()),
    };
    for t in run.transitions.range(from..step) {
        match in_flight.binary_search_by_key(&t.batch, |f| f.batch) {
            Ok(known) => {
                let f = &mut in_flight[known];
                f.stage = t.stage;
                f.since = t.at;
                f.pinned |= t.stage == Stage::Pinning;
            }
            // A batch that was just dispatched follows all others.
            Err(place) => in_flight.insert(
                place,
                InFlightBatch {
                    batch: t.batch,
                    stage: t.stage,
                    pinned: false,
                    since: t.at,
                },
            ),
        }
    }
    in_flight
}

impl Run {
    fn wait_at(&self, at: Nanos) -> Option<Wait> {
        let after = self.waits.partition_point(|w| w.start <= at);
        let wait = self.waits.range(..after).last()?;
        (at < wait.end).then_some(*wait)
    }

    /// Returns the position of the dispatch transition of the batch at `row`.
    fn first_transition(&self, row: u32) -> usize {
        self.batches
            .get(row as usize)
            .map_or(0, |b| b.first as usize)
    }
}
