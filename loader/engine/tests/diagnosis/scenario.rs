//! Simulated runs with added causes. Idle time is inserted where a cause would have its effect.

use std::collections::BTreeMap;

use loadscope_engine::rng::Generator;
use loadscope_engine::simulate::{Simulation, Work};
use loadscope_trace::{
    EndReason, Event, EventKind, Nanos, Run, RunId, RunInfo, RunOptions, Stage, WorkerId,
    WorkerInfo,
};

/// A cause that is added to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    HeadOfLine,
    HeavyTail,
    Starved,
    Sawtooth,
    NoWorkers,
    SlowFirstBatch,
    EpochRefill,
    WindowTooSmall,
    Oversubscribed,
    SlowerThanNone,
    Pinning,
    Sampler,
    SharedMemory,
    Descriptors,
    DeadWorker,
    SilentWorker,
}

impl Cause {
    pub const ALL: [Self; 16] = [
        Self::HeadOfLine,
        Self::HeavyTail,
        Self::Starved,
        Self::Sawtooth,
        Self::NoWorkers,
        Self::SlowFirstBatch,
        Self::EpochRefill,
        Self::WindowTooSmall,
        Self::Oversubscribed,
        Self::SlowerThanNone,
        Self::Pinning,
        Self::Sampler,
        Self::SharedMemory,
        Self::Descriptors,
        Self::DeadWorker,
        Self::SilentWorker,
    ];

    /// Returns the ID of the finding that names this cause.
    pub fn id(self) -> &'static str {
        match self {
            Self::HeadOfLine => "head_of_line",
            Self::HeavyTail => "heavy_tail",
            Self::Starved => "starved_workers",
            Self::Sawtooth => "sawtooth",
            Self::NoWorkers => "no_workers",
            Self::SlowFirstBatch => "slow_first_batch",
            Self::EpochRefill => "epoch_refill",
            Self::WindowTooSmall => "window_too_small",
            Self::Oversubscribed => "oversubscribed",
            Self::SlowerThanNone => "slower_than_none",
            Self::Pinning => "pinning",
            Self::Sampler => "sampler",
            Self::SharedMemory => "shared_memory",
            Self::Descriptors => "descriptors",
            Self::DeadWorker => "dead_worker",
            Self::SilentWorker => "silent_worker",
        }
    }
}

/// Parameters of a run. Times in ms.
#[derive(Clone, Debug)]
pub struct Scenario {
    workers: usize,
    prefetch: usize,
    batches: usize,
    batch_size: usize,
    epochs: u32,
    step: f64,
    sample: f64,
    jitter: f64,
    slow: BTreeMap<u64, f64>,
    tail: f64,
    tail_factor: f64,
    pin: f64,
    first_start: f64,
    epoch_start: f64,
    drawing: f64,
    handover: f64,
    cores: u32,
    /// CPU time per wall time.
    cpu: Option<f64>,
    pub(super) ends_badly: Option<Cause>,
    pub(super) complaint: Option<Cause>,
    pub(super) seed: u64,
}

impl Scenario {
    /// Returns a run in which the workers use 40 to 65 % of their capacity, so that the consumer hardly waits.
    pub fn healthy(seed: u64) -> Self {
        let mut draw = Generator::new(seed);
        let mut between = |low: f64, high: f64| low + (high - low) * draw.rand_f64();
        let workers = between(2.0, 6.99) as usize;
        let batch_size = between(1.0, 16.99) as usize;
        let step = between(10.0, 60.0);
        Self {
            workers,
            prefetch: between(2.0, 4.99) as usize,
            batches: between(150.0, 300.0) as usize,
            batch_size,
            epochs: 1,
            step,
            sample: between(0.4, 0.65) * step * workers as f64 / batch_size as f64,
            jitter: between(0.0, 0.3),
            slow: BTreeMap::new(),
            tail: 0.0,
            tail_factor: 1.0,
            pin: 0.0,
            first_start: 0.0,
            epoch_start: 0.0,
            drawing: 0.0,
            handover: 0.0,
            cores: 16,
            cpu: None,
            ends_badly: None,
            complaint: None,
            seed,
        }
    }

    /// Sets the number of epochs.
    pub fn of_epochs(self, epochs: u32) -> Self {
        Self { epochs, ..self }
    }

    /// Sets the prefetch factor.
    pub fn of_prefetch(self, prefetch: usize) -> Self {
        Self { prefetch, ..self }
    }

    /// Adds a cause.
    pub fn with(mut self, cause: Cause) -> Self {
        let mut draw = Generator::new(self.seed ^ ((cause as u64 + 1) << 8));
        let mut between = |low: f64, high: f64| low + (high - low) * draw.rand_f64();
        // The current limit of the run: the consumer or the workers.
        let supply = self.sample * self.batch_size as f64 / self.workers.max(1) as f64;
        let total = self.step.max(supply) * self.batches as f64;
        let keeps_up = self.step * self.workers.max(1) as f64 / self.batch_size as f64;
        match cause {
            Cause::HeadOfLine => {
                // One or two samples are too slow for any window.
                let samples = (self.batches * self.batch_size) as f64;
                let window = self.step * (self.workers * 20) as f64;
                for _ in 0..between(1.0, 2.99) as usize {
                    let index = (samples * between(0.3, 0.8)) as u64;
                    self.slow.insert(index, window + total * between(0.25, 0.5));
                }
            }
            Cause::HeavyTail => {
                // Such samples take longer than the window lasts, because shorter ones cost nothing.
                let window = self.step * (self.workers * self.prefetch) as f64;
                self.tail = between(0.03, 0.08) / self.batch_size as f64;
                self.tail_factor = window * between(1.5, 3.0) / (0.7 * self.sample);
                // The other samples are faster, so that the workers have spare time.
                self.sample *= 0.7;
            }
            Cause::Starved => {
                self.sample = keeps_up * between(1.4, 3.0);
                self.jitter = between(0.1, 0.3);
            }
            Cause::Sawtooth => {
                self.sample = keeps_up * between(1.4, 3.0);
                self.jitter = 0.0;
            }
            Cause::NoWorkers => {
                self.workers = 0;
                self.sample = self.step / self.batch_size as f64 * between(0.4, 2.0);
            }
            Cause::SlowFirstBatch => self.first_start = total * between(0.15, 0.6),
            Cause::EpochRefill => {
                self.epochs = 4;
                self.batches = (self.batches / 3).max(50);
                self.epoch_start = total / 3.0 * between(0.2, 0.6);
            }
            Cause::WindowTooSmall => {
                self.prefetch = 1;
                self.workers = 2;
                self.batch_size = 1;
                self.sample = 2.0 * self.step * between(0.75, 0.85);
                self.jitter = between(0.9, 1.0);
            }
            Cause::Oversubscribed => {
                self.cores = 2;
                self.workers = between(4.0, 8.99) as usize;
                self.cpu = Some(2.0 / self.workers as f64);
                // A step has more work than two cores can do.
                let keeps_up = self.step * self.workers as f64 / self.batch_size as f64;
                self.sample = keeps_up * between(1.3, 2.5);
                self.jitter = 0.1;
            }
            Cause::SlowerThanNone => {
                self.workers = 1;
                self.prefetch = 1;
                self.step = between(1.0, 2.0);
                self.sample = 0.1 / self.batch_size as f64;
                self.handover = between(2.0, 5.0);
            }
            Cause::Pinning => self.pin = self.step * between(1.3, 2.0),
            Cause::Sampler => {
                self.workers = 0;
                self.sample = 0.02 * self.step / self.batch_size as f64;
                self.drawing = self.step * between(0.2, 1.0);
            }
            Cause::SharedMemory | Cause::Descriptors => self.complaint = Some(cause),
            Cause::DeadWorker | Cause::SilentWorker => self.ends_badly = Some(cause),
        }
        self
    }

    fn cost(&self, index: u64) -> Nanos {
        if let Some(slow) = self.slow.get(&index) {
            return Nanos((slow * 1e6) as i64);
        }
        let mut draw = Generator::new(self.seed.wrapping_mul(31).wrapping_add(index));
        let mut cost = self.sample * (1.0 + self.jitter * (2.0 * draw.rand_f64() - 1.0));
        if draw.rand_f64() < self.tail {
            cost *= self.tail_factor;
        }
        Nanos((cost * 1e6) as i64)
    }

    fn info(&self) -> RunInfo {
        RunInfo {
            options: RunOptions {
                num_workers: self.workers,
                prefetch_factor: (self.workers > 0).then_some(self.prefetch),
                batch_size: Some(self.batch_size),
                epochs: self.epochs,
                step_ms: self.step,
                ..RunOptions::default()
            },
            cores: self.cores,
            ..RunInfo::default()
        }
    }

    /// Simulates the run.
    pub fn run(&self) -> Run {
        let mut run = Run::default();
        let mut start = Nanos::ZERO;
        for epoch in 0..self.epochs {
            let mut events = self.epoch();
            let last = epoch + 1 == self.epochs;
            if last {
                self.spoil(&mut events);
            }
            let mut end = start;
            for mut event in events {
                event.at += start;
                end = event.at;
                rename(&mut event, epoch, start);
                let is_of_run =
                    matches!(event.kind, EventKind::RunStarted(_) | EventKind::RunEnded);
                if !(is_of_run && epoch > 0 && !last) {
                    run.apply(&event);
                }
            }
            start = end;
        }
        run
    }

    /// Returns the events of one epoch, from time zero on.
    fn epoch(&self) -> Vec<Event> {
        let size = self.batch_size as u64;
        let batches = (0..self.batches as u64).map(|b| (b * size..(b + 1) * size).collect());
        let ms = |ms: f64| Nanos((ms * 1e6) as i64);
        let simulation = Simulation {
            info: self.info(),
            work: Work::Batches(batches.collect()),
            collate: Nanos::ZERO,
            pin: (self.pin > 0.0).then(|| ms(self.pin)),
            step: ms(self.step),
        };
        let mut late = Nanos::ZERO;
        let mut out = Vec::new();
        let mut begun = false;
        let mut events = simulation.run(|i| self.cost(i));
        // At time zero the window is filled first, then the consumer asks, then workers begin.
        events.sort_by_key(|e| {
            (
                e.at,
                if e.at == Nanos::ZERO {
                    rank(&e.kind)
                } else {
                    0
                },
            )
        });
        for mut event in events {
            let begins = matches!(
                event.kind,
                EventKind::Entered {
                    stage: Stage::Fetching,
                    ..
                }
            );
            if begins && !begun {
                begun = true;
                late += ms(self.first_start.max(self.epoch_start));
                out.extend(self.crew(late, |worker| {
                    EventKind::WorkerStarted(Box::new(WorkerInfo {
                        worker,
                        seed: Some(worker.into()),
                        os_id: None,
                    }))
                }));
            }
            // The time is inserted before the event, so that it counts for the activity that the event ends.
            late += match &event.kind {
                EventKind::Dispatched(_) => ms(self.drawing),
                EventKind::Entered {
                    stage: Stage::Ready | Stage::Held,
                    ..
                } => ms(self.handover),
                _ => Nanos::ZERO,
            };
            event.at += late;
            if let EventKind::Fetched(fetched) = &mut event.kind {
                for sample in &mut fetched.samples {
                    sample.start += late;
                    sample.cpu = self
                        .cpu
                        .map(|share| Nanos((sample.wall.0 as f64 * share) as i64));
                }
            }
            if matches!(event.kind, EventKind::EpochEnded { .. }) {
                out.extend(self.crew(event.at, |worker| EventKind::WorkerEnded {
                    worker,
                    reason: EndReason::Finished,
                    os_id: None,
                }));
            }
            out.push(event);
        }
        out
    }

    /// Returns the same event for every worker.
    fn crew(&self, at: Nanos, kind: impl Fn(WorkerId) -> EventKind) -> Vec<Event> {
        let workers = 0..self.workers as WorkerId;
        let event = |worker| Event {
            at,
            run: RunId(0),
            kind: kind(worker),
        };
        workers.map(event).collect()
    }
}

/// Moves an event to a later epoch.
fn rename(event: &mut Event, number: u32, start: Nanos) {
    match &mut event.kind {
        EventKind::EpochStarted { epoch } | EventKind::EpochEnded { epoch } => *epoch = number,
        EventKind::Dispatched(dispatch) => dispatch.batch.epoch = number,
        EventKind::Entered { batch, .. } => batch.epoch = number,
        EventKind::Fetched(fetched) => {
            fetched.batch.epoch = number;
            fetched.samples.iter_mut().for_each(|s| s.start += start);
        }
        _ => {}
    }
}

/// Returns the rank of an event among those at time zero.
fn rank(kind: &EventKind) -> u8 {
    match kind {
        EventKind::RunStarted(_) => 0,
        EventKind::EpochStarted { .. } => 1,
        EventKind::Dispatched(_) => 2,
        EventKind::Consumer { .. } => 3,
        _ => 4,
    }
}
