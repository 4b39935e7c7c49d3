//! The pipeline: which batch is where at the instant that is looked at, and whether the trainer waits.
//!
//! `scene` reads the state, `layout` and `grid` say where everything is, the rest paints.

use egui::{Rect, Sense, Ui, vec2};
use loadscope_trace::Lane;

mod counters;
mod crew;
mod grid;
mod headline;
mod layout;
mod pen;
mod plan;
mod scene;
mod stations;
mod tip;
mod trainer;
pub mod variables;

pub use headline::stage_dot;

use crate::kit::empty::{empty_line, no_batches_yet};
use crate::theme::Palette;
use loadscope_model::command::Command;
use loadscope_model::state::State;

use layout::{Layout, Placed, Station};
use pen::Pen;
use plan::Plan;
use scene::Scene;

/// A pipeline narrower than this cannot be read.
const NARROWEST: f32 = 520.0;

/// The pipeline.
#[derive(Debug, Default)]
pub struct PipelineView {
    /// The last layout and what it was made for.
    layout: Option<(Rect, Plan, Layout)>,
}

impl PipelineView {
    /// Draws the pipeline in all the room there is.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let palette = Palette::of(ui.ctx());
        let (area, _) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        ui.painter().rect_filled(area, 0.0, palette.canvas);
        if state.session.run.transitions().is_empty() {
            let text = no_batches_yet(ui, &state.session.source);
            empty_line(ui, area, &text);
            return Vec::new();
        }
        let (area, table) = split(area, state.prefs.variables_open);
        let mut commands = Vec::new();
        if area.width() > 0.0 {
            commands = self.pipeline(ui, state, area, palette);
        }
        if let Some(table) = table {
            commands.extend(variables::show(ui, state, table));
        }
        commands
    }

    fn pipeline(
        &mut self,
        ui: &mut Ui,
        state: &State,
        area: Rect,
        palette: &'static Palette,
    ) -> Vec<Command> {
        let scene = Scene::of(state);
        let layout = self.layout(area, scene.plan);
        let mut pen = Pen::new(state, &scene, palette);
        pen.headline(ui, layout.headline);
        for pair in layout.stations.windows(2) {
            let middle = pair[0].body.center().y;
            pen.arrow(
                ui,
                pair[0].body.right() + 3.0,
                pair[1].body.left() - 3.0,
                middle,
            );
        }
        for placed in &layout.stations {
            pen.station(ui, placed, layout);
        }
        if layout.counters.height() > 1.0 {
            pen.counters(ui, layout.counters);
        }
        pen.commands
    }

    fn layout(&mut self, area: Rect, plan: Plan) -> &Layout {
        let fresh = matches!(&self.layout, Some((a, p, _)) if *a == area && *p == plan);
        if !fresh {
            self.layout = None;
        }
        let (_, _, layout) = self
            .layout
            .get_or_insert_with(|| (area, plan, Layout::new(area, &plan)));
        layout
    }
}

/// The room for the pipeline and for the table of variables. Where there is not enough for both, the table takes all of it.
fn split(area: Rect, with_variables: bool) -> (Rect, Option<Rect>) {
    if !with_variables {
        return (area, None);
    }
    if area.width() < NARROWEST + variables::WIDTH {
        return (
            Rect::from_min_size(area.min, vec2(0.0, area.height())),
            Some(area),
        );
    }
    let (left, right) = area.split_left_right_at_x(area.right() - variables::WIDTH);
    (left, Some(right))
}

impl Pen<'_> {
    fn station(&mut self, ui: &mut Ui, placed: &Placed, layout: &Layout) {
        self.title(ui, placed);
        match placed.station {
            Station::Sampler => self.sampler(ui, placed.body),
            Station::Crew => self.crew(ui, placed, &layout.crew),
            Station::Results => self.queue(ui, placed.body, Lane::ResultQueue),
            Station::Pin => self.queue(ui, placed.body, Lane::Pin),
            Station::Pinned => self.queue(ui, placed.body, Lane::DataQueue),
            Station::Reorder => self.reorder(ui, placed.body, &layout.stack),
            Station::Trainer => self.trainer(ui, placed.body),
        }
    }
}
