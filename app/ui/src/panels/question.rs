//! Questions about saving a run and replacing a file, and the text field for a path, shown in the window.

use egui::{Id, Key, Label, Modifiers, RichText, Role, TextEdit, Ui, WidgetInfo, vec2};
use loadscope_insight::format;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::{Answer, Output, Question};
use loadscope_model::state::State;
use loadscope_model::typing::TypedPath;
use loadscope_words::say;

use crate::kit::empty::hint;
use crate::kit::sheet::{just_appeared, overlay_frame};
use crate::kit::titles::{title, title_text};
use crate::theme::{Palette, mono, sans, size, space};

/// Width of *Replace* and *Cancel*, points.
const REPLACE: f32 = 140.0;

/// Asks what to do with unsaved runs before the window closes. The focus is on an answer that loses nothing.
pub fn show(ui: &mut Ui, state: &State, question: &Question, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let unsaved = state.unsaved() as u64;
    let what = match unsaved {
        1 => say!("1 unsaved run").to_owned(),
        several => say!("{} unsaved runs", format::count(several)),
    };
    overlay_frame(palette).show(ui, |ui| {
        ui.horizontal(|ui| {
            title(ui, what);
            if question.saving {
                ui.label(RichText::new(say!("Choose a file for the run")).color(palette.text));
            }
        });
        ui.add_space(space::GAP);
        // The buttons are laid out from left to right, so that Tab follows their order.
        ui.horizontal(|ui| {
            let mut answer = |ui: &mut Ui, name: &str, tip: &str, answer| {
                let response = ui.button(name);
                if response.clone().on_hover_text(tip).clicked() {
                    commands.push(Command::Answer(answer));
                }
                response
            };
            let mut first = None;
            if unsaved == 1 && state.session.is_unsaved() {
                let save = answer(
                    ui,
                    say!("Save…"),
                    say!("Writes the run to a file first"),
                    Answer::Save,
                );
                first = Some(save.id);
            }
            if state.place.keeps_journal {
                let tip = say!("Keeps them in the journal. The start page lists them next time.");
                let keep = answer(ui, say!("Keep for next time"), tip, Answer::Keep);
                first = first.or(Some(keep.id));
            }
            answer(
                ui,
                say!("Discard"),
                say!("Closes without saving"),
                Answer::Discard,
            );
            let tip = say!("Changes nothing  Esc");
            let cancel = answer(ui, say!("Cancel"), tip, Answer::Cancel);
            let first = first.unwrap_or(cancel.id);
            if just_appeared(ui, first) {
                ui.memory_mut(|m| m.request_focus(first));
            }
        });
    });
}

/// Asks if an existing file may be replaced. The focus is on *Cancel*.
pub fn replacing(ui: &mut Ui, output: &Output, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let path = output.existing();
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    overlay_frame(palette).show(ui, |ui| {
        let title = title_text(ui, say!("{name} already exists"));
        ui.add(Label::new(title).truncate());
        ui.horizontal(|ui| {
            let folder = path.parent().map(|p| p.display().to_string());
            let text = folder.unwrap_or_default();
            let width = ui.available_width() - REPLACE;
            ui.allocate_ui(vec2(width, ui.available_height()), |ui| {
                let text = RichText::new(text).font(sans(size::SMALL));
                ui.add(Label::new(text.color(palette.weak)).truncate());
            });
            ui.add_space((ui.available_width() - REPLACE).max(0.0));
            let replace = ui.button(say!("Replace"));
            let replace =
                replace.on_hover_text(say!("Replaces the old file once the new one is complete"));
            if replace.clicked() {
                commands.push(Command::Replace(true));
            }
            let cancel = ui
                .button(say!("Cancel"))
                .on_hover_text(say!("Keeps the old file  Esc"));
            if cancel.clicked() {
                commands.push(Command::Replace(false));
            }
            if just_appeared(ui, cancel.id) {
                cancel.request_focus();
            }
        });
    });
}

/// Shows the field, which has the initial focus.
pub fn path_input(ui: &mut Ui, typed: &TypedPath, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let what = typed.what;
    overlay_frame(palette).show(ui, |ui| {
        ui.horizontal(|ui| {
            title(ui, what.title());
            let why = RichText::new(say!("Type a path: no system file dialog is available"));
            ui.label(why.font(sans(size::SMALL)).color(palette.weak));
        });
        ui.horizontal(|ui| {
            let id = Id::unique("typed path").with(what as u8);
            let enter = ui.memory(|m| m.has_focus(id))
                && ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Enter));
            let mut text = typed.text.clone();
            let edit = TextEdit::singleline(&mut text)
                .id(id)
                .font(mono(size::BODY))
                .hint_text(what.example())
                .desired_width(ui.available_width() - 150.0);
            let response = ui.add(edit);
            response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, what.title()));
            if just_appeared(ui, id) {
                response.request_focus();
            }
            let is_path = !text.trim().is_empty();
            let button = egui::Button::new(what.verb());
            let go = ui.add_enabled(is_path, button).clicked();
            if is_path && (go || enter) {
                let typed = TypedPath { what, text };
                let path = typed.path();
                commands.push(Command::Typed(typed));
                commands.push(Command::for_path(what, path));
            } else if ui.button(say!("Cancel")).clicked() {
                commands.push(Action::Escape.into());
            } else if text != typed.text {
                commands.push(Command::TypePath(Some(TypedPath { what, text })));
            }
        });
        if !what.hint().is_empty() {
            hint(ui, what.hint());
        }
    });
}
