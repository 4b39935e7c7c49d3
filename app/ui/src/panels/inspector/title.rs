//! The heading of the whole panel.

use egui::{RichText, Ui};

use crate::theme::{Palette, heading, size};

/// The heading of the whole panel.
pub(super) fn title(ui: &mut Ui, text: &str) {
    let colour = Palette::of(ui.ctx()).strong;
    ui.label(RichText::new(text).font(heading(size::BODY)).color(colour));
}
