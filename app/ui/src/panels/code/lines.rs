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
        Column::words(say!("Line"), 150.0),
        Column::numbers(say!("Share"), 44.0),
        Column::words(say!("Function"), 124.0),
        Column::words(say!("Calls"), 106.0),
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
                    (line.callee.as_deref())
                        .map_or(String::new(), shortened)
                        .into(),
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
                let mut tip = vec![
                    format!("{}:{}", line.place.file, line.place.line),
                    line.function.clone(),
                    share_text(profile, line.samples),
                ];
                tip.extend(line.callee.as_ref().map(|callee| say!("Calls {callee}")));
                response.on_hover_text(tip.join("\n"));
            }
        });
    ui.spacing_mut().item_spacing.y = gap;
}

/// Returns the package and the function of a long name: `torchvision…resize`.
fn shortened(name: &str) -> String {
    /// Number of characters that fit into the column.
    const MOST: usize = 19;
    let ends = name.split_once('.').zip(name.rsplit_once('.'));
    match ends {
        Some(((package, _), (_, function))) if name.chars().count() > MOST => {
            format!("{package}…{function}")
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_ends() {
        let long = "torchvision.transforms.functional.resize";
        assert_eq!(shortened(long), "torchvision…resize");
        assert_eq!(shortened("PIL.Image.open"), "PIL.Image.open");
        assert_eq!(shortened("main"), "main");
    }
}
