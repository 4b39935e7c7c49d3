//! Iterator over the orders of all epochs. It keeps no epoch in memory.

use loadscope_trace::RunOptions;

use crate::dataset::StreamModel;
use crate::error::LoaderError;
use crate::limits::Epoch;
use crate::loader::Index;
use crate::plan::{Plan, SampleTable};
use crate::rng::lock_generator;
use crate::sampler::DataLen;

/// Samples of a dataset, as far as an order depends on them.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// Length of a map-style dataset.
    Map(usize),
    /// Map-style dataset, with the data that its sampler needs per sample.
    Known(SampleTable),
    /// Stream of each worker. Without workers, the first stream belongs to the main process.
    Streams(Streams),
}

impl Samples {
    /// Returns the number of samples of all workers in an epoch that loads each sample once.
    pub fn count(&self, num_workers: usize) -> u64 {
        match self {
            Self::Map(len) => *len as u64,
            Self::Known(table) => table.len as u64,
            Self::Streams(streams) => {
                let count = |id| streams.count(id, num_workers);
                (0..num_workers.max(1)).fold(0, |all, id| count(id).saturating_add(all))
            }
        }
    }
}

/// Samples of the workers' streams.
#[derive(Clone, Debug, PartialEq)]
pub enum Streams {
    /// One list per worker.
    Listed(Vec<Vec<u64>>),
    /// Streams of a synthetic dataset.
    Made(StreamModel),
}

impl Streams {
    /// Returns the samples of worker `id` of `num_workers`. Without workers, worker 0 is the main process.
    pub fn of(&self, id: usize, num_workers: usize) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            Self::Listed(lists) => Box::new(lists.get(id).into_iter().flatten().copied()),
            Self::Made(model) => {
                let worker = (num_workers > 0).then_some((id, num_workers));
                Box::new(model.samples(worker).map(|i| i as u64))
            }
        }
    }

    /// Returns the number of samples of worker `id` of `num_workers`.
    pub fn count(&self, id: usize, num_workers: usize) -> u64 {
        match self {
            Self::Listed(lists) => lists.get(id).map_or(0, |list| list.len() as u64),
            Self::Made(model) => {
                let worker = (num_workers > 0).then_some((id, num_workers));
                model.count(worker) as u64
            }
        }
    }
}

/// Epochs of a loader, whose batches are computed on demand. With several workers the order applies to `in_order=True`. With
/// `in_order=False` it depends on timing.
pub struct Orders<'a> {
    options: &'a RunOptions,
    samples: &'a Samples,
    plan: Plan,
}

impl<'a> Orders<'a> {
    /// Returns the epochs for these options.
    ///
    /// # Errors
    /// If the options contradict each other or exceed a limit.
    pub fn of(options: &'a RunOptions, samples: &'a Samples) -> Result<Self, LoaderError> {
        let plan = match samples {
            Samples::Map(len) => Plan::of(options, DataLen::from(*len))?,
            Samples::Known(table) => Plan::of_table(options, DataLen::from(table.len), table)?,
            Samples::Streams(_) => Plan::of_stream(options)?,
        };
        Ok(Self {
            options,
            samples,
            plan,
        })
    }

    /// Returns `len(loader)`, or `None` if it is unknown.
    pub fn len(&self) -> Option<usize> {
        match self.samples {
            Samples::Map(_) | Samples::Known(_) => Some(self.plan.index.len()),
            Samples::Streams(_) => None,
        }
    }

    /// Returns true if an epoch is known to have no batches.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Returns the number of indices of an epoch. An incomplete last batch counts as a full one.
    pub fn indices(&self) -> u64 {
        match self.samples {
            Samples::Map(_) | Samples::Known(_) => indices(&self.plan.index, self.options),
            streams => streams.count(self.options.num_workers),
        }
    }

    /// Returns the number of batches of an epoch. For streams it is the actual number, not `len(loader)`.
    pub fn batches(&self) -> u64 {
        match (&self.plan.index, self.samples) {
            (Index::Stream { .. }, Samples::Streams(streams)) => {
                RoundRobin::new(self.options, streams).all()
            }
            (index, _) => index.len() as u64,
        }
    }

    /// Returns the worker of each batch of an epoch. -1: the main process. It is the same in every epoch.
    pub fn workers(&self) -> Box<dyn Iterator<Item = i64> + '_> {
        match self.samples {
            Samples::Map(_) | Samples::Known(_) => {
                let workers = self.options.num_workers as u64;
                Box::new((0..self.batches()).map(move |i| worker_of(i, workers)))
            }
            Samples::Streams(streams) => {
                let mut round_robin = RoundRobin::new(self.options, streams);
                let next = move || {
                    round_robin
                        .next_stream()
                        .map(|id| round_robin.worker_of(id))
                };
                Box::new(std::iter::from_fn(next))
            }
        }
    }

    /// Calls `each` with the epochs in sequence until it returns false. The unread rest of an epoch is drawn as well, so that the next
    /// epoch does not change.
    ///
    /// # Errors
    /// The error of `each`, and if the sampler fails.
    pub fn each<E: From<LoaderError>>(
        &mut self,
        mut each: impl FnMut(&mut EpochBatches<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut base_seed = None;
        for epoch in 0..self.options.epochs {
            self.plan.set_epoch(u64::from(epoch));
            // Like the loader: the base seed comes first, unless the workers persist.
            let kept = base_seed.filter(|_| self.options.persistent_workers);
            let seed = kept.unwrap_or_else(|| {
                let plan = &self.plan;
                let generator = plan.generator.as_ref().unwrap_or(&plan.default_generator);
                lock_generator(generator).random_i64() as u64
            });
            base_seed = Some(seed);
            let mut batches = self.epoch(epoch, seed);
            if !each(&mut batches)? {
                break;
            }
            for left in batches {
                left?;
            }
        }
        Ok(())
    }

    fn epoch(&self, epoch: u32, base_seed: u64) -> EpochBatches<'_> {
        let workers = self.options.num_workers;
        let batches: Box<dyn Iterator<Item = _>> = match self.samples {
            // Task `i` belongs to worker `i % num_workers`, regardless of the load.
            Samples::Map(_) | Samples::Known(_) => {
                Box::new((0..).zip(self.plan.index.iter()).map(move |(i, request)| {
                    let request = request?;
                    let indices = request.indices().iter().map(|&i| i as u64).collect();
                    Ok((indices, worker_of(i, workers as u64)))
                }))
            }
            Samples::Streams(streams) => Box::new(stream_batches(self.options, streams).map(Ok)),
        };
        EpochBatches {
            epoch,
            base_seed,
            workers: workers as u64,
            count: self.batches(),
            batches,
        }
    }
}

/// Indices of a batch, with its worker.
type NextBatch = Result<(Vec<u64>, i64), LoaderError>;

/// Iterator over the batches of an epoch: the indices and the worker of each. -1: the main process.
pub struct EpochBatches<'a> {
    epoch: u32,
    base_seed: u64,
    workers: u64,
    count: u64,
    batches: Box<dyn Iterator<Item = NextBatch> + 'a>,
}

impl EpochBatches<'_> {
    /// Returns the number of the epoch, from 0.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Returns the number of batches of the epoch.
    pub fn len_of_epoch(&self) -> u64 {
        self.count
    }

    /// Returns the seed of each worker.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let base = self.base_seed;
        (0..self.workers).map(move |id| base.wrapping_add(id))
    }
}

impl Iterator for EpochBatches<'_> {
    type Item = Result<(Vec<u64>, i64), LoaderError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next()
    }
}

/// Returns the number of indices that a sampler yields per epoch. An incomplete last batch counts as a full one.
pub fn indices(index: &Index, options: &RunOptions) -> u64 {
    let size = match index {
        Index::Batches(_) => options.batch_size.unwrap_or(1),
        Index::Samples(_) | Index::Stream { .. } => 1,
    };
    (index.len() as u64).saturating_mul(size as u64)
}

/// Returns the size of an epoch of streams, including tasks without an answer.
pub fn epoch_of_streams(options: &RunOptions, streams: Streams) -> Epoch {
    let batches = RoundRobin::new(options, &streams).all();
    Epoch {
        batches: batches.saturating_add(options.window() as u64),
        samples: Samples::Streams(streams).count(options.num_workers),
    }
}

fn worker_of(batch: u64, workers: u64) -> i64 {
    batch
        .checked_rem(workers)
        .map_or(-1, |worker| worker as i64)
}

fn stream_batches<'a>(
    options: &RunOptions,
    streams: &'a Streams,
) -> impl Iterator<Item = (Vec<u64>, i64)> + use<'a> {
    let workers = options.num_workers;
    let size = options.batch_size.unwrap_or(1).max(1);
    let mut each: Vec<_> = (0..workers.max(1))
        .map(|id| streams.of(id, workers))
        .collect();
    let mut round_robin = RoundRobin::new(options, streams);
    std::iter::from_fn(move || {
        let id = round_robin.next_stream()?;
        let batch = each.get_mut(id)?.take(size).collect();
        Some((batch, round_robin.worker_of(id)))
    })
}

/// Round robin over the streams: in each round, every worker with remaining batches yields one, in order of its number.
struct RoundRobin {
    /// Remaining batches of each stream.
    left: Vec<u64>,
    /// Number of streams with remaining batches.
    running: usize,
    next: usize,
    is_main: bool,
}

impl RoundRobin {
    fn new(options: &RunOptions, streams: &Streams) -> Self {
        let workers = options.num_workers;
        let size = options.batch_size.unwrap_or(1).max(1) as u64;
        let batches = |id| match (streams.count(id, workers), options.drop_last) {
            (count, true) => count / size,
            (count, false) => count.div_ceil(size),
        };
        let left: Vec<u64> = (0..workers.max(1)).map(batches).collect();
        Self {
            running: left.iter().filter(|left| **left > 0).count(),
            left,
            next: 0,
            is_main: workers == 0,
        }
    }

    fn all(&self) -> u64 {
        self.left
            .iter()
            .fold(0, |all, left| all.saturating_add(*left))
    }

    /// Returns the position of the next stream.
    fn next_stream(&mut self) -> Option<usize> {
        while self.running > 0 {
            let id = self.next;
            self.next = (id + 1) % self.left.len();
            let Some(left) = self.left[id].checked_sub(1) else {
                continue;
            };
            self.left[id] = left;
            self.running -= usize::from(left == 0);
            return Some(id);
        }
        None
    }

    fn worker_of(&self, id: usize) -> i64 {
        if self.is_main { -1 } else { id as i64 }
    }
}
