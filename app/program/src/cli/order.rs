//! `loadscope order`: prints the batches of a loader without loading anything.

use std::fmt::Display;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{ArgGroup, Args, ValueEnum};
use loadscope_trace::RunOptions;
use loadscope_words::say;

use super::arguments::{LoaderArgs, len, with_option_names};
use super::terminal::{print_message, print_streaming};
use loadscope_insight::sampling::analysis::is_unseeded;
use loadscope_plan::order::Orders;
use loadscope_session::samples_of_dataset;

/// The order that PyTorch gives for these arguments.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("samples").required(true).args(["len", "dataset"]))]
pub struct OrderArgs {
    /// Number of samples, at most 1,000,000,000
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = len)]
    len: Option<u64>,
    /// Dataset, of which only the length is used
    ///
    /// Takes the same values as `loadscope run --dataset`.
    #[arg(long, value_name = "DATASET")]
    dataset: Option<String>,
    /// Treat the dataset as iterable-style (IterableDataset)
    ///
    /// Without MODE: whole.
    #[arg(long, value_enum, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "whole", requires = "len")]
    iterable: Option<Stream>,
    #[command(flatten)]
    loader: LoaderArgs,
    /// Print one JSON object
    ///
    /// Its keys: len, epochs, workers, seeds.
    #[arg(long)]
    json: bool,
}

/// Distribution of an iterable-style dataset to workers.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Stream {
    /// Every worker yields all samples
    Whole,
    /// Worker k of W yields every W-th sample
    Strided,
}

impl OrderArgs {
    fn options(&self) -> RunOptions {
        let mut o = RunOptions {
            // 1 is PyTorch's default. Other commands have a more practical one.
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
    let samples = samples_of_dataset(&options).map_err(with_option_names)?;
    let mut orders = Orders::of(&options, &samples).map_err(with_option_names)?;
    if let Some(seed) = fresh {
        print_message(say!(
            "no seed given, so each run has another order. Pass --global-seed {seed} to reproduce this one."
        ));
    }
    print_streaming(|out| match args.json {
        true => write_json(out, &mut orders),
        false => write_text(out, &mut orders),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Chooses a seed if none was given, so that the user can reproduce the order. PyTorch would take a seed from the system.
fn fresh_seed(options: &mut RunOptions) -> Option<u64> {
    let seeded = options.seed.is_some() || options.global_seed.is_some();
    if seeded || !(is_unseeded(options) || options.num_workers > 0) {
        return None;
    }
    // The seed has 32 bits, as in PyTorch's own examples, so it is short enough to type.
    let seed = u64::from(RandomState::new().build_hasher().finish() as u32);
    options.global_seed = Some(seed);
    Some(seed)
}

/// Writes one line per batch.
fn write_text(out: &mut dyn Write, orders: &mut Orders<'_>) -> anyhow::Result<()> {
    orders.each(|epoch| {
        write!(
            out,
            "{}",
            say!("epoch {}: {} batches", epoch.epoch(), epoch.len_of_epoch())
        )?;
        if let (Some(first), Some(last)) = (epoch.seeds().next(), epoch.seeds().last()) {
            write!(out, "{}", say!(", worker seeds {first} to {last}"))?;
        }
        writeln!(out)?;
        for (idx, batch) in epoch.enumerate() {
            let (indices, worker) = batch?;
            write!(out, "{}", say!("  batch {idx}"))?;
            if worker >= 0 {
                write!(out, "{}", say!(" (worker {worker})"))?;
            }
            out.write_all(b":")?;
            for index in indices {
                write!(out, " {index}")?;
            }
            writeln!(out)?;
        }
        Ok(true)
    })
}

/// Writes one object with the keys len, epochs, workers and seeds. Only the seeds of earlier epochs are stored. The workers of batches are
/// calculated twice.
fn write_json(out: &mut dyn Write, orders: &mut Orders<'_>) -> anyhow::Result<()> {
    match orders.len() {
        Some(len) => write!(out, "{{\"len\":{len}")?,
        None => write!(out, "{{\"len\":null")?,
    }
    out.write_all(b",\"epochs\":[")?;
    let mut seeds = Vec::new();
    orders.each(|epoch| {
        out.write_all(if seeds.is_empty() { b"[" } else { b",[" })?;
        seeds.push(epoch.seeds());
        for (idx, batch) in epoch.enumerate() {
            let (indices, _) = batch?;
            out.write_all(if idx == 0 { b"" } else { b"," })?;
            write_list(out, indices)?;
        }
        out.write_all(b"]")?;
        Ok::<_, anyhow::Error>(true)
    })?;
    out.write_all(b"],\"workers\":[")?;
    for epoch in 0..seeds.len() {
        out.write_all(if epoch == 0 { b"" } else { b"," })?;
        write_list(out, orders.workers())?;
    }
    out.write_all(b"],\"seeds\":[")?;
    for (epoch, seeds) in seeds.into_iter().enumerate() {
        out.write_all(if epoch == 0 { b"" } else { b"," })?;
        write_list(out, seeds)?;
    }
    out.write_all(b"]}\n")?;
    Ok(())
}

fn write_list(out: &mut dyn Write, items: impl IntoIterator<Item: Display>) -> io::Result<()> {
    out.write_all(b"[")?;
    for (k, item) in items.into_iter().enumerate() {
        out.write_all(if k == 0 { b"" } else { b"," })?;
        write!(out, "{item}")?;
    }
    out.write_all(b"]")
}
