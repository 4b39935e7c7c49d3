//! Positions of the window parts that lessons refer to. Each panel marks its parts while it draws them.

use egui::{Align, Context, Id, Rect, Ui};
use loadscope_lessons::Part;

/// Parts marked in this frame.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// True while lessons are open. Otherwise nothing is marked.
    wanted: bool,
    /// Parts that scroll into view when they are drawn.
    shown: Vec<Part>,
    /// Union of the option rows that scroll into view together.
    rows: Option<Rect>,
    all: Vec<(Part, Rect)>,
}

fn id() -> Id {
    Id::unique("parts of the window")
}

/// Starts a frame. `wanted` turns marking on, and the parts in `shown` scroll into view.
pub fn begin_frame(ctx: &Context, wanted: bool, shown: &[Part]) {
    ctx.data_mut(|data| {
        let marks: &mut Marks = data.get_temp_mut_or_default(id());
        marks.wanted = wanted;
        marks.all.clear();
        marks.rows = None;
        marks.shown.clear();
        marks.shown.extend_from_slice(shown);
    });
}

/// Marks the visible area of a part that was drawn in `rect`.
pub fn mark(ui: &Ui, part: Part, rect: Rect) {
    let seen = rect.intersect(ui.clip_rect());
    let scrolls_to = ui.ctx().data_mut(|data| {
        let marks: &mut Marks = data.get_temp_mut_or_default(id());
        let scrolls = marks.wanted && marks.shown.contains(&part);
        let mut target = scrolls.then_some(rect);
        if scrolls && matches!(part, Part::Option(_)) {
            // egui uses the last scroll request, so it must cover all rows so far.
            let rows = marks.rows.map_or(rect, |rows| rows.union(rect));
            marks.rows = Some(rows);
            target = Some(rows);
        }
        if marks.wanted && seen.is_positive() {
            marks.all.push((part, seen));
        }
        target
    });
    if let Some(target) = scrolls_to {
        // A part that is taller than the view is shown from its top, with its heading.
        let fits = target.height() <= ui.clip_rect().height();
        let align = if fits { Align::Center } else { Align::TOP };
        ui.scroll_to_rect(target, Some(align));
    }
}

/// Returns the parts marked so far.
pub fn all(ctx: &Context) -> Vec<(Part, Rect)> {
    ctx.data_mut(|data| {
        let marks: &mut Marks = data.get_temp_mut_or_default(id());
        marks.all.clone()
    })
}
