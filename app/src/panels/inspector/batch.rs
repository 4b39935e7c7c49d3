//! A batch: its path through the stages, where it waited, what is inside, what its samples cost.

use eframe::egui::{Align, Layout, RichText, Ui};
use loadscope_trace::{Activity, Level, Nanos, PathStep, Run, Sample, Stage};

use super::pictures::PictureCache;
use super::rows::{Cell, Marks, millis, remark, row, section, share};
use super::{content, story, title};
use crate::command::Command;
use crate::format;
use crate::machine::{fetcher, stage_dot};
use crate::state::State;
use crate::theme::{Palette, mono, size, space};
use crate::view::{Cursor, Item};

/// Samples that are listed at most: the slowest ones.
const MOST: usize = 40;

/// Everything about the batch at `at`.
pub fn show(
    ui: &mut Ui,
    pictures: &mut PictureCache,
    state: &State,
    at: usize,
    commands: &mut Vec<Command>,
) {
    let run = &state.run;
    head(ui, state, at, commands);
    errors(ui, run, at);
    path(ui, state, at, commands);
    ui.add_space(space::GAP * 2.0);
    for sentence in story::story(run, at, state.now()) {
        ui.label(sentence);
    }
    content::show(ui, pictures, run, at);
    stages(ui, run, at);
    samples(ui, run, at);
}

fn head(ui: &mut Ui, state: &State, at: usize, commands: &mut Vec<Command>) {
    let batch = &state.run.batches()[at];
    let stage = state.machine().stage_of(batch.id);
    ui.horizontal(|ui| {
        title(ui, &format!("Batch {}", batch.id.idx));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let word = stage.map_or("Not dispatched yet", Stage::label);
            ui.label(word);
            let (dot, _) =
                ui.allocate_exact_size(eframe::egui::vec2(8.0, 8.0), eframe::egui::Sense::hover());
            stage_dot(ui, dot, stage);
        });
    });
    let mut facts = Vec::new();
    if state.run.epochs().len() > 1 || state.run.info.options.epochs > 1 {
        facts.push(format!("epoch {}", batch.id.epoch));
    }
    let count = state.run.indices(at).len().max(state.run.samples(at).len()) as u64;
    if count > 0 {
        facts.push(format::plural(count, "sample", "samples"));
    }
    ui.horizontal(|ui| {
        if let Some(worker) = batch.worker {
            let lane = loadscope_trace::Lane::Worker(worker);
            if ui
                .link(fetcher(batch.worker))
                .on_hover_text("Shows this worker")
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

fn errors(ui: &mut Ui, run: &Run, at: usize) {
    let palette = Palette::of(ui.ctx());
    let id = run.batches()[at].id;
    for (_, message) in run.messages().iter().filter(|(_, m)| m.about == Some(id)) {
        let colour = match message.level {
            Level::Error => palette.stall,
            Level::Warning => palette.held,
            Level::Info => palette.text,
        };
        if let Some(sample) = message.sample {
            ui.label(
                RichText::new(format!("Sample {sample}"))
                    .strong()
                    .color(colour),
            );
        }
        ui.label(RichText::new(message.text.trim_end()).color(colour));
    }
}

/// The stages as a small timetable.
fn path(ui: &mut Ui, state: &State, at: usize, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui.ctx());
    section(ui, "Path");
    let now = state.now();
    let steps: Vec<PathStep> = state
        .run
        .path(at)
        .into_iter()
        .filter(|s| s.start <= now)
        .collect();
    let Some(first) = steps.first().map(|s| s.start) else {
        remark(ui, "It has not been dispatched at this time");
        return;
    };
    // A final stage takes no time: the path ends with it.
    let end_of = |s: &PathStep| match s.stage.is_final() {
        true => s.start,
        false => s.end.unwrap_or(now).min(now).max(s.start),
    };
    let last = steps.last().map_or(first, end_of);
    let (name, number) = (84.0, 56.0);
    let head = [
        Cell::head("Stage", name, false, palette),
        Cell::head("Start, s", number, true, palette),
        Cell::head("Took, ms", number, true, palette),
    ];
    row(ui, &head, Marks::default());
    for step in &steps {
        let end = end_of(step);
        let took = if step.stage.is_final() {
            "—".to_owned()
        } else {
            millis(end - step.start)
        };
        let colour = match step.stage {
            Stage::Done | Stage::Discarded => palette.weak,
            stage => palette.stage(stage),
        };
        let cells = [
            Cell::word(step.stage.label(), name),
            Cell::number(format!("{:.4}", step.start.as_secs_f64()), number),
            Cell::number(took, number),
        ];
        let bar = (
            share(step.start - first, last - first),
            share(end - first, last - first),
            colour,
        );
        let marks = Marks {
            dot: Some(colour),
            bar: (!step.stage.is_final()).then_some(bar),
        };
        let response = row(ui, &cells, marks).interact(eframe::egui::Sense::click());
        let response = response.on_hover_text(step.stage.explanation());
        if response.clicked() {
            commands.push(Command::Cursor(Cursor::At(step.start)));
        }
    }
}

/// The named stages of all samples, the most expensive first.
fn stages(ui: &mut Ui, run: &Run, at: usize) {
    let palette = Palette::of(ui.ctx());
    let Some(stages) = run.sample_stages(at).filter(|s| !s.names.is_empty()) else {
        return;
    };
    let mut costs: Vec<(Nanos, &str)> = stages
        .names
        .iter()
        .enumerate()
        .map(|(k, name)| (stages.total(k), name.as_str()))
        .collect();
    costs.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    let all = Nanos(run.samples(at).map(|s| s.wall.0).sum());
    let named = Nanos(costs.iter().map(|c| c.0.0).sum());
    // What has no name is not hidden; below a hundredth it is the measuring itself.
    if (all - named).0 * 100 > all.0 {
        costs.push((all - named, "other"));
        costs.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    }
    let most = costs.first().map_or(Nanos::ZERO, |c| c.0);
    section(ui, "Where fetching spent its time");
    let (name, number) = (106.0, 58.0);
    let head = [
        Cell::head("Step", name, false, palette),
        Cell::head("All, ms", number, true, palette),
        Cell::head("Share", number, true, palette),
    ];
    row(ui, &head, Marks::default());
    for (k, (total, what)) in costs.iter().enumerate() {
        let mut cells = [
            Cell::word(*what, name),
            Cell::number(millis(*total), number),
            Cell::number(format::percent(f64::from(share(*total, all))), number),
        ];
        if k == 0 {
            cells = cells.map(|c| c.strong(palette));
        }
        let bar = Some((
            0.0,
            share(*total, most),
            palette.activity(Activity::Fetching),
        ));
        row(ui, &cells, Marks { dot: None, bar });
    }
}

/// The samples, the slowest first.
fn samples(ui: &mut Ui, run: &Run, at: usize) {
    let palette = Palette::of(ui.ctx());
    section(ui, "Samples");
    let mut samples: Vec<Sample> = run.samples(at).collect();
    if samples.is_empty() {
        let indices = run.indices(at);
        if indices.is_empty() {
            remark(ui, "Its samples were not measured");
            return;
        }
        let list: Vec<String> = indices.iter().take(64).map(u64::to_string).collect();
        ui.label(RichText::new(list.join(" ")).font(mono(size::SMALL)));
        let ended = run.batches()[at].stage > Stage::Fetching;
        remark(
            ui,
            if ended {
                "Their times were not measured"
            } else {
                "Their times are known once all have been fetched"
            },
        );
        return;
    }
    samples.sort_by_key(|s| std::cmp::Reverse(s.wall));
    let most = samples[0].wall;
    let (index, number) = (64.0, 66.0);
    let head = [
        Cell::head("Index", index, true, palette),
        Cell::head("Wall, ms", number, true, palette),
        Cell::head("CPU, ms", number, true, palette),
    ];
    row(ui, &head, Marks::default());
    for (k, sample) in samples.iter().take(MOST).enumerate() {
        let mut cells = [
            Cell::number(
                sample.index.map_or("—".to_owned(), |i| i.to_string()),
                index,
            ),
            Cell::number(millis(sample.wall), number),
            Cell::number(sample.cpu.map_or("—".to_owned(), millis), number),
        ];
        if k == 0 && samples.get(1).is_some_and(|next| next.wall < most) {
            cells = cells.map(|c| c.strong(palette));
        }
        let bar = Some((
            0.0,
            share(sample.wall, most),
            palette.activity(Activity::Fetching),
        ));
        let response = row(ui, &cells, Marks { dot: None, bar });
        response.on_hover_ui(|ui| costs_of(ui, run, at, sample));
    }
    if samples.len() > MOST {
        remark(ui, &format!("and {} faster ones", samples.len() - MOST));
    }
}

/// What a sample spent its time on.
fn costs_of(ui: &mut Ui, run: &Run, at: usize, sample: &Sample) {
    let index = sample
        .index
        .map_or("Sample".to_owned(), |i| format!("Sample {i}"));
    ui.label(format!("{index} took {}", sample.wall));
    let Some(stages) = run.sample_stages(at) else {
        return;
    };
    let mut costs: Vec<(Nanos, &String)> = stages
        .names
        .iter()
        .enumerate()
        .map(|(k, name)| (stages.wall(k, sample.position), name))
        .collect();
    costs.sort_by_key(|(wall, _)| std::cmp::Reverse(*wall));
    for (wall, name) in costs {
        ui.label(RichText::new(format!("{name} {wall}")).font(mono(size::SMALL)));
    }
}
