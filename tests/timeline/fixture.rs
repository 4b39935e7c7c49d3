//! Simulated loader that always produces the same events of a plausible run.

use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Gauge, GaugeKind, Lane, Nanos, Run, RunId, RunInfo,
    RunOptions, SampleTiming, Stage, StageTiming,
};

/// Parameters of the loader.
pub struct Loader {
    pub workers: u32,
    pub prefetch: u32,
    pub batches: u32,
    pub batch_size: u32,
    /// Time of the training step, µs.
    pub step_us: i64,
    /// Time of each sample by its index, µs.
    pub sample_us: fn(u32) -> i64,
    /// True to pin batches, and to measure memory and CPU.
    pub pins_and_measures: bool,
}

/// 12 samples of 0.1 s, of which sample 3 takes 0.6 s. The run can be checked against PyTorch's documentation of the order.
pub const CONTROL: Loader = Loader {
    workers: 3,
    prefetch: 2,
    batches: 12,
    batch_size: 1,
    step_us: 20_000,
    sample_us: |k| if k == 3 { 600_000 } else { 100_000 },
    pins_and_measures: false,
};

/// 4 workers with 16 samples per batch, some of them slow.
pub const SMALL: Loader = Loader {
    workers: 4,
    prefetch: 2,
    batches: 48,
    batch_size: 16,
    step_us: 22_000,
    sample_us: |k| match noise(k) {
        n if n % 97 == 0 => 90_000,
        n => 2_500 + (n % 4_000) as i64,
    },
    pins_and_measures: false,
};

/// About 100,000 spans.
pub const LARGE: Loader = Loader {
    workers: 8,
    prefetch: 2,
    batches: 15_000,
    batch_size: 4,
    step_us: 2_000,
    sample_us: |k| {
        // Samples are slower towards the middle, with an even slower section.
        let progress = f64::from(k) / 60_000.0;
        let slow = 1.0 + 1.3 * (progress * std::f64::consts::PI).sin();
        let patch = if (0.60..0.66).contains(&progress) {
            3.0
        } else {
            1.0
        };
        ((1_500.0 + (noise(k) % 1_500) as f64) * slow * patch) as i64
    },
    pins_and_measures: false,
};

/// 64 workers, more than fit on a screen.
pub const MANY: Loader = Loader {
    workers: 64,
    prefetch: 2,
    batches: 1_200,
    batch_size: 8,
    step_us: 3_000,
    sample_us: |k| 9_000 + (noise(k) % 30_000) as i64,
    pins_and_measures: false,
};

/// 2 workers with pinned batches and measured memory and CPU.
pub const PINNED: Loader = Loader {
    workers: 2,
    batches: 40,
    pins_and_measures: true,
    ..SMALL
};

/// Returns a pseudo-random number.
fn noise(k: u32) -> u32 {
    let mut x = k.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
    x ^= x >> 15;
    x = x.wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 13)
}

struct Tape {
    events: Vec<Event>,
}

impl Tape {
    fn tell(&mut self, us: i64, kind: EventKind) {
        self.events.push(Event {
            at: Nanos(us * 1_000),
            run: RunId(0),
            kind,
        });
    }

    fn enter(&mut self, us: i64, idx: u32, stage: Stage) {
        let batch = id(idx);
        self.tell(us, EventKind::Entered { batch, stage });
    }
}

fn id(idx: u32) -> BatchId {
    BatchId { epoch: 0, idx }
}

impl Loader {
    /// Returns the run up to `until_us`, or all of it.
    pub fn run(&self, until_us: Option<i64>) -> Run {
        let mut events = self.events();
        events.sort_by_key(|e| e.at);
        let mut run = Run::new(RunInfo::default());
        let until = until_us.map_or(Nanos::MAX, |us| Nanos(us * 1_000));
        events
            .iter()
            .filter(|e| e.at <= until)
            .for_each(|e| run.apply(e));
        run
    }

    fn events(&self) -> Vec<Event> {
        let mut tape = Tape { events: Vec::new() };
        let options = RunOptions {
            num_workers: self.workers as usize,
            prefetch_factor: Some(self.prefetch as usize),
            batch_size: Some(self.batch_size as usize),
            ..RunOptions::default()
        };
        let info = RunInfo {
            options,
            ..RunInfo::default()
        };
        tape.tell(0, EventKind::RunStarted(Box::new(info)));
        tape.tell(0, EventKind::EpochStarted { epoch: 0 });
        let mut free = vec![0; self.workers as usize];
        let mut finished = Vec::new();
        let mut sent = 0;
        while sent < (self.workers * self.prefetch).min(self.batches) {
            finished.push((
                self.work(&mut tape, &mut free, sent, i64::from(sent) * 300),
                sent,
            ));
            sent += 1;
        }
        if self.pins_and_measures {
            self.measure(&mut tape);
        }
        let mut now = 3_000;
        let mut arrived = vec![false; self.batches as usize];
        for wanted in 0..self.batches {
            tape.tell(now, EventKind::Consumer { waiting: true });
            while !arrived[wanted as usize] {
                let first = (0..finished.len())
                    .min_by_key(|k| finished[*k])
                    .expect("the wanted one is under way");
                let (at, idx) = finished.swap_remove(first);
                now = now.max(at) + 80;
                arrived[idx as usize] = true;
                tape.enter(
                    now,
                    idx,
                    if idx == wanted {
                        Stage::Ready
                    } else {
                        Stage::Held
                    },
                );
            }
            now += 60;
            tape.enter(now, wanted, Stage::Training);
            if arrived.get(wanted as usize + 1) == Some(&true) {
                tape.enter(now, wanted + 1, Stage::Ready);
            }
            if sent < self.batches {
                finished.push((self.work(&mut tape, &mut free, sent, now), sent));
                sent += 1;
            }
            now += self.step_us;
            tape.enter(now, wanted, Stage::Done);
        }
        tape.tell(now, EventKind::EpochEnded { epoch: 0 });
        tape.tell(now, EventKind::RunEnded);
        tape.events
    }

    /// Simulates a worker that processes batch `idx`, dispatched at `now`. Returns the end time.
    fn work(&self, tape: &mut Tape, free: &mut [i64], idx: u32, now: i64) -> i64 {
        let worker = (idx % self.workers) as u16;
        let indices: Vec<u64> = (0..self.batch_size)
            .map(|k| u64::from(idx * self.batch_size + k))
            .collect();
        tape.tell(now, EventKind::dispatched(id(idx), Some(worker), indices));
        let mut at = free[usize::from(worker)].max(now + 200);
        tape.enter(at, idx, Stage::Fetching);
        let mut samples = Vec::new();
        let mut decode = Vec::new();
        for k in 0..self.batch_size {
            let time = (self.sample_us)(idx * self.batch_size + k);
            samples.push(SampleTiming {
                start: Nanos(at * 1_000),
                wall: Nanos(time * 1_000),
                cpu: None,
            });
            decode.push(Nanos(time * 600));
            at += time;
        }
        let read = decode.iter().map(|d| Nanos(d.0 / 3)).collect();
        let stages = [("read", read), ("decode", decode)].map(|(name, walls)| StageTiming {
            name: name.to_owned(),
            walls,
        });
        let fetched = Fetched {
            batch: id(idx),
            samples,
            stages: stages.into(),
        };
        tape.tell(at, EventKind::Fetched(Box::new(fetched)));
        tape.enter(at, idx, Stage::Collating);
        at += 200 + i64::from(self.batch_size) * 150;
        tape.enter(at, idx, Stage::Returning);
        free[usize::from(worker)] = at + 100;
        if self.pins_and_measures {
            tape.enter(at + 300, idx, Stage::Pinning);
            tape.enter(at + 2_300, idx, Stage::Returning);
            at += 2_400;
        }
        at
    }

    /// Simulates growing memory and varying CPU usage. Some memory values are missing.
    fn measure(&self, tape: &mut Tape) {
        for k in 0..60u32 {
            let jitter = f64::from(noise(k) % 100) / 100.0;
            let mut tell = |lane, what, value| {
                let part = None;
                let gauge = Gauge {
                    lane,
                    part,
                    what,
                    value,
                };
                tape.tell(i64::from(k) * 15_000, EventKind::Gauge(Box::new(gauge)));
            };
            let missing = (20..24).contains(&k);
            let grown = if missing {
                f64::NAN
            } else {
                4e8 + f64::from(k) * 6e6
            };
            tell(None, GaugeKind::Rss, grown + jitter * 2e7);
            tell(Some(Lane::Worker(0)), GaugeKind::Cpu, 0.4 + 0.6 * jitter);
        }
    }
}
