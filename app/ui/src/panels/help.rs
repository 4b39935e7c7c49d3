//! Help sheet with all keys, generated from the table of commands.

use egui::{Grid, RichText, ScrollArea, Ui};

use crate::kit::sheet::{max_width, sheet};
use crate::kit::titles::title;
use crate::theme::{Palette, mono, size, space};
use loadscope_model::command::{Action, Command, Group};
use loadscope_model::state::State;
use loadscope_words::say;

/// Minimum width of a window with three columns, points.
const WHOLE: f32 = 1000.0;
/// Height of everything above and below the columns, points. Columns that do not fit scroll.
const AROUND: f32 = 140.0;

/// Shows the help sheet if it is open.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    if !state.overlay.help_open {
        return Vec::new();
    }
    let is_open = sheet(ui, say!("Keys"), |ui| {
        let size = ui.ctx().content_rect().size();
        let is_wide = size.x >= WHOLE;
        if !is_wide {
            ui.set_width(max_width(ui));
        }
        ScrollArea::vertical()
            .auto_shrink([is_wide, true])
            .max_height(size.y - AROUND)
            .show(ui, |ui| match is_wide {
                true => in_columns(ui, &[&Group::ALL[..2], &Group::ALL[2..5], &Group::ALL[5..]]),
                false => in_columns(ui, &[&Group::ALL[..3], &Group::ALL[3..]]),
            });
        ui.add_space(space::GAP);
        let mouse = say!(
            "On the timeline: Ctrl+wheel zooms, Shift+wheel or drag moves, drag on the ruler selects a range. Hold W, A, S or D to keep moving."
        );
        ui.label(RichText::new(mouse).color(Palette::of(ui).weak));
    });
    if is_open {
        Vec::new()
    } else {
        vec![Action::Help.into()]
    }
}

fn in_columns(ui: &mut Ui, columns: &[&[Group]]) {
    ui.horizontal_top(|ui| {
        for (at, groups) in columns.iter().enumerate() {
            if at > 0 {
                ui.add_space(space::GROUP);
            }
            ui.vertical(|ui| groups.iter().for_each(|g| group(ui, *g)));
        }
    });
}

fn group(ui: &mut Ui, group: Group) {
    title(ui, group.label());
    // All keys must fit into the smallest window.
    ui.spacing_mut().interact_size.y = 18.0;
    Grid::new(group.label())
        .num_columns(2)
        .spacing([12.0, 2.0])
        .show(ui, |ui| {
            for action in Action::all().filter(|a| a.info().group == group) {
                let (info, keys) = (action.info(), action.all_keys(ui.ctx()));
                if keys.is_empty() {
                    continue;
                }
                ui.label(
                    RichText::new(keys)
                        .font(mono(size::SMALL))
                        .color(Palette::of(ui).weak),
                );
                ui.label(info.name).on_hover_text(info.tooltip);
                ui.end_row();
            }
        });
    ui.add_space(space::GAP * 2.0);
}
