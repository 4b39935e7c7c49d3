//! Synthetic training without an end: sixteen workers, long waits, errors, warnings, epochs that stop early, and periods with ten times
//! as many events per second.

use std::collections::VecDeque;

use loadscope_trace::{
    BatchId, EndReason, Event, EventKind, Gauge, GaugeKind, Level, Message, Nanos, RunId, RunInfo,
    RunOptions, Stage, WorkerInfo,
};

use crate::job::Noise;
use crate::recording::{Loader, Recording};

const WORKERS: u16 = 16;
const SAMPLES: u32 = 16;
/// Approximate number of events per batch.
const OF_BATCH: u64 = 8;
/// Maximum number of errors and warnings. A recording keeps a thousand.
const MESSAGES: u64 = 600;
/// Factor for all times of a [`Recording`], so that a training step takes about 5 ms.
const SLOWDOWN: i64 = 100;
const MINUTE: i64 = 60_000_000_000;
/// Part of each three hours in which all times are a tenth. There the size limit is reached.
const DENSE: std::ops::Range<i64> = 120 * MINUTE..160 * MINUTE;
/// Interval between memory measurements, in batches.
const MEASURED: u64 = 200;

/// Synthetic training without an end.
pub struct Training {
    noise: Noise,
    /// Factor for all times, so that few events also cover hours.
    stretch: i64,
    /// Interval between errors or warnings, in batches.
    trouble: u64,
    loader: Loader,
    epoch: u32,
    /// Start of the epoch, ns.
    start: i64,
    /// Number of batches after which the epoch ends, and number of received ones.
    batches: (u32, u32),
    received: u64,
    now: Nanos,
    /// Queue of the next events.
    out: VecDeque<Event>,
}

impl Training {
    /// Creates a training for about `events` events.
    pub fn new(seed: u64, events: u64) -> Self {
        let stretch = i64::try_from(30_000_000 / events.max(1)).unwrap_or(1);
        let mut training = Self {
            noise: Noise::of(seed),
            stretch: stretch.clamp(1, 100),
            trouble: (events / OF_BATCH / MESSAGES).max(50),
            loader: Loader::new(&Recording::batches(0, SAMPLES)),
            epoch: 0,
            start: 0,
            batches: (0, 0),
            received: 0,
            now: Nanos::ZERO,
            out: VecDeque::new(),
        };
        let options = RunOptions {
            num_workers: WORKERS.into(),
            batch_size: Some(SAMPLES as usize),
            ..RunOptions::default()
        };
        training.emit(EventKind::RunStarted(Box::new(RunInfo {
            options,
            dataset: "made up".to_owned(),
            ..RunInfo::default()
        })));
        training.begin_epoch();
        training
    }

    /// Returns the next event.
    pub fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.out.pop_front() {
                return event;
            }
            let is_over = self.batches.0 == self.batches.1;
            match self.loader.step().filter(|_| !is_over) {
                Some(event) => self.pass(event),
                None => {
                    self.end_epoch();
                    self.epoch += 1;
                    self.begin_epoch();
                }
            }
        }
    }

    /// Returns the last events.
    pub fn end(mut self) -> Vec<Event> {
        self.end_epoch();
        self.emit(EventKind::RunEnded);
        self.out.into()
    }

    fn emit(&mut self, kind: EventKind) {
        self.out.push_back(Event {
            at: self.now,
            run: RunId(0),
            kind,
        });
    }

    fn begin_epoch(&mut self) {
        let all = 5_000 + self.noise.below(15_000) as u32;
        let is_stopped = self.noise.below(10) == 0;
        self.batches = (if is_stopped { all / 2 } else { all }, 0);
        self.loader = Loader::new(&Recording::batches(all, SAMPLES).in_epoch(self.epoch));
        self.now.0 += 10_000_000 + self.noise.below(490_000_000) as i64;
        self.start = self.now.0;
        self.emit(EventKind::EpochStarted { epoch: self.epoch });
        for worker in 0..WORKERS {
            let info = WorkerInfo {
                worker,
                seed: Some(self.noise.below(u64::MAX)),
                os_id: Some(self.os_id(worker).into()),
            };
            self.emit(EventKind::WorkerStarted(Box::new(info)));
        }
    }

    fn os_id(&self, worker: u16) -> u32 {
        1_000 + self.epoch % 1_000 * u32::from(WORKERS) + u32::from(worker)
    }

    fn end_epoch(&mut self) {
        self.emit(EventKind::EpochEnded { epoch: self.epoch });
        for worker in 0..WORKERS {
            let os_id = Some(self.os_id(worker));
            let reason = EndReason::Finished;
            self.emit(EventKind::WorkerEnded {
                worker,
                reason,
                os_id,
            });
        }
    }

    /// Sends an event of the loader at its time in the training. Some batches fail or have a warning.
    fn pass(&mut self, mut event: Event) {
        let is_dense = DENSE.contains(&(self.start % (180 * MINUTE)));
        let factor = SLOWDOWN * self.stretch / if is_dense { 10 } else { 1 };
        let at = |time: Nanos, start: i64| Nanos(start + time.0 * factor);
        event.at = at(event.at, self.start);
        if let EventKind::Fetched(fetched) = &mut event.kind {
            for sample in &mut fetched.samples {
                (sample.start, sample.wall) = (at(sample.start, self.start), at(sample.wall, 0));
            }
        }
        self.now = event.at;
        if let EventKind::Entered { batch, stage } = &mut event.kind
            && *stage == Stage::Training
        {
            self.received += 1;
            self.batches.1 += 1;
            if self.received.is_multiple_of(self.trouble) {
                let fails = (self.received / self.trouble).is_multiple_of(2);
                if fails {
                    *stage = Stage::Failed;
                }
                let message = message(*batch, fails);
                self.emit(EventKind::Message(Box::new(message)));
            }
            if self.received.is_multiple_of(MEASURED) {
                let gauge = Gauge {
                    lane: None,
                    part: None,
                    what: GaugeKind::Rss,
                    value: 1e9 + self.noise.below(1_000_000) as f64,
                };
                self.emit(EventKind::Gauge(Box::new(gauge)));
            }
        }
        self.out.push_back(event);
    }
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
