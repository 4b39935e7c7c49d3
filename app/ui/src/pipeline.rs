//! Pipeline view: the position of each batch at the cursor, and the state of the trainer.
//!
//! `scene` reads the state, `layout` and `grid` compute the positions, the other modules paint.

use std::cell::RefCell;

use egui::{Rect, Sense, Stroke, StrokeKind, Ui, vec2};
use loadscope_lessons::Part;
use loadscope_trace::Lane;

pub mod animation;
mod counters;
mod end_card;
mod grid;
mod headline;
mod layout;
mod pen;
mod previews;
mod sample_costs;
mod scene;
mod stations;
mod steps;
mod tooltip;
mod trainer;
pub mod variables;
mod worker;
mod workers;

pub use headline::stage_dot;

use crate::kit::empty::{empty_line, no_batches_yet};
use crate::kit::parts::mark;
use crate::theme::Palette;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::Cursor;

use animation::ChipAnimations;
use end_card::{EndCard, is_over};
use grid::Plan;
use layout::{Layout, Placed, Station};
use pen::Pen;
use previews::Previews;
use sample_costs::MedianCost;
use scene::Scene;

/// Minimum readable width of the pipeline, points.
const NARROWEST: f32 = 520.0;

/// Pipeline view.
#[derive(Debug, Default)]
pub struct PipelineView {
    /// Last layout, with its area and plan.
    layout: Option<(Rect, Plan, Layout)>,
    /// Number of layouts computed so far.
    layouts: u64,
    animations: ChipAnimations,
    end_card: EndCard,
    median_cost: MedianCost,
    previews: RefCell<Previews>,
}

impl PipelineView {
    /// Draws the pipeline in all the available space.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let palette = Palette::of(ui.ctx());
        let (area, _) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        ui.painter().rect_filled(area, 0.0, palette.canvas);
        if state.session.run.whole().transitions().is_empty() {
            let text = no_batches_yet(ui, state);
            empty_line(ui, area, &text);
            return Vec::new();
        }
        past_frame(ui, area, state, palette);
        let (area, table) = split(area, state.prefs.variables_open);
        let mut commands = Vec::new();
        if area.width() > 0.0 {
            commands = self.pipeline(ui, state, area, palette);
        }
        if let Some(table) = table {
            mark(ui, Part::Variables, table);
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
        self.lay_out(area, scene.plan);
        let Some((_, _, layout)) = &self.layout else {
            return Vec::new();
        };
        self.median_cost.update(state);
        self.previews.borrow_mut().begin(state.session.run_number);
        let mut pen = Pen::new(state, &scene, palette);
        (pen.median, pen.previews) = (self.median_cost.get(), Some(&self.previews));
        pen.headline(ui, layout.headline);
        if let Some(process) = layout.process {
            frame(ui, process, palette);
        }
        for pair in layout.stations.windows(2) {
            let (from, to) = layout.arrow(&pair[0], &pair[1]);
            pen.arrow(ui, from, to, pair[0].body.center().y);
        }
        for placed in &layout.stations {
            pen.station(ui, placed, layout);
        }
        if layout.counters.height() > 1.0 {
            pen.counters(ui, layout.counters);
        }
        // At the end of the run, nothing moves between the sampler and the trainer.
        let still = layout.stations.iter();
        let still = still.filter(|s| !matches!(s.station, Station::Sampler | Station::Trainer));
        let still = still.map(|s| s.body).reduce(Rect::union);
        if let Some(room) = still.filter(|_| is_over(state, &scene)) {
            self.end_card.show(ui, room, state, &mut pen.commands);
        }
        if !state.look.glides() {
            self.animations.clear();
            return pen.commands;
        }
        let now = ui.input(|i| i.time);
        let key = (state.session.run_number, self.layouts);
        let step = scene.pipeline.step;
        self.animations
            .update(key, step, &pen.drawn, pen.entrance, now);
        pen.animate(ui, &self.animations, now);
        if self.animations.are_moving() {
            ui.request_repaint();
        }
        pen.commands
    }

    fn lay_out(&mut self, area: Rect, plan: Plan) {
        let fresh = matches!(&self.layout, Some((a, p, _)) if *a == area && *p == plan);
        if !fresh {
            self.layout = Some((area, plan, Layout::new(area, &plan)));
            self.layouts += 1;
        }
    }
}

/// Draws the frame of the process that loads and trains.
fn frame(ui: &Ui, around: Rect, palette: &Palette) {
    ui.painter().rect_filled(around, pen::CORNER, palette.panel);
    let stroke = Stroke::new(1.0, palette.weak);
    ui.painter()
        .rect_stroke(around, pen::CORNER, stroke, StrokeKind::Outside);
}

/// Draws a colored frame while the user looks at the past of a running session.
fn past_frame(ui: &Ui, area: Rect, state: &State, palette: &Palette) {
    if state.session.source.is_live() && state.session.cursor != Cursor::Live {
        let stroke = Stroke::new(2.0, palette.held);
        ui.painter()
            .rect_stroke(area, 0.0, stroke, StrokeKind::Inside);
    }
}

/// Splits the area into the pipeline and the table of variables. If the area is too narrow for both, the table gets all of it.
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

/// Returns the lesson part of a stage box. The workers mark themselves.
fn part_of(station: Station) -> Option<Part> {
    Some(match station {
        Station::Sampler => Part::Sampler,
        Station::Workers => return None,
        Station::Results => Part::ResultQueue,
        Station::Pin => Part::PinThread,
        Station::Pinned => Part::DataQueue,
        Station::Reorder => Part::ReorderBuffer,
        Station::Trainer => Part::Trainer,
    })
}

impl Pen<'_> {
    fn station(&mut self, ui: &mut Ui, placed: &Placed, layout: &Layout) {
        self.title(ui, placed);
        if let Some(part) = part_of(placed.station) {
            mark(ui, part, placed.body);
        }
        match placed.station {
            Station::Sampler => self.sampler(ui, placed.body),
            Station::Workers => self.worker_grid(ui, placed, &layout.worker_grid),
            Station::Results => self.queue(ui, placed.body, Lane::ResultQueue),
            Station::Pin => self.queue(ui, placed.body, Lane::Pin),
            Station::Pinned => self.queue(ui, placed.body, Lane::DataQueue),
            Station::Reorder => self.reorder(ui, placed.body, &layout.stack),
            Station::Trainer => self.trainer(ui, placed.body),
        }
    }
}
