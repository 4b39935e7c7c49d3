//! Tooltips of the pipeline.

use egui::{RichText, Ui};
use loadscope_trace::{HeldBatch, Lane, Nanos, Stage, View};
use loadscope_words::say;

use super::sample_costs::sample_in_progress;
use super::scene::{Scene, Trainer};
use crate::kit::titles::{pytorch, title};
use crate::theme::Palette;
use loadscope_insight::format;
use loadscope_insight::format::capital;
use loadscope_insight::glossary::Term;
use loadscope_insight::idle::{describe_idle, purpose};
use loadscope_insight::narrate::{describe_location, fetcher};

/// Shows the tooltip of a batch.
pub fn batch(ui: &mut Ui, scene: &Scene<'_>, batch: &HeldBatch, median: Option<Nanos>) {
    let weak = Palette::of(ui.ctx()).weak;
    let worker = scene.run.batches().get(batch.row).and_then(|b| b.worker);
    title(
        ui,
        format!("{} · {}", capital(&batch.id.to_string()), batch.stage),
    );
    let long = scene.now - batch.since;
    ui.label(match scene.progress(batch) {
        Some((done, of)) => say!(
            "{} for {long}, {done} of {of} samples done",
            describe_location(batch)
        ),
        None => say!("{} for {long}", describe_location(batch)),
    });
    if let Some(text) =
        sample_in_progress(scene.run, batch, scene.now).and_then(|r| r.compared_to_median(median))
    {
        ui.label(text);
    }
    ui.label(RichText::new(why(scene, batch)).color(weak));
    if batch.stage > Stage::Collating {
        let by = say!("Fetched by {}", fetcher(worker));
        ui.label(RichText::new(by).color(weak));
    }
    if let Some(term) = Term::of_stage(batch.stage) {
        pytorch(ui, term);
    }
}

fn why(scene: &Scene<'_>, batch: &HeldBatch) -> String {
    match (batch.stage, scene.pipeline.awaited()) {
        (Stage::Held, Some(missing)) if missing.row != batch.row => {
            say!(
                "Finished, waiting for {}: {}",
                missing.id,
                describe_location(&missing)
            )
        }
        _ => batch.stage.explanation().to_owned(),
    }
}

/// Shows the tooltip of the sampler.
pub fn sampler(ui: &mut Ui, scene: &Scene<'_>) {
    let weak = Palette::of(ui.ctx()).weak;
    title(ui, say!("Sampler"));
    ui.label(next_batch(scene));
    let purpose = say!("Chooses the samples of the next batch, one batch for each batch yielded");
    ui.label(RichText::new(purpose).color(weak));
    pytorch(ui, Term::Sampler);
}

/// Describes the next batch of the sampler.
pub fn next_batch(scene: &Scene<'_>) -> String {
    let next = scene.pipeline.send_idx;
    if scene.is_exhausted() {
        return say!("The sampler is exhausted").to_owned();
    }
    match scene.upcoming().map_or(0, View::len) {
        0 => say!("Next: batch {next}"),
        count => say!(
            "Next: batch {next}, {}",
            format::plural(count as u64, say!(n: "sample"), say!(n: "samples"))
        ),
    }
}

/// Shows the tooltip of a lane.
pub fn lane(ui: &mut Ui, scene: &Scene<'_>, lane: Lane) {
    let weak = Palette::of(ui.ctx()).weak;
    title(ui, capital(&lane.to_string()));
    ui.label(holds(scene, lane));
    ui.label(RichText::new(purpose(lane)).color(weak));
    pytorch(ui, Term::of_lane(lane));
}

/// Describes the contents of a lane, with the time so far.
fn holds(scene: &Scene<'_>, lane: Lane) -> String {
    let count = scene.in_lane(lane).count() as u64;
    if lane.is_queue() && count > 0 {
        return format::plural(count, say!(n: "batch"), say!(n: "batches"));
    }
    match (scene.in_lane(lane).next(), scene.trainer) {
        (Some(b), _) => say!(
            "Batch {} · {} for {}",
            b.id.idx,
            b.stage,
            scene.now - b.since
        ),
        (None, Trainer::Waiting(since, _)) if lane == Lane::Trainer => {
            say!("Waits for {}", scene.now - since)
        }
        _ if lane.is_queue() => say!("Empty").to_owned(),
        _ => describe_idle(scene.run, &scene.pipeline, lane),
    }
}
