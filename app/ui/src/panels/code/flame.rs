//! Flame graph: callers above, the width is the number of samples.

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Rect, Response, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use loadscope_insight::code::{CodeProfile, Frame, Question};
use loadscope_model::code::place;
use loadscope_model::command::Command;
use loadscope_model::menu_entries::MenuTarget;
use loadscope_model::state::State;
use loadscope_trace::place as short_place;
use loadscope_words::say;

use super::shared::{choose, color_of, frame_color, share_text, small};
use crate::kit::action::show_menu;
use crate::kit::titles::title;
use crate::theme::{Palette, mono, size};

/// Height of a row, points.
const ROW: f32 = 18.0;
/// Minimum width of a drawn frame, points.
const NARROWEST: f32 = 1.0;
/// Minimum width of a frame with a name, points.
const NAMED: f32 = 24.0;

/// Flame graph, with the part that the user has zoomed to.
#[derive(Default)]
pub(super) struct FlameGraph {
    /// Question whose answer is shown, and its number of samples.
    shown: Option<(Question, u64)>,
    zoom: Option<(i64, i64)>,
}

/// Conversion of samples to pixels.
#[derive(Clone, Copy)]
struct Axis {
    from: i64,
    to: i64,
    left: f32,
    width: f32,
}

impl Axis {
    fn x(&self, at: i64) -> f32 {
        let share = (at - self.from) as f64 / (self.to - self.from).max(1) as f64;
        self.left + (share * f64::from(self.width)) as f32
    }

    fn at(&self, x: f32) -> i64 {
        let share = f64::from((x - self.left) / self.width.max(1.0));
        self.from + (share * (self.to - self.from) as f64).floor() as i64
    }

    /// Returns the number of samples in a width.
    fn samples(&self, points: f32) -> i64 {
        let one = (self.to - self.from) as f64 / f64::from(self.width.max(1.0));
        (one * f64::from(points)).ceil() as i64
    }
}

impl FlameGraph {
    /// Shows the graph, with at most this height. A click on a frame shows its line in the source, a double click zooms to it.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        state: &State,
        profile: &CodeProfile,
        height: Option<f32>,
        commands: &mut Vec<Command>,
    ) {
        let shown = Some((profile.question, profile.total));
        if self.shown != shown {
            (self.shown, self.zoom) = (shown, None);
        }
        self.heading(ui);
        let rows = profile.flame.rows().len();
        let mut area = ScrollArea::vertical().id_salt("flame graph");
        if height.is_some() {
            area = area.max_height(ui.available_height()).auto_shrink(false);
        }
        area.show(ui, |ui| {
            let size = vec2(ui.available_width(), rows as f32 * ROW);
            let (rect, response) = ui.allocate_exact_size(size, Sense::click());
            response.widget_info(|| {
                let text = say!("Flame graph of {} stacks", profile.total);
                WidgetInfo::labeled(Role::Image, true, text)
            });
            self.graph(ui, rect, &response, state, profile, commands);
        });
    }

    fn heading(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.spacing_mut().interact_size.y = 16.0;
            let weak = Palette::of(ui).weak;
            ui.label(small(say!("Flame graph: callers above, your code in color")).color(weak));
            if self.zoom.is_some() && ui.small_button(say!("Show all")).clicked() {
                self.zoom = None;
            }
        });
    }

    fn graph(
        &mut self,
        ui: &Ui,
        rect: Rect,
        response: &Response,
        state: &State,
        profile: &CodeProfile,
        commands: &mut Vec<Command>,
    ) {
        let total = i64::try_from(profile.total).unwrap_or(i64::MAX);
        let (from, to) = self.zoom.unwrap_or((0, total));
        let axis = Axis {
            from,
            to,
            left: rect.left(),
            width: rect.width(),
        };
        let seen = rect.intersect(ui.clip_rect());
        let row_at = |y: f32| ((y - rect.top()) / ROW).max(0.0) as usize;
        let least = axis.samples(NARROWEST);
        for row in row_at(seen.top())..=row_at(seen.bottom()) {
            profile.flame.visit(row, (from, to), least, |frame| {
                paint(ui, rect, row, &axis, frame, state, profile);
            });
        }
        let pointer = response.hover_pos().or(response.interact_pointer_pos());
        let under = pointer.and_then(|at| {
            let row = row_at(at.y);
            let frame = profile.flame.frame_at(row, axis.at(at.x))?;
            let place = profile.flame.place(row, frame, &profile.functions)?;
            Some((row, frame, profile.functions.get(frame.function)?, place))
        });
        let Some((row, frame, function, place)) = under else {
            show_menu(response, state, || None, commands);
            return;
        };
        if response.double_clicked() {
            self.zoom = Some((frame.start, frame.end)).filter(|part| *part != (0, total));
        } else if response.clicked() || response.secondary_clicked() {
            let place = place.clone();
            choose(state, commands, |choice| choice.line = Some(place));
        }
        show_menu(response, state, || Some(MenuTarget::Line), commands);
        if response.hovered() {
            let stroke = Stroke::new(1.0, Palette::of(ui).strong);
            let painter = ui.painter_at(rect);
            painter.rect_stroke(
                place_on(rect, row, &axis, frame),
                0.0,
                stroke,
                StrokeKind::Inside,
            );
        }
        let samples = u64::try_from(frame.end - frame.start).unwrap_or_default();
        response.clone().on_hover_ui_at_pointer(|ui| {
            title(ui, function.title());
            ui.label(format!("{}:{}", place.file, place.line));
            ui.label(share_text(profile, samples));
        });
    }
}

fn place_on(rect: Rect, row: usize, axis: &Axis, frame: &Frame) -> Rect {
    let top = rect.top() + row as f32 * ROW;
    let left = axis.x(frame.start).max(rect.left());
    let right = axis.x(frame.end).min(rect.right());
    // A gap of one point separates neighbors.
    let right = if right - left > 3.0 {
        right - 1.0
    } else {
        right
    };
    Rect::from_min_max(pos2(left, top), pos2(right, top + ROW - 1.0))
}

fn paint(
    ui: &Ui,
    rect: Rect,
    row: usize,
    axis: &Axis,
    frame: &Frame,
    state: &State,
    profile: &CodeProfile,
) {
    let Some(function) = profile.functions.get(frame.function) else {
        return;
    };
    let palette = Palette::of(ui);
    let painter = ui.painter_at(rect);
    let room = place_on(rect, row, axis, frame);
    let color = frame_color(palette, color_of(profile, palette), function.is_user, row);
    painter.rect_filled(room, 1.0, color);
    let is_shown = place(state)
        .is_some_and(|place| place.line == frame.line && place.file == function.function.file);
    if is_shown {
        let stroke = Stroke::new(1.5, palette.strong);
        painter.rect_stroke(room, 1.0, stroke, StrokeKind::Inside);
    }
    if room.width() < NAMED {
        return;
    }
    let name = format!(
        "{}  {}",
        function.short_name(),
        short_place(&function.function.file, frame.line)
    );
    let ink = palette.text_on(color);
    let mut job = LayoutJob::simple_singleline(name, mono(size::SMALL), ink);
    job.wrap = TextWrapping::truncate_at_width(room.width() - 6.0);
    let galley = painter.layout_job(job);
    let at = pos2(room.left() + 4.0, room.center().y - galley.size().y / 2.0);
    painter.galley(at, galley, ink);
}
