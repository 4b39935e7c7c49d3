//! The main thread: it sends tasks, receives batches, yields them and trains.

use std::cmp::Reverse;
use std::convert::Infallible;

use super::worker::Job;
use super::{Main, Player};
use crate::forecast::step::StepLoad;
use crate::scheduler::{Next, Yielded};

impl Player<'_> {
    pub(super) fn main_away(&mut self, time: f64) {
        let main = self.main_thread();
        self.cores.away(main, time, usize::MAX);
    }

    pub(super) fn main_computes(&mut self, time: f64) {
        let main = self.main_thread();
        self.cores.compute(main, time, usize::MAX);
    }

    pub(super) fn main_through(&mut self) {
        match self.main {
            Main::Starting => {
                for _ in 0..self.scheduler.window() {
                    if !self.try_put() {
                        break;
                    }
                }
                self.ask();
            }
            Main::Receiving(idx) => {
                if !self.received(idx) {
                    self.take_turn();
                }
            }
            Main::Yielding(idx) => self.train(idx),
            Main::Training { computes, width } if computes > 0.0 => {
                let main = self.main_thread();
                self.main = Main::Training {
                    computes: 0.0,
                    width,
                };
                self.cores.compute_with(main, computes, usize::MAX, width);
            }
            Main::Training { .. } => self.ask(),
            Main::Finishing => {
                self.played.waited += self.cores.now - self.wait_began;
                self.main = Main::Over;
            }
            Main::Waiting { .. } | Main::Over => {}
        }
    }

    pub(super) fn ask(&mut self) {
        self.main = Main::Waiting { fresh: true };
        self.wait_began = self.cores.now;
    }

    /// Runs the main thread until it has a batch or must wait for one, as PyTorch's `_next_data`.
    pub(super) fn take_turn(&mut self) {
        self.main = Main::Waiting { fresh: false };
        loop {
            match self.scheduler.next_step() {
                Next::Exhausted => return self.finish(),
                Next::Yield(yielded) => return self.yield_batch(yielded),
                Next::Dropped { .. } => continue,
                Next::Receive => {}
            }
            let there = (self.next_mail()).is_some_and(|at| at <= self.cores.now);
            if !there {
                return;
            }
            let Some(Reverse((_, _, idx))) = self.inbox.pop() else {
                return;
            };
            if self.way.receive > 0.0 {
                self.main = Main::Receiving(idx);
                return self.main_computes(self.way.receive);
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
        self.main = Main::Finishing;
        self.main_away(self.way.finish);
    }

    pub(super) fn yield_batch(&mut self, yielded: Yielded<()>) {
        self.try_put();
        self.main = Main::Yielding(yielded.idx);
        self.main_computes(self.way.yielding);
    }

    /// Hands the batch to the trainer.
    pub(super) fn train(&mut self, idx: usize) {
        let task = self.task_of[idx].and_then(|at| self.load.tasks.get(at as usize));
        self.played.waited += self.cores.now - self.wait_began;
        if task.is_some_and(|t| t.fails) {
            if self.way.stops_at_errors {
                self.played.stopped = true;
                self.main = Main::Over;
            } else {
                self.ask();
            }
            return;
        }
        self.note_yielded(idx, task.map_or(0, |t| t.samples));
        let (away, computes, width) = self.last_step().parts(self.way);
        self.main = Main::Training { computes, width };
        self.main_away(away);
    }

    pub(super) fn note_yielded(&mut self, idx: usize, samples: usize) {
        if self.played.first.is_none() {
            self.played.first = Some(self.cores.now);
            self.played.waited_first = self.played.waited;
        }
        self.played.batches += 1;
        self.played.samples += samples as u64;
        self.played.order.push(idx as u32);
    }

    /// Returns the step on the last yielded batch.
    pub(super) fn last_step(&self) -> StepLoad {
        self.load
            .step((self.played.batches as usize).saturating_sub(1))
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
                .and_then(|s| s.get(state.asked))
                .copied(),
        };
        state.asked += 1;
        self.task_of.push(task);
        self.worker_of.push(worker);
        debug_assert_eq!(self.task_of.len(), idx + 1);
        self.give(worker, idx);
        true
    }

    pub(super) fn job(&self, idx: usize) -> Option<Job> {
        let at = self.task_of.get(idx).copied().flatten()?;
        Some(Job::new(idx, at as usize))
    }
}
