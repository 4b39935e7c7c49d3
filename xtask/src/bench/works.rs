//! What is compared, who takes part, and the goals.

mod bare;
mod formats;

use super::programs::{Program, Task};
pub use formats::FORMATS;

/// A piece of work.
#[derive(Debug)]
pub struct Work {
    /// Its name, also for Loadscope.
    pub id: &'static str,
    /// What is done.
    pub says: &'static str,
    pub unit: Unit,
    /// Its names for PyTorch, where there are several ways; the fastest counts.
    pytorch: &'static [&'static str],
    /// Its name for dataloader-rs, if that can do it.
    dataloader_rs: Option<&'static str>,
    /// Its name for what reads a format in Python.
    counterpart: Option<&'static str>,
    /// Whether it depends on the number of workers, and can be recorded.
    pub workers: Workers,
    pub goals: &'static [Goal],
    /// What recording it may cost.
    pub recording: &'static [Goal],
}

/// Which numbers of workers are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// 0 and 2 for PyTorch, 0, 1 and 2 for the others; with 0 and 2 also recorded.
    Tried,
    /// Always 2.
    Two,
    /// There are none: no loader at all, or one without workers.
    NoLoader,
    /// No loader, but as many threads as there would be workers: 1 and 2. PyTorch has one.
    Threads,
}

/// What the figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// More is better.
    ItemsPerSecond,
    Milliseconds,
    Megabytes,
    Nanoseconds,
}

/// What is to be reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// At least this many times as good as PyTorch at its best.
    TimesPytorch(f64),
    /// At least this many times as good as dataloader-rs at its best.
    TimesDataloaderRs(f64),
    /// At least this many times as good as what reads the format in Python.
    TimesCounterpart(f64),
    /// The same of dataloader-rs with the allocator that Loadscope has.
    TimesDataloaderRsMimalloc(f64),
    /// At most this share slower while events are heard, with so many workers.
    Events(f64, u8),
    /// At most this share slower while events are written to a compressed log, with so many workers.
    Log(f64, u8),
    /// No event is lost, of none of the tasks.
    NoneLost,
    /// At most this, in the unit of the work.
    AtMost(f64),
    /// At least this, in the unit of the work.
    AtLeast(f64),
}

use Goal::{
    AtLeast, AtMost, Events, Log, NoneLost, TimesDataloaderRs, TimesDataloaderRsMimalloc,
    TimesPytorch,
};

/// What recording may cost of large batches.
const RECORDING: [Goal; 5] = [
    Events(0.05, 0),
    Events(0.05, 2),
    Log(0.08, 0),
    Log(0.08, 2),
    NoneLost,
];
/// And of batches that take a microsecond.
const RECORDING_SMALL: [Goal; 5] = [
    Events(0.05, 0),
    Events(0.05, 2),
    Log(0.15, 0),
    Log(0.15, 2),
    NoneLost,
];

/// Everything, in the order in which it is done.
pub const WORKS: &[Work] = &[
    Work {
        id: "w1",
        says: "4,096 pictures uint8 3×224×224 in memory, shuffled, batch 64; two tensors in a TensorDataset, from which \
               Loadscope gathers batches at once",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w1"],
        dataloader_rs: Some("w1"),
        counterpart: None,
        workers: Workers::Tried,
        goals: &[
            TimesPytorch(1.0),
            TimesDataloaderRs(1.0),
            TimesDataloaderRsMimalloc(1.1),
        ],
        recording: &RECORDING,
    },
    bare::W1_COPY,
    Work {
        id: "w1-samples",
        says: "the same pictures from a dataset of one's own: views of them fetched one by one, then collated",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w1"],
        dataloader_rs: Some("w1"),
        counterpart: None,
        workers: Workers::Tried,
        goals: &[
            TimesPytorch(1.0),
            TimesDataloaderRs(1.0),
            TimesDataloaderRsMimalloc(1.1),
        ],
        recording: &RECORDING,
    },
    Work {
        id: "w2",
        says: "1,000,000 pairs of float and int, in order, batch 256; two tensors in a TensorDataset, from which Loadscope \
               gathers batches at once",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w2-tensors", "w2-numbers"],
        dataloader_rs: Some("w2"),
        counterpart: None,
        workers: Workers::Tried,
        goals: &[TimesPytorch(10.0), TimesDataloaderRs(1.0)],
        recording: &RECORDING_SMALL,
    },
    Work {
        id: "w2-samples",
        says: "the same pairs from a dataset of one's own: fetched one by one, then collated",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w2-tensors", "w2-numbers"],
        dataloader_rs: Some("w2"),
        counterpart: None,
        workers: Workers::Tried,
        goals: &[TimesPytorch(10.0), TimesDataloaderRs(1.0)],
        recording: &RECORDING_SMALL,
    },
    Work {
        id: "w3",
        says: "800 JPEGs of about 500×375: read, decode, resize to 224×224, batch 32",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w3"],
        dataloader_rs: Some("w3"),
        counterpart: None,
        workers: Workers::Tried,
        goals: &[
            TimesPytorch(2.5),
            TimesDataloaderRs(1.25),
            TimesDataloaderRsMimalloc(1.25),
        ],
        recording: &RECORDING,
    },
    bare::W3_DECODE,
    Work {
        id: "w4-random",
        says: "RandomSampler over 10,000,000",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w4-random"],
        dataloader_rs: None,
        counterpart: None,
        workers: Workers::NoLoader,
        goals: &[TimesPytorch(4.0)],
        recording: &[],
    },
    Work {
        id: "w4-distributed",
        says: "DistributedSampler over 10,000,000, rank 0 of 8",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w4-distributed"],
        dataloader_rs: None,
        counterpart: None,
        workers: Workers::NoLoader,
        goals: &[TimesPytorch(4.0)],
        recording: &[],
    },
    Work {
        id: "w4-weighted",
        says: "WeightedRandomSampler, 1,000,000 of 1,000,000 without replacement",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w4-weighted"],
        dataloader_rs: None,
        counterpart: None,
        workers: Workers::NoLoader,
        goals: &[TimesPytorch(2.0)],
        recording: &[],
    },
    Work {
        id: "w4-replacement",
        says: "WeightedRandomSampler, 1,000,000 of 1,000,000 with replacement",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w4-replacement"],
        dataloader_rs: None,
        counterpart: None,
        workers: Workers::NoLoader,
        goals: &[TimesPytorch(2.0)],
        recording: &[],
    },
    Work {
        id: "w4-memory",
        says: "growth of the process while RandomSampler goes over 10,000,000",
        unit: Unit::Megabytes,
        pytorch: &["w4-memory"],
        dataloader_rs: None,
        counterpart: None,
        workers: Workers::NoLoader,
        goals: &[AtMost(45.0)],
        recording: &[],
    },
    Work {
        id: "w5-fresh",
        says: "from iter() to the first batch, 2 new workers",
        unit: Unit::Milliseconds,
        pytorch: &["w5-fresh"],
        dataloader_rs: Some("w5-fresh"),
        counterpart: None,
        workers: Workers::Two,
        goals: &[AtMost(0.3)],
        recording: &[],
    },
    Work {
        id: "w5-persistent",
        says: "from iter() to the first batch, 2 persistent workers",
        unit: Unit::Milliseconds,
        pytorch: &["w5-persistent"],
        dataloader_rs: Some("w5-persistent"),
        counterpart: None,
        workers: Workers::Two,
        goals: &[AtMost(0.006)],
        recording: &[],
    },
    Work {
        id: "w5-round-trip",
        says: "20,000 batches of one sample through the queues of 2 workers",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w5-round-trip"],
        dataloader_rs: Some("w5-round-trip"),
        counterpart: None,
        workers: Workers::Two,
        goals: &[AtLeast(2e6)],
        recording: &[],
    },
    Work {
        id: "w5-round-trip-main",
        says: "the same batches in the main thread, with no queue: what making them takes",
        unit: Unit::ItemsPerSecond,
        pytorch: &[],
        dataloader_rs: None,
        counterpart: None,
        workers: Workers::NoLoader,
        goals: &[],
        recording: &[],
    },
    Work {
        id: "w6",
        says: "262,144 windows of 1,024 tokens of a memory-mapped file, shuffled, batch 32",
        unit: Unit::ItemsPerSecond,
        pytorch: &["w6"],
        dataloader_rs: Some("w6"),
        counterpart: None,
        workers: Workers::Tried,
        goals: &[
            TimesPytorch(10.0),
            TimesDataloaderRs(1.0),
            TimesDataloaderRsMimalloc(1.1),
        ],
        recording: &RECORDING_SMALL,
    },
    bare::W6_COPY,
    Work {
        id: "event",
        says: "telling one event, where it happens",
        unit: Unit::Nanoseconds,
        pytorch: &[],
        dataloader_rs: None,
        counterpart: None,
        workers: Workers::NoLoader,
        goals: &[AtMost(60.0)],
        recording: &[],
    },
];

impl Work {
    /// Whether a name is its own or that of its group: `w4` is `w4-random` and others.
    pub fn is_called(&self, name: &str) -> bool {
        self.id == name || self.id.split('-').next() == Some(name)
    }

    /// Whether it is one of the formats of data.
    pub fn is_format(&self) -> bool {
        self.counterpart.is_some()
    }

    /// Everybody's tasks, in turn: peers first, then ours, and so on.
    pub fn tasks(&self) -> Vec<Task> {
        let task = |program, work, workers, recording| Task {
            program,
            work,
            workers,
            recording,
        };
        let (for_pytorch, for_others): (&[u8], &[u8]) = match self.workers {
            Workers::Tried => (&[0, 2], &[0, 1, 2]),
            Workers::Two => (&[2], &[2]),
            Workers::NoLoader => (&[0], &[0]),
            Workers::Threads => (&[0], &[1, 2]),
        };
        let recordings: &[&str] = match self.workers {
            Workers::Tried => &["off", "events", "log"],
            _ => &["off"],
        };
        let mut peers: Vec<Task> = Vec::new();
        for &work in self.pytorch {
            peers.extend(
                for_pytorch
                    .iter()
                    .map(|&w| task(Program::Pytorch, work, w, "off")),
            );
        }
        if let Some(work) = self.dataloader_rs {
            let tasks = for_others.iter();
            peers.extend(tasks.flat_map(|&w| {
                let programs = [Program::DataloaderRs, Program::DataloaderRsMimalloc];
                programs.map(|program| task(program, work, w, "off"))
            }));
        }
        if let Some(work) = self.counterpart {
            peers.push(task(Program::Counterpart, work, 0, "off"));
        }
        let mut ours = for_others.iter().flat_map(|&workers| {
            // The goals of recording are those of 0 and of 2 workers.
            let count = if workers == 1 { 1 } else { recordings.len() };
            let tasks = recordings.iter().take(count);
            tasks.map(move |recording| task(Program::Loadscope, self.id, workers, recording))
        });
        let mut all = Vec::new();
        for peer in peers {
            all.push(peer);
            all.extend(ours.next());
        }
        all.extend(ours);
        all
    }
}

impl Unit {
    /// How many times as good the first is as the second.
    pub fn ratio(self, one: f64, other: f64) -> f64 {
        match self {
            Self::ItemsPerSecond => one / other,
            _ => other / one,
        }
    }
}
