//! Fetching: from a list of indices to a batch. PyTorch's `_MapDatasetFetcher`.

use std::sync::Arc;

use loadscope_trace::{BatchId, EventKind, Fetched, Nanos, SampleTiming, Stage, StageTiming};

use crate::batch::Batch;
use crate::clock::Clock;
use crate::collate::{CollateSite, default_collate};
use crate::cpu::thread_cpu_time;
use crate::dataset::{Dataset, SampleClock, SampleError};
use crate::error::EngineError;
use crate::probe::Probe;
use crate::value::Value;

/// Makes a batch from indices. Runs in the workers, or in the main thread when there are none.
pub trait Fetch: Send + Sync + 'static {
    /// What it makes.
    type Batch: Batch;

    /// `fetcher.fetch(indices)`. Tells `scope` about its samples and when it begins to collate.
    ///
    /// # Errors
    /// Whatever the dataset or the collate function meets.
    fn fetch(
        &self,
        indices: &[usize],
        scope: &mut FetchScope<'_>,
    ) -> Result<Self::Batch, FetchError>;
}

/// What went wrong while a batch was fetched.
#[derive(Clone, Debug)]
pub struct FetchError {
    /// The dataset index that failed, if one sample did.
    pub sample: Option<usize>,
    /// Why.
    pub error: EngineError,
}

impl From<EngineError> for FetchError {
    fn from(error: EngineError) -> Self {
        Self {
            sample: None,
            error,
        }
    }
}

/// Observes one fetch.
#[derive(Debug)]
pub struct FetchScope<'a> {
    probe: &'a Probe,
    batch: BatchId,
    site: CollateSite,
    clock: Option<Clock>,
    /// Named stages inside the samples.
    pub stages: SampleClock,
    timings: Vec<SampleTiming>,
    /// The dataset index of the sample under way.
    current: Option<usize>,
    /// When it began, and the thread's CPU time then.
    began: Option<(Nanos, Option<Nanos>)>,
    told: bool,
}

impl<'a> FetchScope<'a> {
    pub(crate) fn new(probe: &'a Probe, batch: BatchId, site: CollateSite) -> Self {
        let clock = probe.clock();
        Self {
            probe,
            batch,
            site,
            stages: match &clock {
                Some(_) => SampleClock::on(),
                None => SampleClock::off(),
            }
            .until(Arc::clone(probe.done())),
            clock,
            timings: Vec::new(),
            current: None,
            began: None,
            told: false,
        }
    }

    /// Where the batch is put together.
    pub fn site(&self) -> CollateSite {
        self.site
    }

    /// The sample with dataset index `index` is about to be fetched.
    pub fn begin_sample(&mut self, index: usize) {
        self.stages.begin_sample();
        self.current = Some(index);
        if let Some(clock) = &self.clock {
            let cpu = self.measures_cpu().then(thread_cpu_time).flatten();
            self.began = Some((clock.now(), cpu));
        }
    }

    /// The sample has been fetched.
    pub fn end_sample(&mut self) {
        self.current = None;
        if let (Some(clock), Some((start, cpu))) = (&self.clock, self.began.take()) {
            self.timings.push(SampleTiming {
                start,
                wall: clock.now() - start,
                cpu: cpu.and_then(|begin| Some(thread_cpu_time()? - begin)),
            });
        }
    }

    /// Asking for the CPU time is a system call of a quarter of a microsecond. It is left out after a sample so short that the
    /// asking would be what is measured.
    fn measures_cpu(&self) -> bool {
        self.timings.last().is_none_or(|t| t.wall >= Nanos(20_000))
    }

    /// The dataset index of the sample under way.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current
    }

    /// All samples are there and are put together now.
    pub fn collating(&mut self) {
        self.tell_timings();
        self.probe.enter(self.batch, Stage::Collating);
    }

    /// Reports what was measured, once.
    pub(crate) fn tell_timings(&mut self) {
        if self.clock.is_none() || std::mem::replace(&mut self.told, true) {
            return;
        }
        let samples = std::mem::take(&mut self.timings);
        let stages = self.stages.take_stages();
        self.probe.emit(|| {
            let named = stages.into_iter().map(|(name, walls)| StageTiming {
                name: name.to_owned(),
                walls,
            });
            EventKind::Fetched(Box::new(Fetched {
                batch: self.batch,
                samples,
                stages: named.collect(),
            }))
        });
    }
}

/// PyTorch's `collate_fn`: puts samples together.
pub trait Collate<S>: Send + Sync + 'static {
    /// What it makes.
    type Batch: Batch;

    /// Puts `samples` together.
    ///
    /// # Errors
    /// If they do not fit together.
    fn collate(&self, samples: Vec<S>, site: CollateSite) -> Result<Self::Batch, EngineError>;
}

/// PyTorch's `default_collate`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultCollate;

impl Collate<Value> for DefaultCollate {
    type Batch = Value;

    fn collate(&self, samples: Vec<Value>, site: CollateSite) -> Result<Value, EngineError> {
        default_collate(samples, site)
    }
}

/// Any function of the samples is a collate function.
impl<S, B, F> Collate<S> for F
where
    B: Batch,
    F: Fn(Vec<S>) -> Result<B, EngineError> + Send + Sync + 'static,
{
    type Batch = B;

    fn collate(&self, samples: Vec<S>, _site: CollateSite) -> Result<B, EngineError> {
        self(samples)
    }
}

/// Fetches from a map-style dataset and collates: PyTorch's `_MapDatasetFetcher`.
pub struct MapFetcher<D: ?Sized, C> {
    dataset: Arc<D>,
    collate: C,
}

impl<D: ?Sized, C> MapFetcher<D, C> {
    /// Samples from `dataset`, put together by `collate`.
    pub fn new(dataset: Arc<D>, collate: C) -> Self {
        Self { dataset, collate }
    }
}

impl<D, C> Fetch for MapFetcher<D, C>
where
    D: Dataset + ?Sized,
    C: Collate<D::Sample>,
{
    type Batch = C::Batch;

    fn fetch(&self, indices: &[usize], scope: &mut FetchScope<'_>) -> Result<C::Batch, FetchError> {
        let samples = match self.dataset.get_batch(indices, &mut scope.stages) {
            Some(samples) => samples.map_err(|e| FetchError::from(EngineError::from(e)))?,
            None => {
                let mut samples = Vec::with_capacity(indices.len());
                for &index in indices {
                    scope.begin_sample(index);
                    let sample = self.dataset.get(index, &mut scope.stages);
                    let failed = |e: SampleError| FetchError {
                        sample: Some(index),
                        error: e.into(),
                    };
                    samples.push(sample.map_err(failed)?);
                    scope.end_sample();
                }
                samples
            }
        };
        scope.collating();
        Ok(self.collate.collate(samples, scope.site())?)
    }
}
