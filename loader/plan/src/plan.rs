//! Samplers and generators of a loader, created from the options of a run.

#[cfg_attr(target_family = "wasm", path = "plan/no_files.rs")]
mod files;
mod normalize;
mod spec;
mod table;

use std::sync::Arc;

use loadscope_trace::RunOptions;
use loadscope_words::say;

use crate::dataset::{DatasetSpec, check_extra_cost, extra_cost};
use crate::error::LoaderError;
use crate::limits;
use crate::loader::{Arguments, Index};
use crate::rng::{SharedGenerator, shared_generator};
use crate::sampler::{
    BatchSampler, BatchSource, DataLen, DistinctGroupBatchSampler, DistributedEquiBatchSampler,
    DistributedSampler, DistributedWeightedSampler, LengthBucketBatchSampler, PyArg, RandomSampler,
    RandomSource, Rank, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler,
    balanced_weights,
};

use spec::SamplerSpec;

pub use normalize::normalized;
pub use table::{RequiredColumn, SampleTable};

/// Tasks and generators of a loader.
#[derive(Clone)]
pub struct Plan {
    /// Source of the tasks.
    pub index: Index,
    /// Argument `generator` of the loader.
    pub generator: Option<SharedGenerator>,
    /// Replacement for PyTorch's default generator.
    pub default_generator: SharedGenerator,
    set_epoch: bool,
}

impl Plan {
    /// Creates the plan for a map-style dataset of `len` samples.
    ///
    /// # Errors
    /// If the options contradict each other, or a file of indices, weights or labels cannot be read.
    pub fn of(options: &RunOptions, len: DataLen) -> Result<Self, LoaderError> {
        let table = SampleTable::of_len(len.get());
        Self::of_table(options, len, &table)
    }

    /// Creates the plan for a map-style dataset of `len` samples.
    /// `table` contains the data that the sampler needs ([`RequiredColumn::for_sampler`]).
    ///
    /// # Errors
    /// As [`of`](Self::of), and if `table` lacks such data.
    pub fn of_table(
        options: &RunOptions,
        len: DataLen,
        table: &SampleTable,
    ) -> Result<Self, LoaderError> {
        check(options, false)?;
        let mut plan = Self::with_generators(options);
        let drop_last = options.drop_last;
        let spec: SamplerSpec = options.sampler.parse()?;
        let batches = batches(options, &spec, table)?;
        plan.index = if let Some(batches) = batches {
            Index::Batches(batches)
        } else {
            limits::check_samples(len.get())?;
            check_list(options, &spec, len.get())?;
            let sampler = plan.sampler(options, &spec, len, table)?;
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

    /// Creates the plan for an iterable-style dataset.
    ///
    /// # Errors
    /// If the options contradict each other.
    pub fn of_stream(options: &RunOptions) -> Result<Self, LoaderError> {
        check(options, true)?;
        Ok(Self::with_generators(options))
    }

    fn with_generators(options: &RunOptions) -> Self {
        // A run without a global seed uses the default generator, which has a random seed.
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

    /// Passes the epoch to distributed samplers, if the options request it.
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

    /// Returns the loader's generator for its random sampler, as with `shuffle=True`.
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
        table: &SampleTable,
    ) -> Result<Arc<dyn Sampler>, LoaderError> {
        let count = options.num_samples.map(signed);
        let (world, rank) = (i64::from(options.world_size), i64::from(options.rank));
        let seed = options.seed.unwrap_or(0);
        Ok(match spec {
            SamplerSpec::ByShuffle if options.shuffle => {
                Arc::new(RandomSampler::new(len, false, None, self.source())?)
            }
            SamplerSpec::ByShuffle
            | SamplerSpec::Sequential
            | SamplerSpec::Equi(_)
            | SamplerSpec::EquiLabels
            | SamplerSpec::Group(_)
            | SamplerSpec::Bucket => Arc::new(SequentialSampler::new(len)),
            SamplerSpec::Random => {
                let replacement = options.replacement;
                Arc::new(RandomSampler::new(len, replacement, count, self.source())?)
            }
            SamplerSpec::Subset(path) => {
                let indices = files::indices(path, len.get())?;
                Arc::new(SubsetRandomSampler::new(indices, self.source()))
            }
            SamplerSpec::Weighted(_) | SamplerSpec::Balanced => {
                let weights = match spec {
                    SamplerSpec::Weighted(path) => files::weights(path, len.get())?,
                    _ => balanced_weights(table.classes()?),
                };
                let count = count.unwrap_or(signed(weights.len() as u64));
                // Without replacement every sample would occur once, regardless of its weight.
                let replacement = options.replacement || *spec == SamplerSpec::Balanced;
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

/// Returns the weights of the samples, if the sampler is a weighted one.
///
/// # Errors
/// If the file cannot be read, or the classes are unknown.
pub fn weights(options: &RunOptions, table: &SampleTable) -> Result<Option<Vec<f64>>, LoaderError> {
    match options.sampler.parse()? {
        SamplerSpec::Weighted(path) => files::weights(&path, table.len).map(Some),
        SamplerSpec::Balanced => Ok(Some(balanced_weights(table.classes()?))),
        _ => Ok(None),
    }
}

/// Returns the batches of a sampler that creates batches itself.
fn batches(
    options: &RunOptions,
    spec: &SamplerSpec,
    table: &SampleTable,
) -> Result<Option<Arc<dyn BatchSource>>, LoaderError> {
    if !spec.makes_batches() {
        return Ok(None);
    }
    let Some(size) = options.batch_size else {
        return Err(LoaderError::value_error(say!(
            "the sampler {} makes batches, so it needs a batch_size",
            options.sampler.split(':').next().unwrap_or_default()
        )));
    };
    let size = signed(size as u64);
    let (world, rank) = (i64::from(options.world_size), i64::from(options.rank));
    let (seed, drop_last) = (options.seed.unwrap_or(0), options.drop_last);
    Ok(Some(match spec {
        SamplerSpec::Group(column) => {
            let groups = table.groups(column)?;
            let sampler = DistinctGroupBatchSampler::new(groups, size, drop_last, world, rank)?;
            Arc::new(sampler.seed(seed))
        }
        SamplerSpec::Bucket => {
            let lengths = table.lengths()?;
            let sampler = LengthBucketBatchSampler::new(lengths, size, drop_last, world, rank)?;
            Arc::new(sampler.seed(seed))
        }
        SamplerSpec::Equi(path) => Arc::new(equi(files::classes(path)?, size, options)?),
        _ => {
            let labels = table.classes()?.iter().map(std::iter::once);
            let classes = DistributedEquiBatchSampler::classes_of(labels);
            Arc::new(equi(classes, size, options)?)
        }
    }))
}

/// Returns the batches of the sampler for multi-label data.
fn equi(
    classes: Vec<Vec<usize>>,
    size: i64,
    options: &RunOptions,
) -> Result<DistributedEquiBatchSampler, LoaderError> {
    let list = DistributedEquiBatchSampler::BALANCED_COEF.saturating_mul(classes.len()) as u64;
    limits::check_memory(
        list.saturating_mul(8),
        say!(
            "an epoch of {} classes takes",
            limits::grouped(classes.len() as u64)
        ),
        say!("Choose fewer classes."),
    )?;
    let (world, rank) = (i64::from(options.world_size), i64::from(options.rank));
    let sampler = DistributedEquiBatchSampler::new(classes, size, world, rank)?;
    Ok(sampler.seed(options.seed.unwrap_or(0)))
}

/// Checks the loader's arguments like PyTorch, then the limits.
///
/// # Errors
/// The error of PyTorch's constructor, or an error for an unknown sampler or an exceeded limit.
pub fn check(options: &RunOptions, iterable: bool) -> Result<(), LoaderError> {
    let spec: SamplerSpec = options.sampler.parse()?;
    check_sampler(options, &spec)?;
    let given = |name: &str| PyArg::Other(name.to_owned());
    let (sampler, batch_sampler) = match &spec {
        SamplerSpec::ByShuffle => (PyArg::None, PyArg::None),
        SamplerSpec::Equi(_) | SamplerSpec::EquiLabels => {
            (PyArg::None, given("DistributedEquiBatchSampler"))
        }
        SamplerSpec::Group(_) => (PyArg::None, given("DistinctGroupBatchSampler")),
        SamplerSpec::Bucket => (PyArg::None, given("LengthBucketBatchSampler")),
        _ => (given("Sampler"), PyArg::None),
    };
    // The batch size is an argument of the batch sampler in this case.
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
        // The same applies to drop_last, if the batch sampler has it.
        drop_last: match spec {
            SamplerSpec::Group(_) | SamplerSpec::Bucket => false.into(),
            _ => options.drop_last.into(),
        },
        multiprocessing_context: match context.as_str() {
            "" => PyArg::None,
            method => method.into(),
        },
        ..Arguments::of(&options.into())
    }
    .check()?;
    limits::check(options)
}

/// Checks all options of a run without opening its dataset.
///
/// # Errors
/// The error of the run, as far as it is known without the dataset.
pub fn check_options(options: &RunOptions) -> Result<(), LoaderError> {
    let dataset: DatasetSpec = options.dataset.parse()?;
    if options.prefetch_factor == Some(0) && options.num_workers > 0 {
        return Err(LoaderError::value_error(
            "prefetch_factor must be greater than 0",
        ));
    }
    check(options, dataset.is_stream())?;
    check_extra_cost(options, &dataset)?;
    if !options.extra_cost.is_empty() {
        // The length of most datasets is unknown until they are opened.
        let len = match dataset {
            DatasetSpec::Digits => crate::dataset::DIGITS,
            _ => limits::SAMPLES as usize,
        };
        extra_cost(&options.extra_cost, len)?;
    }
    Ok(())
}

/// Checks that the list of a random sampler fits into memory. Like PyTorch, it creates the list of an epoch before the first index.
fn check_list(options: &RunOptions, spec: &SamplerSpec, len: usize) -> Result<(), LoaderError> {
    let len = len as u64;
    let list = match spec {
        SamplerSpec::ByShuffle if options.shuffle => len,
        // With replacement the indices are drawn on demand.
        SamplerSpec::Random if !options.replacement => len,
        SamplerSpec::Distributed => len,
        SamplerSpec::Weighted(_) | SamplerSpec::Balanced => options.num_samples.unwrap_or(len),
        SamplerSpec::ByShuffle
        | SamplerSpec::Sequential
        | SamplerSpec::Random
        | SamplerSpec::Subset(_)
        | SamplerSpec::Equi(_)
        | SamplerSpec::EquiLabels
        | SamplerSpec::Group(_)
        | SamplerSpec::Bucket => 0,
    };
    limits::check_memory(
        list.saturating_mul(4),
        say!("a random order of {} samples takes", limits::grouped(list)),
        say!("Choose fewer samples."),
    )
}

/// Refuses arguments that the sampler does not have, since they would have no effect.
fn check_sampler(options: &RunOptions, spec: &SamplerSpec) -> Result<(), LoaderError> {
    let draws = matches!(
        spec,
        SamplerSpec::Random | SamplerSpec::Weighted(_) | SamplerSpec::Balanced
    );
    if !draws && (options.replacement || options.num_samples.is_some()) {
        return Err(LoaderError::value_error(say!(
            "replacement and num_samples need the sampler random or weighted. Choose one of them."
        )));
    }
    // An iterable-style dataset of files is split among ranks without a sampler.
    let shares = spec.shares() || options.is_shared_stream();
    if !shares && (options.world_size > 1 || options.rank > 0) {
        return Err(LoaderError::value_error(say!(
            "rank and world_size need a sampler that splits the samples: distributed, weighted, equi, group or bucket."
        )));
    }
    if shares {
        Rank::new(options.world_size.into(), options.rank.into())?;
    }
    Ok(())
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
