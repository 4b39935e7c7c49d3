//! Rows of words, right-aligned numbers and bars for the small tables of the inspector.

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Color32, FontId, Rect, Response, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, vec2,
};
use loadscope_trace::Nanos;

use crate::theme::{Palette, mono, sans, size, space};

/// Height of a row, points.
pub const ROW: f32 = 18.0;
/// Number of list rows shown at once. The others scroll.
const MAX_VISIBLE: usize = 16;

/// Cell of a row.
pub struct Cell {
    text: String,
    width: f32,
    align: Align2,
    font: FontId,
    color: Option<Color32>,
}

impl Cell {
    /// Creates a left-aligned cell with words.
    pub fn word(text: impl Into<String>, width: f32) -> Self {
        Self {
            text: text.into(),
            width,
            align: Align2::LEFT_CENTER,
            font: sans(size::BODY),
            color: None,
        }
    }

    /// Creates a right-aligned cell with a number.
    pub fn number(text: impl Into<String>, width: f32) -> Self {
        Self {
            align: Align2::RIGHT_CENTER,
            font: mono(size::SMALL),
            ..Self::word(text, width)
        }
    }

    /// Creates a column heading: left-aligned above words, right-aligned above numbers.
    pub fn heading(text: &str, width: f32, above_numbers: bool, palette: &Palette) -> Self {
        Self {
            align: if above_numbers {
                Align2::RIGHT_CENTER
            } else {
                Align2::LEFT_CENTER
            },
            font: sans(size::SMALL),
            color: Some(palette.weak),
            ..Self::word(text, width)
        }
    }

    /// Sets the text color.
    pub fn color(mut self, color: Color32) -> Self {
        self.color = Some(color);
        self
    }

    /// Emphasizes the text.
    pub fn strong(mut self, palette: &Palette) -> Self {
        self.color = Some(palette.strong);
        self
    }
}

/// Marks at the left or right end of a row.
#[derive(Clone, Copy, Default)]
pub struct Marks {
    /// Color of the square at the left end.
    pub dot: Option<Color32>,
    /// Bar in the space after the cells: its start and end as fractions of that space, and its color.
    pub bar: Option<(f32, f32, Color32)>,
}

/// Shows a row of a table. Rows with the same widths have aligned columns.
pub fn row(ui: &mut Ui, cells: &[Cell], marks: Marks) -> Response {
    let response = draw(ui, cells, marks, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, accessible_text(cells)));
    response
}

/// Shows a row that can be clicked or chosen by keyboard.
pub fn button(ui: &mut Ui, cells: &[Cell], marks: Marks) -> Response {
    let response = draw(ui, cells, marks, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, accessible_text(cells)));
    if response.has_focus() || response.hovered() {
        let palette = Palette::of(ui.ctx());
        let stroke = Stroke::new(
            1.0,
            if response.has_focus() {
                palette.text
            } else {
                palette.line
            },
        );
        let around = response.rect.expand2(vec2(3.0, 0.0));
        ui.painter()
            .rect_stroke(around, 2.0, stroke, StrokeKind::Inside);
    }
    response
}

fn accessible_text(cells: &[Cell]) -> String {
    let texts = cells.iter().map(|c| c.text.as_str());
    let texts: Vec<&str> = texts.filter(|t| !t.is_empty()).collect();
    texts.join(" ")
}

fn draw(ui: &mut Ui, cells: &[Cell], marks: Marks, sense: Sense) -> Response {
    let palette = Palette::of(ui.ctx());
    let gap = ui.spacing().item_spacing.y;
    ui.spacing_mut().item_spacing.y = 0.0;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), sense);
    ui.spacing_mut().item_spacing.y = gap;
    // In a narrow panel, the columns shrink in proportion.
    let gaps = space::GAP * 2.0 * cells.len() as f32;
    let asked: f32 = cells.iter().map(|c| c.width).sum();
    let scale = ((rect.width() - gaps + space::GAP * 2.0) / asked.max(1.0)).min(1.0);
    let mut x = rect.left();
    if let Some(color) = marks.dot {
        let dot = Rect::from_center_size(pos2(x + 4.0, rect.center().y), vec2(8.0, 8.0));
        ui.painter().rect_filled(dot, 2.0, color);
        x += 14.0;
    }
    for (k, cell) in cells.iter().enumerate() {
        let width = match k {
            0 => cell.width * scale - (x - rect.left()),
            _ => cell.width * scale,
        };
        let room = Rect::from_min_max(pos2(x, rect.top()), pos2(x + width, rect.bottom()));
        write(ui, room, cell, palette);
        x += width + space::GAP * 2.0;
    }
    if let Some((from, to, color)) = marks.bar {
        let room = Rect::from_min_max(
            pos2(x, rect.top() + 6.0),
            pos2(rect.right(), rect.bottom() - 6.0),
        );
        if room.width() > 8.0 {
            ui.painter().rect_filled(room, 1.0, palette.line);
            let at = |share: f32| room.left() + room.width() * share.clamp(0.0, 1.0);
            // A bar is at least two pixels wide, so that short times remain visible.
            let (left, right) = (at(from).min(room.right() - 2.0), at(to));
            let bar = Rect::from_min_max(
                pos2(left, room.top()),
                pos2(right.max(left + 2.0), room.bottom()),
            );
            ui.painter().rect_filled(bar, 1.0, color);
        }
    }
    response
}

fn write(ui: &Ui, room: Rect, cell: &Cell, palette: &Palette) {
    let color = cell.color.unwrap_or(palette.text);
    let mut job = LayoutJob::simple_singleline(cell.text.clone(), cell.font.clone(), color);
    job.wrap = TextWrapping::truncate_at_width(room.width());
    let galley = ui.painter().layout_job(job);
    let at = cell.align.align_size_within_rect(galley.size(), room).min;
    ui.painter().galley(at, galley, color);
}

/// Shows `count` rows of height [`ROW`]. A long list scrolls, and only its visible rows are built.
pub fn virtual_list(ui: &mut Ui, name: &str, count: usize, mut one: impl FnMut(&mut Ui, usize)) {
    if count <= MAX_VISIBLE {
        (0..count).for_each(|k| one(ui, k));
        return;
    }
    let gap = ui.spacing().item_spacing.y;
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical()
        .id_salt(name)
        .max_height(MAX_VISIBLE as f32 * ROW)
        .auto_shrink(false)
        .show_rows(ui, ROW, count, |ui, range| range.for_each(|k| one(ui, k)));
    ui.spacing_mut().item_spacing.y = gap;
}

/// Shows a name and its value.
pub fn fact(ui: &mut Ui, name: &str, value: impl Into<String>) -> Response {
    let palette = Palette::of(ui.ctx());
    let width = ui.available_width();
    let cells = [
        Cell::word(name, 140.0).color(palette.weak),
        Cell::number(value, width - 148.0),
    ];
    row(ui, &cells, Marks::default())
}

/// Formats a time in milliseconds with two decimals.
pub fn millis(time: Nanos) -> String {
    format!("{:.2}", time.as_millis_f64())
}

/// Returns `part` as a fraction of `whole`, or 0 if `whole` is zero.
pub fn share(part: Nanos, whole: Nanos) -> f32 {
    if whole.0 > 0 {
        (part.0 as f64 / whole.0 as f64) as f32
    } else {
        0.0
    }
}
