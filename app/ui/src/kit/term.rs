//! Words that explain themselves: what they mean, and what PyTorch calls them.

use egui::{Id, Rect, Response, RichText, Sense, Ui};
use loadscope_insight::glossary::{Entry, Term};

use super::titles::title;
use crate::theme::{Palette, mono, size};

/// What a tooltip says about a word.
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

/// What PyTorch calls it, if it has a name for it.
pub fn pytorch(ui: &mut Ui, term: Term) {
    let name = term.entry().pytorch;
    if !name.is_empty() {
        let text = RichText::new(format!("PyTorch: {name}"));
        let weak = Palette::of(ui.ctx()).weak;
        ui.label(text.font(mono(size::SMALL)).color(weak));
    }
}

/// Explains the word that is painted in `rect` while the pointer is over it.
pub fn explain(ui: &Ui, rect: Rect, term: Term) -> Response {
    let place = (rect.left() as i32, rect.top() as i32);
    let response = ui.interact(rect, Id::unique(("word", term, place)), Sense::hover());
    response.on_hover_ui(|ui| about(ui, term))
}
