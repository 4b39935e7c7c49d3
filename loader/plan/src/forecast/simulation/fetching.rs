//! Workers and the pin thread.

use std::cmp::Reverse;

use super::EpochSimulation;
use super::worker::Job;
use crate::forecast::number::float;
use crate::forecast::recorded::SWITCH_INTERVAL;

impl EpochSimulation<'_> {
    /// Puts a task into the index queue of `worker`.
    pub(super) fn enqueue_task(&mut self, worker: usize, idx: usize) {
        let (now, parameters) = (self.cores.now, self.parameters);
        let state = &mut self.workers[worker];
        state.queue.push_back(idx);
        if state.job.is_some() || state.reads_next {
            return;
        }
        state.reads_next = true;
        let delay = match std::mem::replace(&mut state.has_started, true) {
            true => parameters.wake_worker,
            false => {
                state.begins = parameters.first_computes;
                (parameters.runs[worker] - now).max(0.0) + parameters.first_fetch
                    - parameters.first_computes
            }
        };
        self.cores.sleep(worker, delay, idx);
    }

    /// Handles a worker that finished a part of its batch, or arrived at its queue.
    pub(super) fn on_worker_finished(&mut self, worker: usize) {
        if std::mem::replace(&mut self.workers[worker].reads_next, false) {
            let begins = std::mem::take(&mut self.workers[worker].begins);
            if begins > 0.0 {
                self.workers[worker].reads_next = true;
                let next = self.workers[worker].queue.front();
                let turn = next.copied().unwrap_or_default();
                return self.cores.compute(worker, begins, turn);
            }
            self.take_task(worker);
        } else {
            self.fetch_on(worker);
        }
    }

    fn take_task(&mut self, worker: usize) {
        while let Some(idx) = self.workers[worker].queue.pop_front() {
            if self.workers[worker].ended {
                continue;
            }
            match self.job(idx) {
                Some(job) => {
                    let began = self.cores.now;
                    self.workers[worker].job = Some(Job { began, ..job });
                    return self.fetch_on(worker);
                }
                None => {
                    self.workers[worker].ended = true;
                    self.send(worker, idx);
                }
            }
        }
    }

    /// Continues the batch of a worker, or sends it when it is complete.
    fn fetch_on(&mut self, worker: usize) {
        let Some(mut job) = self.workers[worker].job else {
            return;
        };
        if self.start_part(worker, &mut job) {
            self.workers[worker].job = Some(job);
            return;
        }
        self.result.busy += self.cores.now - job.began;
        self.workers[worker].job = None;
        self.send(worker, job.idx);
        if let Some(next) = self.workers[worker].queue.front().copied() {
            self.workers[worker].reads_next = true;
            self.cores.sleep(worker, self.parameters.next_task, next);
        }
    }

    /// Starts the next part of a batch. Returns false if there is none.
    pub(super) fn start_part(&mut self, thread: usize, job: &mut Job) -> bool {
        let Some(task) = self.load.tasks.get(job.task) else {
            return false;
        };
        if self.alone {
            let first = job.halves == 0;
            job.halves = 1;
            if first {
                self.cores.sleep(thread, task.alone, job.idx);
            }
            return first;
        }
        loop {
            let at = task.parts.start + job.halves / 2;
            if at >= task.parts.end {
                return false;
            }
            let (off, cpu) = self.load.parts[at];
            let computes = job.halves % 2 == 1;
            job.halves += 1;
            match computes {
                false if off > 0.0 => self.cores.sleep(thread, off, job.idx),
                true if cpu > 0.0 => self.cores.compute(thread, cpu, job.idx),
                _ => continue,
            }
            return true;
        }
    }

    /// Sends a batch, or the end of a stream, from a worker to the result queue.
    fn send(&mut self, worker: usize, idx: usize) {
        if self.parameters.pins {
            self.to_pin
                .push_back((self.cores.now + self.parameters.to_pin, idx));
        } else {
            let held = self.interpreter_delay(worker);
            self.enqueue_result(idx, idx, held);
        }
    }

    /// Returns the time that a batch waits for the interpreter of its worker while the worker computes the next one.
    fn interpreter_delay(&self, worker: usize) -> f64 {
        if self.parameters.interpreter <= 0.0 {
            return 0.0;
        }
        let alone = |idx: &usize| Some(self.load.tasks.get(self.job(*idx)?.task)?.alone);
        let mut next = self.workers[worker].queue.iter().filter_map(alone);
        let first = next.next().unwrap_or_default();
        let waits = first.min(float(SWITCH_INTERVAL)) * self.parameters.interpreter;
        // An idle worker holds no interpreter.
        waits.min(first + next.sum::<f64>())
    }

    fn enqueue_result(&mut self, idx: usize, turn: usize, held: f64) {
        let at = self.cores.now + self.parameters.returning + held;
        self.inbox.push(Reverse((at.to_bits(), turn, idx)));
    }

    /// Returns the time at which the pin thread receives the next batch.
    pub(super) fn next_pin(&self) -> Option<f64> {
        let (at, _) = self.to_pin.front().filter(|_| self.pinning.is_none())?;
        Some(at.max(self.cores.now))
    }

    pub(super) fn start_pinning(&mut self) {
        let Some((_, idx)) = self.to_pin.pop_front() else {
            return;
        };
        let task = self.task_of[idx].and_then(|at| self.load.tasks.get(at as usize));
        // Errors and ends of streams pass the pin thread without pinning.
        let time = task.filter(|t| !t.fails).map_or(0.0, |t| t.pin);
        self.pinning = Some(idx);
        let thread = self.pin_thread();
        match self.alone {
            true => self.cores.sleep(thread, time, idx),
            false => self.cores.compute(thread, time, idx),
        }
    }

    pub(super) fn on_pin_finished(&mut self) {
        if let Some(idx) = self.pinning.take() {
            self.passed += 1;
            self.enqueue_result(idx, self.passed, 0.0);
        }
    }
}
