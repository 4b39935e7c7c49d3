//! Starts and ends of epochs, workers and the run.

use super::{Epoch, Run, Worker};
use crate::event::{EndReason, RandomStates, WorkerInfo};
use crate::{Nanos, Stage, WorkerId};

impl Run {
    pub(super) fn start_epoch(&mut self, at: Nanos, epoch: u32) {
        if self.epoch_at.contains_key(&epoch) {
            self.inconsistent += 1;
            return;
        }
        self.epoch_at.insert(epoch, self.epochs.len());
        self.open_epochs.insert(epoch);
        self.open_epoch(at);
        self.epochs.push(Epoch {
            epoch,
            start: at,
            ..Epoch::default()
        });
    }

    /// Starts an epoch whose batches before `first` are not recorded.
    pub(super) fn continue_epoch(&mut self, at: Nanos, epoch: u32, first: u32) {
        /// Limit for the first batch, so that later batch numbers do not overflow.
        const MAX_EPOCH: u32 = u32::MAX / 2;
        if first > MAX_EPOCH || self.epoch_at.contains_key(&epoch) {
            self.inconsistent += 1;
            return;
        }
        self.epoch_at.insert(epoch, self.epochs.len());
        self.open_epochs.insert(epoch);
        self.epochs.push(Epoch {
            epoch,
            start: at,
            first,
            was_running: true,
            ..Epoch::default()
        });
    }

    pub(super) fn end_epoch(&mut self, at: Nanos, epoch: u32) {
        if !self.open_epochs.remove(&epoch) {
            self.inconsistent += 1;
            return;
        }
        let position = self.epoch_at[&epoch];
        self.leave_loop(at, epoch);
        self.epochs[position].end = Some(at);
        self.end_wait(at, None);
        for row in self.left_in(position) {
            let end = match self.batches[row as usize].stage {
                Stage::Training => Stage::Done,
                _ => Stage::Discarded,
            };
            self.enter(at, row as usize, end);
        }
    }

    /// Returns the positions of the batches in flight of the epoch at `position`, in order of dispatch.
    pub(super) fn left_in(&self, position: usize) -> Vec<u32> {
        let epoch = &self.epochs[position];
        let is_left = |row: &u32| {
            let batch = self.batches.get(*row as usize);
            batch.is_some_and(|b| b.id.epoch == epoch.epoch && !b.stage.is_final())
        };
        // The shorter list is searched, so that many simultaneous epochs stay cheap.
        if epoch.rows.len() < self.in_flight.len() {
            return epoch.rows.iter().copied().filter(is_left).collect();
        }
        let mut left: Vec<u32> = self.in_flight.iter().copied().filter(is_left).collect();
        left.sort_unstable();
        left
    }

    pub(super) fn end_run(&mut self, at: Nanos) {
        let open: Vec<u32> = self.open_epochs.iter().copied().collect();
        for epoch in open {
            self.end_epoch(at, epoch);
        }
        self.end_wait(at, None);
        if !self.ended {
            (self.ended, self.ended_at) = (true, at);
        }
    }

    pub(super) fn start_worker(&mut self, at: Nanos, info: &WorkerInfo) {
        let running = self.running.entry(info.worker).or_default();
        running.push(self.workers.len());
        self.workers.push(Worker {
            info: info.clone(),
            start: at,
            was_running: false,
            is_recorded: true,
            end: None,
            generators: None,
        });
    }

    pub(super) fn seed_worker(&mut self, of: &RandomStates) {
        let is_it = |w: &Worker| {
            w.info.worker == of.worker && (of.os_id.is_none() || w.info.os_id == of.os_id)
        };
        match self.workers.iter().rposition(is_it) {
            Some(at) => self.workers[at].generators = Some(*of),
            None => self.inconsistent += 1,
        }
    }

    /// Ends a worker. A worker of the previous epoch can end after its successor started, so `os_id` selects one. Without it, the newest
    /// ends.
    pub(super) fn end_worker(
        &mut self,
        at: Nanos,
        worker: WorkerId,
        reason: EndReason,
        os_id: Option<u32>,
    ) {
        let os_id = os_id.map(u64::from);
        let (running, workers) = (self.running.get_mut(&worker), &self.workers);
        let is_it = |known: &usize| os_id.is_some() && workers[*known].info.os_id == os_id;
        let ended = running.and_then(|running| match running.iter().position(is_it) {
            Some(at) => Some(running.remove(at)),
            None => running.pop(),
        });
        match ended {
            Some(known) => self.workers[known].end = Some((at, reason)),
            None => self.inconsistent += 1,
        }
    }
}
