//! Diagnose workspace: the verdict, the causes, the findings and the forecasts.

use egui::{CentralPanel, Frame, Margin, Panel, ScrollArea, Ui};

use crate::kit::empty::empty;
use crate::kit::parts::mark;
use crate::theme::{Palette, space};
use loadscope_insight::diagnose::run_analysis::RunAnalysis;
use loadscope_lessons::Part;
use loadscope_model::command::Command;
use loadscope_model::state::{Source, State};
use loadscope_words::say;

mod base_setting;
mod blame;
mod compare;
mod findings;
mod heatmap;
mod program;
mod trials;
mod what_if;

/// Minimum width at which what-if is next to the rest instead of below, points.
const WIDE: f32 = 820.0;

/// Draws the workspace in all of `ui`.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let palette = Palette::of(ui);
    let answers = &state.session.results.diagnosis;
    let mut commands = Vec::new();
    let panel = |x, y| {
        Frame::NONE
            .fill(palette.panel)
            .inner_margin(Margin::symmetric(x, y))
    };
    let Some(look) = &answers.look else {
        CentralPanel::default()
            .frame(panel(12, 8))
            .show(ui, |ui| nothing(ui, state));
        return commands;
    };
    Panel::top("diagnose verdict")
        .frame(panel(12, 8))
        .show(ui, |ui| {
            let is_coming = answers.refusal.is_none();
            let grows = state.session.source == (Source::Live { paused: false });
            let pending = match grows {
                _ if !is_coming => None,
                true => Some(say!(
                    "Forecasts are available once the run has ended or is paused"
                )),
                false => Some(say!("Forecasting other settings")),
            };
            findings::verdict(ui, look, answers.what_if.as_deref(), pending, &mut commands);
        });
    let ground = Frame::NONE
        .fill(palette.canvas)
        .inner_margin(Margin::symmetric(12, 8));
    if ui.available_width() >= WIDE {
        let width = (ui.available_width() * 0.4).clamp(360.0, 520.0);
        Panel::right("diagnose what-if")
            .frame(panel(12, 8))
            .exact_size(width)
            .show(ui, |ui| {
                scrolled(ui, (state, "what-if"), |ui| {
                    forecasts(ui, state, &mut commands);
                });
            });
        CentralPanel::default().frame(ground).show(ui, |ui| {
            scrolled(ui, (state, "why"), |ui| {
                why(ui, state, look, &mut commands);
                findings::slowest(ui, state, look, &mut commands);
                compare::show(ui, state, answers.compared.as_deref(), &mut commands);
            });
        });
    } else {
        CentralPanel::default().frame(ground).show(ui, |ui| {
            scrolled(ui, (state, "all"), |ui| {
                why(ui, state, look, &mut commands);
                ui.add_space(space::GROUP);
                forecasts(ui, state, &mut commands);
                findings::slowest(ui, state, look, &mut commands);
                compare::show(ui, state, answers.compared.as_deref(), &mut commands);
            });
        });
    }
    commands
}

fn forecasts(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let shown = ui.scope(|ui| {
        what_if::check(ui, state, commands);
        what_if::show(ui, state, commands);
    });
    mark(ui, Part::Forecasts, shown.response.rect);
    trials::show(ui, state, commands);
}

/// Draws the causes of the waits and the findings.
fn why(ui: &mut Ui, state: &State, look: &RunAnalysis, commands: &mut Vec<Command>) {
    program::show(ui, look.program.as_ref(), commands);
    let shown = ui.scope(|ui| blame::show(ui, look, commands));
    mark(ui, Part::Blame, shown.response.rect);
    findings::show(ui, state, look, commands);
}

/// Scrolls `content`. Each run starts at the top.
fn scrolled(ui: &mut Ui, (state, name): (&State, &str), content: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical()
        .id_salt((name, state.session.run_number))
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = space::GAP;
            content(ui);
        });
}

/// Draws the placeholder.
fn nothing(ui: &mut Ui, state: &State) {
    let (title, text) = match &state.session.source {
        Source::Simulating => (
            say!("Simulating the run"),
            say!("The diagnosis appears when it ends"),
        ),
        Source::Live { .. } => (
            say!("No batch yielded yet"),
            say!("The diagnosis starts with the first batch"),
        ),
        _ if state.has_run() && state.session.run.epochs().is_empty() => (
            say!("Nothing to diagnose"),
            say!("This recording ends before its first epoch"),
        ),
        _ if state.has_run() => (say!("Analyzing the run"), ""),
        _ => (
            say!("Nothing to diagnose yet"),
            say!("Press Ctrl+R to start a run, or open a recording to see why training waits"),
        ),
    };
    empty(ui, title, text);
}
