//! The question whether to save a run, in place.

use eframe::egui::{Id, RichText, Ui};

use super::notices::ground;
use crate::command::Command;
use crate::question::{Answer, Question};
use crate::theme::{Palette, heading, size};

/// Width of the answers, points.
const ANSWERS: f32 = 204.0;

/// Shows the question. *Save…* has the keyboard at first.
pub fn show(ui: &mut Ui, question: &Question) -> Vec<Command> {
    let mut commands = Vec::new();
    let palette = Palette::of(ui);
    ground(palette).show(ui, |ui| {
        ui.horizontal(|ui| {
            let title = "This run was not saved";
            let title = RichText::new(title).font(heading(size::BODY));
            ui.label(title.color(palette.strong));
            let text = if question.saving {
                "Choose a file for it".to_owned()
            } else {
                format!("Save it {}?", question.what())
            };
            ui.label(RichText::new(text).color(palette.text));
            // From left to right, so that Tab goes from one answer to the next.
            ui.add_space((ui.available_width() - ANSWERS).max(0.0));
            ui.horizontal(|ui| {
                let mut answer = |ui: &mut Ui, name: &str, tip: &str, answer| {
                    let response = ui.button(name);
                    if response.clone().on_hover_text(tip).clicked() {
                        commands.push(Command::Answer(answer));
                    }
                    response
                };
                let save = answer(ui, "Save…", "Writes the run to a file first", Answer::Save);
                answer(ui, "Discard", "Goes on without this run", Answer::Discard);
                answer(
                    ui,
                    "Cancel",
                    "Leaves everything as it is  Esc",
                    Answer::Cancel,
                );
                take_keyboard(ui, save.id, || save.request_focus());
            });
        });
    });
    commands
}

/// Calls `take` if `id` was not there a frame ago.
fn take_keyboard(ui: &Ui, id: Id, take: impl FnOnce()) {
    let pass = ui.cumulative_pass_nr();
    let key = id.with("shown");
    let last = ui.data_mut(|d| d.get_temp::<u64>(key));
    ui.data_mut(|d| d.insert_temp(key, pass));
    if last.is_none_or(|last| last + 1 < pass) {
        take();
    }
}
