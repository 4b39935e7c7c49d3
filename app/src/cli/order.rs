//! `loadscope order`: which batches a loader will yield, without loading anything.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::process::ExitCode;

use clap::{ArgGroup, Args, ValueEnum};
use loadscope_trace::RunOptions;

use super::arguments::LoaderArgs;
use super::terminal::say;
use crate::sampling::analysis::is_one_of_many;
use crate::session::{Order, order_of_dataset};

/// The order that PyTorch gives for these arguments.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("samples").required(true).args(["len", "dataset"]))]
pub struct OrderArgs {
    /// Number of samples
    #[arg(long, value_name = "N")]
    len: Option<u64>,
    /// A data set, of which only the length is looked at: digits, folder:PATH, tokens:PATH, synthetic:…, stream:…
    #[arg(long)]
    dataset: Option<String>,
    /// The samples are a stream (IterableDataset). whole: every worker yields all of it; strided: worker k yields every W-th sample
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "whole", requires = "len")]
    iterable: Option<Stream>,
    #[command(flatten)]
    loader: LoaderArgs,
    /// Print one JSON object: len, epochs, workers, seeds
    #[arg(long)]
    json: bool,
}

/// How workers share a stream.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Stream {
    Whole,
    Strided,
}

impl OrderArgs {
    fn options(&self) -> RunOptions {
        let mut o = RunOptions {
            // PyTorch's default; the other commands have a more practical one.
            batch_size: Some(1),
            ..RunOptions::default()
        };
        self.loader.apply(&mut o);
        if let Some(dataset) = &self.dataset {
            o.dataset.clone_from(dataset);
        }
        if let Some(len) = self.len {
            o.dataset = match self.iterable {
                None => format!("synthetic:len={len}"),
                Some(Stream::Whole) => format!("stream:len={len}"),
                Some(Stream::Strided) => format!("stream:len={len},shard=true"),
            };
        }
        o
    }
}

pub fn run(args: &OrderArgs) -> anyhow::Result<ExitCode> {
    let mut options = args.options();
    let fresh = fresh_seed(&mut options);
    let order = order_of_dataset(&options)?;
    if let Some(seed) = fresh {
        eprintln!(
            "loadscope: no seed was given, so every call gives another order; this is the one of --global-seed {seed}"
        );
    }
    if args.json {
        say(&serde_json::to_string(&order)?)?;
    } else {
        say(text(&order).trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Without any seed PyTorch takes one from the system. Here it is chosen first, so that the answer can be had again.
fn fresh_seed(options: &mut RunOptions) -> Option<u64> {
    let seeded = options.seed.is_some() || options.global_seed.is_some();
    if seeded || !(is_one_of_many(options) || options.num_workers > 0) {
        return None;
    }
    // As many bits as a generator is seeded with in PyTorch's own examples: short enough to be typed again.
    let seed = u64::from(RandomState::new().build_hasher().finish() as u32);
    options.global_seed = Some(seed);
    Some(seed)
}

/// One line a batch.
fn text(order: &Order) -> String {
    let mut out = String::new();
    for (epoch, batches) in order.epochs.iter().enumerate() {
        let seeds = &order.seeds[epoch];
        let _ = write!(out, "epoch {epoch}: {} batches", batches.len());
        if let (Some(first), Some(last)) = (seeds.first(), seeds.last()) {
            let _ = write!(out, ", worker seeds {first} to {last}");
        }
        out.push('\n');
        for (idx, (batch, worker)) in batches.iter().zip(&order.workers[epoch]).enumerate() {
            let indices: Vec<String> = batch.iter().map(u64::to_string).collect();
            let who = match worker {
                -1 => String::new(),
                worker => format!(" (worker {worker})"),
            };
            let _ = writeln!(out, "  batch {idx}{who}: {}", indices.join(" "));
        }
    }
    out
}
