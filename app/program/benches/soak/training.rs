//! Synthetic training without an end: eight workers, long waits, errors, warnings, epochs that stop early, and periods with five times as
//! many events.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use loadscope_trace::{
    BatchId, EndReason, Event, EventKind, Fetched, Gauge, GaugeKind, Level, Message, Nanos, RunId,
    RunInfo, RunOptions, SampleTiming, Stage, WorkerInfo,
};

const WORKERS: u16 = 8;
/// Batches in flight per worker.
const PREFETCH: u32 = 2;
/// Samples per batch.
const SAMPLES: u64 = 16;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600 * SECOND;

/// Duration of a training step, ns.
const STEP: i64 = 5_000_000;
/// Duration of a fetch, ns. The workers just keep up with the training steps.
const FETCH: i64 = 32_000_000;
/// Part of each three hours in which steps and fetches take a fifth of the time.
const DENSE: std::ops::Range<i64> = 2 * HOUR..2 * HOUR + 40 * 60 * SECOND;
/// Interval between slow batches, in batches. The trainer waits for a slow batch.
const SLOW: u64 = 2_000;
/// Interval between batches with recorded sample times, in batches.
const TIMED: u64 = 20;
/// Maximum number of errors and warnings. A recording keeps a thousand.
const MESSAGES: u64 = 600;
/// Approximate number of events per batch.
const OF_BATCH: u64 = 7;

/// Planned action.
struct Planned {
    order: (i64, u64),
    what: Action,
}

enum Action {
    /// Send an event.
    Emit(EventKind),
    /// The trainer requests the next batch.
    RequestBatch,
    /// Measure the memory.
    Measure,
}

/// Synthetic training without an end.
pub struct Training {
    noise: u64,
    /// Factor for the duration of steps, so that few events also cover hours.
    stretch: i64,
    /// Interval between errors or warnings, in batches.
    trouble: u64,
    ahead: BinaryHeap<Reverse<Planned>>,
    planned: u64,
    /// Queue of the next events.
    out: VecDeque<Event>,
    now: i64,
    epoch: u32,
    /// Batches of this epoch: all, sent, and the number of the trainer's next batch.
    of_epoch: u32,
    sent: u32,
    wanted: u32,
    /// Batch before which the epoch stops.
    stops_at: u32,
    early: BTreeSet<u32>,
    is_asking: bool,
    /// Time at which each worker is free, ns.
    free: [i64; WORKERS as usize],
    /// Number of batches so far.
    made: u64,
}

impl PartialEq for Planned {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}
impl Eq for Planned {}
impl PartialOrd for Planned {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Planned {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

impl Training {
    /// Creates a training for about `events` events.
    pub fn new(seed: u64, events: u64) -> Self {
        let mut training = Self {
            noise: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            stretch: i64::try_from(30_000_000 / events.max(1))
                .unwrap_or(1)
                .clamp(1, 100),
            trouble: (events / OF_BATCH / MESSAGES).max(50),
            ahead: BinaryHeap::new(),
            planned: 0,
            out: VecDeque::new(),
            now: 1_000,
            epoch: 0,
            of_epoch: 0,
            sent: 0,
            wanted: 0,
            stops_at: 0,
            early: BTreeSet::new(),
            is_asking: false,
            free: [0; WORKERS as usize],
            made: 0,
        };
        let options = RunOptions {
            num_workers: WORKERS.into(),
            batch_size: Some(SAMPLES as usize),
            ..RunOptions::default()
        };
        let info = RunInfo {
            options,
            dataset: "made up".to_owned(),
            ..RunInfo::default()
        };
        training.emit(EventKind::RunStarted(Box::new(info)));
        training.plan(training.now, Action::Measure);
        training.begin_epoch();
        training
    }

    /// Returns the next event.
    pub fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.out.pop_front() {
                return event;
            }
            let Some(Reverse(next)) = self.ahead.pop() else {
                self.end_epoch();
                continue;
            };
            self.now = next.order.0;
            match next.what {
                Action::Emit(kind) => self.pass(kind),
                Action::RequestBatch => self.request_batch(),
                Action::Measure => self.measure(),
            }
        }
    }

    /// Returns the last events.
    pub fn end(mut self) -> Vec<Event> {
        let epoch = self.epoch;
        self.emit(EventKind::EpochEnded { epoch });
        self.emit(EventKind::RunEnded);
        self.out.into()
    }

    fn emit(&mut self, kind: EventKind) {
        self.out.push_back(Event {
            at: Nanos(self.now),
            run: RunId(0),
            kind,
        });
    }

    fn plan(&mut self, at: i64, what: Action) {
        let order = (at, self.planned);
        self.planned += 1;
        self.ahead.push(Reverse(Planned { order, what }));
    }

    fn random(&mut self, below: i64) -> i64 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        ((self.noise >> 11) % below.max(1) as u64) as i64
    }

    fn is_dense(&self) -> bool {
        DENSE.contains(&(self.now % (3 * HOUR)))
    }

    /// Returns the approximate duration of a training step, ns.
    fn step(&self) -> i64 {
        let usual = STEP * self.stretch;
        if self.is_dense() { usual / 5 } else { usual }
    }

    fn begin_epoch(&mut self) {
        self.of_epoch = 5_000 + self.random(15_000) as u32;
        self.stops_at = match self.random(10) {
            0 => self.of_epoch / 2,
            _ => self.of_epoch,
        };
        (self.sent, self.wanted, self.is_asking) = (0, 0, false);
        self.early.clear();
        self.emit(EventKind::EpochStarted { epoch: self.epoch });
        for worker in 0..WORKERS {
            let info = WorkerInfo {
                worker,
                seed: Some(self.noise),
                os_id: Some(self.os_id(worker)),
            };
            self.emit(EventKind::WorkerStarted(Box::new(info)));
        }
        self.free = [self.now; WORKERS as usize];
        for _ in 0..PREFETCH * u32::from(WORKERS) {
            self.send(self.now);
        }
        self.plan(self.now + 1_000, Action::RequestBatch);
    }

    fn os_id(&self, worker: u16) -> u64 {
        1_000 + u64::from(self.epoch % 1_000) * u64::from(WORKERS) + u64::from(worker)
    }

    /// Cancels all planned actions except memory measurements.
    fn end_epoch(&mut self) {
        let epoch = self.epoch;
        self.emit(EventKind::EpochEnded { epoch });
        for worker in 0..WORKERS {
            let os_id = u32::try_from(self.os_id(worker)).ok();
            let reason = EndReason::Finished;
            self.emit(EventKind::WorkerEnded {
                worker,
                reason,
                os_id,
            });
        }
        self.ahead.clear();
        self.epoch += 1;
        self.now += 10_000_000 + self.random(490_000_000);
        self.plan(self.now, Action::Measure);
        self.begin_epoch();
    }

    /// Sends the next batch to its worker, and plans its events until it arrives.
    fn send(&mut self, now: i64) {
        if self.sent == self.of_epoch {
            return;
        }
        let batch = BatchId {
            epoch: self.epoch,
            idx: self.sent,
        };
        self.sent += 1;
        self.made += 1;
        let worker = (batch.idx % u32::from(WORKERS)) as u16;
        let indices: Vec<u64> = (0..SAMPLES)
            .map(|_| self.random(1_000_000_000) as u64)
            .collect();
        let dispatched = EventKind::dispatched(batch, Some(worker), indices);
        self.plan(now, Action::Emit(dispatched));
        let enter = |stage| Action::Emit(EventKind::Entered { batch, stage });
        let mut at = self.free[usize::from(worker)].max(now + 5_000);
        self.plan(at, enter(Stage::Fetching));
        let fetch = if self.is_dense() { FETCH / 5 } else { FETCH };
        let mut took = fetch * 3 / 5 + self.random(fetch * 4 / 5);
        if self.made.is_multiple_of(SLOW) {
            // The gap is long enough that the trainer uses up all batches in flight.
            let flying = i64::from(PREFETCH * u32::from(WORKERS));
            took += 150_000_000 + self.random(2 * SECOND) + STEP * self.stretch * flying * 5 / 4;
        }
        if self.made.is_multiple_of(TIMED) {
            let fetched = self.times(batch, at, took);
            self.plan(
                at + took,
                Action::Emit(EventKind::Fetched(Box::new(fetched))),
            );
        }
        at += took;
        self.plan(at, enter(Stage::Collating));
        at += 200_000 + self.random(100_000);
        self.plan(at, enter(Stage::Returning));
        self.free[usize::from(worker)] = at + 500;
        at += 20_000 + self.random(10_000);
        self.plan(at, enter(Stage::Held));
    }

    fn times(&mut self, batch: BatchId, start: i64, took: i64) -> Fetched {
        let each = took / SAMPLES as i64;
        let samples = (0..SAMPLES as i64).map(|k| SampleTiming {
            start: Nanos(start + k * each),
            wall: Nanos(each - self.random(each / 2)),
            cpu: None,
        });
        Fetched {
            batch,
            samples: samples.collect(),
            stages: Vec::new(),
        }
    }

    /// Sends a planned event. An arriving batch is delivered if the trainer waits for it.
    fn pass(&mut self, kind: EventKind) {
        if let EventKind::Entered {
            batch,
            stage: Stage::Held,
        } = kind
        {
            if batch.idx == self.wanted && self.is_asking {
                let stage = Stage::Ready;
                self.emit(EventKind::Entered { batch, stage });
                return self.deliver(self.now + 1_000);
            }
            self.early.insert(batch.idx);
        }
        self.emit(kind);
    }

    /// Lets the trainer request the next batch.
    fn request_batch(&mut self) {
        self.emit(EventKind::Consumer { waiting: true });
        if self.wanted == self.stops_at {
            self.now += 20_000;
            return self.end_epoch();
        }
        self.is_asking = true;
        if self.early.remove(&self.wanted) {
            self.deliver(self.now + 2_000);
        }
    }

    /// Delivers a batch: the trainer trains and requests the next one, or the batch's error is raised.
    fn deliver(&mut self, at: i64) {
        let batch = BatchId {
            epoch: self.epoch,
            idx: self.wanted,
        };
        self.is_asking = false;
        self.wanted += 1;
        let number = self.made - u64::from(self.sent - self.wanted);
        let is_bad = number.is_multiple_of(self.trouble);
        let fails = is_bad && (number / self.trouble).is_multiple_of(2);
        if is_bad {
            let message = Self::message(batch, fails);
            self.plan(at, Action::Emit(EventKind::Message(Box::new(message))));
        }
        let stage = if fails {
            Stage::Failed
        } else {
            Stage::Training
        };
        self.plan(at, Action::Emit(EventKind::Entered { batch, stage }));
        self.send(at);
        let step = self.step();
        let took = match fails {
            true => 10_000,
            false => step * 7 / 8 + self.random(step / 4),
        };
        self.plan(at + took, Action::RequestBatch);
    }

    fn message(batch: BatchId, is_error: bool) -> Message {
        let (level, text) = match is_error {
            true => (Level::Error, format!("ValueError: {batch} is broken")),
            false => (Level::Warning, format!("UserWarning: {batch} is odd")),
        };
        Message {
            level,
            text,
            about: Some(batch),
            worker: Some((batch.idx % u32::from(WORKERS)) as u16),
            sample: None,
        }
    }

    fn measure(&mut self) {
        let gauge = Gauge {
            lane: None,
            part: None,
            what: GaugeKind::Rss,
            value: 1e9 + self.random(1_000_000) as f64,
        };
        self.emit(EventKind::Gauge(Box::new(gauge)));
        self.plan(self.now + SECOND, Action::Measure);
    }
}
