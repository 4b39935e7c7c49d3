//! Findings, each with a number, a remedy and a link to the evidence.

use std::collections::BTreeSet;

use egui::{Label, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use loadscope_diagnose::{Effect, Evidence, Finding, Severity};
use loadscope_trace::Lane;
use loadscope_words::say;

use crate::kit::empty::{hint, remark};
use crate::kit::titles::section;
use crate::theme::{Palette, heading, size, space};
use loadscope_insight::diagnose::run_analysis::RunAnalysis;
use loadscope_insight::sampling::Choice;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_model::view::Item;

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
            if let Some((name, target)) = target(state, &finding.evidence)
                && ui.link(name).clicked()
            {
                commands.extend(target);
            }
        });
    });
    ui.add_space(space::GAP);
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

/// Selects an item and shows it in the timeline.
pub fn go_to(item: Item, commands: &mut Vec<Command>) {
    commands.push(Command::Select(Some(item)));
    commands.push(Action::ShowDebug.into());
    commands.push(Action::ShowTimeline.into());
    commands.push(Action::FitSelection.into());
}
