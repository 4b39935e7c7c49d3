//! Datasets with troubles of all kinds, in places that depend on nothing but a seed.

use std::sync::Arc;
use std::time::Duration;

use loadscope_engine::collate::CollateSite;
use loadscope_engine::dataset::{Dataset, IterableDataset, SampleClock, SampleError, SampleStream};
use loadscope_engine::pin::{Lease, Pinner};
use loadscope_engine::{Batch, Collate, LoaderError, get_worker_info};
use tch::Tensor;

/// Who holds the dataset; when all threads are gone, only the test does.
pub type Alive = Arc<()>;

/// What goes wrong, one in how many samples; 0: never.
#[derive(Clone, Copy, Debug)]
pub struct Troubles {
    pub seed: u64,
    pub errors: u64,
    pub panics: u64,
    /// Samples that give the processor away or sleep a little.
    pub pauses: u64,
}

impl Troubles {
    fn strikes(self, what: u64, index: usize, one_in: u64) -> bool {
        // SplitMix64: neighbours have nothing to do with each other.
        let mut x = self.seed ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ what;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        one_in > 0 && (x ^ (x >> 31)).is_multiple_of(one_in)
    }

    /// What is wrong with a sample, as its error says it.
    pub fn of(self, index: usize) -> Option<String> {
        if self.strikes(1, index, self.errors) {
            Some(format!("ValueError: no {index}"))
        } else if self.strikes(2, index, self.panics) {
            Some(format!("panicked: {WANTED}{index}"))
        } else {
            None
        }
    }

    fn sample(self, index: usize) -> Result<usize, SampleError> {
        if self.strikes(3, index, self.pauses) {
            if index.is_multiple_of(5) {
                std::thread::sleep(Duration::from_micros(100));
            } else {
                std::thread::yield_now();
            }
        }
        match self.of(index) {
            None => Ok(index),
            Some(text) if text.starts_with("panicked") => panic!("{WANTED}{index}"),
            Some(_) => Err(SampleError::new("ValueError", format!("no {index}"))),
        }
    }
}

/// How a panic that belongs to the test begins.
const WANTED: &str = "as wanted at ";

/// Keeps the panics that belong to the test from being printed.
pub fn silence_wanted_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let wanted = panic
                .payload_as_str()
                .is_some_and(|t| t.starts_with(WANTED));
            if !wanted {
                before(panic);
            }
        }));
    });
}

/// Map-style: samples are their own index.
pub struct Numbers {
    pub len: usize,
    pub troubles: Troubles,
    /// Held as long as the dataset is.
    pub alive: Alive,
}

impl Dataset for Numbers {
    type Sample = usize;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<usize, SampleError> {
        self.troubles.sample(index)
    }
}

/// How a stream is shared among the workers.
#[derive(Clone, Debug)]
pub enum Shards {
    /// Everyone gets all of it.
    Whole(usize),
    /// Everyone takes every so-manieth sample.
    Strided(usize),
    /// Everyone has a piece of their own, of this length; nothing for those beyond the list.
    Own(Vec<usize>),
}

impl Shards {
    /// The samples of a worker.
    pub fn of(&self, worker: usize, num_workers: usize) -> Vec<usize> {
        match self {
            Self::Whole(len) => (0..*len).collect(),
            Self::Strided(len) => (worker..*len).step_by(num_workers.max(1)).collect(),
            Self::Own(lens) => {
                let len = lens.get(worker).copied().unwrap_or(0);
                (worker * 100..worker * 100 + len).collect()
            }
        }
    }
}

/// Iterable-style.
pub struct Stream {
    pub shards: Shards,
    pub troubles: Troubles,
    pub alive: Alive,
}

impl IterableDataset for Stream {
    type Sample = usize;

    fn iter(&self) -> Result<Box<dyn SampleStream<usize>>, SampleError> {
        let (id, num_workers) = get_worker_info().map_or((0, 1), |i| (i.id, i.num_workers));
        let troubles = self.troubles;
        // A stream reads from its dataset, so it holds it.
        let alive = Alive::clone(&self.alive);
        let samples = self.shards.of(id, num_workers).into_iter();
        Ok(Box::new(samples.map(move |index| {
            let _ = &alive;
            troubles.sample(index)
        })))
    }
}

/// A batch of numbers, which lies in a tensor so that it can be pinned.
#[derive(Debug)]
pub struct Picked(Tensor);

impl Picked {
    pub fn samples(&self) -> Vec<usize> {
        let numbers: Vec<i64> = Vec::try_from(&self.0).expect("a list of int64");
        numbers.into_iter().map(|n| n as usize).collect()
    }
}

impl Batch for Picked {
    fn pin(self, pinner: &Pinner) -> Result<(Self, Lease), LoaderError> {
        let mut lease = Lease::default();
        let pinned = pinner.pin(&self.0, &mut lease)?;
        Ok((Self(pinned), lease))
    }
}

/// Puts [`Picked`] together.
#[derive(Clone, Copy, Debug)]
pub struct Pick;

impl Collate<usize> for Pick {
    type Batch = Picked;

    fn collate(&self, samples: Vec<usize>, _: CollateSite) -> Result<Picked, LoaderError> {
        let numbers: Vec<i64> = samples.into_iter().map(|n| n as i64).collect();
        Ok(Picked(Tensor::from_slice(&numbers)))
    }

    fn convert(&self, sample: usize, site: CollateSite) -> Result<Picked, LoaderError> {
        self.collate(vec![sample], site)
    }
}
