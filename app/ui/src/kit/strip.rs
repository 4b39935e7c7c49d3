//! Trainer activity from left to right: training below, waiting above it, long waits in red.

use egui::{Rect, Response, Sense, Ui, pos2, vec2};

use loadscope_insight::loaders::Part;

use crate::theme::Palette;

/// Draws the strip over the available width. All `parts` cover the same time.
pub fn show(ui: &mut Ui, height: f32, parts: &[Part], sense: Sense) -> Response {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, sense);
    paint(ui, rect, parts);
    response
}

/// Draws the strip into `rect`.
pub fn paint(ui: &Ui, rect: Rect, parts: &[Part]) {
    let palette = Palette::of(ui);
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, palette.line);
    let width = rect.width() / parts.len().max(1) as f32;
    for (k, part) in parts.iter().enumerate() {
        let left = rect.left() + width * k as f32;
        // The extra half point prevents gaps between neighbors.
        let right = left + width + 0.5;
        let mut below = rect.bottom();
        for (share, color) in [
            (part.trained, palette.step),
            (part.briefly, palette.wait),
            (part.waited, palette.stall),
        ] {
            let top = below - rect.height() * share;
            if top < below {
                let bar = Rect::from_min_max(pos2(left, top), pos2(right, below));
                painter.rect_filled(bar, 0.0, color);
            }
            below = top;
        }
    }
}
