//! Sequences of unequal length and their padding.

use egui::{Align2, Mesh, Pos2, Rect, RichText, Role, Sense, Shape, Ui, WidgetInfo, pos2, vec2};
use loadscope_insight::content::{Padding, SequenceRow, Sequences};
use loadscope_insight::format;
use loadscope_trace::BatchContent;
use loadscope_words::say;

use super::heatmap::number;
use crate::kit::empty::remark;
use crate::kit::titles::section_with;
use crate::theme::{Palette, mono, size};

/// Height of a sequence, points.
const LINE: f32 = 14.0;
/// Width of the length column, points.
const LENGTH: f32 = 44.0;
/// Maximum number of sequences.
const MAX_SEQUENCES: usize = 64;

/// Shows a line per sequence: values as shades, padding as a thin line, and the length at the right.
pub fn show(ui: &mut Ui, content: &BatchContent, sequences: &Sequences) {
    let palette = Palette::of(ui.ctx());
    let name = content
        .fields
        .get(sequences.field)
        .map_or("", |f| f.name.as_str());
    section_with(ui, say!("Lengths and padding"), |ui| {
        let text = RichText::new(name)
            .font(mono(size::SMALL))
            .color(palette.weak);
        ui.label(text);
    });
    let rows = sequences.rows.len().min(MAX_SEQUENCES);
    let room = vec2(ui.available_width(), rows as f32 * LINE);
    let (area, response) = ui.allocate_exact_size(room, Sense::hover());
    let each = draw(ui, area, sequences);
    let share = format::percent(sequences.padding_share());
    let lengths = || sequences.rows.iter().map(SequenceRow::len);
    let spoken = say!(
        "sequences of {} to {} values, {share} padding",
        lengths().min().unwrap_or(0),
        lengths().max().unwrap_or(0)
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
    response.on_hover_ui_at_pointer(|ui| {
        let Some(pointer) = ui.ctx().pointer_latest_pos() else {
            return;
        };
        let offset = pointer - area.min;
        let (row, column) = ((offset.y / LINE) as usize, (offset.x / each) as usize);
        let Some(row) = sequences.rows.get(row) else {
            return;
        };
        if let (Some(value), Some(counts)) = (row.values.get(column), row.counts.get(column)) {
            let what = if *counts { "" } else { say!(" (padding)") };
            ui.label(say!("value {column}: {}{what}", number(*value)));
        }
        ui.label(say!("length {}", format::count(row.len() as u64)));
    });
    let how = match sequences.padding {
        Padding::Mask => say!("by attention_mask").to_owned(),
        Padding::Value(value) => say!("with value {}", number(value)),
    };
    remark(ui, &say!("{share} of the values are padding, {how}"));
    if sequences.rows.len() < sequences.of {
        let (kept, of) = (sequences.rows.len() as u64, sequences.of as u64);
        let (kept, of) = (format::count(kept), format::count(of));
        remark(
            ui,
            &say!("Only the first {kept} of {of} sequences were recorded"),
        );
    }
}

/// Draws a line per sequence. Returns the width of a value.
fn draw(ui: &Ui, area: Rect, sequences: &Sequences) -> f32 {
    let palette = Palette::of(ui.ctx());
    let wide = (area.width() - LENGTH).max(1.0);
    let each = wide / sequences.width.max(1) as f32;
    let all = sequences.rows.iter().flat_map(|row| &row.values);
    let range = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(*v), high.max(*v))
    });
    let mut mesh = Mesh::default();
    for (k, row) in sequences.rows.iter().enumerate().take(MAX_SEQUENCES) {
        let top = area.top() + k as f32 * LINE;
        values(
            &mut mesh,
            palette,
            (pos2(area.left(), top), each),
            row,
            range,
        );
        let at = pos2(area.right(), top + LINE * 0.5);
        let length = format::count(row.len() as u64);
        let font = mono(size::SMALL);
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, length, font, palette.text);
    }
    ui.painter().add(Shape::mesh(mesh));
    each
}

/// Draws the values of a sequence as shades between the minimum and the maximum of all sequences. Padding is a thin line.
fn values(
    mesh: &mut Mesh,
    palette: &Palette,
    (corner, each): (Pos2, f32),
    row: &SequenceRow,
    (low, high): (f64, f64),
) {
    // Values narrower than a pixel share a rectangle.
    let step = (1.0 / each).ceil().max(1.0) as usize;
    let gap = if each >= 4.0 { 1.0 } else { 0.0 };
    for (n, values) in row.values.chunks(step).enumerate() {
        let from = n * step;
        let counts = row.counts.get(from).copied().unwrap_or(false);
        let value = values.first().copied().unwrap_or(0.0);
        let share = if high > low {
            (value - low) / (high - low)
        } else {
            0.5
        };
        let left = corner.x + from as f32 * each;
        let right = left + values.len() as f32 * each - gap;
        let (top, bottom) = (corner.y + 1.0, corner.y + LINE - 1.0);
        if counts {
            let place = Rect::from_min_max(pos2(left, top), pos2(right, bottom));
            mesh.add_colored_rect(place, palette.heat(0.35 + 0.65 * share as f32));
        } else {
            let middle = (top + bottom) * 0.5;
            let line = Rect::from_min_max(pos2(left, middle), pos2(right, middle + 1.0));
            mesh.add_colored_rect(line, palette.line);
        }
    }
}
