//! Recordings of a job of eight ranks on two hosts. The ranks wait for each other after every step, one rank reads from a slow disk, and
//! the clock of the second host is ahead.

use std::path::Path;

use loadscope_trace::{
    BatchId, Event, EventKind, Nanos, Origin, RunId, RunInfo, RunOptions, Stage, WorkerInfo,
};

use crate::fixture::write_log;

const MS: i64 = 1_000_000;
/// Start of the job, nanoseconds since 1970.
const BEGAN: i64 = 1_790_000_000_000 * MS;
/// Offset of the second host's clock.
pub const AHEAD: Nanos = Nanos(180 * MS);
/// Number of the straggler.
pub const SLOW: u32 = 5;
const RANKS: u32 = 8;
const BATCHES: usize = 40;
const EPOCHS: u32 = 2;
const WORKERS: usize = 2;
const STEP: i64 = 40 * MS;

/// State of a rank during the simulation.
struct Rank {
    number: u32,
    /// True start of its own time axis.
    zero: i64,
    free: [i64; WORKERS],
    /// Arrival time of each batch of the epoch.
    there: Vec<i64>,
    events: Vec<Event>,
}

impl Rank {
    fn tell(&mut self, at: i64, kind: EventKind) {
        let run = RunId(self.number % 4);
        self.events.push(Event {
            at: Nanos(at - self.zero),
            run,
            kind,
        });
    }

    /// Returns the fetch time of a batch. The straggler's disk is slow most of the time.
    fn cost(&self, epoch: u32, k: usize) -> i64 {
        let odd = (k as i64 * 37 + i64::from(self.number) * 11 + i64::from(epoch) * 5) % 13;
        match self.number == SLOW && k % 10 < 7 {
            true => (150 + 4 * odd) * MS,
            false => (40 + 2 * odd) * MS,
        }
    }

    fn begin(&mut self) {
        let info = RunInfo {
            origin: Origin::Pytorch("2.13.0".to_owned()),
            dataset: "ImageFolder (640 samples) from train.py".to_owned(),
            dataset_len: Some(640),
            batches_per_epoch: Some(BATCHES as u64),
            measured: Stage::ALL.to_vec(),
            rank: self.number,
            world_size: RANKS,
            cores: 16,
            host: host(self.number).to_owned(),
            started_unix_ns: self.zero + ahead(self.number),
            options: RunOptions {
                dataset: "synthetic:len=640".to_owned(),
                batch_size: Some(2),
                num_workers: WORKERS,
                sampler: "distributed".to_owned(),
                seed: Some(0),
                world_size: RANKS,
                rank: self.number,
                ..RunOptions::default()
            },
            ..RunInfo::default()
        };
        self.tell(self.zero, EventKind::RunStarted(Box::new(info)));
    }

    /// Dispatches a batch to its worker, which fetches it.
    fn dispatch(&mut self, at: i64, epoch: u32, k: usize) {
        let batch = BatchId {
            epoch,
            idx: k as u32,
        };
        let worker = k % WORKERS;
        let first = (k as u64 * u64::from(RANKS) + u64::from(self.number)) * 2;
        let kind = EventKind::dispatched(batch, Some(worker as u16), [first, first + 1]);
        self.tell(at, kind);
        let start = self.free[worker].max(at + MS / 10);
        let end = start + self.cost(epoch, k);
        self.free[worker] = end;
        self.there.push(end);
        for (at, stage) in [
            (start, Stage::Fetching),
            (end - 2 * MS, Stage::Collating),
            (end, Stage::Returning),
        ] {
            self.tell(at, EventKind::Entered { batch, stage });
        }
    }

    /// Requests a batch for the trainer. Returns the time when the trainer has the batch.
    fn ask(&mut self, at: i64, epoch: u32, k: usize) -> i64 {
        self.tell(at, EventKind::Consumer { waiting: true });
        let has = self.there[k].max(at) + MS / 20;
        let batch = BatchId {
            epoch,
            idx: k as u32,
        };
        for (at, stage) in [(has - MS / 50, Stage::Ready), (has, Stage::Training)] {
            self.tell(at, EventKind::Entered { batch, stage });
        }
        if k + 2 * WORKERS < BATCHES {
            self.dispatch(has, epoch, k + 2 * WORKERS);
        }
        has
    }
}

fn host(rank: u32) -> &'static str {
    if rank < 4 { "gpu-a" } else { "gpu-b" }
}

fn ahead(rank: u32) -> i64 {
    if rank < 4 { 0 } else { AHEAD.0 }
}

/// Simulates all ranks. A step ends at the same time on all ranks. Each rank waits either for its own batch or for the other ranks.
fn ranks() -> Vec<Rank> {
    let zero = |rank: u32| BEGAN + i64::from(rank / 4) * 25 * MS;
    let mut ranks: Vec<Rank> = (0..RANKS)
        .map(|number| Rank {
            number,
            zero: zero(number),
            free: [0; WORKERS],
            there: Vec::new(),
            events: Vec::new(),
        })
        .collect();
    ranks.iter_mut().for_each(Rank::begin);
    let mut now = BEGAN + 60 * MS;
    for epoch in 0..EPOCHS {
        for rank in &mut ranks {
            rank.there.clear();
            rank.tell(now, EventKind::EpochStarted { epoch });
            for worker in 0..WORKERS as u16 {
                let info = WorkerInfo {
                    worker,
                    seed: Some(u64::from(worker) + 1),
                    os_id: Some(1000 + u64::from(worker)),
                };
                rank.tell(now, EventKind::WorkerStarted(Box::new(info)));
            }
            (0..2 * WORKERS).for_each(|k| rank.dispatch(now, epoch, k));
        }
        for k in 0..BATCHES {
            let odd = |rank: &Rank| (i64::from(rank.number) * 7 + k as i64 * 3) % 10 * MS / 40;
            let has = ranks
                .iter_mut()
                .map(|rank| rank.ask(now + odd(rank), epoch, k));
            let last = has.max().unwrap_or(now);
            now = last + STEP + (k as i64 % 3) * 2 * MS;
        }
        for rank in &mut ranks {
            rank.tell(now + MS, EventKind::EpochEnded { epoch });
        }
        now += 120 * MS;
    }
    for rank in &mut ranks {
        rank.tell(now, EventKind::RunEnded);
        rank.events.sort_by_key(|event| event.at);
    }
    ranks
}

/// Writes the recordings of both hosts and other typical files into `folder`.
pub fn write(folder: &Path) {
    let (first, second): (Vec<_>, Vec<_>) = ranks().into_iter().partition(|r| r.number < 4);
    for (name, ranks) in [("gpu-a.jsonl.zst", first), ("gpu-b.jsonl.zst", second)] {
        let mut events: Vec<Event> = ranks.into_iter().flat_map(|rank| rank.events).collect();
        events.sort_by_key(|event| event.at);
        write_log(&folder.join(name), &events);
    }
    std::fs::write(folder.join("train.py"), "print('training')\n").expect("there is room");
    std::fs::write(folder.join("model.pt"), b"PK\x03\x04weights").expect("there is room");
}
