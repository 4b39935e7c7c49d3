//! Tooltips of glossary terms: the meaning, and PyTorch's name.

use egui::{Id, Rect, Response, RichText, Sense, Ui};
use loadscope_insight::glossary::{Entry, Term};

use super::titles::title;
use crate::theme::{Palette, mono, size};

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
