//! Painting of recurring parts of the pipeline, such as texts, chips, places and arrows, and the response to clicks.

use std::cell::RefCell;

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Color32, FontFamily, FontId, Id, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui,
    Vec2, WidgetInfo, pos2, vec2,
};
use loadscope_trace::{Activity, HeldBatch, Lane, Nanos};
use loadscope_words::say;

use super::animation::{ChipAnimations, Drawn, displace, next_shape};
use super::previews::Previews;
use super::scene::Scene;
use super::tooltip;
use crate::kit::action::show_menu;
use crate::theme::{Palette, mono, size};
use loadscope_model::command::Command;
use loadscope_model::menu_entries::MenuTarget;
use loadscope_model::state::State;
use loadscope_model::view::Item;

/// Painter of one frame of the pipeline. It also collects the user's commands.
pub struct Pen<'a> {
    /// Scene to draw.
    pub scene: &'a Scene<'a>,
    /// Selection and hover.
    pub state: &'a State,
    /// Colors of the current theme.
    pub palette: &'static Palette,
    /// True if something in the pipeline is selected, so that the rest is dimmed.
    pub dims: bool,
    /// Commands of the user.
    pub commands: Vec<Command>,
    /// Chips drawn so far.
    pub drawn: Vec<Drawn>,
    /// Place of the next batch before it is dispatched.
    pub entrance: Option<Rect>,
    /// Median sample cost.
    pub median: Option<Nanos>,
    /// Images of samples.
    pub previews: Option<&'a RefCell<Previews>>,
    /// Arrows drawn so far: left end, right end, height.
    pub arrows: RefCell<Vec<(f32, f32, f32)>>,
}

/// Meaning of a drawn batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// The batch is here.
    Here,
    /// The batch belongs here but has not arrived.
    Missing,
    /// The trainer waits for the batch.
    Awaited,
}

/// Corner radius of chips and stage boxes, points.
pub const CORNER: f32 = 4.0;

impl<'a> Pen<'a> {
    /// Creates a pen that draws `scene`.
    pub fn new(state: &'a State, scene: &'a Scene<'a>, palette: &'static Palette) -> Self {
        let mut pen = Self {
            scene,
            state,
            palette,
            dims: false,
            commands: Vec::new(),
            drawn: Vec::new(),
            entrance: None,
            median: None,
            previews: None,
            arrows: RefCell::default(),
        };
        // A selected batch that is not in the pipeline now dims nothing. Otherwise everything would be dark.
        pen.dims = match state.session.selection {
            Some(Item::Lane(_)) => true,
            Some(_) => scene.batches.iter().any(|b| pen.is_selected(b)),
            None => false,
        };
        pen
    }

    /// Returns true if the selection is, or contains, `batch`.
    pub fn is_selected(&self, batch: &HeldBatch) -> bool {
        match self.state.session.selection {
            Some(Item::Batch(row)) => row == batch.row,
            Some(Item::Lane(lane)) => batch.lane == Some(lane),
            Some(Item::Activity(activity)) => Activity::of(batch.stage) == Some(activity),
            Some(Item::Range(..) | Item::Sampler) | None => false,
        }
    }

    /// Returns `color`, dimmed if something else is selected.
    pub fn dim_unfocused(&self, color: Color32, in_focus: bool) -> Color32 {
        if self.dims && !in_focus {
            self.palette.dimmed(color)
        } else {
            color
        }
    }

    /// Draws text in `rect`, elided if it does not fit. Returns its width.
    pub fn text(
        &self,
        ui: &Ui,
        rect: Rect,
        align: Align2,
        text: &str,
        font: FontId,
        color: Color32,
    ) -> f32 {
        if rect.width() < 6.0 {
            return 0.0;
        }
        let mut job = LayoutJob::simple_singleline(text.to_owned(), font, color);
        job.wrap = TextWrapping::truncate_at_width(rect.width());
        let galley = ui.painter().layout_job(job);
        let size = galley.size();
        ui.painter()
            .galley(align.align_size_within_rect(size, rect).min, galley, color);
        size.x
    }

    /// Returns the first of `texts` that fits into `width`, or the last one.
    pub fn fitting<'t>(&self, ui: &Ui, texts: &[&'t str], font: &FontId, width: f32) -> &'t str {
        let fits = |text: &&&str| text_width(ui, text, font) <= width;
        let found = texts.iter().find(fits).or(texts.last());
        found.copied().unwrap_or_default()
    }

    /// Draws a batch.
    pub fn chip(&mut self, ui: &Ui, rect: Rect, batch: &HeldBatch, place: Presence) {
        let first = next_shape(ui);
        let focus = self.is_selected(batch);
        let fill = self.dim_unfocused(self.palette.stage(batch.stage), focus);
        ui.painter()
            .rect_filled(rect, CORNER.min(rect.height() * 0.25), fill);
        let ink = self.palette.text_on(fill);
        let ink = if self.dims && !focus {
            fill.lerp_to_gamma(ink, 0.6)
        } else {
            ink
        };
        self.number(ui, rect, batch.id.idx, ink);
        let response = self.interact_batch(ui, rect, batch, place);
        self.outlines(ui, rect, batch, &response);
        if place == Presence::Here {
            self.drawn.push(Drawn {
                row: batch.row,
                place: rect,
                shapes: (first, next_shape(ui)),
            });
        }
    }

    /// Draws a batch index, or nothing if there is no room for all its digits.
    pub fn number(&self, ui: &Ui, rect: Rect, idx: u32, color: Color32) {
        let text = idx.to_string();
        if rect.width() >= (text.len() as f32 * 6.7).max(16.0) && rect.height() >= 12.0 {
            self.text(
                ui,
                rect,
                Align2::CENTER_CENTER,
                &text,
                mono(size::SMALL),
                color,
            );
        }
    }

    /// Makes `rect` represent `batch`, with hover, click, tooltip and accessible name.
    pub fn interact_batch(
        &mut self,
        ui: &Ui,
        rect: Rect,
        batch: &HeldBatch,
        place: Presence,
    ) -> Response {
        let id = Id::unique(("pipeline", place, batch.row));
        let response = ui.interact(rect, id, Sense::click());
        let name = match place {
            Presence::Here => format!("{}, {}", batch.id, batch.stage.label().to_lowercase()),
            Presence::Missing => say!("place of {}", batch.id),
            Presence::Awaited => say!("{}, awaited by the trainer", batch.id),
        };
        let selected = self.is_selected(batch);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, &name));
        self.handle_response(&response, Item::Batch(batch.row));
        let (scene, median) = (self.scene, self.median);
        response.on_hover_ui(|ui| tooltip::batch(ui, scene, batch, median))
    }

    /// Makes `rect` represent a lane.
    pub fn interact_lane(&mut self, ui: &Ui, rect: Rect, lane: Lane) -> Response {
        let id = Id::unique(("pipeline lane", lane));
        let response = ui.interact(rect, id, Sense::click());
        let selected = self.state.session.selection == Some(Item::Lane(lane));
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, lane));
        self.handle_response(&response, Item::Lane(lane));
        if response.has_focus() {
            self.outline(ui, rect, 1.0, self.palette.text);
        }
        let scene = self.scene;
        response.on_hover_ui(|ui| tooltip::lane(ui, scene, lane))
    }

    /// Exposes `text`, which is painted in `rect`, to screen readers.
    pub fn set_accessible_text(&self, ui: &Ui, rect: Rect, what: &str, text: &str) {
        let response = ui.interact(rect, Id::unique(("pipeline text", what)), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    }

    /// Pushes the commands for hovering and clicking.
    pub fn handle_response(&mut self, response: &Response, item: Item) {
        if response.hovered() {
            self.commands.push(Command::Hover(Some(item)));
        }
        show_menu(
            response,
            self.state,
            || MenuTarget::of(item),
            &mut self.commands,
        );
        if response.clicked() {
            // A second click clears the selection.
            let again = self.state.session.selection == Some(item);
            self.commands
                .push(Command::Select((!again).then_some(item)));
        }
    }

    /// Outlines a batch that is selected, hovered or awaited, and marks the batch that moved last.
    fn outlines(&self, ui: &Ui, rect: Rect, batch: &HeldBatch, response: &Response) {
        let missing = self.scene.missing().is_some_and(|b| b.row == batch.row);
        if missing {
            let color = self.dim_unfocused(self.palette.stall, self.is_selected(batch));
            self.outline(ui, rect.expand(2.0), 2.0, color);
        }
        let hovered = self.state.session.hovered == Some(Item::Batch(batch.row));
        if self.state.session.selection == Some(Item::Batch(batch.row)) {
            self.outline(ui, rect.expand(1.0), 2.0, self.palette.strong);
        } else if hovered || response.hovered() || response.has_focus() {
            self.outline(ui, rect.expand(1.0), 1.0, self.palette.text);
        }
        if self
            .scene
            .last
            .is_some_and(|t| t.batch as usize == batch.row)
        {
            let at = rect.right_top() + vec2(-0.5, 0.5);
            ui.painter().circle_filled(at, 4.5, self.palette.panel);
            ui.painter().circle_filled(at, 3.0, self.palette.strong);
        }
    }

    /// Draws an outline outside `rect`.
    pub fn outline(&self, ui: &Ui, rect: Rect, width: f32, color: Color32) {
        ui.painter()
            .rect_stroke(rect, CORNER, Stroke::new(width, color), StrokeKind::Outside);
    }

    /// Draws an empty place.
    pub fn slot_outline(&self, ui: &Ui, rect: Rect) {
        let corner = CORNER.min(rect.height() * 0.25);
        let stroke = Stroke::new(1.0, self.palette.line);
        ui.painter()
            .rect_stroke(rect, corner, stroke, StrokeKind::Inside);
    }

    /// Draws the background of a stage box.
    pub fn station_background(&self, ui: &Ui, rect: Rect, lane: Option<Lane>) {
        let lit = lane.is_some() && lane == self.hovered_lane();
        ui.painter().rect_filled(rect, CORNER, self.palette.panel);
        self.slot_outline(ui, rect);
        if lit {
            self.outline(ui, rect, 1.0, self.palette.weak);
        }
        if lane.is_some_and(|l| self.state.session.selection == Some(Item::Lane(l))) {
            self.outline(ui, rect, 2.0, self.palette.strong);
        }
    }

    fn hovered_lane(&self) -> Option<Lane> {
        match self.state.session.hovered {
            Some(Item::Lane(lane)) => Some(lane),
            _ => None,
        }
    }

    /// Draws an arrow to the right, between two stage boxes.
    pub fn arrow(&self, ui: &Ui, from: f32, to: f32, y: f32) {
        let head = 4.0_f32.min((to - from) * 0.4);
        if to - from < 4.0 {
            return;
        }
        self.arrows.borrow_mut().push((from, to, y));
        let stroke = Stroke::new(1.0, self.palette.weak.lerp_to_gamma(self.palette.line, 0.4));
        let tip = pos2(to, y);
        ui.painter().line_segment([pos2(from, y), tip], stroke);
        for side in [-1.0, 1.0] {
            ui.painter()
                .line_segment([tip, tip + vec2(-head, side * head)], stroke);
        }
    }

    /// Draws moving chips at their current positions, and highlights the arrows that they pass.
    pub fn animate(&self, ui: &Ui, animations: &ChipAnimations, now: f64) {
        for drawn in &self.drawn {
            let Some(displaced) = animations.at(drawn.row, drawn.place, now) else {
                continue;
            };
            let (from, to) = (displaced.from.center().x, drawn.place.center().x);
            for (left, right, y) in self.arrows.borrow().iter() {
                let is_near = (y - drawn.place.center().y).abs() < ui.clip_rect().height();
                if from < *left && *right < to && is_near {
                    self.highlight_arrow(ui, *left, *right, *y, displaced.left);
                }
            }
            displace(ui, drawn, displaced.by);
        }
    }

    /// Highlights an arrow after a chip has passed. `left` is the remaining fraction of the highlight.
    fn highlight_arrow(&self, ui: &Ui, from: f32, to: f32, y: f32, left: f32) {
        let color = self.palette.strong.gamma_multiply(left.sqrt());
        let stroke = Stroke::new(2.0, color);
        let (head, tip) = (4.0_f32.min((to - from) * 0.4), pos2(to, y));
        ui.painter().line_segment([pos2(from, y), tip], stroke);
        for side in [-1.0, 1.0] {
            ui.painter()
                .line_segment([tip, tip + vec2(-head, side * head)], stroke);
        }
    }

    /// Draws a progress bar that fills `share` of `rect`.
    pub fn bar(&self, ui: &Ui, rect: Rect, share: f32, color: Color32) {
        ui.painter().rect_filled(rect, 1.0, self.palette.line);
        let done = Rect::from_min_size(
            rect.min,
            vec2(rect.width() * share.clamp(0.0, 1.0), rect.height()),
        );
        ui.painter().rect_filled(done, 1.0, color);
    }
}

/// Returns the width of `text`, points.
pub fn text_width(ui: &Ui, text: &str, font: &FontId) -> f32 {
    if font.family == FontFamily::Monospace && text.chars().all(|c| c < '\u{2e80}') {
        // All monospace characters have the same width, except Chinese ones, which this font lacks.
        return text.chars().count() as f32 * font.size * 0.6;
    }
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), font.clone(), Color32::PLACEHOLDER);
    galley.size().x
}

/// Returns `rect` without `left` and `right` at its sides.
pub fn inset(rect: Rect, left: f32, right: f32) -> Rect {
    Rect::from_min_max(rect.min + vec2(left, 0.0), rect.max - vec2(right, 0.0))
}

/// Returns the row of `height` that begins `top` below the upper edge of `rect`.
pub fn row(rect: Rect, top: f32, height: f32) -> Rect {
    Rect::from_min_size(rect.min + Vec2::new(0.0, top), vec2(rect.width(), height))
}
