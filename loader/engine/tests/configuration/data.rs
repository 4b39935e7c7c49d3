//! Datasets with faults at places that depend only on a seed.

use std::sync::Arc;
use std::time::Duration;

use loadscope_engine::collate::CollateSite;
use loadscope_engine::dataset::{Dataset, IterableDataset, SampleClock, SampleError, SampleStream};
use loadscope_engine::pin::{Lease, Pinner};
use loadscope_engine::{Batch, Collate, LoaderError, get_worker_info};
use tch::Tensor;

/// Token that each holder of the dataset clones. After all threads have ended, only the test holds it.
pub type Alive = Arc<()>;

/// Frequencies of faults: one in this many samples. 0 means never.
#[derive(Clone, Copy, Debug)]
pub struct InjectedFaults {
    pub seed: u64,
    pub errors: u64,
    pub panics: u64,
    /// Samples that yield the CPU or sleep briefly.
    pub pauses: u64,
}

impl InjectedFaults {
    fn strikes(self, salt: u64, index: usize, one_in: u64) -> bool {
        // SplitMix64 makes neighboring indices unrelated.
        let mut x = self.seed ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        one_in > 0 && (x ^ (x >> 31)).is_multiple_of(one_in)
    }

    /// Returns the error message of a sample, if it has a fault.
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

/// Prefix of a deliberate panic's message.
const WANTED: &str = "as wanted at ";

/// Suppresses the output of deliberate panics.
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

/// Map-style dataset. Samples are their own index.
pub struct Numbers {
    pub len: usize,
    pub faults: InjectedFaults,
    /// Token held during the dataset's lifetime.
    pub alive: Alive,
}

impl Dataset for Numbers {
    type Sample = usize;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<usize, SampleError> {
        self.faults.sample(index)
    }
}

/// Distribution of a stream among the workers.
#[derive(Clone, Debug)]
pub enum Shards {
    /// Every worker gets the whole stream of this length.
    Whole(usize),
    /// Each of n workers gets every n-th sample.
    Strided(usize),
    /// Each worker gets its own stream of this length. Workers beyond the list get nothing.
    Own(Vec<usize>),
}

impl Shards {
    /// Returns the samples of a worker.
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

/// Iterable-style dataset.
pub struct Stream {
    pub shards: Shards,
    pub faults: InjectedFaults,
    pub alive: Alive,
}

impl IterableDataset for Stream {
    type Sample = usize;

    fn iter(&self) -> Result<Box<dyn SampleStream<usize>>, SampleError> {
        let (id, num_workers) = get_worker_info().map_or((0, 1), |i| (i.id, i.num_workers));
        let faults = self.faults;
        // A stream reads from its dataset, so it holds the token.
        let alive = Alive::clone(&self.alive);
        let samples = self.shards.of(id, num_workers).into_iter();
        Ok(Box::new(samples.map(move |index| {
            let _ = &alive;
            faults.sample(index)
        })))
    }
}

/// A batch of numbers in a tensor, so that it can be pinned.
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

/// Collate function to [`Picked`].
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
