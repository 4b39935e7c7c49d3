//! Contents of the pipeline at an instant, read from the state. Plain data keeps layout and painting simple.

use std::collections::BTreeMap;

use loadscope_insight::variables::{planned_workers, prefetch_factor, prefetch_window};
use loadscope_insight::waits::LONG;
use loadscope_trace::{HeldBatch, Lane, Nanos, Pipeline, Run, Stage, Transition, View, WorkerId};
use loadscope_words::say;

use super::grid::Plan;
use loadscope_model::state::{Source, State};
use loadscope_model::view::Cursor;

/// Pipeline at an instant.
pub struct Scene<'a> {
    /// Run at the instant shown.
    pub run: &'a Run,
    /// Instant shown: the time of the cursor.
    pub now: Nanos,
    /// Positions of all batches.
    pub pipeline: Pipeline<'a>,
    /// Last transition before the instant.
    pub last: Option<Transition>,
    /// Stage boxes of the pipeline.
    pub plan: Plan,
    /// Batches in the pipeline, in dispatch order.
    pub batches: Vec<HeldBatch>,
    /// `task_info`: the reorder buffer from `rcvd_idx` on, as long as the prefetch window. A batch that is being yielded comes first.
    pub slots: Vec<Slot>,
    /// Activity of the trainer.
    pub trainer: Trainer,
    /// True if the live run is paused at the instant shown.
    pub paused: bool,
}

/// Place in the reorder buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index of the batch that belongs here.
    pub idx: u32,
    /// The batch that belongs here, once it is dispatched. It may be anywhere in the pipeline.
    pub batch: Option<HeldBatch>,
}

impl Slot {
    /// Returns the batch if it has arrived.
    pub fn arrived(&self) -> Option<HeldBatch> {
        self.batch.filter(|b| b.stage.has_arrived())
    }
}

/// Activity of the trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trainer {
    /// Neither trains nor waits, for this reason.
    Idle(&'static str),
    /// Trains on a batch.
    Training(HeldBatch),
    /// Has waited since this time, for this batch if it was dispatched.
    Waiting(Nanos, Option<HeldBatch>),
}

impl<'a> Scene<'a> {
    /// Reads the scene from the state.
    pub fn of(state: &'a State) -> Self {
        let run = &state.session.run;
        let pipeline = state.pipeline();
        let batches: Vec<HeldBatch> = pipeline.batches().collect();
        let plan = plan(run);
        let now = state.now();
        let last = pipeline.step.checked_sub(1);
        Self {
            run,
            now,
            last: last.and_then(|k| run.transitions().get(k)).copied(),
            slots: slots(run, &pipeline, &batches, plan.window),
            trainer: trainer(run, &pipeline, &batches, now),
            plan,
            batches,
            pipeline,
            paused: state.session.source == Source::Live { paused: true }
                && state.session.cursor == Cursor::Live,
        }
    }

    /// Formats the time since `since`. The clock of a paused run stops, so an elapsed time of 0 reads as "paused".
    pub fn clock(&self, since: Nanos) -> String {
        match self.now - since {
            Nanos(..=0) if self.paused => say!("paused").to_owned(),
            lasting => lasting.to_string(),
        }
    }

    /// Returns the batches in `lane`, in dispatch order.
    pub fn in_lane(&self, lane: Lane) -> impl Iterator<Item = &HeldBatch> {
        self.batches.iter().filter(move |b| b.lane == Some(lane))
    }

    /// Returns true if the trainer has waited long enough for a warning.
    pub fn waits_long(&self) -> bool {
        matches!(self.trainer, Trainer::Waiting(since, _) if self.now - since >= LONG)
    }

    /// Returns the batch that the trainer has awaited long enough for a warning.
    pub fn missing(&self) -> Option<HeldBatch> {
        match self.trainer {
            Trainer::Waiting(_, on) if self.in_order() && self.waits_long() => {
                on.filter(|b| !b.stage.has_arrived())
            }
            _ => None,
        }
    }

    /// Returns true if the trainer needs a certain batch, and false if it takes the first to arrive.
    pub fn in_order(&self) -> bool {
        self.run.info.options.keeps_order()
    }

    /// Returns the numbers of fetched samples and of all samples, while a batch with known timings is being fetched.
    pub fn progress(&self, batch: &HeldBatch) -> Option<(usize, usize)> {
        let (count, begun) = self.run.samples_begun(batch.row, self.now);
        if batch.stage != Stage::Fetching || count == 0 {
            return None;
        }
        Some((begun.filter(|s| s.end() <= self.now).count(), count))
    }

    /// Returns the dataset index of the sample that is being fetched, if known.
    pub fn current_index(&self, batch: &HeldBatch) -> Option<u64> {
        let (done, _) = self.progress(batch)?;
        self.run.indices(batch.row).get(done).copied()
    }

    /// Returns true if the worker has died and false if it ended normally. Returns `None` while it runs.
    pub fn has_died(&self, worker: WorkerId) -> Option<bool> {
        let (at, reason) = self.pipeline.worker(worker)?.end?;
        (at <= self.now).then_some(reason == loadscope_trace::EndReason::Died)
    }

    /// Returns true if the sampler is known to be exhausted in this epoch.
    pub fn is_exhausted(&self) -> bool {
        self.run.info.batches_per_epoch == Some(u64::from(self.pipeline.send_idx))
    }

    /// Returns false if this epoch is known to have no batch with this index.
    pub fn exists(&self, idx: u32) -> bool {
        let total = self.run.info.batches_per_epoch;
        total.is_none_or(|total| u64::from(idx) < total)
    }

    /// Returns the last `most` yielded batches of this epoch, oldest first. The flag is true if a batch with a higher index was yielded
    /// earlier.
    pub fn yielded(&self, most: usize) -> Vec<(u32, bool)> {
        /// Maximum number of transitions searched, enough for a few thousand batches. The search runs in every frame.
        const MAX_SCANNED: usize = 16_384;
        let before = self
            .run
            .transitions()
            .range(..self.pipeline.step.min(self.run.transitions().len()));
        let batches = self.run.batches();
        // A batch before the first shown one may have a higher index, but only within the window.
        let wanted = most + self.plan.window;
        let of_epoch = before.iter().rev().take(MAX_SCANNED).filter_map(|t| {
            let id = batches.get(t.batch as usize)?.id;
            let is_it = t.stage == Stage::Training && Some(id.epoch) == self.pipeline.epoch;
            is_it.then_some(id.idx)
        });
        let mut all: Vec<u32> = of_epoch.take(wanted).collect();
        all.reverse();
        let mut highest = None;
        let late = |idx: u32| {
            let is_late = highest > Some(idx);
            highest = highest.max(Some(idx));
            (idx, is_late)
        };
        let all: Vec<(u32, bool)> = all.into_iter().map(late).collect();
        all[all.len().saturating_sub(most)..].to_vec()
    }

    /// Returns the dataset indices of the next batch to be dispatched, if the recording contains it.
    pub fn upcoming(&self) -> Option<View<'a, u64>> {
        let epoch = self.pipeline.epoch?;
        let epoch = self.run.epochs().iter().rev().find(|e| e.epoch == epoch)?;
        let row = *epoch.rows.get(self.pipeline.send_idx as usize)? as usize;
        Some(self.run.indices(row))
    }
}

/// Returns the stage boxes of the run: those its options imply, and those observed in use.
pub fn plan(run: &Run) -> Plan {
    let workers = planned_workers(run);
    let mut seen = [false; 4];
    for (lane, _) in run.lanes() {
        match lane {
            Lane::ResultQueue => seen[0] = true,
            Lane::Pin => seen[1] = true,
            Lane::DataQueue => seen[2] = true,
            Lane::Reorder => seen[3] = true,
            Lane::Worker(_) | Lane::IndexQueue(_) | Lane::Trainer | Lane::Main => {}
        }
    }
    let with_workers = workers > 0;
    // Requested and available: without a GPU, `pin_memory=True` pins nothing. Without workers, the main process pins.
    let pin = (with_workers && run.info.pinning.is_some()) || seen[1] || seen[2];
    let prefetch = prefetch_factor(run);
    let window = match prefetch_window(run) {
        0 => usize::from(seen[3]),
        window => window,
    };
    let longest = run.epochs().iter().map(|e| e.rows.len() as u64).max();
    let highest = run.info.batches_per_epoch.max(longest).unwrap_or(0);
    Plan {
        workers,
        prefetch,
        results: with_workers || seen[0],
        pin,
        pinned: seen[2] || (pin && with_workers),
        window,
        in_order: run.info.options.keeps_order(),
        digits: highest.max(1).ilog10() as usize + 1,
    }
}

fn slots(run: &Run, pipeline: &Pipeline<'_>, batches: &[HeldBatch], window: usize) -> Vec<Slot> {
    let pending: BTreeMap<u32, &HeldBatch> = batches
        .iter()
        .filter(|b| b.stage < Stage::Training && Some(b.id.epoch) == pipeline.epoch)
        .map(|b| (b.id.idx, b))
        .collect();
    // A million tasks in flight would be a broken source.
    let window = window.min(1 << 16);
    if run.info.options.keeps_order() {
        let first = pending.keys().next().copied().unwrap_or(pipeline.rcvd_idx);
        let slot = |idx| Slot {
            idx,
            batch: pending.get(&idx).map(|batch| **batch),
        };
        let from_first = first.min(pipeline.rcvd_idx)..u32::MAX;
        return from_first.map(slot).take(window).collect();
    }
    // With in_order=False, batches after a slow one may be finished already. Their indices are skipped.
    let dispatched = pending.iter().map(|(idx, batch)| Slot {
        idx: *idx,
        batch: Some(**batch),
    });
    let to_come = (pipeline.send_idx..u32::MAX).map(|idx| Slot { idx, batch: None });
    dispatched.chain(to_come).take(window).collect()
}

fn trainer(run: &Run, pipeline: &Pipeline<'_>, batches: &[HeldBatch], now: Nanos) -> Trainer {
    if let Some(batch) = batches.iter().find(|b| b.stage == Stage::Training) {
        return Trainer::Training(*batch);
    }
    // Before the first event of the loop, no batch has been requested.
    let has_begun = pipeline.step > 0 || now > Nanos::ZERO;
    if let Some(wait) = pipeline.waiting.filter(|_| has_begun) {
        let total = run.info.batches_per_epoch;
        // The last call of `next` raises `StopIteration`. This exception is the end of the epoch, not a stall.
        if pipeline.awaited().is_none() && total == Some(u64::from(pipeline.send_idx)) {
            return Trainer::Idle(say!("No batches left"));
        }
        return Trainer::Waiting(wait.start, pipeline.awaited());
    }
    let epoch = run.epochs().iter().rev().find(|e| e.start <= now);
    Trainer::Idle(match epoch {
        _ if !has_begun => say!("Not started"),
        None => say!("Not started"),
        Some(e) if e.end.is_some_and(|end| end <= now) => {
            if run.failure().is_some_and(|(at, _)| at <= now) {
                say!("Ended with an error")
            } else {
                say!("Epoch ended")
            }
        }
        Some(_) => say!("Not waiting"),
    })
}

#[cfg(test)]
mod tests;
