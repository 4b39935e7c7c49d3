//! The main process: it sends tasks, receives batches, yields them and trains.

use std::cmp::Reverse;
use std::convert::Infallible;

use super::worker::Job;
use super::{EpochSimulation, MainState};
use crate::forecast::step::StepLoad;
use crate::scheduler::{Next, Yielded};

impl EpochSimulation<'_> {
    pub(super) fn main_sleeps(&mut self, time: f64) {
        let main = self.main_thread();
        self.cores.sleep(main, time, usize::MAX);
    }

    pub(super) fn main_computes(&mut self, time: f64) {
        let main = self.main_thread();
        self.cores.compute(main, time, usize::MAX);
    }

    pub(super) fn on_main_finished(&mut self) {
        match self.main {
            MainState::Starting => {
                for _ in 0..self.scheduler.window() {
                    if !self.try_put() {
                        break;
                    }
                }
                self.start_waiting();
            }
            MainState::Receiving(idx) => {
                if !self.received(idx) {
                    self.next_data();
                }
            }
            MainState::Yielding(idx) => self.train(idx),
            MainState::Training { computes, width } if computes > 0.0 => {
                let main = self.main_thread();
                self.main = MainState::Training {
                    computes: 0.0,
                    width,
                };
                self.cores.compute_with(main, computes, usize::MAX, width);
            }
            MainState::Training { .. } => self.start_waiting(),
            MainState::Finishing => {
                self.result.waited += self.cores.now - self.wait_began;
                self.main = MainState::Over;
            }
            MainState::Waiting { .. } | MainState::Over => {}
        }
    }

    pub(super) fn start_waiting(&mut self) {
        self.main = MainState::Waiting { fresh: true };
        self.wait_began = self.cores.now;
    }

    /// Runs the main process until it has a batch or must wait for one, as PyTorch's `_next_data`.
    pub(super) fn next_data(&mut self) {
        self.main = MainState::Waiting { fresh: false };
        loop {
            match self.scheduler.next_step() {
                Next::Exhausted => return self.finish(),
                Next::Yield(yielded) => return self.yield_batch(yielded),
                Next::Dropped { .. } => continue,
                Next::Receive => {}
            }
            let there = (self.next_arrival()).is_some_and(|at| at <= self.cores.now);
            if !there {
                return;
            }
            let Some(Reverse((_, _, idx))) = self.inbox.pop() else {
                return;
            };
            if self.parameters.receive > 0.0 {
                self.main = MainState::Receiving(idx);
                return self.main_computes(self.parameters.receive);
            }
            if self.received(idx) {
                return;
            }
        }
    }

    /// Handles a received message of a worker. Returns true if its batch is yielded now.
    pub(super) fn received(&mut self, idx: usize) -> bool {
        if self.task_of[idx].is_none() {
            self.scheduler.worker_ended(self.worker_of[idx], idx);
            self.try_put();
        } else if let Some(yielded) = self.scheduler.receive(idx, ()) {
            self.yield_batch(yielded);
            return true;
        }
        false
    }

    pub(super) fn finish(&mut self) {
        self.main = MainState::Finishing;
        self.main_sleeps(self.parameters.finish);
    }

    pub(super) fn yield_batch(&mut self, yielded: Yielded<()>) {
        self.try_put();
        self.main = MainState::Yielding(yielded.idx);
        self.main_computes(self.parameters.yielding);
    }

    /// Hands the batch to the trainer.
    pub(super) fn train(&mut self, idx: usize) {
        let task = self.task_of[idx].and_then(|at| self.load.tasks.get(at as usize));
        self.result.waited += self.cores.now - self.wait_began;
        if task.is_some_and(|t| t.fails) {
            if self.parameters.stops_at_errors {
                self.result.stopped = true;
                self.main = MainState::Over;
            } else {
                self.start_waiting();
            }
            return;
        }
        self.note_yielded(idx, task.map_or(0, |t| t.samples));
        let (away, computes, width) = self.last_step().parts(self.parameters);
        self.main = MainState::Training { computes, width };
        self.main_sleeps(away);
    }

    pub(super) fn note_yielded(&mut self, idx: usize, samples: usize) {
        if self.result.first.is_none() {
            self.result.first = Some(self.cores.now);
            self.result.waited_first = self.result.waited;
        }
        self.result.batches += 1;
        self.result.samples += samples as u64;
        self.result.order.push(idx as u32);
    }

    /// Returns the step on the last yielded batch.
    pub(super) fn last_step(&self) -> StepLoad {
        self.load
            .step((self.result.batches as usize).saturating_sub(1))
    }

    /// Sends the next task, as PyTorch's `_try_put_index`. Returns false if no task was sent.
    pub(super) fn try_put(&mut self) -> bool {
        let next = self.next;
        let there = self.load.streams.is_some() || next < self.load.tasks.len();
        let put = self
            .scheduler
            .try_put(|| there.then_some(Ok::<_, Infallible>(next)));
        let Ok(Some((idx, worker, task))) = put else {
            return false;
        };
        self.next += 1;
        let state = &mut self.workers[worker];
        let task = match &self.load.streams {
            None => Some(task as u32),
            Some(streams) => streams
                .get(worker)
                .and_then(|s| s.get(state.sent_tasks))
                .copied(),
        };
        state.sent_tasks += 1;
        self.task_of.push(task);
        self.worker_of.push(worker);
        debug_assert_eq!(self.task_of.len(), idx + 1);
        self.enqueue_task(worker, idx);
        true
    }

    pub(super) fn job(&self, idx: usize) -> Option<Job> {
        let at = self.task_of.get(idx).copied().flatten()?;
        Some(Job::new(idx, at as usize))
    }
}
