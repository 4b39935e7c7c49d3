//! Format of an event in a thread's buffer: a few words, so that recording only stores them.

use std::sync::atomic::{AtomicU64, Ordering};

use loadscope_trace::{
    BatchId, Dispatch, Event, EventKind, Fetched, Nanos, RunId, SampleTiming, Stage, WorkerId,
};

/// Content of a record, borrowed from the thread that stores it.
#[derive(Debug)]
pub(super) enum Payload<'a> {
    Entered(BatchId, Stage),
    Consumer {
        waiting: bool,
    },
    Dropped(u64),
    Dispatched(BatchId, Option<WorkerId>, &'a [usize]),
    /// Samples of a batch, without stages.
    Fetched(BatchId, &'a [SampleTiming]),
    /// Event in the queue outside the buffer.
    SideQueue,
}

/// Kinds of records, in the lowest byte of their second word. The first word is the time.
mod tag {
    pub const ENTERED: u64 = 0;
    pub const CONSUMER: u64 = 1;
    pub const DROPPED: u64 = 2;
    /// Indices with a constant step.
    pub const STRIDED: u64 = 3;
    /// Indices below 2^32, two per word.
    pub const SMALL: u64 = 4;
    /// Any indices, one per word.
    pub const LARGE: u64 = 5;
    /// Samples with start and wall time.
    pub const SAMPLES: u64 = 6;
    /// Samples with CPU time as well.
    pub const WITH_CPU: u64 = 7;
    pub const SIDE_QUEUE: u64 = 8;
}

/// Flag of a third word: a sequence number that orders events of the same time.
const HAS_SEQUENCE_NUMBER: u64 = 0x80;
/// Flag of a batch with a worker.
const HAS_WORKER: u64 = 1 << 8;
/// Marker of a missing CPU time.
const NONE: u64 = i64::MIN as u64;

/// Encoding of a batch's indices.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Indices {
    Strided(u64),
    Small,
    Large,
}

impl Indices {
    fn of(indices: &[usize]) -> Self {
        let (Some(first), Some(second)) = (indices.first(), indices.get(1)) else {
            return Self::Strided(0);
        };
        let step = second.wrapping_sub(*first);
        // The comparison has no branches, so that the compiler vectorizes it. The first few indices of a shuffled batch usually differ.
        let differ = |from: &[usize], to: &[usize]| {
            let steps = from.iter().zip(to);
            steps.fold(0, |all, (one, next)| all | (next.wrapping_sub(*one) ^ step))
        };
        let few = indices.len().min(8);
        if differ(&indices[..few - 1], &indices[1..few]) == 0 && differ(indices, &indices[1..]) == 0
        {
            return Self::Strided(step as u64);
        }
        match indices.iter().fold(0, |all, index| all | index) >> 32 {
            0 => Self::Small,
            _ => Self::Large,
        }
    }
}

/// A record before it is stored.
#[derive(Debug)]
pub(super) struct Record<'a> {
    payload: Payload<'a>,
    indices: Indices,
    /// Total number of words.
    pub words: usize,
    at: Nanos,
    number: Option<u64>,
}

impl<'a> Record<'a> {
    #[inline]
    pub fn new(at: Nanos, number: Option<u64>, payload: Payload<'a>) -> Self {
        let mut kept = Indices::Large;
        let inside = match &payload {
            Payload::Consumer { .. } | Payload::SideQueue => 0,
            Payload::Entered(..) | Payload::Dropped(_) => 1,
            Payload::Dispatched(_, _, indices) => {
                kept = Indices::of(indices);
                1 + match kept {
                    Indices::Strided(_) => 2,
                    Indices::Small => indices.len().div_ceil(2),
                    Indices::Large => indices.len(),
                }
            }
            Payload::Fetched(_, samples) => 1 + samples.len() * words_per_sample(samples),
        };
        Self {
            payload,
            indices: kept,
            words: 2 + usize::from(number.is_some()) + inside,
            at,
            number,
        }
    }

    /// Stores the record in `place`, which has its length.
    #[inline]
    pub fn store(&self, place: &[AtomicU64]) {
        let mut place = place.iter();
        let mut put = |word: u64| {
            if let Some(place) = place.next() {
                place.store(word, Ordering::Relaxed);
            }
        };
        put(self.at.0 as u64);
        let numbered = if self.number.is_some() {
            HAS_SEQUENCE_NUMBER
        } else {
            0
        };
        put(self.header() | numbered);
        if let Some(number) = self.number {
            put(number);
        }
        match &self.payload {
            Payload::Consumer { .. } | Payload::SideQueue => {}
            Payload::Entered(batch, _) => put(pack(*batch)),
            Payload::Dropped(count) => put(*count),
            Payload::Dispatched(batch, _, indices) => {
                put(pack(*batch));
                match self.indices {
                    Indices::Strided(step) => {
                        put(indices.first().map_or(0, |first| *first as u64));
                        put(step);
                    }
                    Indices::Small => indices
                        .chunks(2)
                        .map(|two| {
                            two[0] as u64 | two.get(1).map_or(0, |high| (*high as u64) << 32)
                        })
                        .for_each(put),
                    Indices::Large => indices.iter().map(|index| *index as u64).for_each(put),
                }
            }
            Payload::Fetched(batch, samples) => {
                put(pack(*batch));
                let with_cpu = words_per_sample(samples) == 3;
                for sample in *samples {
                    put(sample.start.0 as u64);
                    put(sample.wall.0 as u64);
                    if with_cpu {
                        put(sample.cpu.map_or(NONE, |cpu| cpu.0 as u64));
                    }
                }
            }
        }
    }

    fn header(&self) -> u64 {
        match &self.payload {
            Payload::Entered(_, stage) => tag::ENTERED | (*stage as u64) << 8,
            Payload::Consumer { waiting } => tag::CONSUMER | u64::from(*waiting) << 8,
            Payload::Dropped(_) => tag::DROPPED,
            Payload::SideQueue => tag::SIDE_QUEUE,
            Payload::Dispatched(_, worker, indices) => {
                let kind = match self.indices {
                    Indices::Strided(_) => tag::STRIDED,
                    Indices::Small => tag::SMALL,
                    Indices::Large => tag::LARGE,
                };
                let worker = worker.map_or(0, |worker| HAS_WORKER | u64::from(worker) << 16);
                kind | worker | (indices.len() as u64) << 32
            }
            Payload::Fetched(_, samples) => {
                let kind = match words_per_sample(samples) {
                    3 => tag::WITH_CPU,
                    _ => tag::SAMPLES,
                };
                kind | (samples.len() as u64) << 32
            }
        }
    }
}

fn words_per_sample(samples: &[SampleTiming]) -> usize {
    2 + usize::from(samples.iter().any(|sample| sample.cpu.is_some()))
}

fn pack(batch: BatchId) -> u64 {
    u64::from(batch.epoch) << 32 | u64::from(batch.idx)
}

fn unpack(word: u64) -> BatchId {
    BatchId {
        epoch: (word >> 32) as u32,
        idx: word as u32,
    }
}

/// Returns the time and sequence number of the record at the beginning of `words`.
pub(super) fn sort_key(words: &[AtomicU64]) -> Option<(Nanos, u64)> {
    let at = Nanos(load(words, 0)? as i64);
    let number = match load(words, 1)? & HAS_SEQUENCE_NUMBER {
        0 => 0,
        _ => load(words, 2)?,
    };
    Some((at, number))
}

/// Reads the event at the beginning of `words`, and its length in words. `side_queue` takes the next event outside the buffer.
pub(super) fn read(
    words: &[AtomicU64],
    side_queue: impl FnOnce() -> Option<EventKind>,
) -> Option<(Event, usize)> {
    let at = Nanos(load(words, 0)? as i64);
    let second = load(words, 1)?;
    let inside = words.get(
        if second & HAS_SEQUENCE_NUMBER == 0 {
            2
        } else {
            3
        }..,
    )?;
    let count = (second >> 32) as usize;
    let dispatched = |indices: Vec<u64>| -> Option<EventKind> {
        Some(EventKind::Dispatched(Box::new(Dispatch {
            batch: unpack(load(inside, 0)?),
            worker: (second & HAS_WORKER > 0).then_some((second >> 16) as WorkerId),
            indices,
        })))
    };
    let (kind, length) = match second & 0x7F {
        tag::ENTERED => {
            let stage = *Stage::ALL.get((second >> 8) as usize & 0xFF)?;
            let batch = unpack(load(inside, 0)?);
            (EventKind::Entered { batch, stage }, 1)
        }
        tag::CONSUMER => {
            let waiting = second >> 8 & 1 > 0;
            (EventKind::Consumer { waiting }, 0)
        }
        tag::DROPPED => {
            let count = load(inside, 0)?;
            (EventKind::Dropped { count }, 1)
        }
        tag::STRIDED => {
            let (first, step) = (load(inside, 1)?, load(inside, 2)?);
            let index = |k| first.wrapping_add(step.wrapping_mul(k));
            (dispatched((0..count as u64).map(index).collect())?, 3)
        }
        tag::SMALL => {
            let length = count.div_ceil(2);
            let mut indices = Vec::with_capacity(count + 1);
            for word in inside.get(1..=length)? {
                let two = word.load(Ordering::Relaxed);
                indices.extend([two & 0xFFFF_FFFF, two >> 32]);
            }
            indices.truncate(count);
            (dispatched(indices)?, 1 + length)
        }
        tag::LARGE => {
            let words = inside.get(1..=count)?.iter();
            let indices = words.map(|word| word.load(Ordering::Relaxed)).collect();
            (dispatched(indices)?, 1 + count)
        }
        tag @ (tag::SAMPLES | tag::WITH_CPU) => {
            let each = if tag == tag::SAMPLES { 2 } else { 3 };
            let length = 1 + each * count;
            let samples = inside.get(1..length)?.chunks_exact(each).map(|sample| {
                let number = |k| load(sample, k).unwrap_or(NONE);
                SampleTiming {
                    start: Nanos(number(0) as i64),
                    wall: Nanos(number(1) as i64),
                    cpu: Some(number(2))
                        .filter(|cpu| *cpu != NONE)
                        .map(|cpu| Nanos(cpu as i64)),
                }
            });
            let fetched = Fetched {
                batch: unpack(load(inside, 0)?),
                samples: samples.collect(),
                stages: Vec::new(),
            };
            (EventKind::Fetched(Box::new(fetched)), length)
        }
        _ => (side_queue()?, 0),
    };
    let run = RunId(0);
    let length = length + words.len() - inside.len();
    Some((Event { at, run, kind }, length))
}

fn load(words: &[AtomicU64], at: usize) -> Option<u64> {
    words.get(at).map(|word| word.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stored(record: &Record<'_>) -> Vec<AtomicU64> {
        let words: Vec<AtomicU64> = (0..record.words).map(|_| AtomicU64::new(7)).collect();
        record.store(&words);
        words
    }

    fn any_indices() -> impl Strategy<Value = Vec<usize>> {
        let in_step = (any::<u32>(), -3i64..300, 0usize..40).prop_map(|(first, step, count)| {
            let index = |k: usize| (i64::from(first) + step * k as i64).unsigned_abs() as usize;
            (0..count).map(index).collect()
        });
        prop_oneof![
            in_step,
            prop::collection::vec(0usize..1_000_000, 0..40),
            prop::collection::vec(any::<usize>(), 0..40),
        ]
    }

    fn any_samples() -> impl Strategy<Value = Vec<SampleTiming>> {
        let sample = |cpus: bool| {
            let cpu = prop::option::of(0i64..1000).prop_map(move |cpu| cpu.filter(|_| cpus));
            (any::<i64>(), 0i64..1 << 40, cpu).prop_map(|(start, wall, cpu)| SampleTiming {
                start: Nanos(start),
                wall: Nanos(wall),
                cpu: cpu.map(Nanos),
            })
        };
        any::<bool>().prop_flat_map(move |cpus| prop::collection::vec(sample(cpus), 0..20))
    }

    proptest! {
        #[test]
        fn recorded_events_are_read_back_unchanged(
            at in 0i64..i64::MAX,
            number in prop::option::of(1u64..),
            (epoch, idx) in any::<(u32, u32)>(),
            worker in prop::option::of(any::<u16>()),
            indices in any_indices(),
            samples in any_samples(),
            stage in prop::sample::select(&Stage::ALL[..]),
            (count, waiting) in any::<(u64, bool)>(),
        ) {
            let batch = BatchId { epoch, idx };
            let same: Vec<u64> = indices.iter().map(|index| *index as u64).collect();
            let fetched = Fetched { batch, samples: samples.clone(), stages: Vec::new() };
            let all = [
                (Payload::Entered(batch, stage), EventKind::Entered { batch, stage }),
                (Payload::Consumer { waiting }, EventKind::Consumer { waiting }),
                (Payload::Dropped(count), EventKind::Dropped { count }),
                (Payload::Dispatched(batch, worker, &indices), EventKind::dispatched(batch, worker, same)),
                (Payload::Fetched(batch, &samples), EventKind::Fetched(Box::new(fetched))),
                (Payload::SideQueue, EventKind::RunEnded),
            ];
            for (payload, kind) in all {
                let record = Record::new(Nanos(at), number, payload);
                let words = stored(&record);
                prop_assert_eq!(sort_key(&words), Some((Nanos(at), number.unwrap_or(0))));
                let (event, length) = read(&words, || Some(EventKind::RunEnded)).expect("it was stored");
                prop_assert_eq!(length, words.len());
                prop_assert_eq!(event, Event { at: Nanos(at), run: RunId(0), kind });
                for less in 0..words.len() {
                    prop_assert_eq!(read(&words[..less], || None), None);
                }
            }
        }
    }

    #[test]
    fn consecutive_indices_take_constant_space() {
        let indices: Vec<usize> = (512..768).collect();
        let payload = Payload::Dispatched(BatchId::default(), Some(1), &indices);
        assert_eq!(Record::new(Nanos(0), None, payload).words, 5);
    }
}
