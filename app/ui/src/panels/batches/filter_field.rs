//! Filter field above the table.

use egui::{Align, Layout, RichText, Role, TextEdit, Ui, WidgetInfo};
use loadscope_insight::format::count;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_words::say;

use super::BatchTable;
use super::filter::EXAMPLE;
use crate::theme::{Palette, sans, size, space};

/// Maximum width of the field, points.
const WIDTH: f32 = 300.0;

impl BatchTable {
    /// Shows the field and the result of the filter.
    pub(super) fn filter_field(&self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        let all = state.session.run.batches().len();
        let palette = Palette::of(ui);
        let small = |text: String| RichText::new(text).font(sans(size::SMALL));
        ui.horizontal(|ui| {
            ui.set_height(space::LANE + 2.0);
            ui.add_space(space::GAP * 2.0);
            let width = WIDTH.min(ui.available_width() * 0.5);
            let mut typed = self.typed.clone();
            let field = TextEdit::singleline(&mut typed)
                .hint_text(say!("Show only: {EXAMPLE}"))
                .desired_width(width);
            let response = ui.add(field);
            response
                .widget_info(|| WidgetInfo::labeled(Role::TextInput, true, say!("Batch filter")));
            if response.changed() {
                commands.push(Command::Filter(typed));
            }
            if !self.typed.is_empty() && ui.small_button(say!("Show all")).clicked() {
                commands.push(Command::Filter(String::new()));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.add_space(space::GAP * 2.0);
                let shown = self.order.shown(all);
                let (text, color) = match &self.filter {
                    Err(part) => {
                        let text = say!("Invalid filter: {part}, try {EXAMPLE}");
                        (text, palette.stall)
                    }
                    Ok(_) if shown < all => {
                        let text = say!("{} of {} batches", count(shown as u64), count(all as u64));
                        (text, palette.text)
                    }
                    Ok(_) => (say!("{} batches", count(all as u64)), palette.weak),
                };
                ui.add(egui::Label::new(small(text).color(color)).truncate());
            });
        });
    }
}
