//! Heat map of a tensor with at least two dimensions. It shows the numbers if there is room.

use egui::{Align2, Mesh, Rect, RichText, Role, Sense, Shape, Ui, Vec2, WidgetInfo, pos2, vec2};
use loadscope_model::clipboard::per_sample;
use loadscope_trace::Field;
use loadscope_words::say;

use crate::kit::rows::ROW;
use crate::theme::{Palette, mono, size, space};

/// Heat map with one row per sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    columns: usize,
    rows: usize,
    cell: Vec2,
    /// True if there is room for the numbers.
    numbers: bool,
}

/// Maximum height of a heat map with small cells, points. Its rows shrink to fit.
const HIGHEST: f32 = 240.0;

impl Grid {
    /// Creates a grid of `width` points for `kept` values. Returns `None` for fields with fewer than two dimensions.
    pub fn of(field: &Field, kept: usize, width: f32) -> Option<Self> {
        if field.shape.len() < 2 || kept == 0 {
            return None;
        }
        let columns = per_sample(field, kept);
        let rows = kept.div_ceil(columns);
        let wide = width / columns as f32;
        let numbers = wide >= NUMBER;
        let high = if numbers {
            ROW
        } else {
            wide.clamp(6.0, ROW).min(HIGHEST / rows as f32).max(1.0)
        };
        Some(Self {
            columns,
            rows,
            cell: vec2(wide.min(2.0 * NUMBER), high),
            numbers,
        })
    }

    fn size(&self) -> Vec2 {
        self.cell * vec2(self.columns as f32, self.rows as f32)
    }

    /// Draws the values.
    pub fn show(&self, ui: &mut Ui, field: &Field, values: &[f64]) {
        let grid = self;
        let palette = Palette::of(ui.ctx());
        let (low, high) = range(field, values);
        let share = |v: f64| {
            // Halving first avoids an overflow in the difference of two huge numbers.
            let (range, above) = (high / 2.0 - low / 2.0, v / 2.0 - low / 2.0);
            if range > 0.0 {
                (above / range) as f32
            } else {
                0.5
            }
        };
        ui.add_space(space::GAP);
        let (area, response) = ui.allocate_exact_size(grid.size(), Sense::hover());
        let mut mesh = Mesh::default();
        let place = |k: usize| {
            let offset = vec2((k % grid.columns) as f32, (k / grid.columns) as f32) * grid.cell;
            Rect::from_min_size(area.min + offset, grid.cell)
        };
        let gap = if grid.cell.min_elem() >= 8.0 {
            1.0
        } else {
            0.0
        };
        for (k, value) in values.iter().enumerate() {
            let rect = place(k);
            let rect = Rect::from_min_max(rect.min, rect.max - Vec2::splat(gap));
            // NaN has no place in the range.
            let color = if value.is_nan() {
                palette.held
            } else {
                palette.heat(share(*value))
            };
            mesh.add_colored_rect(rect, color);
        }
        ui.painter().add(Shape::mesh(mesh));
        if grid.numbers {
            for (k, value) in values
                .iter()
                .enumerate()
                .filter(|(k, _)| ui.is_rect_visible(place(*k)))
            {
                let ground = if value.is_nan() {
                    palette.held
                } else {
                    palette.heat(share(*value))
                };
                let at = place(k).right_center() - vec2(5.0, 0.5);
                let ink = palette.text_on(ground);
                ui.painter().text(
                    at,
                    Align2::RIGHT_CENTER,
                    number(*value),
                    mono(size::SMALL),
                    ink,
                );
            }
        } else {
            scale(ui, low, high);
        }
        let spoken = say!("heat map of {}", name_of(field));
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
        let at = response.hover_pos().and_then(|at| grid.at(at - area.min));
        response.on_hover_ui_at_pointer(|ui| {
            if let Some((r, c)) = at
                && let Some(value) = values.get(r * grid.columns + c)
            {
                let text = say!("[{r}, {c}] = {}", number(*value));
                ui.label(RichText::new(text).font(mono(size::SMALL)));
            }
        });
    }

    /// Returns the row and column at a point, relative to the upper left corner.
    fn at(&self, offset: Vec2) -> Option<(usize, usize)> {
        let place = offset / self.cell;
        let inside = offset.min_elem() >= 0.0;
        let (r, c) = (place.y as usize, place.x as usize);
        (inside && r < self.rows && c < self.columns).then_some((r, c))
    }
}

/// Draws the color bar of a heat map below it, with the ends of the range.
fn scale(ui: &mut Ui, low: f64, high: f64) {
    let palette = Palette::of(ui.ctx());
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), 14.0), Sense::hover());
    let font = mono(size::SMALL);
    let (left, right) = (area.left_center(), area.right_center());
    let painter = ui.painter();
    let a = painter.text(
        left,
        Align2::LEFT_CENTER,
        number(low),
        font.clone(),
        palette.weak,
    );
    let b = painter.text(
        right,
        Align2::RIGHT_CENTER,
        number(high),
        font,
        palette.weak,
    );
    let bar = Rect::from_min_max(
        pos2(a.right() + 8.0, area.center().y - 3.0),
        pos2(b.left() - 8.0, area.center().y + 3.0),
    );
    const STEPS: usize = 32;
    let mut mesh = Mesh::default();
    for k in 0..STEPS {
        let x = |k: usize| bar.left() + bar.width() * k as f32 / STEPS as f32;
        let part = Rect::from_min_max(pos2(x(k), bar.top()), pos2(x(k + 1), bar.bottom()));
        mesh.add_colored_rect(part, palette.heat(k as f32 / (STEPS - 1) as f32));
    }
    painter.add(Shape::mesh(mesh));
}

fn range(field: &Field, values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let low = field
        .min
        .unwrap_or_else(|| finite().fold(f64::INFINITY, f64::min));
    let high = field
        .max
        .unwrap_or_else(|| finite().fold(f64::NEG_INFINITY, f64::max));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// Returns the display name of a field.
pub fn name_of(field: &Field) -> &str {
    if field.name.is_empty() {
        say!("the batch")
    } else {
        &field.name
    }
}

/// Width of a number, points.
pub const NUMBER: f32 = 44.0;

/// Formats integers without decimals, and other numbers with four significant digits.
pub fn number(v: f64) -> String {
    if !v.is_finite() {
        return v.to_string();
    }
    if v == v.trunc() && v.abs() < 1e7 {
        return format!("{v:.0}");
    }
    match v.abs() {
        a if !(1e-3..1e6).contains(&a) => format!("{v:.2e}"),
        a => format!(
            "{v:.*}",
            (3 - a.log10().floor() as i32).clamp(0, 6) as usize
        ),
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::FieldData;

    use super::*;

    fn field(shape: &[i64]) -> Field {
        Field::new("x", "torch.float32", shape, FieldData::Omitted)
    }

    #[test]
    fn a_heat_map_has_a_row_per_sample_and_fits_the_panel() {
        let grid = |shape: &[i64], kept| Grid::of(&field(shape), kept, 276.0);
        let few = grid(&[3, 4], 12).expect("two dimensions");
        assert_eq!((few.rows, few.columns, few.numbers), (3, 4, true));
        let many = grid(&[64, 16, 8], 1024).expect("three dimensions");
        assert_eq!((many.rows, many.columns, many.numbers), (8, 128, false));
        assert!(many.size().x <= 276.5 && many.size().y <= HIGHEST);
        assert_eq!(many.at(vec2(275.9, 0.1)), Some((0, 127)));
        assert_eq!(many.at(vec2(-0.1, 0.0)), None);
        assert_eq!(grid(&[5], 5), None);
        for hostile in [[-1, 0], [i64::MAX, i64::MAX], [0, i64::MIN]] {
            let grid = grid(&hostile, 7).expect("values were kept all the same");
            assert!(grid.rows * grid.columns >= 7);
        }
    }
}
