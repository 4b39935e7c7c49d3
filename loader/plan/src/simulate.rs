//! The loader with a virtual clock: the same [`Scheduler`], with the times of workers from a cost model. The result is exact and
//! repeatable, independent of the host.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::convert::Infallible;

use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Level, Message, Nanos, OnError, RunId, RunInfo,
    SampleTiming, Stage, WorkerId,
};

use crate::error::LoaderError;
use crate::scheduler::{Next, Scheduler, SchedulerOptions, Yielded};

mod options;
mod work;
mod worker;

pub use options::simulate;
pub use work::Work;
use worker::{Arrival, Worker};

/// Parameters of a simulation.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// Description of the run. Its options contain the number of workers, the prefetch factor and the order.
    pub info: RunInfo,
    /// Samples that are loaded.
    pub work: Work,
    /// Time to collate a batch.
    pub collate: Nanos,
    /// Time to pin a batch. `None`: no pin thread.
    pub pin: Option<Nanos>,
    /// Time of a training step.
    pub step: Nanos,
}

/// Batch that the consumer received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Task index.
    pub idx: usize,
    /// Worker that loaded the batch. `None`: the main process.
    pub worker: Option<usize>,
    /// Samples of the batch.
    pub samples: Vec<u64>,
}

impl Simulation {
    /// Simulates one epoch in which fetching sample `i` takes `cost(i)`. The events are in order of time.
    pub fn run(&self, cost: impl Fn(u64) -> Nanos) -> Vec<Event> {
        self.run_and_deliver(cost).0
    }

    /// Simulates one epoch. Samples for which `fails` returns true raise an error, and `on_error` determines its effect on the run.
    pub fn run_with_failures(
        &self,
        cost: impl Fn(u64) -> Nanos,
        fails: impl Fn(u64) -> bool,
    ) -> Vec<Event> {
        self.play(cost, fails).0
    }

    /// Simulates one epoch. Also returns the received batches in order.
    pub fn run_and_deliver(&self, cost: impl Fn(u64) -> Nanos) -> (Vec<Event>, Vec<Delivery>) {
        self.play(cost, |_| false)
    }

    fn play(
        &self,
        cost: impl Fn(u64) -> Nanos,
        fails: impl Fn(u64) -> bool,
    ) -> (Vec<Event>, Vec<Delivery>) {
        let options = &self.info.options;
        let mut simulator = Simulator {
            plan: self,
            cost,
            fails,
            failed: HashMap::new(),
            events: Vec::new(),
            workers: vec![Worker::default(); options.num_workers.max(1)],
            pin_free: Nanos::ZERO,
            arrivals: BinaryHeap::new(),
            now: Nanos::ZERO,
            next: 0,
            made: HashMap::new(),
            delivered: Vec::new(),
        };
        simulator.emit(
            Nanos::ZERO,
            EventKind::RunStarted(Box::new(self.info.clone())),
        );
        simulator.emit(Nanos::ZERO, EventKind::EpochStarted { epoch: 0 });
        if options.num_workers == 0 {
            simulator.run_single();
        } else {
            simulator.run_workers(SchedulerOptions {
                num_workers: options.num_workers,
                prefetch_factor: options.prefetch().max(1),
                in_order: options.in_order,
            });
        }
        let end = simulator.now;
        simulator.emit(end, EventKind::Consumer { waiting: false });
        simulator.emit(end, EventKind::EpochEnded { epoch: 0 });
        simulator.emit(end, EventKind::RunEnded);
        let mut events = simulator.events;
        // The events of a worker's task are recorded when it is sent. A stable sort keeps causes before effects.
        events.sort_by_key(|e| e.at);
        (events, simulator.delivered)
    }
}

struct Simulator<'a, C, F> {
    plan: &'a Simulation,
    cost: C,
    fails: F,
    /// Batches with a failed sample, and that sample.
    failed: HashMap<usize, u64>,
    events: Vec<Event>,
    workers: Vec<Worker>,
    pin_free: Nanos,
    /// Answers in flight to the result queue, in order of arrival.
    arrivals: BinaryHeap<Reverse<Arrival>>,
    /// Time of the consumer.
    now: Nanos,
    /// Next task to send.
    next: usize,
    /// Batches that were fetched and not yet yielded.
    made: HashMap<usize, Delivery>,
    delivered: Vec<Delivery>,
}

fn id(idx: usize) -> BatchId {
    BatchId {
        epoch: 0,
        idx: idx as u32,
    }
}

impl<C: Fn(u64) -> Nanos, F: Fn(u64) -> bool> Simulator<'_, C, F> {
    fn emit(&mut self, at: Nanos, kind: EventKind) {
        self.events.push(Event {
            at,
            run: RunId(0),
            kind,
        });
    }

    fn enter(&mut self, at: Nanos, idx: usize, stage: Stage) {
        let batch = id(idx);
        self.emit(at, EventKind::Entered { batch, stage });
    }

    /// Fetches and collates batch `idx` in `worker` from `start` on, and returns the end. Returns `None` if the stream has ended.
    fn fetch(&mut self, idx: usize, worker: usize, start: Nanos) -> Option<Nanos> {
        let state = &mut self.workers[worker];
        let nth = state.sent_tasks;
        state.sent_tasks += 1;
        self.enter(start, idx, Stage::Fetching);
        let plan = self.plan;
        let indices = plan.work.samples(idx, worker, nth)?;
        let mut at = start;
        let mut samples = Vec::with_capacity(indices.len());
        for index in indices {
            let wall = (self.cost)(*index);
            let start = at;
            at += wall;
            if (self.fails)(*index) {
                self.failed.insert(idx, *index);
                break;
            }
            samples.push(SampleTiming {
                start,
                wall,
                cpu: None,
            });
        }
        let fetched = Fetched {
            batch: id(idx),
            samples,
            stages: Vec::new(),
        };
        self.emit(at, EventKind::Fetched(Box::new(fetched)));
        if self.failed.contains_key(&idx) {
            return Some(at);
        }
        self.enter(at, idx, Stage::Collating);
        let worker = (plan.info.options.num_workers > 0).then_some(worker);
        self.made.insert(
            idx,
            Delivery {
                idx,
                worker,
                samples: indices.to_vec(),
            },
        );
        Some(at + plan.collate)
    }

    fn run_single(&mut self) {
        let mut idx = 0;
        while self.plan.work.has_task(idx) {
            self.emit(self.now, EventKind::Consumer { waiting: true });
            let indices = self.plan.work.indices(idx);
            self.emit(self.now, EventKind::dispatched(id(idx), None, indices));
            let Some(end) = self.fetch(idx, 0, self.now) else {
                self.enter(self.now, idx, Stage::Discarded);
                return;
            };
            self.now = end;
            if self.fail(idx, None) {
                if self.stops() {
                    return;
                }
            } else {
                if let Some(pin) = self.plan.pin {
                    self.enter(self.now, idx, Stage::Pinning);
                    self.now += pin;
                }
                self.enter(self.now, idx, Stage::Training);
                self.train(idx);
            }
            idx += 1;
        }
        self.emit(self.now, EventKind::Consumer { waiting: true });
    }

    /// Yields the error in place of batch `idx`. Returns false if the batch did not fail.
    fn fail(&mut self, idx: usize, worker: Option<usize>) -> bool {
        let Some(sample) = self.failed.remove(&idx) else {
            return false;
        };
        let worker = worker.map(|w| w as WorkerId);
        let cause = format!("sample {sample} fails, as requested by fail={sample}");
        let error = LoaderError::Worker {
            worker,
            batch: id(idx),
            sample: usize::try_from(sample).ok(),
            cause: Box::new(LoaderError::value_error(cause)),
        };
        let message = Message {
            level: Level::Error,
            text: error.to_string(),
            about: Some(id(idx)),
            worker,
            sample: Some(sample),
        };
        self.emit(self.now, EventKind::Message(Box::new(message)));
        self.enter(self.now, idx, Stage::Failed);
        true
    }

    /// Returns true if an error ends the run.
    fn stops(&self) -> bool {
        self.plan.info.options.on_error == OnError::Stop
    }

    /// Performs the training step on batch `idx`.
    fn train(&mut self, idx: usize) {
        self.delivered.extend(self.made.remove(&idx));
        self.now += self.plan.step;
        self.enter(self.now, idx, Stage::Done);
    }

    fn run_workers(&mut self, options: SchedulerOptions) {
        let mut scheduler = Scheduler::new(options);
        for _ in 0..scheduler.window() {
            self.try_put(&mut scheduler);
        }
        loop {
            self.emit(self.now, EventKind::Consumer { waiting: true });
            let Some(yielded) = self.wait(&mut scheduler) else {
                return;
            };
            self.try_put(&mut scheduler);
            let failed = self.fail(yielded.idx, Some(yielded.worker));
            if failed && self.stops() {
                return;
            }
            if !failed {
                self.enter(self.now, yielded.idx, Stage::Training);
            }
            if let Some(idx) = scheduler.ready().filter(|_| options.in_order) {
                self.enter(self.now, idx, Stage::Ready);
            }
            if !failed {
                self.train(yielded.idx);
            }
        }
    }

    /// Sends the next task, and simulates its worker up to the answer: a batch or the end of the stream.
    fn try_put(&mut self, scheduler: &mut Scheduler<()>) {
        let next = self.next;
        let there = self.plan.work.has_task(next);
        let put = scheduler.try_put(|| there.then_some(Ok::<_, Infallible>(next)));
        let Ok(Some((idx, worker, _))) = put else {
            return;
        };
        self.next += 1;
        let indices = self.plan.work.indices(idx);
        self.emit(
            self.now,
            EventKind::dispatched(id(idx), Some(worker as WorkerId), indices),
        );
        if self.workers[worker].ended {
            return;
        }
        let start = self.now.max(self.workers[worker].free);
        match self.fetch(idx, worker, start) {
            Some(end) => {
                self.workers[worker].free = end;
                self.workers[worker].last = Some(idx);
                self.enter(end, idx, Stage::Returning);
                self.arrivals.push(Reverse(Arrival {
                    at: end,
                    after: idx,
                    idx,
                    ended: None,
                }));
            }
            None => {
                self.workers[worker].ended = true;
                self.enter(start, idx, Stage::Returning);
                let last = self.workers[worker].last;
                let is_next = start == self.workers[worker].free;
                self.arrivals.push(Reverse(Arrival {
                    at: start,
                    after: last.filter(|_| is_next).unwrap_or(idx),
                    idx,
                    ended: Some(worker),
                }));
            }
        }
    }

    /// Waits for the next batch to yield. Returns `None` if the epoch has ended.
    fn wait(&mut self, scheduler: &mut Scheduler<()>) -> Option<Yielded<()>> {
        loop {
            match scheduler.next_step() {
                Next::Exhausted => return None,
                Next::Yield(yielded) => return Some(yielded),
                Next::Dropped { idx } => {
                    self.enter(self.now, idx, Stage::Discarded);
                    continue;
                }
                Next::Receive => {}
            }
            let Reverse(Arrival {
                mut at, idx, ended, ..
            }) = self.arrivals.pop()?;
            if let Some(worker) = ended {
                // The answer passes the pin thread after earlier batches.
                self.now = self.now.max(at).max(self.pin_free);
                self.enter(self.now, idx, Stage::Discarded);
                scheduler.worker_ended(worker, idx);
                self.try_put(scheduler);
                continue;
            }
            // Errors are not pinned.
            if let Some(pin) = self.plan.pin.filter(|_| !self.failed.contains_key(&idx)) {
                let start = at.max(self.pin_free);
                self.enter(start, idx, Stage::Pinning);
                at = start + pin;
                self.pin_free = at;
                self.enter(at, idx, Stage::Returning);
            }
            self.now = self.now.max(at);
            let its_turn = idx == scheduler.rcvd_idx() || !self.plan.info.options.in_order;
            let stage = if its_turn { Stage::Ready } else { Stage::Held };
            self.enter(self.now, idx, stage);
            if let Some(yielded) = scheduler.receive(idx, ()) {
                return Some(yielded);
            }
        }
    }
}

#[cfg(test)]
mod tests;
