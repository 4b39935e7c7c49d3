//! Events in any order from few bytes. Mutations of text would not reach these histories.

use loadscope_trace::{
    BatchContent, BatchId, Difference, Dispatch, EndReason, Event, EventKind, Fact, Fetched, Field,
    FieldData, Function, Gauge, GaugeKind, Lane, Level, Message, Misfit, Nanos, Origin, Pictures,
    RandomStates, RunId, RunInfo, SampleTiming, Sent, SentAttribute, Stack, StackSamples, Stacks,
    Stage, StageTiming, StartMethod, ThreadPool, WorkerInfo,
};

use super::recording::{by_line, fold, same, sorted, written};

/// Maximum number of events. More do not lead to new histories.
const MOST: usize = 2_000;

pub fn run(bytes: &[u8], thoroughly: bool) {
    let events = histories(&mut Bytes(bytes));
    let text = written(&events);
    let read = by_line(&text).expect("our own header");
    assert_eq!((read.1, read.2, read.0.len()), (false, None, events.len()));
    // A statistic that is not a number becomes unknown and stays unknown.
    let text = written(&read.0);
    let again = by_line(&text).expect("our own header");
    same(&text, &written(&again.0));
    fold(&sorted(&read.0), thoroughly);
}

/// Returns the events of the bytes, in any order.
pub fn histories(from: &mut Bytes<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut at = 0i64;
    while !from.0.is_empty() && events.len() < MOST {
        at = match from.byte() {
            step @ 0..0xF8 => at.saturating_add(i64::from(step)),
            0xF8..0xFC => at.saturating_add(from.number()),
            _ => from.number(),
        };
        let run = RunId(u32::from(from.byte() == 7));
        let kind = kind(from);
        let at = Nanos(at);
        events.push(Event { at, run, kind });
    }
    events
}

/// Reader of values from bytes. After the end, it returns zeros.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    pub fn byte(&mut self) -> u8 {
        let first = self.0.split_off_first();
        first.copied().unwrap_or(0)
    }

    pub fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Returns a mostly small number.
    pub fn number(&mut self) -> i64 {
        match self.byte() {
            small @ 0..0xE0 => i64::from(small),
            0xE0..0xF0 => i64::from(i16::from_le_bytes([self.byte(), self.byte()])),
            0xF0..0xF8 => i64::from(i32::from_le_bytes(std::array::from_fn(|_| self.byte()))),
            0xF8 => i64::MAX,
            0xF9 => i64::MIN,
            0xFA => -1,
            0xFB => i64::from(u32::MAX),
            _ => i64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    fn index(&mut self) -> u32 {
        self.number() as u32
    }

    fn nanos(&mut self) -> Nanos {
        Nanos(self.number())
    }

    fn float(&mut self) -> f64 {
        match self.byte() {
            small @ 0..0xF0 => f64::from(small) / 16.0 - 2.0,
            0xF0 => f64::NAN,
            0xF1 => f64::INFINITY,
            0xF2 => -0.0,
            _ => f64::from_bits(self.number() as u64),
        }
    }

    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.byte() & 1 == 1).then(|| read(self))
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> T) -> Vec<T> {
        let count = self.byte() % 6;
        (0..count).map(|_| read(self)).collect()
    }

    fn text(&mut self) -> String {
        let bytes = self.list(Self::byte);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::from(self.byte()) % all.len()]
    }

    /// Returns one of few batches, so that events often refer to the same batch.
    fn batch(&mut self) -> BatchId {
        match self.byte() {
            near @ 0..0xF8 => BatchId {
                epoch: u32::from(near >> 6),
                idx: u32::from(near & 0x3F),
            },
            _ => BatchId {
                epoch: self.index(),
                idx: self.index(),
            },
        }
    }

    fn worker(&mut self) -> u16 {
        match self.byte() {
            near @ 0..0xF0 => u16::from(near % 5),
            _ => self.number() as u16,
        }
    }
}

pub fn kind(from: &mut Bytes<'_>) -> EventKind {
    match from.byte() % 34 {
        0 => EventKind::RunStarted(Box::new(info(from))),
        1 | 2 => EventKind::EpochStarted {
            epoch: from.batch().epoch,
        },
        3 => EventKind::EpochEnded {
            epoch: from.batch().epoch,
        },
        4 => EventKind::RunEnded,
        5 => EventKind::WorkerStarted(Box::new(WorkerInfo {
            worker: from.worker(),
            seed: Some(from.number() as u64).filter(|seed| *seed != 0),
            os_id: from.maybe(|f| f.number() as u64),
        })),
        6 => EventKind::WorkerEnded {
            worker: from.worker(),
            reason: from.one_of(&[EndReason::Finished, EndReason::Died]),
            os_id: from.maybe(|f| f.number() as u32),
        },
        7 => EventKind::WorkerSeeded(Box::new(RandomStates {
            worker: from.worker(),
            os_id: from.maybe(|f| f.number() as u64),
            numpy: from.maybe(|f| f.number() as u64),
            python: from.maybe(|f| f.number() as u64),
        })),
        8..13 => EventKind::Dispatched(Box::new(Dispatch {
            batch: from.batch(),
            worker: from.maybe(Bytes::worker),
            indices: from.list(|f| f.number() as u64),
        })),
        13..22 => EventKind::Entered {
            batch: from.batch(),
            stage: from.one_of(&Stage::ALL),
        },
        22..24 => EventKind::Fetched(Box::new(fetched(from))),
        24 => EventKind::Content(
            BatchContent {
                batch: from.batch(),
                fields: from.list(field),
            }
            .into(),
        ),
        25..29 => EventKind::Consumer {
            waiting: from.byte() & 1 == 1,
        },
        29 => EventKind::Gauge(Box::new(gauge(from))),
        30 => EventKind::Message(Box::new(Message {
            level: from.one_of(&[Level::Info, Level::Warning, Level::Error]),
            text: from.text(),
            about: from.maybe(Bytes::batch),
            worker: from.maybe(Bytes::worker),
            sample: from.maybe(|f| f.number() as u64),
        })),
        31 => EventKind::Fact(Box::new(fact(from))),
        32 => EventKind::Stacks(Box::new(stacks(from))),
        _ => EventKind::Dropped {
            count: from.number() as u64,
        },
    }
}

fn stacks(from: &mut Bytes<'_>) -> Stacks {
    Stacks {
        worker: from.maybe(Bytes::worker),
        start: Nanos(from.number()),
        period: Nanos(from.number().max(1)),
        first_function: from.index(),
        functions: from.list(|f| Function {
            name: f.text(),
            file: f.text(),
        }),
        first_stack: from.index(),
        stacks: from.list(|f| Stack {
            caller: f.maybe(Bytes::index),
            function: f.index(),
            line: f.index(),
        }),
        samples: from.list(|f| StackSamples {
            stack: f.maybe(Bytes::index),
            count: f.index().max(1),
        }),
    }
}

fn fact(from: &mut Bytes<'_>) -> Fact {
    match from.byte() % 12 {
        0 => Fact::EarlierWorkers {
            workers: from.index(),
        },
        1 => Fact::Length {
            batches: from.number() as u64,
        },
        2 => Fact::UndividedStream {
            worker: from.worker(),
        },
        3 => Fact::DatasetChanged {
            attributes: from.list(Bytes::text),
        },
        4 => Fact::File {
            of: from.batch(),
            position: from.index(),
            file: from.text(),
        },
        5 => Fact::Source {
            file: from.text(),
            text: from.text(),
        },
        6 => Fact::Sent(Sent {
            workers: from.index(),
            method: from.one_of(&StartMethod::ALL),
            bytes: from.number() as u64,
            took: from.nanos(),
            pickling: from.nanos(),
            attribute: from.maybe(|f| SentAttribute {
                name: f.text(),
                bytes: f.number() as u64,
            }),
        }),
        7 => Fact::Objects {
            attribute: from.text(),
            objects: from.number() as u64,
        },
        8 => Fact::ThreadPools {
            libraries: from.list(|f| f.one_of(&[ThreadPool::OpenMp, ThreadPool::OpenCv])),
        },
        9 => Fact::Storage {
            file_system: from.text(),
            folder: from.text(),
        },
        10 => Fact::SharedFile {
            file: from.text(),
            descriptor: from.index(),
            workers: from.list(Bytes::worker),
        },
        _ => Fact::Misfit(Misfit {
            of: from.batch(),
            position: from.index(),
            field: from.text(),
            by: from.one_of(&[
                Difference::Shape,
                Difference::Length,
                Difference::Keys,
                Difference::Type,
            ]),
            got: from.text(),
            usual: from.text(),
            alike: from.index(),
        }),
    }
}

pub fn info(from: &mut Bytes<'_>) -> RunInfo {
    let mut info = RunInfo {
        origin: match from.byte() % 4 {
            0 => Origin::Engine,
            1 => Origin::Simulation,
            2 => Origin::Pytorch(from.text()),
            _ => Origin::Import(from.text()),
        },
        dataset: from.text(),
        dataset_len: from.maybe(|f| f.number() as u64),
        batches_per_epoch: from.maybe(|f| f.number() as u64),
        classes: from.list(Bytes::text),
        rank: from.index(),
        world_size: from.index(),
        cores: from.index(),
        measured: from.list(|f| f.one_of(&Stage::ALL)),
        pinning: from.maybe(Bytes::text),
        started_unix_ns: from.number(),
        ..RunInfo::default()
    };
    let options = &mut info.options;
    options.batch_size = from.maybe(|f| f.number() as usize);
    options.num_workers = from.number() as usize;
    options.prefetch_factor = from.maybe(|f| f.number() as usize);
    options.seed = from.maybe(|f| f.number() as u64);
    options.num_samples = from.maybe(|f| f.number() as u64);
    options.epochs = from.index();
    options.in_order = from.byte() & 1 == 0;
    info
}

fn fetched(from: &mut Bytes<'_>) -> Fetched {
    let batch = from.batch();
    let has_cpu = from.byte() & 1 == 1;
    let samples = from.list(|f| SampleTiming {
        start: f.nanos(),
        wall: f.nanos(),
        cpu: has_cpu.then(|| f.nanos()),
    });
    let stages = from.list(|f| {
        let name = f.text();
        let walls = samples.iter().map(|_| f.nanos()).collect();
        StageTiming { name, walls }
    });
    Fetched {
        batch,
        samples,
        stages,
    }
}

fn field(from: &mut Bytes<'_>) -> Field {
    let data = match from.byte() % 4 {
        0 => FieldData::Omitted,
        1 => FieldData::Numbers(from.list(Bytes::float)),
        2 => FieldData::Text(from.list(Bytes::text)),
        _ => FieldData::Pictures(Pictures {
            width: from.index(),
            height: from.index(),
            channels: from.byte(),
            pixels: from.list(Bytes::byte),
        }),
    };
    Field {
        name: from.text(),
        dtype: from.text(),
        shape: from.list(Bytes::number),
        min: from.maybe(Bytes::float),
        max: from.maybe(Bytes::float),
        mean: from.maybe(Bytes::float),
        std: from.maybe(Bytes::float),
        nan: from.number() as u64,
        inf: from.number() as u64,
        histogram: from.list(|f| f.number() as u64),
        pinned: from.byte() & 1 == 1,
        data,
    }
}

fn gauge(from: &mut Bytes<'_>) -> Gauge {
    let worker = from.worker();
    let lanes = [
        Lane::Trainer,
        Lane::Reorder,
        Lane::DataQueue,
        Lane::Pin,
        Lane::ResultQueue,
        Lane::Main,
        Lane::Worker(worker),
        Lane::IndexQueue(worker),
    ];
    const KINDS: [GaugeKind; 12] = [
        GaugeKind::Rss,
        GaugeKind::Cpu,
        GaugeKind::Shm,
        GaugeKind::Uss,
        GaugeKind::MemoryLeft,
        GaugeKind::BusyThreads,
        GaugeKind::StorageRead,
        GaugeKind::Descriptors,
        GaugeKind::Occupancy,
        GaugeKind::Throughput,
        GaugeKind::WaitingToGet,
        GaugeKind::Failures,
    ];
    Gauge {
        lane: from.maybe(|f| f.one_of(&lanes)),
        part: from.maybe(Bytes::text),
        what: from.one_of(&KINDS),
        value: from.float(),
    }
}
