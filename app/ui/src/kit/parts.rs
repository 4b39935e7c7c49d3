//! Where the parts of the window are that lessons name: each panel marks its own while it is drawn.

use egui::{Align, Context, Id, Rect, Ui};
use loadscope_insight::options::Field;
use loadscope_lessons::Part;

/// What was marked in this frame.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// Lessons are open: without them nothing is marked.
    wanted: bool,
    /// A part that scrolls into view when it is drawn.
    shown: Vec<Part>,
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
        marks.shown.clear();
        marks.shown.extend_from_slice(shown);
    });
}

/// The part that was drawn in `rect`, as far as it can be seen.
pub fn mark(ui: &Ui, part: Part, rect: Rect) {
    let seen = rect.intersect(ui.clip_rect());
    let scrolls = ui.ctx().data_mut(|data| {
        let marks: &mut Marks = data.get_temp_mut_or_default(id());
        let scrolls = marks.wanted && marks.shown.contains(&part);
        if marks.wanted && seen.is_positive() {
            marks.all.push((part, seen));
        }
        scrolls
    });
    if scrolls {
        ui.scroll_to_rect(rect, Some(Align::Center));
    }
}

/// The row of an option.
pub fn mark_option(ui: &Ui, field: Field, rect: Rect) {
    mark(ui, Part::Option(field.name().to_owned()), rect);
}

/// What was marked so far.
pub fn all(ctx: &Context) -> Vec<(Part, Rect)> {
    ctx.data_mut(|data| {
        let marks: &mut Marks = data.get_temp_mut_or_default(id());
        marks.all.clone()
    })
}

/// The part as panels mark it: lessons name options as files do, panels as PyTorch does.
pub fn as_marked(part: &Part) -> Part {
    let Part::Option(name) = part else {
        return part.clone();
    };
    let field = match name.as_str() {
        "seed" | "global_seed" => Field::Generator,
        "world_size" => Field::NumReplicas,
        "step_ms" => Field::Step,
        "collate" => Field::CollateFn,
        _ => return part.clone(),
    };
    Part::Option(field.name().to_owned())
}
