//! The verdict, the slowest batches, and findings, each with a number, a remedy and a link to the evidence.

use std::collections::BTreeSet;

use egui::{Label, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use loadscope_diagnose::{Effect, Evidence, Finding, Severity};
use loadscope_insight::code::CodeChoice;
use loadscope_insight::diagnose::run_analysis::RunAnalysis;
use loadscope_insight::diagnose::what_if::WhatIf;
use loadscope_insight::sampling::Choice;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{Lane, Nanos};
use loadscope_words::say;

use crate::kit::empty::{hint, remark};
use crate::kit::rows::Marks;
use crate::kit::table::{Column, Table, Text};
use crate::kit::titles::{section, title_text};
use crate::theme::{Palette, heading, size, space};

/// Shows the findings, the most severe first.
pub fn show(ui: &mut Ui, state: &State, look: &RunAnalysis, commands: &mut Vec<Command>) {
    section(ui, say!("Findings"));
    if look.diagnosis.findings.is_empty() {
        remark(ui, say!("No problems found"));
        return;
    }
    let mut shown = BTreeSet::new();
    let findings = &look.diagnosis.findings;
    for (at, finding) in findings.iter().enumerate() {
        let is_new = findings[..at].iter().all(|f| f.remedy != finding.remedy);
        let effects = look.diagnosis.effects.get(&finding.id);
        let effects = effects.into_iter().flatten().copied();
        let effects: Vec<Effect> = effects.filter(|e| shown.insert(*e)).collect();
        one(ui, state, finding, is_new.then_some(&effects), commands);
    }
    if let Some(overlap) = look.diagnosis.overlap() {
        hint(ui, overlap);
    }
}

/// Shows a finding. The remedy and its effects are omitted if an earlier finding has the same remedy.
fn one(
    ui: &mut Ui,
    state: &State,
    finding: &Finding,
    new: Option<&Vec<Effect>>,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui);
    let color = match finding.severity {
        Severity::Critical => palette.stall,
        Severity::Warning => palette.held,
        Severity::Note => palette.weak,
    };
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::GAP * 2.0;
        let (rect, response) = ui.allocate_exact_size(vec2(8.0, 18.0), Sense::hover());
        ui.painter().circle_filled(rect.center(), 4.0, color);
        let label = finding.severity.label();
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, label));
        response.on_hover_text(label);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let font = match finding.severity {
                Severity::Note => crate::theme::sans(size::BODY),
                _ => heading(size::BODY),
            };
            let text = RichText::new(&finding.text).font(font).color(palette.text);
            ui.add(Label::new(text).wrap());
            if let Some(effects) = new {
                let remedy = RichText::new(&finding.remedy).color(palette.weak);
                ui.add(Label::new(remedy).wrap());
                for effect in effects {
                    let text = effect.sentence(&state.session.run);
                    let text = RichText::new(text).color(palette.weak);
                    ui.add(Label::new(text).wrap());
                }
            }
            links(ui, state, &finding.evidence, commands);
        });
    });
    ui.add_space(space::GAP);
}

/// Shows the links to the evidence and to its code.
fn links(ui: &mut Ui, state: &State, evidence: &Evidence, commands: &mut Vec<Command>) {
    let all = target(state, evidence).into_iter();
    let all: Vec<_> = all.chain(code(state, evidence)).collect();
    let mut show = |ui: &mut Ui, all: Vec<(String, Vec<Command>)>| {
        for (name, target) in all {
            if ui.link(name).clicked() {
                commands.extend(target);
            }
        }
    };
    match all.len() {
        0 | 1 => show(ui, all),
        _ => _ = ui.horizontal(|ui| show(ui, all)),
    }
}

/// Returns the name of the link to the evidence, and its commands.
fn target(state: &State, evidence: &Evidence) -> Option<(String, Vec<Command>)> {
    let mut commands = Vec::new();
    let name = match evidence {
        Evidence::Run => return None,
        Evidence::Range(start, end) => {
            go_to(Item::Range(*start, *end), &mut commands);
            say!("Show the range").to_owned()
        }
        Evidence::Batch(id) => {
            go_to(Item::Batch(state.session.run.row(*id)?), &mut commands);
            say!("Show {id}")
        }
        Evidence::Sample(id, position, index) => {
            go_to(Item::Batch(state.session.run.row(*id)?), &mut commands);
            match index {
                Some(index) => say!("Show sample {index} in {id}"),
                None => say!("Show position {position} of {id}"),
            }
        }
        Evidence::Worker(worker) => {
            go_to(Item::Lane(Lane::Worker(*worker)), &mut commands);
            say!("Show worker {worker}")
        }
        Evidence::Position(epoch, _) => {
            let at = state
                .session
                .run
                .epochs()
                .iter()
                .position(|e| e.epoch == *epoch);
            commands.push(Command::Sampling(Choice {
                epoch: at,
                ..Choice::default()
            }));
            commands.push(Action::ShowSampling.into());
            say!("Show the order of epoch {epoch}")
        }
    };
    Some((name, commands))
}

/// Returns the name of the link to the code of the evidence, and its commands. `None` without stacks.
fn code(state: &State, evidence: &Evidence) -> Option<(String, Vec<Command>)> {
    let run = &state.session.run;
    let batch = |id| run.row(id).map(Item::Batch);
    let item = match evidence {
        Evidence::Range(start, end) => Some(Item::Range(*start, *end)),
        Evidence::Batch(id) | Evidence::Sample(id, ..) => batch(*id),
        Evidence::Worker(worker) => Some(Item::Lane(Lane::Worker(*worker))),
        // Most findings about the whole run are not about code.
        Evidence::Run | Evidence::Position(..) => return None,
    };
    let sample = match evidence {
        Evidence::Sample(_, position, _) => Some(*position),
        _ => None,
    };
    let choice = CodeChoice {
        sample,
        ..state.session.code.for_another_item()
    };
    let commands = vec![
        Command::Select(item),
        Command::Code(choice),
        Action::ShowCode.into(),
    ];
    (!run.stacks().is_empty()).then(|| (say!("Show the code").to_owned(), commands))
}

/// Selects an item and shows it in the timeline.
pub fn go_to(item: Item, commands: &mut Vec<Command>) {
    commands.push(Command::Select(Some(item)));
    commands.push(Action::ShowDebug.into());
    commands.push(Action::ShowTimeline.into());
    commands.push(Action::FitSelection.into());
}

/// Width of the bar at the left, points.
const BAR: f32 = 4.0;

/// Shows the verdict, with a bar in the color of its severity at the left.
pub fn verdict(
    ui: &mut Ui,
    look: &RunAnalysis,
    what_if: Option<&WhatIf>,
    pending: Option<&str>,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui);
    let verdict = &look.diagnosis.verdict;
    let color = match verdict.severity {
        Severity::Note if look.share() < Severity::WARNING_SHARE => palette.step,
        _ => palette.stall,
    };
    let left = ui.max_rect().left();
    let inner = ui.horizontal(|ui| {
        ui.add_space(BAR + space::MARGIN);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::GAP;
            let headline = title_text(ui, &verdict.headline);
            ui.add(Label::new(headline).wrap());
            if let Some(cause) = &verdict.cause {
                let text = RichText::new(cause).color(palette.text);
                let label = Label::new(text).wrap().sense(Sense::click());
                let response = ui
                    .add(label)
                    .on_hover_text(say!("Shows it in the timeline"));
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, cause.as_str()));
                if let Some(wait) = look.waits.first().filter(|_| response.clicked()) {
                    look_at(wait.row, wait.end, commands);
                    go_to(Item::Batch(wait.row), commands);
                }
            }
            if let Some(left_out) = &verdict.left_out {
                ui.add(Label::new(RichText::new(left_out).color(palette.weak)).wrap());
            }
            if verdict.wants_outlook {
                outlook(ui, what_if, pending);
            }
        });
    });
    let rect = inner.response.rect;
    let bar = Rect::from_min_max(pos2(left, rect.top()), pos2(left + BAR, rect.bottom()));
    ui.painter().rect_filled(bar, 2.0, color);
}

/// Shows the best change. Its line exists before the forecast is ready, so that nothing moves later.
fn outlook(ui: &mut Ui, what_if: Option<&WhatIf>, pending: Option<&str>) {
    let palette = Palette::of(ui);
    let (text, color) = match (what_if.and_then(WhatIf::sentence), pending) {
        (Some(sentence), _) => (sentence, palette.text),
        (None, Some(pending)) => (pending.to_owned(), palette.weak),
        (None, None) => return,
    };
    ui.add(Label::new(RichText::new(text).color(color)).wrap());
}

/// Widths of the columns, points.
const NAME: f32 = 130.0;
const NUMBER: f32 = 64.0;
const CAUSE: f32 = 170.0;

/// Shows both tables. A click selects the batch for the inspector.
pub fn slowest(ui: &mut Ui, state: &State, look: &RunAnalysis, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    if !look.waits.is_empty() {
        section(ui, say!("Longest waits"));
        let columns = [
            Column::words(say!("Batch"), NAME),
            Column::words(say!("Cause"), CAUSE),
            Column::numbers(say!("Worker"), NUMBER),
            Column::numbers(say!("Waited"), NUMBER),
        ];
        let table = Table::new(ui, columns);
        for wait in &look.waits {
            let worker = wait.worker.map_or("—".to_owned(), |w| w.to_string());
            let cells = [
                chosen(wait.id.to_string().into(), state, wait.row, palette),
                wait.cause.label().into(),
                worker.into(),
                wait.time.as_str().into(),
            ];
            if table.button(ui, cells, Marks::default()).clicked() {
                look_at(wait.row, wait.end, commands);
            }
        }
    }
    if !look.samples.is_empty() {
        section(ui, say!("Samples that caused the longest waits"));
        let columns = [
            Column::words(say!("Sample"), NAME),
            Column::words(say!("Batch"), CAUSE),
            Column::numbers(say!("Took"), NUMBER),
            Column::numbers(say!("Waited"), NUMBER),
        ];
        let table = Table::new(ui, columns);
        for sample in &look.samples {
            let cells = [
                chosen(sample.name.as_str().into(), state, sample.row, palette),
                sample.id.to_string().into(),
                sample.took.as_str().into(),
                sample.waited.as_str().into(),
            ];
            if table.button(ui, cells, Marks::default()).clicked() {
                look_at(sample.row, sample.until, commands);
            }
        }
    }
}

/// Emphasizes the selected batch.
fn chosen(text: Text, state: &State, row: usize, palette: &Palette) -> Text {
    match state.session.selection {
        Some(Item::Batch(selected)) if selected == row => text.strong(palette),
        _ => text,
    }
}

/// Selects a batch, with the cursor at the instant when the trainer received it.
pub fn look_at(row: usize, at: Nanos, commands: &mut Vec<Command>) {
    commands.push(Command::Select(Some(Item::Batch(row))));
    commands.push(Command::Cursor(Cursor::At(at)));
}
