//! Details of the sampler: its kind, its progress and its next batch.

use egui::{RichText, Ui};
use loadscope_trace::{Run, RunOptions};
use loadscope_words::say;

use crate::kit::empty::remark;
use crate::kit::rows::fact;
use crate::kit::titles::{section, title};
use crate::theme::{mono, size};
use loadscope_insight::format;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::Item;

/// Maximum number of indices shown. The batch's page has all of them.
const MAX_INDICES: usize = 64;

/// Shows the details of the sampler at the cursor.
pub fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let run = &state.session.run;
    let options = &run.info.options;
    let pipeline = state.pipeline();
    title(ui, say!("Sampler"));
    remark(ui, describe_sampler(options));
    ui.add_space(4.0);
    let or_none = |v: Option<u64>| v.map_or("—".to_owned(), format::count);
    fact(ui, "len(dataset)", or_none(run.info.dataset_len));
    let size = options
        .batch_size
        .map_or("None".to_owned(), |n| format::count(n as u64));
    fact(ui, "batch_size", size);
    fact(
        ui,
        "drop_last",
        if options.drop_last { "True" } else { "False" },
    );
    if let Some(seed) = options.seed {
        fact(ui, say!("Seed of the generator"), seed.to_string());
    }
    if options.world_size > 1 {
        fact(
            ui,
            say!("Rank"),
            say!("{} of {}", options.rank, options.world_size),
        );
    }
    section(ui, say!("Progress"));
    let sent = u64::from(pipeline.send_idx);
    fact(ui, say!("Batches yielded"), format::count(sent));
    fact(
        ui,
        say!("Batches per epoch"),
        or_none(run.info.batches_per_epoch),
    );
    let epoch = pipeline.epoch.map_or("—".to_owned(), |e| e.to_string());
    fact(ui, say!("Epoch"), epoch);
    let row_of = |idx: Option<u32>| {
        run.row(loadscope_trace::BatchId {
            epoch: pipeline.epoch?,
            idx: idx?,
        })
    };
    section(ui, say!("Next"));
    match row_of(Some(pipeline.send_idx)) {
        Some(row) => batch(ui, run, row, commands),
        None if run.info.batches_per_epoch == Some(sent) => {
            remark(ui, say!("The sampler is exhausted"))
        }
        None => remark(ui, say!("Unknown until it is drawn")),
    }
    if let Some(row) = row_of(pipeline.send_idx.checked_sub(1)) {
        section(ui, say!("Last"));
        batch(ui, run, row, commands);
    }
}

/// Shows a batch and its indices.
fn batch(ui: &mut Ui, run: &Run, row: usize, commands: &mut Vec<Command>) {
    let Some(batch) = run.batches().get(row) else {
        return;
    };
    let text = say!("Batch {}", batch.id.idx);
    if ui
        .link(text)
        .on_hover_text(say!("Shows this batch"))
        .clicked()
    {
        commands.push(Command::Select(Some(Item::Batch(row))));
    }
    let indices = run.indices(row);
    if indices.is_empty() {
        remark(ui, say!("An iterable-style dataset has no indices"));
        return;
    }
    let mut list: Vec<String> = indices
        .iter()
        .take(MAX_INDICES)
        .map(u64::to_string)
        .collect();
    if indices.len() > MAX_INDICES {
        list.push("…".to_owned());
    }
    ui.label(RichText::new(list.join(" ")).font(mono(size::SMALL)));
}

/// Describes the sampler in one sentence.
fn describe_sampler(options: &RunOptions) -> &'static str {
    let kind = options.sampler.split(':').next().unwrap_or_default();
    match (kind, options.shuffle) {
        ("random", _) | ("", true) if options.replacement => {
            say!("Draws samples at random, some more than once (RandomSampler)")
        }
        ("random", _) | ("", true) => {
            say!("Draws every sample once, in a random order (RandomSampler)")
        }
        ("sequential", _) | ("", false) => {
            say!("Draws the samples in their order (SequentialSampler)")
        }
        ("subset", _) => {
            say!("Draws the samples of a list in a random order (SubsetRandomSampler)")
        }
        ("weighted", _) => {
            say!("Draws samples by their weights (WeightedRandomSampler)")
        }
        ("distributed", _) => say!("Draws the samples of this rank (DistributedSampler)"),
        ("equi", _) => say!("Draws batches with equally many samples of each class"),
        _ => say!("Draws samples with the chosen sampler"),
    }
}
