//! Deterministic synthetic recording of any length.

#![allow(dead_code, reason = "each benchmark needs a part of it")]

use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Nanos, Run, RunId, RunInfo, RunOptions, SampleTiming, Stage,
};

/// Parameters of a recording.
pub struct Recording {
    workers: u16,
    batches: u32,
    /// Samples per batch with recorded times, or 0 for none.
    samples: u32,
    epoch: u32,
}

/// Spans per batch: queued, fetching, collating, returning, held or ready, training, and the trainer's wait.
const SPANS: u32 = 7;

impl Recording {
    /// Creates a recording of about `spans` spans.
    pub fn workers(workers: u16, spans: u32) -> Self {
        Self {
            workers,
            batches: spans / SPANS,
            samples: 0,
            epoch: 0,
        }
    }

    /// Creates a recording of `batches` batches, with times of all their samples.
    pub fn batches(batches: u32, samples: u32) -> Self {
        Self {
            workers: 16,
            batches,
            samples,
            epoch: 0,
        }
    }

    /// Changes the epoch of all batches.
    pub fn in_epoch(self, epoch: u32) -> Self {
        Self { epoch, ..self }
    }

    /// Applies all events to a run.
    pub fn run(&self) -> Run {
        let mut run = Run::default();
        self.for_each_event(|event| run.apply(&event));
        run
    }

    /// Returns all events in order of time.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        self.for_each_event(|event| events.push(event));
        events
    }

    /// Passes every event to `each` in order of time, without storing them.
    pub fn for_each_event(&self, mut each: impl FnMut(Event)) {
        let mut loader = Loader::new(self);
        let options = RunOptions {
            num_workers: usize::from(self.workers),
            batch_size: Some(self.samples.max(1) as usize),
            ..RunOptions::default()
        };
        let info = RunInfo {
            options,
            ..RunInfo::default()
        };
        each(event(0, EventKind::RunStarted(Box::new(info))));
        each(event(0, EventKind::EpochStarted { epoch: 0 }));
        while let Some(next) = loader.step() {
            each(next);
        }
        let end = loader.now;
        each(event(end, EventKind::EpochEnded { epoch: 0 }));
        each(event(end, EventKind::RunEnded));
    }
}

fn event(at: i64, kind: EventKind) -> Event {
    Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    }
}

/// Merged events of all threads, as a priority queue of planned events.
pub struct Loader {
    epoch: u32,
    samples: u32,
    batches: u32,
    sent: u32,
    /// Time at which each worker is free, ns.
    free: Vec<i64>,
    /// Times and numbers of planned events. The earliest is popped first.
    ahead: std::collections::BinaryHeap<std::cmp::Reverse<(i64, u64)>>,
    kinds: std::collections::HashMap<u64, EventKind>,
    numbered: u64,
    /// Batches that arrived early.
    early: std::collections::BTreeSet<u32>,
    wanted: u32,
    noise: u32,
    pub now: i64,
    waiting: bool,
}

/// Number that marks the trainer's next call in the queue.
const NEXT: u64 = u64::MAX;

impl Loader {
    pub fn new(recording: &Recording) -> Self {
        let mut loader = Self {
            epoch: recording.epoch,
            samples: recording.samples,
            batches: recording.batches,
            sent: 0,
            free: vec![0; usize::from(recording.workers)],
            ahead: std::collections::BinaryHeap::new(),
            kinds: std::collections::HashMap::new(),
            numbered: 0,
            early: std::collections::BTreeSet::new(),
            wanted: 0,
            noise: recording.epoch + 1,
            now: 1_000,
            waiting: false,
        };
        for _ in 0..2 * recording.workers {
            loader.send(1_000);
        }
        loader.ahead.push(std::cmp::Reverse((1_000, NEXT)));
        loader
    }

    fn plan(&mut self, at: i64, kind: EventKind) {
        let number = self.numbered;
        self.numbered += 1;
        self.kinds.insert(number, kind);
        self.ahead.push(std::cmp::Reverse((at, number)));
    }

    fn random(&mut self, below: i64) -> i64 {
        self.noise = self
            .noise
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        i64::from(self.noise >> 8) % below.max(1)
    }

    /// Sends the next batch to its worker, and plans its events until the main process receives it.
    fn send(&mut self, now: i64) {
        if self.sent == self.batches {
            return;
        }
        let idx = self.sent;
        self.sent += 1;
        let worker = idx as usize % self.free.len();
        let batch = BatchId {
            epoch: self.epoch,
            idx,
        };
        let first = u64::from(idx) * u64::from(self.samples);
        let indices: Vec<u64> = (first..first + u64::from(self.samples)).collect();
        self.plan(
            now,
            EventKind::dispatched(batch, Some(worker as u16), indices),
        );
        let mut at = self.free[worker].max(now + 5_000);
        let enter = |stage| EventKind::Entered { batch, stage };
        self.plan(at, enter(Stage::Fetching));
        let mut samples = Vec::new();
        let slow = if self.random(500) == 0 { 20 } else { 1 };
        for _ in 0..self.samples.max(1) {
            let wall = (20_000 + self.random(60_000)) * slow;
            samples.push(SampleTiming {
                start: Nanos(at),
                wall: Nanos(wall),
                cpu: None,
            });
            at += wall;
        }
        if self.samples > 0 {
            let fetched = Fetched {
                batch,
                samples,
                stages: Vec::new(),
            };
            self.plan(at, EventKind::Fetched(Box::new(fetched)));
        }
        self.plan(at, enter(Stage::Collating));
        at += 8_000 + self.random(4_000);
        self.plan(at, enter(Stage::Returning));
        self.free[worker] = at + 500;
        // The main process receives the batch a little later.
        at += 6_000 + self.random(3_000);
        self.plan(at, enter(Stage::Held));
    }

    /// Returns the next event.
    pub fn step(&mut self) -> Option<Event> {
        loop {
            let std::cmp::Reverse((at, number)) = self.ahead.pop()?;
            self.now = at;
            if number == NEXT {
                if self.wanted == self.batches {
                    continue;
                }
                self.waiting = true;
                if self.early.remove(&self.wanted) {
                    self.yield_batch(at + 2_000);
                }
                return Some(event(at, EventKind::Consumer { waiting: true }));
            }
            let kind = self.kinds.remove(&number)?;
            if let EventKind::Entered {
                batch,
                stage: Stage::Held,
            } = kind
            {
                if batch.idx == self.wanted && self.waiting {
                    self.yield_batch(at + 1_000);
                    let stage = Stage::Ready;
                    return Some(event(at, EventKind::Entered { batch, stage }));
                }
                self.early.insert(batch.idx);
            }
            return Some(event(at, kind));
        }
    }

    /// Plans that the trainer receives the awaited batch, trains, and calls again.
    fn yield_batch(&mut self, at: i64) {
        let batch = BatchId {
            epoch: self.epoch,
            idx: self.wanted,
        };
        self.waiting = false;
        self.wanted += 1;
        let stage = Stage::Training;
        self.plan(at, EventKind::Entered { batch, stage });
        self.send(at);
        let each = 56_000 * i64::from(self.samples.max(1)) / self.free.len() as i64;
        let step = each + self.random(each / 4);
        self.ahead.push(std::cmp::Reverse((at + step, NEXT)));
    }
}
