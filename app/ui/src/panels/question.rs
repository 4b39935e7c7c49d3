//! The questions whether to save a run and whether to replace a file, in place.

use egui::{Id, Label, RichText, Ui, vec2};

use super::ground::ground;
use crate::kit::titles::{title, title_text};
use crate::theme::{Palette, size, words};
use loadscope_model::command::Command;
use loadscope_model::question::{Answer, Output, Question};

/// Width of the answers, points.
const ANSWERS: f32 = 204.0;

/// Width of *Replace* and *Cancel*, points.
const REPLACE: f32 = 140.0;

/// Shows the question. *Save…* has the keyboard at first.
pub fn show(ui: &mut Ui, question: &Question, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    ground(palette).show(ui, |ui| {
        ui.horizontal(|ui| {
            title(ui, "This run was not saved");
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
}

/// Asks whether a file that exists may be replaced. *Cancel* has the keyboard at first.
pub fn replacing(ui: &mut Ui, output: &Output, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let path = output.existing();
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    ground(palette).show(ui, |ui| {
        let title = title_text(ui, format!("{name} already exists"));
        ui.add(Label::new(title).truncate());
        ui.horizontal(|ui| {
            let folder = path.parent().map(|p| p.display().to_string());
            let text = folder.unwrap_or_default();
            let width = ui.available_width() - REPLACE;
            ui.allocate_ui(vec2(width, ui.available_height()), |ui| {
                let text = RichText::new(text).font(words(size::SMALL));
                ui.add(Label::new(text.color(palette.weak)).truncate());
            });
            ui.add_space((ui.available_width() - REPLACE).max(0.0));
            let replace = ui.button("Replace");
            let replace = replace.on_hover_text("The old file stays until the new one is complete");
            if replace.clicked() {
                commands.push(Command::Replace(true));
            }
            let cancel = ui
                .button("Cancel")
                .on_hover_text("Leaves the file as it is  Esc");
            if cancel.clicked() {
                commands.push(Command::Replace(false));
            }
            take_keyboard(ui, cancel.id, || cancel.request_focus());
        });
    });
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
