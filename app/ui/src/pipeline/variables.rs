//! Table of the variables of PyTorch's iterator, under PyTorch's names. It marks the variables that the last transition changed.

use egui::{Align2, Id, Rect, Role, ScrollArea, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2};
use loadscope_insight::variables::{About, Variable, variables};
use loadscope_trace::Lane;
use loadscope_words::say;

use super::pen::{inset, row};
use crate::kit::action::{push_on_click, small_button};
use crate::theme::{Palette, heading, mono, size};
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_model::view::Item;

/// Width of the table, points.
pub const WIDTH: f32 = 216.0;
const ROW: f32 = 18.0;
const HEAD: f32 = 24.0;
const PAD: f32 = 12.0;
const BUTTON: f32 = 48.0;

/// Draws the table in `area`.
pub fn show(ui: &mut Ui, state: &State, area: Rect) -> Vec<Command> {
    let mut commands = Vec::new();
    let palette = Palette::of(ui.ctx());
    ui.painter().rect_filled(area, 0.0, palette.panel);
    ui.painter().vline(
        area.left(),
        area.y_range(),
        egui::Stroke::new(1.0, palette.line),
    );
    let inner = area.shrink2(vec2(PAD, 8.0));
    head(ui, row(inner, 0.0, HEAD), &mut commands);
    let body = Rect::from_min_max(pos2(area.left() + 1.0, inner.top() + HEAD + 4.0), area.max);
    let all = variables(&state.session.run, &state.pipeline());
    ui.scope_builder(UiBuilder::new().max_rect(body), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ScrollArea::vertical()
            .id_salt("variables")
            .auto_shrink(false)
            .show_rows(ui, ROW, all.len(), |ui, range| {
                for variable in &all[range] {
                    line(ui, state, variable, palette, &mut commands);
                }
            });
    });
    commands
}

fn head(ui: &mut Ui, rect: Rect, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui.ctx());
    ui.painter().text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        say!("Variables"),
        heading(size::BODY),
        palette.strong,
    );
    let mut right = rect.right();
    for (text, action) in [
        (say!("Hide"), Action::ToggleVariables),
        (say!("Copy"), Action::CopyVariables),
    ] {
        let left = right - BUTTON;
        let (top, bottom) = (rect.top() + 2.0, rect.bottom() - 2.0);
        let place = Rect::from_min_max(pos2(left, top), pos2(right, bottom));
        right = left - 4.0;
        let info = action.info();
        let name = say!("{text}: {}", info.name);
        let response = ui.put(place, small_button(text));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        push_on_click(response, action, commands);
    }
}

/// Shows one variable. A click selects its batch or its worker.
fn line(ui: &mut Ui, state: &State, v: &Variable, palette: &Palette, commands: &mut Vec<Command>) {
    let size_of_line = vec2(ui.available_width(), ROW);
    let (rect, _) = ui.allocate_exact_size(size_of_line, Sense::hover());
    let about = v.item.map(item);
    let response = about.map(|item| {
        let id = Id::unique(("variable", v.name.as_str(), matches!(item, Item::Lane(_))));
        (item, ui.interact(rect, id, Sense::click()))
    });
    let is_selected = about.is_some() && state.session.selection == about;
    let has_focus = response.as_ref().is_some_and(|(_, r)| r.has_focus());
    let is_hovered = has_focus || (about.is_some() && state.session.hovered == about);
    if v.has_changed {
        ui.painter().rect_filled(rect, 0.0, palette.selected());
        let dot = pos2(rect.left() + PAD * 0.5, rect.center().y);
        ui.painter().circle_filled(dot, 3.0, palette.strong);
    } else if is_hovered {
        ui.painter().rect_filled(rect, 0.0, palette.hovered());
    }
    let indent = if v.is_entry { PAD } else { 0.0 };
    let room = inset(rect, PAD + indent, PAD);
    let (ink, faint) = match (v.has_changed || is_selected, v.is_entry) {
        (true, _) => (palette.strong, palette.strong),
        (false, true) => (palette.text, palette.weak),
        (false, false) => (palette.text, palette.text),
    };
    let font = mono(size::SMALL);
    let painter = ui.painter_at(rect);
    painter.text(
        room.left_center(),
        Align2::LEFT_CENTER,
        &v.name,
        font.clone(),
        faint,
    );
    painter.text(
        room.right_center(),
        Align2::RIGHT_CENTER,
        &v.value,
        font,
        ink,
    );
    if is_selected {
        let outline = egui::Stroke::new(2.0, palette.strong);
        painter.rect_stroke(
            rect.shrink2(vec2(4.0, 0.0)),
            2.0,
            outline,
            egui::StrokeKind::Inside,
        );
    }
    let spoken = format!("{} {}", v.name, v.value);
    match response {
        None => {
            let id = Id::unique(("variable", v.name.as_str()));
            let response = ui.interact(rect, id, Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, spoken.trim()));
        }
        Some((item, response)) => {
            let name = match item {
                Item::Lane(_) => say!("workers_status {spoken}"),
                _ => say!("task_info {spoken}"),
            };
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &name));
            if response.hovered() {
                commands.push(Command::Hover(Some(item)));
            }
            if response.clicked() {
                commands.push(Command::Select((!is_selected).then_some(item)));
            }
        }
    }
}

fn item(about: About) -> Item {
    match about {
        About::Batch(row) => Item::Batch(row),
        About::Worker(worker) => Item::Lane(Lane::Worker(worker)),
    }
}
