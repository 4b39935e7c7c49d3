//! What the user should know, shown in place until it is dismissed.

use eframe::egui::{self, Align, Frame, Layout, Margin, RichText, Stroke, Ui};

use crate::command::Command;
use crate::state::State;
use crate::theme::Palette;

/// Shows the notices, one below the other.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    let palette = Palette::of(ui);
    for (at, notice) in state.notices.iter().enumerate() {
        let colour = if notice.is_error {
            palette.stall
        } else {
            palette.weak
        };
        Frame::NONE
            .fill(palette.canvas)
            .stroke(Stroke::new(1.0, colour))
            .corner_radius(4)
            .inner_margin(Margin::symmetric(12, 6))
            .outer_margin(Margin::symmetric(0, 2))
            .show(ui, |ui| {
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    if ui.small_button("Dismiss").clicked() {
                        commands.push(Command::Dismiss(at));
                    }
                    ui.with_layout(Layout::top_down(Align::Min), |ui| {
                        let text = RichText::new(&notice.text).color(palette.text);
                        ui.add(egui::Label::new(text).wrap().selectable(true));
                    });
                });
            });
    }
    commands
}
