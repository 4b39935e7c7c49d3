//! Timeline of all parts of the loader.
//!
//! `layout` computes the drawing without a window, `paint` turns it into one mesh, and `input` turns pointer input into [`Command`]s. The
//! timeline never changes the state.

pub mod axis;
mod body;
pub mod canvas;
pub mod chart;
mod group_heading;
pub mod hit;
mod icicle;
pub mod input;
pub mod lanes;
pub mod layout;
mod legend;
mod markers;
pub mod minimap;
mod names;
mod other_loaders;
mod overlay;
pub mod paint;
mod past;
pub mod process;
mod ruler;
mod sample_detail;
mod scene;
pub mod search_hits;
pub mod stacks;
mod tooltip;
mod tooltip_text;

use egui::{Align2, Rangef, Rect, Stroke, Ui, pos2, vec2};
use loadscope_insight::waits::LongWaits;
use loadscope_trace::Nanos;
use loadscope_words::say;

use crate::kit::empty::{empty_line, no_batches_yet};
use crate::theme::{self, Palette};
use axis::TimeAxis;
use input::{Drag, Requests};
use lanes::Lanes;
use layout::Grid;
use legend::Legend;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use scene::{Areas, Part, Scene};

/// Timeline view. Everything it caches can be dropped at any time.
#[derive(Default)]
pub struct Timeline {
    animation: input::ViewAnimation,
    drag: Option<Drag>,
    pinned: body::Cache,
    body: body::Cache,
    minimap: minimap::Cache,
    others: other_loaders::Cache,
    past: past::Cache,
    long: LongWaits,
    stacks: stacks::Cache,
    pointer: Option<Nanos>,
}

impl Timeline {
    /// Draws the timeline into all of `ui` and returns the user's commands.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let rect = ui.available_rect_before_wrap();
        ui.advance_cursor_after_rect(rect);
        let palette = Palette::of(ui.ctx());
        ui.painter().rect_filled(rect, 0.0, palette.canvas);
        self.pointer = None;
        let is_empty = state.session.run.whole().transitions().is_empty();
        if is_empty && !state.has_only_gauges() && !state.hides_future() {
            let text = no_batches_yet(ui, state);
            empty_line(ui, rect, &text);
            return Vec::new();
        }
        let now = ui.input(|i| i.time);
        let shown =
            self.animation
                .update(state.session.view, state.shown(), now, !state.look.glides());
        if self.animation.is_moving() {
            ui.request_repaint();
        }
        let run = &state.session.run;
        let axis = TimeAxis::new(shown, Areas::time(rect), ui.pixels_per_point());
        self.stacks.update(state, &axis);
        let stacks = &self.stacks.stacks;
        let pinned = Lanes::pinned(run).with_stacks(stacks);
        let legend = Legend::new(ui, run, palette, rect.width());
        let others = other_loaders::height(state);
        let areas = Areas::of(rect, pinned.height, others, legend.height);
        self.long.follow(state.session.run_number, run);
        let grid = Grid::new(&axis, run.end());
        let scene = Scene {
            state,
            palette,
            axis,
            grid,
            pinned: &pinned,
            long: &self.long,
            lanes: &(Lanes::of(run, &state.look.folded).crowded(run, &grid)).with_stacks(stacks),
            stacks,
            whole: state.whole_with_past(),
        };
        let mut requests = Requests::new(shown);
        if !ui.input(|i| i.pointer.any_down() || i.pointer.any_released()) {
            self.drag = None;
        }
        self.pointer = input::wheel(ui, areas.ruler.union(areas.lanes), &scene, &mut requests);
        minimap::show(
            ui,
            areas.minimap,
            &scene,
            &mut self.minimap,
            &mut self.drag,
            &mut requests,
        );
        ruler::show(
            ui,
            areas.ruler,
            &scene,
            self.pointer,
            &mut self.drag,
            &mut requests,
        );
        let top = body::show(ui, areas.lanes, &scene, &mut self.body, &mut requests);
        let part = |area, top, lanes| Part { area, top, lanes };
        let parts = overlay::OverlayAreas {
            pinned: part(areas.pinned, areas.pinned.top(), scene.pinned),
            lanes: part(areas.lanes, top, scene.lanes),
        };
        body::contents(ui, &parts.pinned, &scene, &mut self.pinned, &mut requests);
        other_loaders::show(ui, areas.others, &scene, &mut self.others, &mut requests);
        past::show(ui, &parts, &scene, &mut self.past);
        overlay::paint(ui, &parts, &scene);
        search_hits::paint_outlines(ui, &parts, &scene, &search_hits::visible(&scene, &axis));
        paint_hidden_future(ui, &areas, &scene);
        self.paint_lines(ui, &areas, &scene);
        legend.show(ui, areas.legend, &scene, &mut requests);
        requests.finish(&scene, &mut self.animation)
    }

    /// Marks the next change to `view` as a drag or scroll of the user, so that it is not animated.
    pub fn skip_animation_for(&mut self, view: loadscope_model::view::TimeView) {
        self.animation.skip_for(view);
    }

    /// Returns the time under the pointer, which keyboard zoom keeps in place.
    pub fn zoom_pivot(&self) -> Option<Nanos> {
        self.pointer
    }

    /// Draws the time cursor and the line under the pointer.
    fn paint_lines(&self, ui: &Ui, areas: &Areas, scene: &Scene<'_>) {
        let height = Rangef::new(areas.ruler.top(), areas.lanes.bottom());
        // Room for half a handle on both sides.
        let room = Rect::from_x_y_ranges(scene.axis.range.expand(6.0), height);
        let painter = ui.painter_at(room);
        let lanes = Rangef::new(areas.ruler.bottom(), areas.lanes.bottom());
        markers::paint_lines(&painter, lanes, scene);
        ruler::paint_cursor(&painter, areas.ruler, height, scene);
        if let Some(t) = self.pointer {
            let strip = Rect::from_x_y_ranges(scene.axis.range, areas.ruler.y_range());
            ruler::paint_hover(&painter, strip, height, scene, t);
        }
    }
}

/// Covers the hidden future. Without the cover, an empty lane could also be an idle one.
fn paint_hidden_future(ui: &Ui, areas: &Areas, scene: &Scene<'_>) {
    /// Distance between the hatching lines, points.
    const APART: f32 = 9.0;
    let Some(moment) = scene.state.session.run.hidden_after() else {
        return;
    };
    let range = scene.axis.range;
    let left = scene.axis.x(moment.at).clamp(range.min, range.max);
    let height = Rangef::new(areas.ruler.bottom(), areas.lanes.bottom());
    let area = Rect::from_x_y_ranges(left..=range.max, height);
    if area.width() < 1.0 {
        return;
    }
    let painter = ui.painter_at(area);
    painter.rect_filled(area, 0.0, scene.palette.canvas);
    let stroke = Stroke::new(1.0, scene.palette.line.gamma_multiply(0.45));
    let mut x = area.left() - area.height();
    // The hatching stays fixed while the edge of the curtain moves.
    x -= x.rem_euclid(APART);
    while x < area.right() {
        let from = pos2(x, area.bottom());
        painter.line_segment([from, from + vec2(area.height(), -area.height())], stroke);
        x += APART;
    }
    let text = say!("The future is hidden");
    let font = theme::sans(theme::size::SMALL);
    let text = painter.layout_no_wrap(text.to_owned(), font, scene.palette.weak);
    let place = Align2::CENTER_TOP.anchor_size(area.center_top() + vec2(0.0, 8.0), text.size());
    if place.width() + 24.0 <= area.width() {
        painter.rect_filled(place.expand2(vec2(8.0, 3.0)), 4.0, scene.palette.canvas);
        painter.galley(place.min, text, scene.palette.weak);
    }
}
