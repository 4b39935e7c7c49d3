//! Columns of the loaders.

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, Color32, FontId, Rect, Ui};

use crate::theme::space;

/// Widths of the columns before the strip, points.
const NAME: f32 = 148.0;
const NUMBER: f32 = 64.0;
/// Minimum width with room for all columns, points.
const ROOMY: f32 = 760.0;

pub(super) struct Columns {
    pub(super) name: Rect,
    /// Batches, samples per second and the waited time, if there is room.
    pub(super) counts: Option<[Rect; 3]>,
    pub(super) share: Rect,
    pub(super) strip: Rect,
}

impl Columns {
    pub(super) fn of(rect: Rect) -> Self {
        let margin = space::MARGIN;
        let mut x = rect.left() + margin;
        let mut next = |width: f32| {
            let column = Rect::from_x_y_ranges(x..=x + width, rect.y_range());
            x += width + margin;
            column
        };
        let name = next(NAME);
        let counts = (rect.width() >= ROOMY).then(|| [next(NUMBER), next(NUMBER), next(NUMBER)]);
        let share = next(NUMBER * 0.75);
        let strip = x..=(rect.right() - margin).max(x + 1.0);
        Self {
            name,
            counts,
            share,
            strip: Rect::from_x_y_ranges(strip, rect.y_range()),
        }
    }
}

/// Shows text at the left of a column, truncated with an ellipsis.
pub(super) fn left(ui: &Ui, column: Rect, text: &str, font: FontId, color: Color32) {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font, color);
    job.wrap = TextWrapping::truncate_at_width(column.width());
    let galley = ui.painter().layout_job(job);
    let at = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), column);
    ui.painter().galley(at.min, galley, color);
}
