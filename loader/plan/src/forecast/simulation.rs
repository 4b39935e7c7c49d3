//! Simulation of one epoch with a virtual clock: the [`Scheduler`] with workers, pin thread and trainer.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::cores::Cores;
use super::load::EpochLoad;
use super::number::float;
use super::step::StepLoad;
use super::{Recorded, Setting};
use crate::scheduler::{Scheduler, SchedulerOptions};

mod fetching;
mod main_thread;
mod single;
mod worker;

use worker::Worker;

/// Parameters of a simulated epoch. Times are ns.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    num_workers: usize,
    prefetch_factor: usize,
    in_order: bool,
    cores: f64,
    /// Computing threads slow each other down. Measured costs are corrected for this.
    slows: bool,
    pins: bool,
    /// Computing share of a training step. `None`: as recorded.
    trainer_cpu: Option<f64>,
    stops_at_errors: bool,
    /// Time of the first task.
    begin: f64,
    /// Time at which each worker runs.
    runs: Vec<f64>,
    /// Time from the worker's start to its first fetch.
    first_fetch: f64,
    /// Computing part of `first_fetch`.
    first_computes: f64,
    next_task: f64,
    wake_worker: f64,
    returning: f64,
    interpreter: f64,
    receive: f64,
    to_pin: f64,
    yielding: f64,
    pull: f64,
    give: f64,
    pub finish: f64,
}

impl Parameters {
    /// Returns the parameters of an epoch with `setting`, from the recorded costs.
    pub fn of(recorded: &Recorded, setting: &Setting, epoch: usize) -> Self {
        let costs = recorded.transport(setting);
        let (delays, startup, workers) = (&recorded.delays, &recorded.startup, setting.num_workers);
        let starts = workers > 0 && (epoch == 0 || !setting.persistent_workers);
        let spawn = float(startup.spawn) * f64::from(u8::from(starts));
        let runs = |worker: usize| match starts {
            true => spawn * (worker + 1) as f64 + float(startup.until_runs),
            false => 0.0,
        };
        Self {
            num_workers: workers,
            prefetch_factor: setting.prefetch_factor,
            in_order: setting.in_order,
            cores: recorded.cores_of(setting).unwrap_or(f64::INFINITY),
            slows: recorded.is_measured(),
            pins: setting.pin_memory,
            trainer_cpu: setting.trainer_cpu,
            stops_at_errors: recorded.stops_at_errors(),
            begin: float(startup.first_task) + spawn * workers as f64,
            runs: (0..workers).map(runs).collect(),
            first_fetch: match starts {
                true => float(startup.first_fetch),
                false => float(startup.wake),
            },
            first_computes: match starts {
                true => float(startup.first_computes),
                false => 0.0,
            },
            next_task: float(delays.next_task),
            wake_worker: float(delays.wake_worker),
            returning: costs.returning,
            interpreter: costs.interpreter,
            receive: costs.receive,
            to_pin: float(delays.to_pin),
            yielding: costs.yielding,
            pull: float(delays.pull),
            give: float(delays.give),
            finish: float(recorded.finish(setting, epoch)),
        }
    }
}

impl StepLoad {
    /// Returns the time off a core, the time on cores, and the number of cores in use.
    fn parts(self, parameters: &Parameters) -> (f64, f64, f64) {
        let cpu = match parameters.trainer_cpu {
            Some(share) => self.alone * share,
            None => self.cpu,
        };
        let computes = cpu.min(self.alone);
        let width = match computes > 0.0 {
            true => (cpu / computes).clamp(1.0, parameters.cores.max(1.0)),
            false => 1.0,
        };
        (self.alone - computes, computes, width)
    }
}

/// Result of an epoch. Times are ns since its start.
#[derive(Clone, Debug, Default)]
pub(super) struct EpochResult {
    pub end: f64,
    pub waited: f64,
    /// Time of the first batch at the trainer.
    pub first: Option<f64>,
    /// Waiting time of the trainer before that.
    pub waited_first: f64,
    /// Time of all workers in fetching and collating.
    pub busy: f64,
    pub samples: u64,
    pub batches: u64,
    /// Task indices in the order in which they were yielded.
    pub order: Vec<u32>,
    /// True if an error ended the run.
    pub stopped: bool,
}

pub(super) fn simulate_epoch(load: &EpochLoad, parameters: &Parameters) -> EpochResult {
    let mut simulation = EpochSimulation::new(load, parameters);
    if parameters.num_workers == 0 {
        simulation.run_single();
    } else {
        simulation.run_workers();
    }
    simulation.result.end = simulation.cores.now;
    simulation.result
}

/// State of the main process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MainState {
    /// Before the first task.
    Starting,
    /// Waits for a batch. `fresh` is true until it has checked the result queue.
    Waiting {
        fresh: bool,
    },
    /// Receives a batch from the result queue.
    Receiving(usize),
    /// Sends the next task, then returns this batch to the trainer.
    Yielding(usize),
    Training {
        computes: f64,
        width: f64,
    },
    /// Ends the epoch.
    Finishing,
    Over,
}

struct EpochSimulation<'a> {
    load: &'a EpochLoad,
    parameters: &'a Parameters,
    cores: Cores,
    /// No thread waits for a core, so batches are not divided into parts.
    alone: bool,
    scheduler: Scheduler<()>,
    main: MainState,
    workers: Vec<Worker>,
    /// Position in the load of each task index. `None`: its stream has ended.
    task_of: Vec<Option<u32>>,
    worker_of: Vec<usize>,
    /// Batches on their way to the main process: arrival time (as bits, for ordering), tie-breaker, task index.
    inbox: BinaryHeap<Reverse<(u64, usize, usize)>>,
    /// Number of batches that passed the pin thread, which keeps their order.
    passed: usize,
    /// Batches in flight to the pin thread, with their arrival times.
    to_pin: VecDeque<(f64, usize)>,
    pinning: Option<usize>,
    /// Next task of the load to be sent.
    next: usize,
    wait_began: f64,
    result: EpochResult,
}

impl<'a> EpochSimulation<'a> {
    fn new(load: &'a EpochLoad, parameters: &'a Parameters) -> Self {
        let workers = parameters.num_workers;
        // Each worker, the pin thread and the main process is one simulated thread.
        let threads = workers + 2;
        let computing = workers + 1 + usize::from(parameters.pins);
        Self {
            load,
            parameters,
            cores: Cores::new(threads, parameters.cores, parameters.slows),
            alone: (computing as f64 <= parameters.cores && !load.steps_are_wide(parameters.cores))
                || !load.computes,
            scheduler: Scheduler::new(SchedulerOptions {
                num_workers: workers.max(1),
                prefetch_factor: parameters.prefetch_factor,
                in_order: parameters.in_order,
            }),
            main: MainState::Starting,
            workers: vec![Worker::default(); workers],
            task_of: Vec::with_capacity(load.tasks.len()),
            worker_of: Vec::with_capacity(load.tasks.len()),
            inbox: BinaryHeap::new(),
            passed: 0,
            to_pin: VecDeque::new(),
            pinning: None,
            next: 0,
            wait_began: 0.0,
            result: EpochResult::default(),
        }
    }

    fn pin_thread(&self) -> usize {
        self.parameters.num_workers
    }

    fn main_thread(&self) -> usize {
        self.parameters.num_workers + 1
    }

    fn run_workers(&mut self) {
        self.main_sleeps(self.parameters.begin);
        while self.main != MainState::Over {
            let thread = self.cores.next();
            let arrival = self.next_arrival();
            let pin = self.next_pin();
            // At equal times, threads finish before the pin thread starts a batch and the main process checks its queue.
            let soonest = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => a <= b,
                (a, _) => a.is_some(),
            };
            let at = thread.map(|(at, _)| at);
            if let Some((at, thread)) = thread.filter(|_| soonest(at, pin) && soonest(at, arrival))
            {
                self.cores.finish(thread, at);
                self.on_thread_finished(thread);
            } else if let Some(at) = pin.filter(|_| soonest(pin, arrival)) {
                self.cores.pass(at);
                self.start_pinning();
            } else if let Some(at) = arrival {
                self.cores.pass(at);
                self.next_data();
            } else {
                // No further event can occur: the recording was stopped early.
                break;
            }
        }
    }

    /// Handles the end of a thread's current activity.
    fn on_thread_finished(&mut self, thread: usize) {
        if thread == self.main_thread() {
            self.on_main_finished();
        } else if thread == self.pin_thread() {
            self.on_pin_finished();
        } else {
            self.on_worker_finished(thread);
        }
    }

    /// Returns the time at which the main process next checks the result queue.
    fn next_arrival(&self) -> Option<f64> {
        match self.main {
            MainState::Waiting { fresh: true } => Some(self.cores.now),
            MainState::Waiting { fresh: false } => {
                let Reverse((at, ..)) = self.inbox.peek()?;
                Some(f64::from_bits(*at).max(self.cores.now))
            }
            _ => None,
        }
    }
}
