//! Arguments of PyTorch's loader and samplers, shared by several commands.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use loadscope_trace::{Argument, RunOptions, count};
use loadscope_words::say;

use super::number::seed;
use loadscope_plan::limits::{self, Limit};

/// Heading of the arguments of PyTorch's loader.
pub(super) const LOADER: &str = "DataLoader options";

/// Arguments of DataLoader and of its samplers, named as in PyTorch.
#[derive(Clone, Debug, Default, Args)]
pub struct LoaderArgs {
    /// Samples per batch, at most 10,000,000, or none for no batching [default: 32, in `order` 1]
    #[arg(long, value_name = "N|none", allow_negative_numbers = true, help_heading = LOADER)]
    batch_size: Option<BatchSize>,
    /// Draw a new random order in every epoch
    #[arg(long, help_heading = LOADER)]
    shuffle: bool,
    /// Sampler: random, distributed, weighted:FILE, … [default: sequential, or random with --shuffle]
    ///
    /// Samplers:
    ///   sequential, random, distributed  as in PyTorch
    ///   subset:FILE                      the indices in FILE
    ///   weighted:FILE                    drawn by weight, FILE has one weight per sample
    ///   weighted:balanced                drawn by weight, all classes equally often
    ///   equi:FILE                        all labels equally often, FILE has one line of labels per sample
    ///   equi:labels                      all classes of the dataset equally often
    ///   group:COLUMN                     no two samples with the same value in a batch
    ///   bucket:len                       samples of similar length in a batch
    ///
    /// A file has at most 1 GB, 100,000,000 entries and 100,000 different labels.
    #[arg(long, value_name = "SAMPLER", verbatim_doc_comment, help_heading = LOADER)]
    sampler: Option<String>,
    /// Random samplers draw with replacement
    #[arg(long, help_heading = LOADER)]
    replacement: bool,
    /// Indices per epoch from random samplers, at most 1,000,000,000 [default: the number of samples]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = num_samples, help_heading = LOADER)]
    num_samples: Option<u64>,
    /// Number of ranks (num_replicas), 1 to 1,000,000 [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = ranks, help_heading = LOADER)]
    world: Option<u32>,
    /// Rank, from 0 to the number of ranks minus 1 [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = rank, help_heading = LOADER)]
    rank: Option<u32>,
    /// Distributed samplers drop the tail instead of padding
    #[arg(long, help_heading = LOADER)]
    sampler_drop_last: bool,
    /// Simulate a missing set_epoch call: every epoch has the same order
    #[arg(long, help_heading = LOADER)]
    no_set_epoch: bool,
    /// Seed of the generator and of distributed samplers [default: random]
    ///
    /// A number from 0 to 2^64 - 1.
    #[arg(long, value_name = "SEED", value_parser = seed, help_heading = LOADER)]
    seed: Option<u64>,
    /// Seed of the default generator, as set by torch.manual_seed [default: random]
    ///
    /// A number from 0 to 2^64 - 1.
    #[arg(long, value_name = "SEED", value_parser = seed, help_heading = LOADER)]
    global_seed: Option<u64>,
    /// Number of workers, at most 1,024, or 0 to load in the main process [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = num_workers, help_heading = LOADER)]
    num_workers: Option<usize>,
    /// Batches in flight per worker, at most 10,000 [default: 2]
    ///
    /// All workers together have at most 1,000,000 batches in flight.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = prefetch_factor, help_heading = LOADER)]
    prefetch_factor: Option<usize>,
    /// Drop the last, incomplete batch
    #[arg(long, help_heading = LOADER)]
    drop_last: bool,
    /// Keep the workers alive between epochs
    #[arg(long, help_heading = LOADER)]
    persistent_workers: bool,
    /// Passes over the dataset, at most 1,000,000 [default: 1]
    ///
    /// All epochs together have at most 20,000,000 batches.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = epochs, help_heading = LOADER)]
    epochs: Option<u32>,
}

/// Batch size: a number, or `none`.
#[derive(Clone, Copy, Debug)]
struct BatchSize(Option<usize>);

impl FromStr for BatchSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("none") {
            return Ok(Self(None));
        }
        if !is_whole(text) {
            return Err(
                say!("expected a number of samples per batch, such as 32, or none").to_owned(),
            );
        }
        let size = within_limit(text, Argument::BatchSize)?;
        Ok(Self(usize::try_from(size).ok()))
    }
}

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses `num_workers`. A negative number fails with PyTorch's message.
fn num_workers(text: &str) -> Result<usize, String> {
    let negative =
        "num_workers option should be non-negative. Use num_workers=0 to load in the main process.";
    non_negative(text, negative)?;
    within_limit(text, Argument::NumWorkers).map(|n| n as usize)
}

fn prefetch_factor(text: &str) -> Result<usize, String> {
    non_negative(text, "prefetch_factor option should be non-negative")?;
    within_limit(text, Argument::PrefetchFactor).map(|n| n as usize)
}

fn num_samples(text: &str) -> Result<u64, String> {
    within_limit(text, Argument::NumSamples)
}

/// Parses the number of samples of a dataset.
pub(super) fn len(text: &str) -> Result<u64, String> {
    whole(
        text,
        "len",
        limits::SAMPLES,
        say!("Choose a smaller dataset."),
    )
}

fn ranks(text: &str) -> Result<u32, String> {
    let (most, remedy) = limit(Argument::NumReplicas);
    whole(text, "world", most, remedy).map(|n| n as u32)
}

fn rank(text: &str) -> Result<u32, String> {
    let most = u64::from(limits::RANKS) - 1;
    whole(
        text,
        "rank",
        most,
        say!("Ranks count from 0 and are smaller than world."),
    )
    .map(|n| n as u32)
}

fn epochs(text: &str) -> Result<u32, String> {
    within_limit(text, Argument::Epochs).map(|n| n as u32)
}

fn non_negative(text: &str, words: &str) -> Result<(), String> {
    match text.strip_prefix('-').is_some_and(is_whole) {
        true => Err(words.to_owned()),
        false => Ok(()),
    }
}

/// Returns the largest valid value of an argument, and the remedy for a larger one.
fn limit(argument: Argument) -> (u64, &'static str) {
    Limit::of(argument).map_or((u64::MAX, ""), |limit| (limit.most, limit.remedy))
}

/// Parses the value of an argument within its limit.
fn within_limit(text: &str, argument: Argument) -> Result<u64, String> {
    let (most, remedy) = limit(argument);
    whole(text, argument.name(), most, remedy)
}

/// Parses a whole number from 0 to `most`. The text can have any number of digits.
pub(super) fn whole(text: &str, name: &str, most: u64, remedy: &str) -> Result<u64, String> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if !is_whole(text) {
        return Err(say!("expected a whole number of at least 0, such as 4").to_owned());
    }
    match text.parse() {
        Ok(number) if number <= most => Ok(number),
        _ => Err(limits::too_much(name, count(most), text, remedy)),
    }
}

/// Replaces `world_size` in an error by the option name `--world`.
pub(super) fn with_option_names(error: impl Into<anyhow::Error>) -> anyhow::Error {
    let error = error.into();
    let text = error.to_string();
    match text.contains("world_size") {
        true => anyhow::anyhow!(text.replace("world_size", "--world")),
        false => error,
    }
}

/// Overwrites `to` if `from` has a value.
pub(super) fn set<T: Clone>(to: &mut T, from: &Option<T>) {
    if let Some(from) = from {
        to.clone_from(from);
    }
}

impl LoaderArgs {
    /// Writes the given arguments into `o`.
    pub fn apply(&self, o: &mut RunOptions) {
        if let Some(BatchSize(size)) = self.batch_size {
            o.batch_size = size;
        }
        set(&mut o.sampler, &self.sampler);
        set(&mut o.world_size, &self.world);
        set(&mut o.rank, &self.rank);
        set(&mut o.num_workers, &self.num_workers);
        set(&mut o.epochs, &self.epochs);
        o.num_samples = self.num_samples.or(o.num_samples);
        o.seed = self.seed.or(o.seed);
        o.global_seed = self.global_seed.or(o.global_seed);
        o.prefetch_factor = self.prefetch_factor.or(o.prefetch_factor);
        o.shuffle |= self.shuffle;
        // Without replacement, every sample would be drawn once, regardless of its class.
        o.replacement |= self.replacement || o.sampler == "weighted:balanced";
        o.sampler_drop_last |= self.sampler_drop_last;
        o.set_epoch &= !self.no_set_epoch;
        o.drop_last |= self.drop_last;
        o.persistent_workers |= self.persistent_workers;
    }
}

/// Value of `--pin-memory[=…]`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PinArg {
    /// No pinning
    Off,
    /// Page-locked memory of CUDA (without a GPU: a warning, no pinning)
    On,
    /// Buffers locked with mlock, with or without a GPU
    Mlock,
}

/// Value of `--on-error`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OnErrorArg {
    /// End the run with the error
    Stop,
    /// Report the error and continue with the next batch
    Continue,
    /// Skip the sample, and print the number of skipped samples at the end
    Skip,
    /// Skip the sample, and print the reason for each of the first 1,000
    Log,
}
