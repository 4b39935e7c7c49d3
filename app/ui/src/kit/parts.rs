//! Where the parts of the window are that lessons name: each panel marks its own while it is drawn.

use egui::{Align, Context, Id, Rect, Ui};
use loadscope_lessons::Part;

/// What was marked in this frame.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// Lessons are open: without them nothing is marked.
    wanted: bool,
    /// Parts that scroll into view when they are drawn.
    shown: Vec<Part>,
    /// Where those were that scroll together: the rows of options.
    rows: Option<Rect>,
    all: Vec<(Part, Rect)>,
}

fn id() -> Id {
    Id::unique("parts of the window")
}

/// A frame begins: whether parts are marked in it, and which of them scroll into view.
pub fn begin(ctx: &Context, wanted: bool, shown: &[Part]) {
    ctx.data_mut(|data| {
        let marks: &mut Marks = data.get_temp_mut_or_default(id());
        marks.wanted = wanted;
        marks.all.clear();
        marks.rows = None;
        marks.shown.clear();
        marks.shown.extend_from_slice(shown);
    });
}

/// The part that was drawn in `rect`, as far as it can be seen.
pub fn mark(ui: &Ui, part: Part, rect: Rect) {
    let seen = rect.intersect(ui.clip_rect());
    let scrolls_to = ui.ctx().data_mut(|data| {
        let marks: &mut Marks = data.get_temp_mut_or_default(id());
        let scrolls = marks.wanted && marks.shown.contains(&part);
        let mut target = scrolls.then_some(rect);
        if scrolls && matches!(part, Part::Option(_)) {
            // What was asked for last counts: all rows so far.
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
        // Of what is higher than the room the beginning is shown, with its heading.
        let fits = target.height() <= ui.clip_rect().height();
        let align = if fits { Align::Center } else { Align::TOP };
        ui.scroll_to_rect(target, Some(align));
    }
}

/// What was marked so far.
pub fn all(ctx: &Context) -> Vec<(Part, Rect)> {
    ctx.data_mut(|data| {
        let marks: &mut Marks = data.get_temp_mut_or_default(id());
        marks.all.clone()
    })
}
