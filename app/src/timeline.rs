//! The timeline: what every part of the loader did when.
//!
//! `layout` decides what is drawn without a window, `paint` turns that into one mesh, `input` turns hands into
//! [`Command`]s. Nothing here changes the state.

pub mod axis;
mod body;
mod detail;
pub mod flow;
pub mod hit;
pub mod input;
pub mod lanes;
pub mod layout;
pub mod minimap;
mod motion;
mod overlay;
pub mod paint;
mod ruler;
mod scene;
mod tooltip;
mod words;

use eframe::egui::{Align2, Rangef, Rect, Ui};
use loadscope_trace::Nanos;

use crate::command::{Action, Command};
use crate::state::State;
use crate::theme::{self, Palette, size};
use axis::TimeAxis;
use input::{Asks, Drag};
use lanes::Lanes;
use layout::Grid;
use scene::{Areas, Scene};

/// The timeline. What it keeps from frame to frame can be thrown away at any time.
#[derive(Default)]
pub struct Timeline {
    motion: motion::Motion,
    drag: Option<Drag>,
    body: body::Cache,
    minimap: minimap::Cache,
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
        if state.run.batches().is_empty() {
            show_empty(ui, rect, palette);
            return Vec::new();
        }
        let now = ui.input(|i| i.time);
        let shown = self
            .motion
            .follow(state.view, state.shown(), now, state.still);
        if self.motion.is_moving() {
            ui.request_repaint();
        }
        let areas = Areas::of(rect);
        let axis = TimeAxis::new(shown, areas.time, ui.pixels_per_point());
        let grid = Grid::new(&axis, state.run.end());
        let scene = Scene {
            state,
            palette,
            axis,
            grid,
            lanes: &Lanes::of(&state.run).crowded(&state.run, &grid),
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
        body::show(ui, areas.lanes, &scene, &mut self.body, &mut asks);
        self.paint_lines(ui, &areas, &scene);
        asks.finish(&scene, &mut self.motion)
    }

    /// The next change to `view` comes from a hand, so that nothing glides behind it.
    pub fn expect(&mut self, view: crate::view::TimeView) {
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
        ruler::paint_cursor(&painter, areas.ruler, height, scene);
        if let Some(t) = self.pointer {
            let strip = Rect::from_x_y_ranges(scene.axis.range, areas.ruler.y_range());
            ruler::paint_hover(&painter, strip, height, scene, t);
        }
    }
}

fn show_empty(ui: &mut Ui, rect: Rect, palette: &Palette) {
    let key = Action::Run
        .info()
        .shortcut
        .map(|shortcut| ui.format_shortcut(&shortcut));
    let text = match key {
        Some(key) => format!("No batches yet — press {key} to run"),
        None => "No batches yet".to_owned(),
    };
    let label = eframe::egui::Label::new(
        eframe::egui::RichText::new(text)
            .font(theme::words(size::BODY))
            .color(palette.weak),
    );
    let size = [rect.width(), 20.0].into();
    ui.put(
        Align2::CENTER_CENTER.align_size_within_rect(size, rect),
        label,
    );
}
