//! Mapping between the screen and positions and indices.

use std::ops::Range;

use egui::{Align2, Pos2, Rect, Stroke, Ui, Vec2, pos2};

use crate::theme::{Palette, mono, sans, size};
use loadscope_insight::format::count;
use loadscope_insight::sampling::analysis::OrderAnalysis;
use loadscope_insight::sampling::raster::Window;
use loadscope_words::say;

/// Maximum distance from the pointer to a selectable sample, in egui points.
const NEAR: f32 = 8.0;
/// Maximum number of points of the selected batch drawn one by one.
const MARKED: usize = 4_096;

/// Visible part of an order.
pub struct View<'a> {
    /// Area on the screen.
    pub rect: Rect,
    /// Part of the order.
    pub window: &'a Window,
}

impl View<'_> {
    fn x(&self, position: f64) -> f32 {
        let range = &self.window.positions;
        let share = (position - range.start) / (range.end - range.start);
        self.rect.left() + (share * f64::from(self.rect.width())) as f32
    }

    fn y(&self, index: f64) -> f32 {
        let range = &self.window.indices;
        let share = (index - range.start) / (range.end - range.start);
        self.rect.bottom() - (share * f64::from(self.rect.height())) as f32
    }

    fn position(&self, x: f32) -> f64 {
        let range = &self.window.positions;
        let share = f64::from((x - self.rect.left()) / self.rect.width());
        range.start + share * (range.end - range.start)
    }

    /// Returns the screen area of `window` in this view.
    pub fn place_of(&self, window: &Window) -> Rect {
        Rect::from_min_max(
            pos2(self.x(window.positions.start), self.y(window.indices.end)),
            pos2(self.x(window.positions.end), self.y(window.indices.start)),
        )
    }

    /// Returns the point nearest to `at`.
    pub fn nearest(&self, answers: &OrderAnalysis, at: Pos2) -> Option<usize> {
        let indices = &answers.order.indices;
        let edge = |x: f32| (self.position(x).max(0.0) as usize).min(indices.len());
        let (from, to) = (edge(at.x - NEAR), edge(at.x + NEAR + 1.0));
        let far = |position: usize| {
            let x = self.x(position as f64 + 0.5) - at.x;
            let y = self.y(indices[position] as f64 + 0.5) - at.y;
            x * x + y * y
        };
        let near = (from..(to + 1).min(indices.len())).map(|p| (p, far(p)));
        let (position, far) = near.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (far <= NEAR * NEAR).then_some(position)
    }

    /// Draws the grid and its labels.
    pub fn axes(&self, ui: &Ui, palette: &Palette) {
        let painter = ui.painter();
        let line = Stroke::new(1.0, palette.line);
        let (font, weak) = (mono(size::SMALL), palette.weak);
        let whole = |range: &Range<f64>| range.end - range.start;
        for at in ticks(&self.window.positions, (self.rect.width() / 90.0).max(1.0)) {
            let x = self.x(at as f64).round() + 0.5;
            painter.vline(x, self.rect.y_range(), line);
            let text = short(at, whole(&self.window.positions));
            let place = pos2(x, self.rect.bottom() + 4.0);
            painter.text(place, Align2::CENTER_TOP, text, font.clone(), weak);
        }
        for at in ticks(&self.window.indices, (self.rect.height() / 72.0).max(1.0)) {
            let y = self.y(at as f64).round() + 0.5;
            painter.hline(self.rect.x_range(), y, line);
            let text = short(at, whole(&self.window.indices));
            let place = pos2(self.rect.left() - 6.0, y);
            painter.text(place, Align2::RIGHT_CENTER, text, font.clone(), weak);
        }
        let place = pos2(self.rect.right(), self.rect.bottom() + 18.0);
        let label = say!("position in the epoch");
        painter.text(place, Align2::RIGHT_TOP, label, sans(size::SMALL), weak);
        let place = pos2(self.rect.left() - 6.0, self.rect.top() - 10.0);
        painter.text(
            place,
            Align2::RIGHT_BOTTOM,
            say!("index"),
            sans(size::SMALL),
            weak,
        );
    }

    /// Draws the highlighted batches.
    pub fn marks(&self, ui: &Ui, answers: &OrderAnalysis, marks: &Marks, palette: &Palette) {
        let painter = ui.painter().with_clip_rect(self.rect);
        let band = |range: &Range<usize>| {
            Rect::from_x_y_ranges(
                self.x(range.start as f64)
                    ..=self
                        .x(range.end as f64)
                        .max(self.x(range.start as f64) + 1.0),
                self.rect.y_range(),
            )
        };
        if let Some(range) = &marks.hovered {
            painter.rect_filled(band(range), 0.0, palette.strong.gamma_multiply(0.10));
        }
        let Some(range) = &marks.selected else {
            return;
        };
        painter.rect_filled(band(range), 0.0, palette.strong.gamma_multiply(0.16));
        let points = answers.order.indices.get(range.clone()).unwrap_or_default();
        for (k, index) in points.iter().take(MARKED).enumerate() {
            let at = pos2(
                self.x((range.start + k) as f64 + 0.5),
                self.y(*index as f64 + 0.5),
            );
            painter.rect_filled(
                Rect::from_center_size(at, Vec2::splat(5.0)),
                0.0,
                palette.strong,
            );
        }
    }
}

/// Returns round numbers in `range`, about `most` of them.
fn ticks(range: &Range<f64>, most: f32) -> Vec<u64> {
    let length = (range.end - range.start).max(1.0);
    let fits = |step: &u64| length / *step as f64 <= f64::from(most);
    let steps = (0..19).flat_map(|power| [1, 2, 5].map(|digit: u64| digit * 10u64.pow(power)));
    let step = steps.into_iter().find(fits).unwrap_or(u64::MAX);
    let first = (range.start / step as f64).ceil() as u64;
    (first..)
        .map(|k| k.saturating_mul(step))
        .take_while(|at| (*at as f64) <= range.end)
        .take(100)
        .collect()
}

/// Formats a number as `1,500`, or as `2.5M` if the range is long enough for this precision.
pub fn short(n: u64, range: f64) -> String {
    let (unit, letter) = match n {
        n if n >= 1_000_000 && n.is_multiple_of(100_000) && range >= 500_000.0 => (1_000_000, "M"),
        n if (10_000..1_000_000).contains(&n) && n.is_multiple_of(100) && range >= 5_000.0 => {
            (1_000, "k")
        }
        n => return count(n),
    };
    match n.is_multiple_of(unit) {
        true => format!("{}{letter}", n / unit),
        false => format!("{:.1}{letter}", n as f64 / unit as f64),
    }
}

/// Highlighted batches, as ranges of positions.
pub struct Marks {
    /// The selected batch.
    pub selected: Option<Range<usize>>,
    /// The hovered batch, in any panel.
    pub hovered: Option<Range<usize>>,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui::vec2;

    use super::*;
    use loadscope_insight::background::Progress;
    use loadscope_insight::sampling::analysis::{Question, answer};
    use loadscope_insight::sampling::order::Order;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(&(0.0..1797.0), 8.0), [0, 500, 1000, 1500]);
        assert_eq!(ticks(&(0.0..1.0), 8.0), [0, 1]);
        assert_eq!(
            ticks(&(4.5e6..4.6e6), 4.0),
            [4_500_000, 4_550_000, 4_600_000]
        );
        assert_eq!(short(4_550_000, 1e5), "4,550,000");
        assert_eq!(short(2_500_000, 1e7), "2.5M");
        assert_eq!(short(20_000, 60_000.0), "20k");
        assert_eq!(short(500, 1797.0), "500");
    }

    #[test]
    fn the_nearest_point_is_found() {
        let mut order = Order::default();
        order.push(&[3, 50, 52, 99], None, None);
        let question = Question {
            recorded: Some(Arc::new(order)),
            ..Question::default()
        };
        let answers = answer(&question, &Progress::default()).unwrap().unwrap();
        let window = Window::whole(4, 100);
        let view = View {
            rect: Rect::from_min_size(Pos2::ZERO, vec2(1000.0, 1000.0)),
            window: &window,
        };
        let near = |position: f64, index: f64, by: f32| {
            view.nearest(&answers, pos2(view.x(position) + by, view.y(index) - by))
        };
        assert_eq!(near(0.5, 3.5, 2.0), Some(0));
        assert_eq!(near(2.5, 52.5, -5.0), Some(2));
        assert_eq!(near(2.5, 52.5, 40.0), None);
        assert_eq!(near(3.5, 99.5, 0.0), Some(3));
        assert_eq!(view.place_of(&window), view.rect);
    }
}
