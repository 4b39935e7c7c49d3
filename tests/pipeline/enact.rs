//! Deterministic simulation of PyTorch's multiprocessing iterator. It produces the events of a run with given costs.

use loadscope_trace::{
    BatchContent, BatchId, Event, EventKind, Fetched, Field, FieldData, Nanos, Pictures, PinMemory,
    Run, RunId, RunInfo, RunOptions, SampleTiming, Stage, StageTiming, WorkerId, WorkerInfo,
};

/// Parameters of the simulation. Times are in milliseconds.
#[derive(Clone, Copy)]
pub struct Play {
    pub workers: usize,
    pub prefetch: usize,
    pub batches: u32,
    pub batch_size: usize,
    pub pin: bool,
    pub step: f64,
    /// Cost of a sample, by batch.
    pub cost: fn(u32) -> f64,
}

impl Default for Play {
    /// Returns 12 samples of 0.1 s, of which sample 3 takes 0.6 s, batches of one, 3 workers, a step of 0.02 s.
    fn default() -> Self {
        Self {
            workers: 3,
            prefetch: 2,
            batches: 12,
            batch_size: 1,
            pin: false,
            step: 20.0,
            cost: |idx| if idx == 3 { 600.0 } else { 100.0 },
        }
    }
}

struct Stagehand {
    play: Play,
    events: Vec<Event>,
    /// Time when each worker finishes all its tasks.
    free: Vec<f64>,
    pin_free: f64,
    /// Arrival times and indices of batches in flight.
    coming: Vec<(f64, u32)>,
    sent: u32,
}

/// Returns the run of `play`.
pub fn enact(play: Play) -> Run {
    let mut events = events(play);
    events.sort_by_key(|e| e.at);
    let mut run = Run::new(RunInfo::default());
    events.iter().for_each(|e| run.apply(e));
    assert_eq!(run.anomalies(), (0, 0));
    run
}

/// Returns the events of `play`, unsorted.
pub fn events(play: Play) -> Vec<Event> {
    let mut hand = Stagehand {
        play,
        events: Vec::new(),
        free: vec![0.0; play.workers.max(1)],
        pin_free: 0.0,
        coming: Vec::new(),
        sent: 0,
    };
    hand.begin();
    if play.workers == 0 {
        hand.alone();
    } else {
        hand.together();
    }
    hand.events
}

fn id(idx: u32) -> BatchId {
    BatchId { epoch: 0, idx }
}

impl Stagehand {
    fn push(&mut self, ms: f64, kind: EventKind) {
        let at = Nanos((ms * 1e6).round() as i64);
        let run = RunId(0);
        self.events.push(Event { at, run, kind });
    }

    fn enter(&mut self, ms: f64, idx: u32, stage: Stage) {
        let batch = id(idx);
        self.push(ms, EventKind::Entered { batch, stage });
    }

    fn begin(&mut self) {
        let play = self.play;
        let info = RunInfo {
            options: RunOptions {
                num_workers: play.workers,
                prefetch_factor: (play.workers > 0).then_some(play.prefetch),
                batch_size: Some(play.batch_size),
                step_ms: play.step,
                pin_memory: if play.pin {
                    PinMemory::Mlock
                } else {
                    PinMemory::Off
                },
                ..RunOptions::default()
            },
            batches_per_epoch: Some(u64::from(play.batches)),
            dataset_len: Some(u64::from(play.batches) * play.batch_size as u64),
            classes: ["zero", "one", "two", "three", "four"]
                .map(str::to_owned)
                .to_vec(),
            ..RunInfo::default()
        };
        self.push(0.0, EventKind::RunStarted(Box::new(info)));
        self.push(0.0, EventKind::EpochStarted { epoch: 0 });
        for worker in 0..play.workers as WorkerId {
            let info = WorkerInfo {
                worker,
                seed: Some(7_777_777_000 + u64::from(worker)),
                os_id: Some(4_100 + u64::from(worker)),
            };
            self.push(0.0, EventKind::WorkerStarted(Box::new(info)));
        }
    }

    /// Dispatches the next batch to its worker and computes its arrival time.
    fn put(&mut self, now: f64) {
        if self.sent == self.play.batches {
            return;
        }
        let idx = self.sent;
        self.sent += 1;
        let worker = idx as usize % self.play.workers;
        let size = self.play.batch_size as u64;
        let first = u64::from(idx) * size;
        let indices: Vec<u64> = (first..first + size).map(|i| i * 7 % 1797).collect();
        self.push(
            now,
            EventKind::dispatched(id(idx), Some(worker as WorkerId), indices),
        );
        let start = self.free[worker].max(now + 0.05);
        let end = self.fetch(start, idx);
        self.enter(end + 1.5, idx, Stage::Returning);
        self.free[worker] = end + 1.6;
        let arrives = if self.play.pin {
            let start = self.pin_free.max(end + 1.7);
            self.enter(start, idx, Stage::Pinning);
            self.enter(start + 30.0, idx, Stage::Returning);
            self.pin_free = start + 30.1;
            start + 30.2
        } else {
            end + 1.7
        };
        self.coming.push((arrives, idx));
    }

    /// Simulates fetching and collating. Returns the end of fetching.
    fn fetch(&mut self, start: f64, idx: u32) -> f64 {
        self.enter(start, idx, Stage::Fetching);
        let count = self.play.batch_size;
        let cost = (self.play.cost)(idx);
        let nanos = |ms: f64| Nanos((ms * 1e6) as i64);
        let samples = (0..count).map(|k| SampleTiming {
            start: nanos(start + cost * k as f64),
            wall: nanos(cost),
            cpu: Some(nanos(cost * 0.3)),
        });
        let stage = |name: &str, share: f64| StageTiming {
            name: name.to_owned(),
            walls: vec![nanos(cost * share); count],
        };
        let fetched = Fetched {
            batch: id(idx),
            samples: samples.collect(),
            stages: vec![
                stage("read", 0.1),
                stage("decode", 0.6),
                stage("resize", 0.25),
            ],
        };
        let end = start + cost * count as f64;
        self.push(end, EventKind::Fetched(Box::new(fetched)));
        self.enter(end, idx, Stage::Collating);
        self.push(end + 1.0, EventKind::Content(content(idx, count).into()));
        end
    }

    fn together(&mut self) {
        let play = self.play;
        let mut now = 0.0;
        for _ in 0..play.prefetch * play.workers {
            now += 0.01;
            self.put(now);
        }
        let mut stash: Vec<u32> = Vec::new();
        for wanted in 0..play.batches {
            self.push(now, EventKind::Consumer { waiting: true });
            if stash.contains(&wanted) {
                self.enter(now, wanted, Stage::Ready);
            }
            while !stash.contains(&wanted) {
                let next = (0..self.coming.len())
                    .min_by(|a, b| self.coming[*a].0.total_cmp(&self.coming[*b].0));
                let (arrives, idx) = self
                    .coming
                    .swap_remove(next.expect("tasks are outstanding"));
                now = f64::max(now, arrives) + 0.01;
                let stage = if idx == wanted {
                    Stage::Ready
                } else {
                    Stage::Held
                };
                self.enter(now, idx, stage);
                stash.push(idx);
            }
            stash.retain(|idx| *idx != wanted);
            self.put(now);
            now += 0.02;
            self.enter(now, wanted, Stage::Training);
            now += play.step;
        }
        self.end(now);
    }

    fn alone(&mut self) {
        let mut now = 0.0;
        for idx in 0..self.play.batches {
            self.push(now, EventKind::Consumer { waiting: true });
            self.push(now, EventKind::dispatched(id(idx), None, [u64::from(idx)]));
            now = self.fetch(now + 0.1, idx) + 1.5;
            self.enter(now, idx, Stage::Training);
            now += self.play.step;
        }
        self.end(now);
    }

    fn end(&mut self, now: f64) {
        self.push(now, EventKind::Consumer { waiting: true });
        self.push(now + 0.1, EventKind::EpochEnded { epoch: 0 });
        self.push(now + 0.2, EventKind::RunEnded);
    }
}

/// Returns images of 8×8 pixels with a ring and a bar, labels, and a field of numbers.
fn content(idx: u32, count: usize) -> BatchContent {
    let mut pixels = Vec::with_capacity(count * 64);
    for k in 0..count {
        let turn = (idx as usize + k) % 5;
        pixels.extend((0..64).map(|at| {
            let (x, y) = (at % 8, at / 8);
            let ring = (2..6).contains(&x)
                && (1..7).contains(&y)
                && !((3..5).contains(&x) && (2..6).contains(&y));
            match (ring, y == turn + 1 && x < 7) {
                (true, _) => 255,
                (_, true) => 140,
                _ => 0,
            }
        }));
    }
    let labels: Vec<f64> = (0..count)
        .map(|k| ((idx as usize + k) % 5) as f64)
        .collect();
    let field = |name: &str, dtype: &str, shape: Vec<i64>, data| Field {
        min: Some(0.0),
        max: Some(16.0),
        mean: Some(4.8842),
        ..Field::new(name, dtype, shape, data)
    };
    let pictures = Pictures {
        width: 8,
        height: 8,
        channels: 1,
        pixels,
    };
    BatchContent {
        batch: id(idx),
        fields: vec![
            field(
                "[0]",
                "torch.float32",
                vec![count as i64, 1, 8, 8],
                FieldData::Pictures(pictures),
            ),
            field(
                "[1]",
                "torch.int64",
                vec![count as i64],
                FieldData::Numbers(labels),
            ),
        ],
    }
}
