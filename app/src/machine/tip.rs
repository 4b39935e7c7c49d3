//! Tooltips: what it is, how long, and why it matters.

use eframe::egui::{RichText, Ui};
use loadscope_trace::{HeldBatch, Lane, Machine, Run, Stage};

use super::idle::why_idle;
use super::narrate::{capital, fetcher, whereabouts};
use super::scene::{Scene, Trainer};
use crate::theme::{Palette, heading, size};
use loadscope_insight::format;

/// About a batch.
pub fn batch(ui: &mut Ui, scene: &Scene<'_>, batch: &HeldBatch) {
    let weak = Palette::of(ui.ctx()).weak;
    let worker = scene.run.batches().get(batch.row).and_then(|b| b.worker);
    let title = format!("{} · {}", capital(&batch.id.to_string()), batch.stage);
    ui.label(RichText::new(title).font(heading(size::BODY)));
    let long = scene.now - batch.since;
    ui.label(match scene.progress(batch) {
        Some((done, of)) => format!(
            "{} for {long}, {done} of {of} samples done",
            whereabouts(batch)
        ),
        None => format!("{} for {long}", whereabouts(batch)),
    });
    ui.label(RichText::new(why(scene, batch)).color(weak));
    if batch.stage > Stage::Collating {
        let by = format!("Fetched by {}", fetcher(worker));
        ui.label(RichText::new(by).color(weak));
    }
}

fn why(scene: &Scene<'_>, batch: &HeldBatch) -> String {
    match (batch.stage, scene.machine.awaited()) {
        (Stage::Held, Some(missing)) if missing.row != batch.row => {
            format!(
                "Finished, but behind {}: {}",
                missing.id,
                whereabouts(&missing)
            )
        }
        _ => batch.stage.explanation().to_owned(),
    }
}

/// About the sampler.
pub fn sampler(ui: &mut Ui, scene: &Scene<'_>) {
    let weak = Palette::of(ui.ctx()).weak;
    ui.label(RichText::new("Sampler").font(heading(size::BODY)));
    ui.label(next_batch(scene));
    let purpose = "Says which samples make the next batch, one batch for every batch handed out";
    ui.label(RichText::new(purpose).color(weak));
}

/// What the sampler will hand out next.
pub fn next_batch(scene: &Scene<'_>) -> String {
    let next = scene.machine.send_idx;
    if scene.is_exhausted() {
        return "The sampler is exhausted".to_owned();
    }
    match scene.upcoming() {
        Some([]) | None => format!("Next is batch {next}"),
        Some(indices) => {
            let count = indices.len() as u64;
            format!(
                "Next is batch {next} of {}",
                format::plural(count, "sample", "samples")
            )
        }
    }
}

/// About a lane.
pub fn lane(ui: &mut Ui, scene: &Scene<'_>, lane: Lane) {
    let weak = Palette::of(ui.ctx()).weak;
    ui.label(RichText::new(capital(&lane.to_string())).font(heading(size::BODY)));
    ui.label(holds(scene, lane));
    ui.label(RichText::new(purpose(lane)).color(weak));
}

/// What is in a lane, and for how long.
fn holds(scene: &Scene<'_>, lane: Lane) -> String {
    let count = scene.in_lane(lane).count() as u64;
    if lane.is_queue() && count > 0 {
        return format::plural(count, "batch", "batches");
    }
    match (scene.in_lane(lane).next(), scene.trainer) {
        (Some(b), _) => format!(
            "Batch {} · {} for {}",
            b.id.idx,
            b.stage,
            scene.now - b.since
        ),
        (None, Trainer::Waiting(since, _)) if lane == Lane::Trainer => {
            format!("Waits for {}", scene.now - since)
        }
        _ if lane.is_queue() => "Empty".to_owned(),
        _ => at_rest(scene.run, &scene.machine, lane),
    }
}

/// That nothing is done in a lane, and why as far as that can be said.
pub fn at_rest(run: &Run, machine: &Machine<'_>, lane: Lane) -> String {
    let worker = match lane {
        Lane::Worker(worker) => machine.worker(worker),
        _ => None,
    };
    if worker.is_some_and(|w| w.end.is_some_and(|(at, _)| at <= machine.at)) {
        return "Ended".to_owned();
    }
    match why_idle(run, machine, lane) {
        Some(why) => format!("Idle. {why}"),
        None => "Idle".to_owned(),
    }
}

/// What a lane is for.
pub fn purpose(lane: Lane) -> &'static str {
    match lane {
        Lane::Trainer => "The training loop: takes a batch, works on it, asks for the next",
        Lane::Reorder => {
            "Batches that arrived early wait here, so that the trainer gets them in the order of the sampler"
        }
        Lane::DataQueue => "Batches in page-locked memory on their way to the main thread",
        Lane::Pin => "Copies batches to page-locked memory, one at a time",
        Lane::ResultQueue => "All workers put their finished batches into this one queue",
        Lane::Main => {
            "num_workers=0: the trainer's own thread fetches, so nothing overlaps with training"
        }
        Lane::Worker(_) => "Fetches the samples of one batch after the other and collates them",
        Lane::IndexQueue(_) => {
            "Indices of the batches that this worker is to fetch; no other worker takes them over"
        }
    }
}
