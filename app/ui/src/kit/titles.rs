//! Headings, all in one style.

use egui::{Align, Layout, Response, RichText, Ui};

use crate::theme::{Palette, heading, size, space};

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
