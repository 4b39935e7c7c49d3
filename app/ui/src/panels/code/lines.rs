//! Hot lines of the selection, the hottest first.

use egui::{ScrollArea, Ui};
use loadscope_insight::code::CodeProfile;
use loadscope_insight::format;
use loadscope_model::code::place;
use loadscope_model::command::Command;
use loadscope_model::menu_entries::MenuTarget;
use loadscope_model::state::State;
use loadscope_words::say;

use super::shared::{choose, color_of, share_text};
use crate::kit::action::show_menu;
use crate::kit::rows::{Marks, ROW};
use crate::kit::table::{Column, Table, Text};
use crate::theme::Palette;

/// Shows the hot lines, at most `most` at once. A click shows the line in the source.
pub(super) fn show(
    ui: &mut Ui,
    state: &State,
    profile: &CodeProfile,
    most: f32,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui);
    let columns = [
        Column::words(say!("Line"), 118.0),
        Column::numbers(say!("Share"), 44.0),
        Column::words(say!("Function"), 140.0),
        Column::words(say!("Calls"), 140.0),
    ];
    let table = Table::new(ui, columns);
    let shown = place(state);
    let gap = std::mem::take(&mut ui.spacing_mut().item_spacing.y);
    ScrollArea::vertical()
        .id_salt("hot lines")
        .max_height(most * ROW)
        .auto_shrink([false, true])
        .show_rows(ui, ROW, profile.lines.len(), |ui, rows| {
            for line in profile.lines.get(rows).unwrap_or_default() {
                let mut cells = [
                    Text::from(line.place.short()),
                    format::percent(profile.share(line.samples)).into(),
                    line.function.as_str().into(),
                    line.callee.as_deref().unwrap_or_default().into(),
                ];
                if shown == Some(&line.place) {
                    cells = cells.map(|cell| cell.strong(palette));
                }
                let share = profile.share(line.samples) as f32;
                let bar = Some((0.0, share, color_of(profile, palette)));
                let response = table.button(ui, cells, Marks { dot: None, bar });
                if response.clicked() || response.secondary_clicked() {
                    let place = line.place.clone();
                    choose(state, commands, |choice| choice.line = Some(place));
                }
                show_menu(&response, state, || Some(MenuTarget::Line), commands);
                let tip = [
                    format!("{}:{}", line.place.file, line.place.line),
                    line.function.clone(),
                    share_text(profile, line.samples),
                ];
                response.on_hover_text(tip.join("\n"));
            }
        });
    ui.spacing_mut().item_spacing.y = gap;
}
