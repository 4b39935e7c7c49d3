//! `loadscope order`: which batches a loader will yield, without loading anything.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{ArgGroup, Args, ValueEnum};
use loadscope_trace::RunOptions;

use super::arguments::LoaderArgs;
use super::info::say;
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
    let order = order_of_dataset(&args.options())?;
    if args.json {
        say(&serde_json::to_string(&order)?)?;
    } else {
        say(text(&order).trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
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
