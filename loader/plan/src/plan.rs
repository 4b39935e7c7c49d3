//! From the options of a run to the samplers and generators of its loader.

#[cfg_attr(target_family = "wasm", path = "plan/no_files.rs")]
mod files;

use std::str::FromStr;
use std::sync::Arc;

use loadscope_trace::RunOptions;

use crate::dataset::DatasetSpec;
use crate::error::EngineError;
use crate::limits;
use crate::loader::{Arguments, Index, LoaderOptions};
use crate::rng::{SharedGenerator, shared_generator};
use crate::sampler::{
    BatchSampler, BatchSource, DataLen, DistributedEquiBatchSampler, DistributedSampler,
    DistributedWeightedSampler, PyArg, RandomSampler, RandomSource, Rank, Sampler,
    SequentialSampler, SubsetRandomSampler, WeightedRandomSampler,
};

/// The text of [`RunOptions::sampler`].
#[derive(Clone, Debug, PartialEq, Eq)]
enum SamplerSpec {
    /// As `shuffle` says.
    ByShuffle,
    Sequential,
    Random,
    /// Indices in a file.
    Subset(String),
    /// Weights in a file, one a sample.
    Weighted(String),
    Distributed,
    /// Labels in a file.
    Equi(String),
}

impl FromStr for SamplerSpec {
    type Err = EngineError;

    fn from_str(text: &str) -> Result<Self, EngineError> {
        let (kind, path) = match text.split_once(':') {
            Some((kind, path)) => (kind, Some(path.to_owned())),
            None => (text, None),
        };
        Ok(match (kind, path) {
            ("", None) => Self::ByShuffle,
            ("sequential", None) => Self::Sequential,
            ("random", None) => Self::Random,
            ("distributed", None) => Self::Distributed,
            ("subset", Some(path)) if !path.is_empty() => Self::Subset(path),
            ("weighted", Some(path)) if !path.is_empty() => Self::Weighted(path),
            ("equi", Some(path)) if !path.is_empty() => Self::Equi(path),
            ("subset" | "weighted" | "equi", _) => {
                return Err(EngineError::Spec(format!(
                    "the sampler {kind} needs a file: {kind}:PATH"
                )));
            }
            _ => {
                return Err(EngineError::Spec(format!(
                    "there is no sampler {text:?}. Possible are sequential, random, subset:FILE, weighted:FILE, \
                     distributed and equi:FILE"
                )));
            }
        })
    }
}

/// What a loader draws its tasks from.
#[derive(Clone)]
pub struct Plan {
    /// Where its tasks come from.
    pub index: Index,
    /// `generator`
    pub generator: Option<SharedGenerator>,
    /// What stands for PyTorch's default generator.
    pub default_generator: SharedGenerator,
    set_epoch: bool,
}

impl Plan {
    /// The plan for a map-style dataset of `len` samples.
    ///
    /// # Errors
    /// If the options contradict each other, or a file of indices, weights or labels cannot be read.
    pub fn of(options: &RunOptions, len: DataLen) -> Result<Self, EngineError> {
        check(options, false)?;
        let mut plan = Self::with_generators(options);
        let drop_last = options.drop_last;
        let spec: SamplerSpec = options.sampler.parse()?;
        plan.index = if let SamplerSpec::Equi(path) = &spec {
            Index::Batches(equi(options, path)?)
        } else {
            limits::check_samples(len.get())?;
            check_list(options, &spec, len.get())?;
            let sampler = plan.sampler(options, &spec, len)?;
            match options.batch_size {
                None => Index::Samples(sampler),
                Some(size) => {
                    let (size, drop_last) = (PyArg::from(size), PyArg::from(drop_last));
                    let batches = BatchSampler::from_args(sampler, &size, &drop_last)?;
                    Index::Batches(Arc::new(batches))
                }
            }
        };
        Ok(plan)
    }

    /// The plan for an iterable-style dataset.
    ///
    /// # Errors
    /// If the options contradict each other.
    pub fn of_stream(options: &RunOptions) -> Result<Self, EngineError> {
        check(options, true)?;
        Ok(Self::with_generators(options))
    }

    fn with_generators(options: &RunOptions) -> Self {
        // Without any seed the run is as good as one with a fresh default generator.
        let default = options.global_seed.map(shared_generator);
        Self {
            index: Index::Stream {
                batch_size: options.batch_size,
                drop_last: options.drop_last,
            },
            generator: options.seed.map(shared_generator),
            default_generator: default.unwrap_or_else(crate::rng::default_generator),
            set_epoch: options.set_epoch,
        }
    }

    /// Tells distributed samplers which epoch comes, if the options say so.
    pub fn set_epoch(&self, epoch: u64) {
        if !self.set_epoch {
            return;
        }
        match &self.index {
            Index::Batches(batches) => batches.set_epoch(epoch),
            Index::Samples(sampler) => sampler.set_epoch(epoch),
            Index::Stream { .. } => {}
        }
    }

    /// The loader's generator serves its random sampler as well, as with `shuffle=True`.
    fn source(&self) -> RandomSource {
        match &self.generator {
            Some(generator) => RandomSource::Generator(Arc::clone(generator)),
            None => RandomSource::Default(Arc::clone(&self.default_generator)),
        }
    }

    fn sampler(
        &self,
        options: &RunOptions,
        spec: &SamplerSpec,
        len: DataLen,
    ) -> Result<Arc<dyn Sampler>, EngineError> {
        let count = options.num_samples.map(signed);
        let (world, rank) = (i64::from(options.world_size), i64::from(options.rank));
        let seed = options.seed.unwrap_or(0);
        Ok(match spec {
            SamplerSpec::ByShuffle if options.shuffle => {
                Arc::new(RandomSampler::new(len, false, None, self.source())?)
            }
            SamplerSpec::ByShuffle | SamplerSpec::Sequential | SamplerSpec::Equi(_) => {
                Arc::new(SequentialSampler::new(len))
            }
            SamplerSpec::Random => {
                let replacement = options.replacement;
                Arc::new(RandomSampler::new(len, replacement, count, self.source())?)
            }
            SamplerSpec::Subset(path) => {
                let indices = files::indices(path, len.get())?;
                Arc::new(SubsetRandomSampler::new(indices, self.source()))
            }
            SamplerSpec::Weighted(path) => {
                let weights = files::weights(path, len.get())?;
                let count = count.unwrap_or(signed(weights.len() as u64));
                let replacement = options.replacement;
                if world > 1 {
                    let sampler =
                        DistributedWeightedSampler::new(weights, count, replacement, world, rank)?;
                    let sampler = sampler.seed(seed).drop_last(options.sampler_drop_last);
                    Arc::new(sampler)
                } else {
                    let source = self.source();
                    Arc::new(WeightedRandomSampler::new(
                        weights,
                        count,
                        replacement,
                        source,
                    )?)
                }
            }
            SamplerSpec::Distributed => {
                let sampler = DistributedSampler::new(len, world, rank)?;
                let sampler = sampler.seed(seed).drop_last(options.sampler_drop_last);
                Arc::new(sampler)
            }
        })
    }
}

/// The weights of the samples, if the sampler is a weighted one.
///
/// # Errors
/// If the file cannot be read.
pub fn weights(options: &RunOptions, len: usize) -> Result<Option<Vec<f64>>, EngineError> {
    match options.sampler.parse()? {
        SamplerSpec::Weighted(path) => files::weights(&path, len).map(Some),
        _ => Ok(None),
    }
}

/// The batches of the sampler for multi-label data.
fn equi(options: &RunOptions, path: &str) -> Result<Arc<dyn BatchSource>, EngineError> {
    let Some(size) = options.batch_size else {
        return Err(EngineError::value_error(
            "the sampler equi makes batches, so it needs a batch_size",
        ));
    };
    let classes = files::classes(path)?;
    let list = DistributedEquiBatchSampler::BALANCED_COEF.saturating_mul(classes.len()) as u64;
    limits::fits(
        list.saturating_mul(8),
        format_args!(
            "an epoch of {} classes takes",
            limits::grouped(classes.len() as u64)
        ),
        "choose fewer classes",
    )?;
    let (world, rank) = (i64::from(options.world_size), i64::from(options.rank));
    let sampler = DistributedEquiBatchSampler::new(classes, signed(size as u64), world, rank)?;
    Ok(Arc::new(sampler.seed(options.seed.unwrap_or(0))))
}

/// How the options load.
pub fn loader_options(options: &RunOptions) -> LoaderOptions {
    LoaderOptions {
        num_workers: options.num_workers,
        prefetch_factor: options.prefetch_factor,
        in_order: options.in_order,
        pin_memory: options.pin_memory,
        persistent_workers: options.persistent_workers,
        timeout: options.timeout,
    }
}

/// PyTorch's checks of the loader's arguments, and then whether any is more than is possible.
///
/// # Errors
/// What PyTorch's constructor raises, or a sentence about a sampler that does not exist or about a limit.
pub fn check(options: &RunOptions, iterable: bool) -> Result<(), EngineError> {
    let spec: SamplerSpec = options.sampler.parse()?;
    check_sampler(options, &spec)?;
    let given = |name: &str| PyArg::Other(name.to_owned());
    let (sampler, batch_sampler) = match spec {
        SamplerSpec::ByShuffle => (PyArg::None, PyArg::None),
        SamplerSpec::Equi(_) => (PyArg::None, given("DistributedEquiBatchSampler")),
        _ => (given("Sampler"), PyArg::None),
    };
    // The size of its batches is an argument of the batch sampler then.
    let batch_size = match &batch_sampler {
        PyArg::None => options.batch_size.into(),
        _ => PyArg::Int(1),
    };
    let context = &options.multiprocessing_context;
    Arguments {
        iterable,
        batch_size,
        shuffle: options.shuffle.into(),
        sampler,
        batch_sampler,
        drop_last: options.drop_last.into(),
        multiprocessing_context: match context.as_str() {
            "" => PyArg::None,
            method => method.into(),
        },
        ..Arguments::of(&loader_options(options))
    }
    .check()?;
    limits::check(options)
}

/// Looks through everything that can be wrong with the options of a run, without opening its dataset.
///
/// # Errors
/// The sentence that a run would refuse them with, as far as that is known without opening the dataset.
pub fn check_options(options: &RunOptions) -> Result<(), EngineError> {
    let dataset: DatasetSpec = options.dataset.parse()?;
    if options.prefetch_factor == Some(0) && options.num_workers > 0 {
        return Err(EngineError::value_error(
            "prefetch_factor must be greater than 0",
        ));
    }
    check(options, dataset.is_stream())
}

/// Random samplers make the list of an epoch before its first index is asked for, as in PyTorch: it has to fit into memory.
fn check_list(options: &RunOptions, spec: &SamplerSpec, len: usize) -> Result<(), EngineError> {
    let len = len as u64;
    let list = match spec {
        SamplerSpec::ByShuffle if options.shuffle => len,
        // With replacement they are drawn as they are asked for.
        SamplerSpec::Random if !options.replacement => len,
        SamplerSpec::Distributed => len,
        SamplerSpec::Weighted(_) => options.num_samples.unwrap_or(len),
        SamplerSpec::ByShuffle
        | SamplerSpec::Sequential
        | SamplerSpec::Random
        | SamplerSpec::Subset(_)
        | SamplerSpec::Equi(_) => 0,
    };
    limits::fits(
        list.saturating_mul(4),
        format_args!("a random order of {} samples takes", limits::grouped(list)),
        "choose fewer samples",
    )
}

/// Arguments that the sampler does not have are refused: what has no effect must not look as if it had one.
fn check_sampler(options: &RunOptions, spec: &SamplerSpec) -> Result<(), EngineError> {
    let draws = matches!(spec, SamplerSpec::Random | SamplerSpec::Weighted(_));
    if !draws && (options.replacement || options.num_samples.is_some()) {
        return Err(EngineError::value_error(
            "replacement and num_samples are arguments of the samplers random and weighted; choose one of them",
        ));
    }
    let shares = matches!(
        spec,
        SamplerSpec::Distributed | SamplerSpec::Weighted(_) | SamplerSpec::Equi(_)
    );
    // A stream of data is shared among ranks without a sampler.
    let is_shared = options.is_stream() && !options.dataset.trim_start().starts_with("stream");
    let shares = shares || is_shared;
    if !shares && (options.world_size > 1 || options.rank > 0) {
        return Err(EngineError::value_error(
            "the number of ranks and the rank are arguments of the samplers distributed, weighted and equi; \
             choose one of them",
        ));
    }
    if shares {
        Rank::new(options.world_size.into(), options.rank.into())?;
    }
    Ok(())
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
