//! Details of a batch: its path through the stages, its waits, its contents and its sample costs.

use egui::{Align, Layout, RichText, Ui};
use loadscope_trace::{Level, Nanos, PathStep, Run, Stage};
use loadscope_words::say;

use super::content::ContentCache;
use super::{batch_history, content, samples};
use crate::kit::empty::remark;
use crate::kit::rows::{Marks, millis, share};
use crate::kit::table::{Column, Table};
use crate::kit::titles::{section, title};
use crate::pipeline::stage_dot;
use crate::theme::{Palette, space};
use loadscope_insight::format;
use loadscope_insight::narrate::fetcher;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};

/// Shows all details of the batch at row `at`.
pub fn show(
    ui: &mut Ui,
    cache: &mut ContentCache,
    state: &State,
    at: usize,
    commands: &mut Vec<Command>,
) {
    let run = &state.session.run;
    head(ui, state, at, commands);
    errors(ui, run, at, state.now());
    path(ui, state, at, commands);
    ui.add_space(space::GAP * 2.0);
    for sentence in batch_history::batch_history(run, at, state.now()) {
        ui.label(sentence);
    }
    samples::costliest(ui, run, at, state.now());
    content::show(ui, cache, state, at, commands);
    samples::show(ui, state, at, commands);
}

/// Shows the batch index, the current stage, and facts about the batch.
fn head(ui: &mut Ui, state: &State, at: usize, commands: &mut Vec<Command>) {
    let batch = &state.session.run.batches()[at];
    let stage = state.pipeline().stage_of(batch.id);
    ui.horizontal(|ui| {
        title(ui, say!("Batch {}", batch.id.idx));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let word = stage.map_or(say!("Not dispatched yet"), Stage::label);
            ui.label(word);
            let (dot, _) = ui.allocate_exact_size(egui::vec2(8.0, 8.0), egui::Sense::hover());
            stage_dot(ui, dot, stage);
        });
    });
    let mut facts = Vec::new();
    if state.session.run.epochs().len() > 1 || state.session.run.info.options.epochs > 1 {
        facts.push(say!("epoch {}", batch.id.epoch));
    }
    let count = state
        .session
        .run
        .indices(at)
        .len()
        .max(state.session.run.samples(at).len()) as u64;
    if count > 0 {
        let content = content::collated_content(&state.session.run, at, state.now());
        let failed = content.map_or(0, |content| content.left_out().count()) as u64;
        facts.push(match failed {
            0 => format::plural(count, say!(n: "sample"), say!(n: "samples")),
            _ => say!(
                "{} of {} samples, {} failed",
                format::count(count.saturating_sub(failed)),
                format::count(count),
                format::count(failed)
            ),
        });
    }
    ui.horizontal(|ui| {
        if let Some(worker) = batch.worker {
            let lane = loadscope_trace::Lane::Worker(worker);
            if ui
                .link(fetcher(batch.worker))
                .on_hover_text(say!("Shows this worker"))
                .clicked()
            {
                commands.push(Command::Select(Some(Item::Lane(lane))));
            }
        } else {
            remark(ui, &fetcher(None));
        }
        remark(ui, &facts.join(" · "));
    });
}

fn errors(ui: &mut Ui, run: &Run, at: usize, now: Nanos) {
    let palette = Palette::of(ui.ctx());
    let id = run.batches()[at].id;
    let messages = run.messages().iter();
    for (_, message) in messages.filter(|(told, m)| m.about == Some(id) && *told <= now) {
        let color = match message.level {
            Level::Error => palette.stall,
            Level::Warning => palette.held,
            Level::Info => palette.text,
        };
        if let Some(sample) = message.sample {
            ui.label(RichText::new(say!("Sample {sample}")).strong().color(color));
        }
        ui.label(RichText::new(message.text.trim_end()).color(color));
    }
}

/// Shows the stages as a small timetable.
fn path(ui: &mut Ui, state: &State, at: usize, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui.ctx());
    section(ui, say!("Path"));
    let now = state.now();
    let steps: Vec<PathStep> = state
        .session
        .run
        .path(at)
        .into_iter()
        .filter(|s| s.start <= now)
        .collect();
    let Some(first) = steps.first().map(|s| s.start) else {
        remark(ui, say!("Not dispatched yet"));
        return;
    };
    // The path ends at a final stage, which has no duration.
    let end_of = |s: &PathStep| match s.stage.is_final() {
        true => s.start,
        false => s.end.unwrap_or(now).min(now).max(s.start),
    };
    let last = steps.last().map_or(first, end_of);
    let (name, number) = (84.0, 56.0);
    let columns = [
        Column::words(say!("Stage"), name),
        Column::numbers(say!("Start, s"), number),
        Column::numbers(say!("Took, ms"), number),
    ];
    let table = Table::new(ui, columns);
    for step in &steps {
        let end = end_of(step);
        let took = if step.stage.is_final() {
            "—".to_owned()
        } else {
            millis(end - step.start)
        };
        let color = match step.stage {
            Stage::Done | Stage::Discarded => palette.weak,
            stage => palette.stage(stage),
        };
        let cells = [
            step.stage.label().into(),
            format!("{:.4}", step.start.as_secs_f64()).into(),
            took.into(),
        ];
        let bar = (
            share(step.start - first, last - first),
            share(end - first, last - first),
            color,
        );
        let marks = Marks {
            dot: Some(color),
            bar: (!step.stage.is_final()).then_some(bar),
        };
        let response = table.button(ui, cells, marks);
        let response = response.on_hover_text(step.stage.explanation());
        if response.clicked() {
            commands.push(Command::Cursor(Cursor::At(step.start)));
        }
    }
}
