//! Text field for a path, if the system has no file dialog.

use egui::{Id, Key, Modifiers, RichText, Role, TextEdit, Ui, WidgetInfo};

use super::overlay_frame::overlay_frame;
use crate::kit::empty::hint;
use crate::kit::focus::just_appeared;
use crate::kit::titles::title;
use crate::theme::{Palette, mono, sans, size};
use loadscope_model::command::{Action, Command};
use loadscope_model::typing::TypedPath;
use loadscope_words::say;

/// Shows the field, which has the initial focus.
pub fn show(ui: &mut Ui, typed: &TypedPath, commands: &mut Vec<Command>) {
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
