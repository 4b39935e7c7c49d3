//! Headings and accessible names of the answers.

use egui::{Align, Layout, Response, RichText, Role, Ui, WidgetInfo};

use crate::kit::titles;
use crate::theme::{Palette, mono, size};

/// Shows a heading with a figure at the right.
pub fn title(ui: &mut Ui, text: &str, figure: &str) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        titles::title(ui, text);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(
                RichText::new(figure)
                    .font(mono(size::BODY))
                    .color(palette.strong),
            );
        });
    });
}

/// Sets an accessible name for screen readers.
pub fn name(response: &Response, text: &str) {
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}
