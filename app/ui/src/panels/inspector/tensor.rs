//! Field of a batch: its type, shape, statistics, histogram and values.

use egui::{Align2, Mesh, Pos2, Rect, RichText, Role, Sense, Shape, Ui, WidgetInfo, pos2, vec2};
use loadscope_trace::{Field, FieldData};
use loadscope_words::say;

use super::heatmap::Grid;
use super::heatmap::{NUMBER, name_of, number};
use crate::kit::empty::remark;
use crate::kit::rows::{Cell, Marks, row, virtual_list};
use crate::theme::{Palette, mono, sans, size, space};
use loadscope_insight::format;

/// Shows the type, shape, statistics and values.
pub fn show(ui: &mut Ui, field: &Field, is_pinned: bool) {
    describe(ui, field, is_pinned);
    facts(ui, field);
    histogram(ui, field);
    match &field.data {
        FieldData::Omitted => remark(ui, say!("The values were not recorded")),
        FieldData::Pictures(_) => {}
        FieldData::Text(texts) => text(ui, field, texts),
        FieldData::Numbers(values) => {
            let some = &values[..values.len().min(CELLS)];
            match Grid::of(field, some.len(), ui.available_width()) {
                Some(grid) => {
                    grid.show(ui, field, some);
                    more(ui, values.len() - some.len());
                }
                None => numbers(ui, field, values),
            }
        }
    }
    cut(ui, field);
}

fn describe(ui: &mut Ui, field: &Field, is_pinned: bool) {
    let palette = Palette::of(ui.ctx());
    let sizes: Vec<String> = field.shape.iter().map(i64::to_string).collect();
    let shape = format!("[{}]", sizes.join(", "));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().interact_size.y = LINE;
        let small = |text: &str, color| RichText::new(text).font(mono(size::SMALL)).color(color);
        ui.label(small(&field.dtype, palette.weak));
        ui.label(small(&shape, palette.text));
        if is_pinned {
            ui.label(
                RichText::new(say!("pinned"))
                    .size(size::SMALL)
                    .color(palette.pin),
            );
        }
    });
}

/// Shows the statistics and the counts of NaN and inf. Missing statistics are omitted.
fn facts(ui: &mut Ui, field: &Field) {
    if field.min.is_none() && field.max.is_none() && field.nan == 0 && field.inf == 0 {
        return;
    }
    let palette = Palette::of(ui.ctx());
    let of = |v: Option<f64>| v.map_or("—".to_owned(), number);
    let bad = |count: u64| match count {
        0 => (format::count(0), palette.weak),
        n => (format::count(n), palette.held),
    };
    let (nan, inf) = (bad(field.nan), bad(field.inf));
    let lines = [
        [
            ("min", of(field.min), palette.text),
            ("mean", of(field.mean), palette.text),
            ("NaN", nan.0, nan.1),
        ],
        [
            ("max", of(field.max), palette.text),
            ("std", of(field.std), palette.text),
            ("inf", inf.0, inf.1),
        ],
    ];
    let gap = 1.5 * space::GAP;
    let narrow = 44.0;
    let wide = (ui.available_width() - narrow - 2.0 * gap) * 0.5;
    for line in lines {
        let size_of_line = vec2(ui.available_width(), LINE);
        let (rect, response) = ui.allocate_exact_size(size_of_line, Sense::hover());
        let mut x = rect.left();
        for (k, (name, value, color)) in line.iter().enumerate() {
            let width = if k < 2 { wide } else { narrow };
            let at = |x: f32| pos2(x, rect.center().y);
            let painter = ui.painter();
            painter.text(
                at(x),
                Align2::LEFT_CENTER,
                name,
                sans(size::SMALL),
                palette.weak,
            );
            let font = mono(size::SMALL);
            painter.text(at(x + width), Align2::RIGHT_CENTER, value, font, *color);
            x += width + gap;
        }
        let spoken = line
            .map(|(name, value, _)| say!("{name} {value}"))
            .join(", ");
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
    }
}

/// Maximum number of values and bins shown. Other programs may record more.
const CELLS: usize = 8_192;
const BINS: usize = 512;

fn more(ui: &mut Ui, left: usize) {
    if left > 0 {
        let values = format::plural(left as u64, say!(n: "more value"), say!(n: "more values"));
        remark(ui, &say!("and {values}"));
    }
}

/// Height of a line of statistics, points.
const LINE: f32 = 12.0;
const HISTOGRAM: f32 = 36.0;

/// Shows the histogram of the values.
fn histogram(ui: &mut Ui, field: &Field) {
    let (Some(min), Some(max), bins) = (field.min, field.max, &field.histogram) else {
        return;
    };
    let Some(most) = bins.iter().max().copied().filter(|most| *most > 0) else {
        return;
    };
    if bins.len() > BINS {
        remark(ui, say!("Too many histogram bins to show"));
        return;
    }
    let palette = Palette::of(ui.ctx());
    let size_of_all = vec2(ui.available_width(), HISTOGRAM + 14.0);
    let (area, response) = ui.allocate_exact_size(size_of_all, Sense::hover());
    let plot = Rect::from_min_size(area.min, vec2(area.width(), HISTOGRAM));
    let wide = plot.width() / bins.len() as f32;
    let hovered = response
        .hover_pos()
        .filter(|at| plot.contains(*at))
        .map(|at| ((at.x - plot.left()) / wide) as usize);
    let mut mesh = Mesh::default();
    for (k, count) in bins.iter().enumerate().filter(|(_, count)| **count > 0) {
        // Every non-empty bin is visible.
        let height = (plot.height() * (*count as f64 / most as f64) as f32).max(1.0);
        let left = plot.left() + k as f32 * wide;
        let gap = if wide > 4.0 { 1.0 } else { 0.0 };
        let min = pos2(left.round(), plot.bottom() - height);
        let bar = Rect::from_min_max(min, pos2((left + wide).round() - gap, plot.bottom()));
        let color = if hovered == Some(k) {
            palette.strong
        } else {
            palette.weak
        };
        mesh.add_colored_rect(bar, color);
    }
    ui.painter().add(Shape::mesh(mesh));
    let line = egui::Stroke::new(1.0, palette.line);
    ui.painter().hline(plot.x_range(), plot.bottom(), line);
    let label = |at: Pos2, align, value: f64| {
        ui.painter()
            .text(at, align, number(value), mono(size::SMALL), palette.weak);
    };
    label(area.left_bottom(), Align2::LEFT_BOTTOM, min);
    label(area.right_bottom(), Align2::RIGHT_BOTTOM, max);
    let spoken = say!("histogram of {}", name_of(field));
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
    response.on_hover_ui_at_pointer(|ui| {
        let Some(k) = hovered.filter(|k| *k < bins.len()) else {
            return;
        };
        let (from, to) = bin(field, min, max, k);
        ui.label(match to {
            Some(to) => format!("{} … {}", number(from), number(to)),
            None => number(from),
        });
        ui.label(format::plural(bins[k], say!(n: "value"), say!(n: "values")));
    });
}

/// Returns the values in bin `k`: start and end, or the single value.
fn bin(field: &Field, min: f64, max: f64, k: usize) -> (f64, Option<f64>) {
    let is_float = field.dtype.contains("float");
    let width = (max - min + f64::from(u8::from(!is_float))) / field.histogram.len() as f64;
    let from = min + k as f64 * width;
    let is_one = !is_float && width == 1.0;
    (from, (!is_one).then_some(from + width))
}

/// Shows scalars in columns.
fn numbers(ui: &mut Ui, field: &Field, values: &[f64]) {
    let width = ui.available_width();
    let columns = ((width / NUMBER) as usize).max(1);
    let column = width / columns as f32 - 2.0 * space::GAP;
    let name = say!("values of {}", field.name);
    virtual_list(ui, &name, values.len().div_ceil(columns), |ui, line| {
        let part = &values[line * columns..values.len().min((line + 1) * columns)];
        let cells: Vec<Cell> = part
            .iter()
            .map(|v| Cell::number(number(*v), column))
            .collect();
        row(ui, &cells, Marks::default());
    });
}

fn text(ui: &mut Ui, field: &Field, texts: &[String]) {
    // Up to three texts are shown in full.
    if texts.len() <= 3 {
        texts.iter().for_each(|t| _ = ui.label(t));
        return;
    }
    let name = say!("texts of {}", field.name);
    virtual_list(ui, &name, texts.len(), |ui, k| {
        let width = ui.available_width();
        row(ui, &[Cell::word(&texts[k], width)], Marks::default()).on_hover_text(&texts[k]);
    });
}

/// Shows a note if only a part of the values was recorded.
fn cut(ui: &mut Ui, field: &Field) {
    let kept = match &field.data {
        FieldData::Numbers(values) => values.len() as u64,
        FieldData::Text(texts) => texts.len() as u64,
        FieldData::Omitted | FieldData::Pictures(_) => return,
    };
    let sizes = field.shape.iter().map(|s| u64::try_from(*s).unwrap_or(0));
    let all = sizes.fold(1u64, u64::saturating_mul);
    if kept < all {
        let (kept, all) = (format::count(kept), format::count(all));
        remark(
            ui,
            &say!("Only the first {kept} of {all} values were recorded"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(dtype: &str, shape: &[i64], bins: usize) -> Field {
        Field {
            histogram: vec![1; bins],
            ..Field::new("x", dtype, shape, FieldData::Omitted)
        }
    }

    #[test]
    fn tensor_numbers_have_up_to_four_digits() {
        assert_eq!(number(3.0), "3");
        assert_eq!(number(-0.5), "-0.5000");
        assert_eq!(number(4.88421), "4.884");
        assert_eq!(number(123.456), "123.5");
        assert_eq!(number(0.000012), "1.20e-5");
        assert_eq!(number(f64::NAN), "NaN");
    }

    #[test]
    fn histogram_bins_have_a_value_or_a_range() {
        assert_eq!(bin(&field("torch.int64", &[], 3), 3.0, 5.0, 1), (4.0, None));
        assert_eq!(
            bin(&field("torch.uint8", &[], 32), 0.0, 255.0, 1),
            (8.0, Some(16.0))
        );
        assert_eq!(
            bin(&field("torch.float32", &[], 4), 0.0, 1.0, 1),
            (0.25, Some(0.5))
        );
    }
}
