//! Headings, lines and names of the answers.

use egui::{Align, Label, Layout, Response, RichText, Role, Ui, WidgetInfo};

use crate::theme::{Palette, heading, mono, size, words};

/// A heading with its figure at the right.
pub fn title(ui: &mut Ui, text: &str, figure: &str) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.label(
            RichText::new(text)
                .font(heading(size::BODY))
                .color(palette.strong),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(
                RichText::new(figure)
                    .font(mono(size::BODY))
                    .color(palette.strong),
            );
        });
    });
}

/// A line of less weight.
pub fn line(ui: &mut Ui, text: impl Into<String>) {
    let palette = Palette::of(ui);
    let text = RichText::new(text)
        .font(words(size::SMALL))
        .color(palette.weak);
    ui.add(Label::new(text).wrap());
}

/// A name for screen readers.
pub fn name(response: &Response, text: &str) {
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}
