//! Glossary of the pipeline: terms, PyTorch's names and meanings.

use egui::{Grid, Label, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};
use loadscope_insight::glossary::Term;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_words::say;

use crate::kit::empty::remark;
use crate::kit::sheet::{max_width, sheet};
use crate::theme::{Palette, heading, mono, size, space};

/// Maximum width and height, points.
const WIDEST: f32 = 780.0;
const HIGHEST: f32 = 560.0;
/// Width of a term, and of PyTorch's name for it, points.
const NAME: f32 = 120.0;
const PYTORCH: f32 = 220.0;

/// Shows the glossary if it is open.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let Some(typed) = &state.overlay.glossary else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    let height = HIGHEST.min(ui.ctx().content_rect().height() - 150.0);
    let is_open = sheet(ui, say!("Glossary"), |ui| {
        ui.set_width(WIDEST.min(max_width(ui)));
        search(ui, typed, &mut commands);
        ui.add_space(space::GAP);
        ScrollArea::vertical()
            .auto_shrink(false)
            .max_height(height)
            .min_scrolled_height(height)
            .show(ui, |ui| words(ui, typed));
    });
    if !is_open {
        commands.push(Command::Glossary(None));
    }
    commands
}

fn search(ui: &mut Ui, typed: &str, commands: &mut Vec<Command>) {
    let mut text = typed.to_owned();
    let field = TextEdit::singleline(&mut text)
        .hint_text(say!("A term, or PyTorch's name: _rcvd_idx"))
        .desired_width(f32::INFINITY);
    let response = ui.add(field);
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, say!("Term to look up")));
    if text != typed {
        commands.push(Command::Glossary(Some(text)));
    }
}

fn words(ui: &mut Ui, typed: &str) {
    let palette = Palette::of(ui.ctx());
    let found: Vec<Term> = Term::ALL
        .into_iter()
        .filter(|term| term.has(typed))
        .collect();
    if found.is_empty() {
        remark(ui, &say!("No term contains \"{typed}\""));
        return;
    }
    // If three columns do not fit, PyTorch's name is below the term.
    let is_wide = ui.available_width() >= WIDEST - 40.0;
    let columns = if is_wide { 3 } else { 2 };
    Grid::new("glossary")
        .num_columns(columns)
        .spacing([space::GROUP, 8.0])
        .striped(true)
        .show(ui, |ui| {
            for term in found {
                let entry = term.entry();
                let name = RichText::new(entry.name)
                    .font(heading(size::BODY))
                    .color(palette.strong);
                let pytorch = RichText::new(entry.pytorch)
                    .font(mono(size::SMALL))
                    .color(palette.text);
                let named = |ui: &mut Ui, width: f32, text: RichText| {
                    ui.scope(|ui| {
                        ui.set_width(width);
                        ui.add(Label::new(text).wrap());
                    });
                };
                if is_wide {
                    named(ui, NAME, name);
                    named(ui, PYTORCH, pytorch);
                } else {
                    ui.vertical(|ui| {
                        named(ui, PYTORCH, name);
                        named(ui, PYTORCH, pytorch);
                    });
                }
                let rest = WIDEST - NAME - PYTORCH - 4.0 * space::GROUP;
                let rest = if is_wide { rest } else { ui.available_width() };
                named(ui, rest, RichText::new(entry.meaning).color(palette.weak));
                ui.end_row();
            }
        });
}
