//! The timeline: what every part of the loader did when.
//!
//! `layout` decides what is drawn without a window, `paint` turns that into one mesh, `input` turns hands into
//! [`Command`]s. Nothing here changes the state.

pub mod axis;
mod body;
pub mod canvas;
pub mod chart;
mod detail;
pub mod flow;
pub mod found;
mod head;
pub mod hit;
pub mod input;
pub mod lanes;
pub mod layout;
mod legend;
mod marks;
pub mod minimap;
mod motion;
mod names;
mod others;
mod overlay;
pub mod paint;
mod ruler;
mod scene;
mod tooltip;
mod words;

use egui::{Rangef, Rect, Ui};
use loadscope_trace::Nanos;

use crate::kit::empty::{empty_line, no_batches_yet};
use crate::theme::Palette;
use axis::TimeAxis;
use input::{Asks, Drag};
use lanes::Lanes;
use layout::Grid;
use legend::Legend;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use scene::{Areas, Part, Scene};

/// The timeline. What it keeps from frame to frame can be thrown away at any time.
#[derive(Default)]
pub struct Timeline {
    motion: motion::Motion,
    drag: Option<Drag>,
    pinned: body::Cache,
    body: body::Cache,
    minimap: minimap::Cache,
    others: others::Cache,
    pointer: Option<Nanos>,
}

impl Timeline {
    /// Draws the timeline into all of `ui`, and tells what the user asks for.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let rect = ui.available_rect_before_wrap();
        ui.advance_cursor_after_rect(rect);
        let palette = Palette::of(ui.ctx());
        ui.painter().rect_filled(rect, 0.0, palette.canvas);
        self.pointer = None;
        if state.session.run.batches().is_empty() && !state.has_only_gauges() {
            let text = no_batches_yet(ui, &state.session.source);
            empty_line(ui, rect, &text);
            return Vec::new();
        }
        let now = ui.input(|i| i.time);
        let shown = self
            .motion
            .follow(state.session.view, state.shown(), now, state.look.still);
        if self.motion.is_moving() {
            ui.request_repaint();
        }
        let run = &state.session.run;
        let pinned = Lanes::pinned(run);
        let legend = Legend::new(ui, run, palette, rect.width());
        let others = others::height(state);
        let areas = Areas::of(rect, pinned.height, others, legend.height);
        let axis = TimeAxis::new(shown, areas.time, ui.pixels_per_point());
        let grid = Grid::new(&axis, run.end());
        let scene = Scene {
            state,
            palette,
            axis,
            grid,
            pinned: &pinned,
            lanes: &Lanes::of(run, &state.look.folded).crowded(run, &grid),
            whole: state.whole(),
        };
        let mut asks = Asks::new(shown);
        if !ui.input(|i| i.pointer.any_down() || i.pointer.any_released()) {
            self.drag = None;
        }
        self.pointer = input::wheel(ui, areas.ruler.union(areas.lanes), &scene, &mut asks);
        minimap::show(
            ui,
            areas.minimap,
            &scene,
            &mut self.minimap,
            &mut self.drag,
            &mut asks,
        );
        ruler::show(
            ui,
            areas.ruler,
            &scene,
            self.pointer,
            &mut self.drag,
            &mut asks,
        );
        let top = body::show(ui, areas.lanes, &scene, &mut self.body, &mut asks);
        let stage = overlay::Stage {
            pinned: Part {
                area: areas.pinned,
                top: areas.pinned.top(),
                lanes: scene.pinned,
            },
            lanes: Part {
                area: areas.lanes,
                top,
                lanes: scene.lanes,
            },
        };
        body::contents(ui, &stage.pinned, &scene, &mut self.pinned, &mut asks);
        others::show(ui, areas.others, &scene, &mut self.others, &mut asks);
        overlay::paint(ui, &stage, &scene);
        found::paint_outlines(ui, &stage, &scene, &found::here(&scene, &axis));
        self.paint_lines(ui, &areas, &scene);
        legend.show(ui, areas.legend, &scene, &mut asks);
        asks.finish(&scene, &mut self.motion)
    }

    /// The next change to `view` comes from a hand, so that nothing glides behind it.
    pub fn expect(&mut self, view: loadscope_model::view::TimeView) {
        self.motion.expect(view);
    }

    /// The time under the pointer: what zooming in and out by key should hold still.
    pub fn zoom_pivot(&self) -> Option<Nanos> {
        self.pointer
    }

    /// Draws the time cursor and the line under the pointer.
    fn paint_lines(&self, ui: &Ui, areas: &Areas, scene: &Scene<'_>) {
        let height = Rangef::new(areas.ruler.top(), areas.lanes.bottom());
        // Half a handle of room on both sides.
        let room = Rect::from_x_y_ranges(scene.axis.range.expand(6.0), height);
        let painter = ui.painter_at(room);
        let lanes = Rangef::new(areas.ruler.bottom(), areas.lanes.bottom());
        marks::paint_lines(&painter, lanes, scene);
        ruler::paint_cursor(&painter, areas.ruler, height, scene);
        if let Some(t) = self.pointer {
            let strip = Rect::from_x_y_ranges(scene.axis.range, areas.ruler.y_range());
            ruler::paint_hover(&painter, strip, height, scene, t);
        }
    }
}
