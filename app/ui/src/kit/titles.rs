//! Headings, all in one style, and tooltips of glossary terms.

use egui::{Align, Id, Layout, Rect, Response, RichText, Sense, Ui};
use loadscope_insight::glossary::{Entry, Term};

use crate::theme::{Palette, heading, mono, size, space};

/// Returns a text in heading style, for widgets other than a label.
pub fn title_text(ui: &Ui, text: impl Into<String>) -> RichText {
    let strong = Palette::of(ui).strong;
    RichText::new(text).font(heading(size::BODY)).color(strong)
}

/// Shows the heading of a panel, a window or a tooltip.
pub fn title(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.label(title_text(ui, text))
}

/// Shows the heading of a section.
pub fn section(ui: &mut Ui, text: &str) {
    section_with(ui, text, |_| {});
}

/// Shows the heading of a section, with widgets at the right end of its line.
pub fn section_with(ui: &mut Ui, text: &str, right: impl FnOnce(&mut Ui)) {
    ui.add_space(space::GAP * 2.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = 0.0;
        title(ui, text);
        ui.with_layout(Layout::right_to_left(Align::Center), right);
    });
}

/// Shows the tooltip of a term.
pub fn about(ui: &mut Ui, term: Term) {
    let Entry {
        name,
        pytorch: _,
        meaning,
    } = term.entry();
    title(ui, name);
    ui.label(meaning);
    pytorch(ui, term);
}

/// Shows PyTorch's name of the term, if it has one.
pub fn pytorch(ui: &mut Ui, term: Term) {
    let name = term.entry().pytorch;
    if !name.is_empty() {
        let text = RichText::new(format!("PyTorch: {name}"));
        let weak = Palette::of(ui.ctx()).weak;
        ui.label(text.font(mono(size::SMALL)).color(weak));
    }
}

/// Explains the term painted in `rect` while the pointer hovers over it.
pub fn explain(ui: &Ui, rect: Rect, term: Term) -> Response {
    let place = (rect.left() as i32, rect.top() as i32);
    let response = ui.interact(rect, Id::unique(("word", term, place)), Sense::hover());
    response.on_hover_ui(|ui| about(ui, term))
}
