//! The arguments of PyTorch's loader and samplers, for all commands that have them.

use std::str::FromStr;

use clap::Args;
use loadscope_trace::RunOptions;

/// Which batches, under PyTorch's names.
#[derive(Clone, Debug, Default, Args)]
pub struct LoaderArgs {
    /// Samples per batch; none: hand samples out as they are [default: 32; order: 1]
    #[arg(long, value_name = "N|none", allow_negative_numbers = true)]
    batch_size: Option<BatchSize>,
    /// A new random order in every epoch
    #[arg(long)]
    shuffle: bool,
    /// sequential, random, subset:FILE (indices), weighted:FILE (a weight a sample), distributed, or equi:FILE (a line of labels a sample)
    #[arg(long, value_name = "SAMPLER")]
    sampler: Option<String>,
    /// Random samplers may draw an index again
    #[arg(long)]
    replacement: bool,
    /// Indices that random samplers draw an epoch [default: as many as there are samples]
    #[arg(long, value_name = "N")]
    num_samples: Option<u64>,
    /// Number of ranks that share the samples (num_replicas) [default: 1]
    #[arg(long, value_name = "N")]
    world: Option<u32>,
    /// Which of the ranks this is [default: 0]
    #[arg(long, value_name = "N")]
    rank: Option<u32>,
    /// Distributed samplers leave a tail out instead of repeating samples
    #[arg(long)]
    sampler_drop_last: bool,
    /// Do not tell distributed samplers the epoch: every epoch has the same order, a common mistake
    #[arg(long)]
    no_set_epoch: bool,
    /// Seed of the generator, and of distributed samplers [default: a fresh one]
    #[arg(long)]
    seed: Option<u64>,
    /// Seed of the default generator, as torch.manual_seed sets it
    #[arg(long, value_name = "SEED")]
    global_seed: Option<u64>,
    /// Worker threads; 0: load in the main thread [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = num_workers)]
    num_workers: Option<usize>,
    /// Batches in flight per worker [default: 2]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = prefetch_factor)]
    prefetch_factor: Option<usize>,
    /// Leave out a last batch that is not full
    #[arg(long)]
    drop_last: bool,
    /// Keep the workers alive between epochs
    #[arg(long)]
    persistent_workers: bool,
    /// How often to go through the dataset [default: 1]
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
}

/// A number, or `none`.
#[derive(Clone, Copy, Debug)]
struct BatchSize(Option<usize>);

impl FromStr for BatchSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("none") {
            return Ok(Self(None));
        }
        let size = text
            .parse()
            .map_err(|_| "expected a positive number of samples, or none")?;
        Ok(Self(Some(size)))
    }
}

/// With PyTorch's words for what is negative.
fn num_workers(text: &str) -> Result<usize, String> {
    let negative =
        "num_workers option should be non-negative; use num_workers=0 to load in the main thread";
    whole(text, negative)
}

fn prefetch_factor(text: &str) -> Result<usize, String> {
    whole(text, "prefetch_factor option should be non-negative")
}

fn whole(text: &str, negative: &str) -> Result<usize, String> {
    match text.parse::<i128>() {
        Ok(number) if number < 0 => Err(negative.to_owned()),
        Ok(number) => usize::try_from(number).map_err(|_| "that is too many".to_owned()),
        Err(_) => Err("expected a whole number".to_owned()),
    }
}

/// Overwrites what was given.
pub(super) fn set<T: Clone>(to: &mut T, from: &Option<T>) {
    if let Some(from) = from {
        to.clone_from(from);
    }
}

impl LoaderArgs {
    /// Writes what was given into `o`.
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
        o.replacement |= self.replacement;
        o.sampler_drop_last |= self.sampler_drop_last;
        o.set_epoch &= !self.no_set_epoch;
        o.drop_last |= self.drop_last;
        o.persistent_workers |= self.persistent_workers;
    }
}
