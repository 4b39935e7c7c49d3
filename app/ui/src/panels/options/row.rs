//! One argument: its name, its control, and what it does.

use egui::emath::Numeric;
use egui::{self, Align, DragValue, Layout, RichText, Ui, WidgetText};

use crate::kit::empty::hint;
use crate::theme::{Palette, mono, size, space, words};

/// One argument: its name, its control, and what it does.
pub(super) fn row(ui: &mut Ui, name: &str, effect: &str, control: impl FnOnce(&mut Ui, egui::Id)) {
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new(name).font(mono(size::BODY)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            control(ui, label.id);
        });
    });
    hint(ui, effect);
    ui.add_space(space::GAP);
}

/// A whole number as it is typed: what is too much is refused with a sentence, not changed to something else.
pub(super) fn number<N: Numeric>(ui: &mut Ui, label: egui::Id, value: &mut N) {
    let most = N::from_f64(f64::from(u32::MAX));
    let drag = DragValue::new(value).range(N::from_f64(0.0)..=most);
    // What a recording says is not changed by looking at it.
    ui.add(drag.speed(0.1).clamp_existing_to_range(false))
        .labelled_by(label);
}

/// A time as it is typed.
pub(super) fn time(ui: &mut Ui, label: egui::Id, value: &mut f64, unit: &str) {
    let drag = DragValue::new(value).range(0.0..=f64::MAX);
    let drag = drag.speed(0.1).max_decimals(2).suffix(unit);
    ui.add(drag.clamp_existing_to_range(false))
        .labelled_by(label);
}

pub(super) fn flag(ui: &mut Ui, label: egui::Id, value: &mut bool) {
    ui.checkbox(value, "").labelled_by(label);
}

pub(super) fn python(ui: &mut Ui, line: &str) {
    ui.horizontal(|ui| {
        ui.label(
            RichText::new("The same in PyTorch")
                .font(words(size::SMALL))
                .color(Palette::of(ui).weak),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let copy = ui
                .small_button("Copy")
                .on_hover_text("Copies this line of Python");
            if copy.clicked() {
                ui.copy_text(line.to_owned());
            }
        });
    });
    let text: WidgetText = RichText::new(line).font(mono(size::SMALL)).into();
    ui.add(egui::Label::new(text).wrap().selectable(true));
}
