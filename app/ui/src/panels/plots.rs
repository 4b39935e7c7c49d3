//! Plots of quantities over time and of durations. Dragging over a curve selects a range in all panels.

use egui::{Color32, Label, RichText, ScrollArea, Sense, Ui, UiBuilder, vec2};
use loadscope_trace::Nanos;
use loadscope_words::say;

use crate::kit::titles;
use crate::theme::{Palette, sans, size, space};
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::TimeView;

mod curves;
mod histogram;
mod history;
mod series;
mod static_plot;

use curves::{Curve, DragStart};
use histogram::{Histogram, Kind};
use history::History;

/// Minimum width at which the histograms are next to the curves, points.
const WIDE: f32 = 760.0;
/// Height of a title, points.
const TITLE: f32 = 22.0;

/// Version of the run, visible range and selected range of the plots.
type Key = ((u64, u64), TimeView, Option<(Nanos, Nanos)>);

/// Plots, with their data of the last frame.
#[derive(Default)]
pub struct Plots {
    history: History,
    curves: Vec<Curve>,
    histograms: Vec<Histogram>,
    cache_key: Option<Key>,
    drag_start: DragStart,
}

impl Plots {
    /// Shows the plots. A click sets the time cursor or selects a batch, a drag selects a range.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        if self
            .history
            .update(state.session.run_number, &state.session.run)
        {
            ui.ctx().request_repaint();
        }
        let view = state.shown();
        let selected = curves::selected(state);
        let key = (
            (state.session.run_number, state.session.run.version()),
            view,
            selected,
        );
        if self.cache_key != Some(key) {
            if self.cache_key.map(|k| (k.0, k.1)) != Some((key.0, key.1)) {
                self.curves = curves::curves(&state.session.run, &self.history, view);
            }
            let of = |kind| Histogram::of(kind, &self.history, view, selected);
            self.histograms = Kind::ALL.map(of).into_iter().collect();
            self.cache_key = Some(key);
        }
        let mut commands = Vec::new();
        let area = ScrollArea::vertical().auto_shrink([false, false]);
        let height = ui.available_height();
        area.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let mut whole = ui.available_rect_before_wrap();
            whole.max.x -= space::MARGIN;
            if whole.width() < WIDE {
                ui.set_max_width(whole.width());
                self.over_time(ui, state, height * 0.9, &mut commands);
                self.distributions(ui, state, 84.0, &mut commands);
                return;
            }
            let (left, right) = whole.split_left_right_at_fraction(0.62);
            let mut column = ui.new_child(UiBuilder::new().max_rect(left));
            self.over_time(&mut column, state, height, &mut commands);
            let mut beside = ui.new_child(UiBuilder::new().max_rect(right));
            let each = (height - 8.0) / Kind::ALL.len() as f32 - TITLE - histogram::TICKS - 8.0;
            self.distributions(&mut beside, state, each.clamp(56.0, 160.0), &mut commands);
            let bottom = column.min_rect().bottom().max(beside.min_rect().bottom());
            ui.allocate_space(vec2(whole.width(), bottom - whole.top()));
        });
        commands
    }

    fn over_time(&mut self, ui: &mut Ui, state: &State, height: f32, commands: &mut Vec<Command>) {
        let count = self.curves.len().max(1);
        let each = (height - curves::TICKS - 8.0) / count as f32 - TITLE - 6.0;
        let each = each.clamp(44.0, 140.0);
        for (k, curve) in self.curves.iter().enumerate() {
            title(ui, curve.title, curve.about, &curve.legend(Palette::of(ui)));
            let is_last = k + 1 == count;
            let height = (each, is_last);
            curves::show(ui, state, curve, height, &mut self.drag_start, commands);
        }
    }

    fn distributions(
        &mut self,
        ui: &mut Ui,
        state: &State,
        height: f32,
        commands: &mut Vec<Command>,
    ) {
        if self.histograms.iter().all(Histogram::is_empty) {
            let text = say!("No events in this range. Press Home to show everything.");
            ui.add_space(space::MARGIN);
            ui.horizontal(|ui| {
                ui.add_space(space::MARGIN);
                ui.label(RichText::new(text).color(Palette::of(ui).weak));
            });
            return;
        }
        for (kind, histogram) in Kind::ALL.into_iter().zip(&self.histograms) {
            title(ui, kind.title(), &histogram.summary(), &[]);
            if histogram.is_empty() {
                ui.add_space(space::GROUP);
                continue;
            }
            histogram::show(ui, state, &self.history, histogram, height, commands);
        }
    }
}

/// Shows a heading, a description and the colors of several lines.
fn title(ui: &mut Ui, text: &str, about: &str, legend: &[(&str, Color32)]) {
    ui.horizontal(|ui| {
        ui.set_height(TITLE - 2.0);
        ui.add_space(space::MARGIN);
        titles::title(ui, text);
        for (name, color) in legend {
            let (dash, _) = ui.allocate_exact_size(vec2(12.0, 2.0), Sense::hover());
            ui.painter().rect_filled(dash, 0.0, *color);
            ui.label(RichText::new(*name).font(sans(size::SMALL)));
        }
        let weak = Palette::of(ui).weak;
        let about = RichText::new(about).font(sans(size::SMALL)).color(weak);
        ui.add(Label::new(about).truncate());
    });
}
