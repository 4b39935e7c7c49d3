//! Variables of PyTorch's iterator in a recording, compared with those of the iterator itself.

use std::collections::VecDeque;
use std::time::Duration;

use loadscope_engine::scheduler::{Next, Scheduler, SchedulerOptions, Task, Yielded};
use loadscope_engine::{Clock, ContentPolicy, LoaderOptions, Probe};
use loadscope_trace::{
    BatchId, Event, EventKind, Nanos, Pipeline, Run, RunId, RunInfo, RunOptions, Stage, WorkerId,
};
use proptest::prelude::*;

use super::support::{fold, within};
use super::{Numbers, loader};

/// The scheduler with simulated workers, and the run of its events.
struct Driver {
    scheduler: Scheduler<()>,
    run: Run,
    now: i64,
    /// Tasks in the index queues.
    queues: Vec<VecDeque<usize>>,
    /// Answers in the result queue: the task, and true if it is the end of a stream.
    results: VecDeque<(usize, bool)>,
    /// Number of batches left in each worker's stream, or `None` after the worker has answered that its stream ended.
    left: Vec<Option<usize>>,
    /// Number of tasks left in the sampler.
    tasks: usize,
    in_order: bool,
    moves: VecDeque<usize>,
}

fn id(idx: usize) -> BatchId {
    BatchId {
        epoch: 0,
        idx: idx as u32,
    }
}

impl Driver {
    fn emit(&mut self, kind: EventKind) {
        self.now += 1;
        let (at, run) = (Nanos(self.now), RunId(0));
        self.run.apply(&Event { at, run, kind });
    }

    fn enter(&mut self, idx: usize, stage: Stage) {
        let batch = id(idx);
        self.emit(EventKind::Entered { batch, stage });
    }

    fn try_put(&mut self) {
        let has_more = self.tasks > 0;
        self.tasks -= usize::from(has_more);
        let put = self
            .scheduler
            .try_put(|| has_more.then_some(Ok::<_, ()>(())));
        if let Some((idx, worker, ())) = put.expect("the sampler does not fail") {
            self.queues[worker].push_back(idx);
            self.emit(EventKind::dispatched(id(idx), Some(worker as WorkerId), []));
        }
    }

    /// Makes a worker answer its next task. Returns false if none has a task.
    fn work(&mut self) -> bool {
        let busy: Vec<usize> = (0..self.queues.len())
            .filter(|w| self.left[*w].is_some() && !self.queues[*w].is_empty())
            .collect();
        let choice = self.moves.pop_front().unwrap_or_default();
        let Some(worker) = busy.get(choice % busy.len().max(1)).copied() else {
            return false;
        };
        let idx = self.queues[worker].pop_front().expect("it is busy");
        self.enter(idx, Stage::Fetching);
        self.enter(idx, Stage::Returning);
        self.left[worker] = self.left[worker].and_then(|left| left.checked_sub(1));
        self.results.push_back((idx, self.left[worker].is_none()));
        true
    }

    /// Takes the first answer from the result queue.
    fn receive(&mut self) -> Option<Yielded<()>> {
        if self.results.is_empty() {
            assert!(self.work(), "a worker has the awaited task");
        }
        let (idx, ended) = self.results.pop_front().expect("a worker has answered");
        if ended {
            let worker = match self.scheduler.task(idx) {
                Some(Task::Outstanding { worker }) => *worker,
                other => panic!("task {idx} is {other:?}"),
            };
            self.enter(idx, Stage::Discarded);
            self.scheduler.worker_ended(worker, idx);
            self.try_put();
            return None;
        }
        let its_turn = idx == self.scheduler.rcvd_idx() || !self.in_order;
        self.enter(idx, if its_turn { Stage::Ready } else { Stage::Held });
        self.scheduler.receive(idx, ())
    }

    /// `next(iterator)`. Returns false at the end.
    fn next(&mut self) -> bool {
        // Workers continue during the training step. Their results change no variable.
        for _ in 0..self.moves.pop_front().unwrap_or_default() % 4 {
            if self.work() {
                self.compare();
            }
        }
        self.emit(EventKind::Consumer { waiting: true });
        let yielded = loop {
            match self.scheduler.next_step() {
                Next::Exhausted => return false,
                Next::Yield(yielded) => break yielded,
                Next::Dropped { idx } => self.enter(idx, Stage::Discarded),
                Next::Receive => {
                    if let Some(yielded) = self.receive() {
                        break yielded;
                    }
                }
            }
        };
        self.try_put();
        self.enter(yielded.idx, Stage::Training);
        if let Some(idx) = self.scheduler.ready().filter(|_| self.in_order) {
            self.enter(idx, Stage::Ready);
        }
        true
    }

    fn compare(&self) {
        let (scheduler, pipeline) = (&self.scheduler, self.run.pipeline_at(Nanos(self.now)));
        assert_eq!(pipeline.send_idx as usize, scheduler.send_idx());
        assert_eq!(pipeline.rcvd_idx as usize, scheduler.rcvd_idx());
        assert_eq!(
            pipeline.tasks_outstanding as usize,
            scheduler.tasks_outstanding()
        );
        let workers = self.queues.len() as WorkerId;
        let status: Vec<bool> = (0..workers).map(|w| pipeline.takes_tasks(w)).collect();
        assert_eq!(status, scheduler.workers_status());
        let task_info: Vec<(usize, usize, bool)> = pipeline
            .task_info()
            .map(|t| {
                (
                    t.idx as usize,
                    usize::from(t.worker.expect("a worker")),
                    t.has_data,
                )
            })
            .collect();
        let known = |idx| match scheduler.task(idx)? {
            Task::Outstanding { worker } | Task::Ended { worker } => Some((idx, *worker, false)),
            Task::Held { worker, .. } => Some((idx, *worker, true)),
        };
        let known: Vec<_> = (0..scheduler.send_idx()).filter_map(known).collect();
        assert_eq!(task_info, known);
    }
}

proptest! {
    #[test]
    fn iterator_variables_are_derived_from_the_events(
        workers in 1..5usize, prefetch_factor in 1..4usize, in_order: bool, streams: bool,
        tasks in 0..60usize, left in prop::collection::vec(0..8usize, 5),
        moves in prop::collection::vec(0..100usize, 0..80),
    ) {
        let options = SchedulerOptions { num_workers: workers, prefetch_factor, in_order };
        let scheduler = Scheduler::new(options);
        let window = scheduler.window();
        let info = RunInfo {
            options: RunOptions { num_workers: workers, in_order, ..RunOptions::default() },
            ..RunInfo::default()
        };
        let mut driver = Driver {
            scheduler,
            run: Run::new(info),
            now: 0,
            queues: vec![VecDeque::new(); workers],
            results: VecDeque::new(),
            left: match streams {
                true => left[..workers].iter().map(|left| Some(*left)).collect(),
                false => vec![Some(usize::MAX); workers],
            },
            tasks: if streams { usize::MAX } else { tasks },
            in_order,
            moves: moves.into(),
        };
        driver.emit(EventKind::EpochStarted { epoch: 0 });
        for _ in 0..window {
            driver.try_put();
        }
        driver.compare();
        while driver.next() {
            driver.compare();
        }
        driver.compare();
        driver.emit(EventKind::EpochEnded { epoch: 0 });
        let pipeline = driver.run.pipeline_at(Nanos(driver.now));
        prop_assert!((0..workers).all(|w| !pipeline.takes_tasks(w as WorkerId)));
        prop_assert_eq!(pipeline.task_info().count(), 0);
    }
}

/// The iterator's variables at an instant.
struct IteratorState {
    at: Nanos,
    send_idx: Option<usize>,
    rcvd_idx: Option<usize>,
    workers_status: Vec<bool>,
}

#[test]
fn recorded_variables_match_those_of_the_real_iterator() {
    within(60, || {
        for (num_workers, in_order) in [(1, true), (3, true), (3, false), (8, false)] {
            let clock = Clock::start();
            let (probe, events) = Probe::new(clock.clone(), ContentPolicy::Off, 1 << 14);
            let options = LoaderOptions {
                num_workers,
                in_order,
                ..LoaderOptions::default()
            };
            let data = Numbers {
                slow: Some((2, Duration::from_millis(20))),
                ..Numbers::new(90)
            };
            let mut loader = loader(data, 2, true, options).observed(probe);
            let mut states = Vec::new();
            let mut iter = loader.iter().expect("threads start");
            loop {
                states.push(IteratorState {
                    at: clock.now(),
                    send_idx: iter.send_idx(),
                    rcvd_idx: iter.rcvd_idx(),
                    workers_status: iter.workers_status().to_vec(),
                });
                if iter.next().is_none() {
                    break;
                }
            }
            drop(iter);
            let run = fold(events.try_iter());
            assert_eq!((run.dropped(), run.anomalies()), (0, (0, 0)));
            assert_eq!(states.len(), 46);
            for state in states {
                let pipeline: Pipeline<'_> = run.pipeline_at(state.at);
                assert_eq!(Some(pipeline.send_idx as usize), state.send_idx);
                assert_eq!(Some(pipeline.rcvd_idx as usize), state.rcvd_idx);
                let status: Vec<bool> = (0..num_workers)
                    .map(|w| pipeline.takes_tasks(w as WorkerId))
                    .collect();
                assert_eq!(status, state.workers_status);
            }
        }
    });
}
