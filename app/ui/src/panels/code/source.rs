//! Source of a file, with the share of each line.

use std::ops::Range;

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align, Align2, Color32, FontId, Label, Layout, Rect, RichText, ScrollArea, Sense, Ui, pos2,
    vec2,
};
use loadscope_insight::code::{CodeProfile, Place, SourceFile};
use loadscope_insight::format;
use loadscope_model::code::place;
use loadscope_model::command::{Action, Command};
use loadscope_model::menu_entries::MenuTarget;
use loadscope_model::state::State;
use loadscope_trace::is_user_file;
use loadscope_words::say;

use super::shared::{choose, color_of, share_text};
use crate::kit::action::{renamed_button, show_menu};
use crate::kit::empty::remark;
use crate::kit::titles::title_text;
use crate::theme::{Palette, mono, size, space};

/// Height of a line, points.
const LINE: f32 = 17.0;
/// Widths of the share, of its bar and of the line number, points.
const SHARE: f32 = 42.0;
const BAR: f32 = 30.0;
const NUMBER: f32 = 32.0;

/// Source view. It scrolls to a chosen line that is not visible.
#[derive(Default)]
pub(super) struct SourceView {
    /// Run and line of the last frame.
    shown: Option<(u64, Place)>,
    /// Visible lines, counted from 0.
    seen: Range<usize>,
}

impl SourceView {
    /// Shows the source of the chosen line.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        state: &State,
        profile: &CodeProfile,
        commands: &mut Vec<Command>,
    ) {
        let Some(place) = place(state) else {
            remark(ui, say!("No stack is in a line of a file"));
            return;
        };
        heading(ui, state, place, commands);
        let file = profile.files.get(&place.file);
        let Some((file, text)) = file.and_then(|file| Some((file, file.text.as_deref()?))) else {
            remark(
                ui,
                match is_user_file(&place.file) {
                    true => say!("The recording does not contain the source of this file"),
                    false => say!(
                        "Recordings contain the source of your own files only, not of libraries"
                    ),
                },
            );
            return;
        };
        let now = (state.session.run_number, place.clone());
        let mut area = ScrollArea::vertical().id_salt("source").auto_shrink(false);
        if self.shown.as_ref() != Some(&now) {
            let is_same = |(run, shown): &(u64, Place)| (*run, &shown.file) == (now.0, &place.file);
            let is_seen = self.shown.as_ref().is_some_and(is_same)
                && self.seen.contains(&(place.line as usize).saturating_sub(1));
            if !is_seen {
                let middle = (place.line as f32 - 0.5) * LINE - ui.available_height() / 2.0;
                area = area.vertical_scroll_offset(middle.max(0.0));
            }
            self.shown = Some(now);
        }
        let before = std::mem::take(&mut ui.spacing_mut().item_spacing.y);
        area.show_rows(ui, LINE, text.len(), |ui, rows| {
            self.seen = rows.clone();
            for at in rows {
                if let Some(text) = text.get(at) {
                    let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
                    let one = SourceLine { line, text, file };
                    one.show(ui, state, profile, place, commands);
                }
            }
        });
        ui.spacing_mut().item_spacing.y = before;
    }
}

/// Shows the file and the buttons for it.
fn heading(ui: &mut Ui, state: &State, place: &Place, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.label(title_text(ui, place.short()));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            renamed_button(
                ui,
                state,
                Action::OpenEditor,
                say!("Open in the editor"),
                commands,
            );
            renamed_button(ui, state, Action::CopyPlace, say!("Copy"), commands);
            let folder = place.file.rsplit_once('/').map_or("", |(folder, _)| folder);
            let folder = RichText::new(folder).color(Palette::of(ui).weak);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let label = ui.add(Label::new(folder).truncate());
                label.on_hover_text(&place.file);
            });
        });
    });
    ui.add_space(space::GAP);
}

/// Line of the source.
struct SourceLine<'a> {
    /// Number, counted from 1.
    line: u32,
    text: &'a str,
    file: &'a SourceFile,
}

impl SourceLine<'_> {
    fn show(
        &self,
        ui: &mut Ui,
        state: &State,
        profile: &CodeProfile,
        shown: &Place,
        commands: &mut Vec<Command>,
    ) {
        let palette = Palette::of(ui);
        let samples = self.file.heat.get(&self.line).copied().unwrap_or_default();
        let sense = match samples {
            0 => Sense::hover(),
            _ => Sense::click(),
        };
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), LINE), sense);
        let share = profile.share(samples) as f32;
        let color = color_of(profile, palette);
        let is_shown = self.line == shown.line;
        if is_shown {
            ui.painter().rect_filled(rect, 2.0, palette.selected());
        } else if samples > 0 && response.hovered() {
            ui.painter().rect_filled(rect, 2.0, palette.hovered());
        }
        let mut x = rect.left();
        if samples > 0 {
            let text = format::percent(profile.share(samples));
            let at = pos2(x + SHARE, rect.center().y);
            let ink = if is_shown {
                palette.strong
            } else {
                palette.text
            };
            ui.painter()
                .text(at, Align2::RIGHT_CENTER, text, font(), ink);
            let left = x + SHARE + 6.0;
            let bar = Rect::from_min_max(
                pos2(left, rect.top() + 4.0),
                pos2(left + (BAR * share).max(1.5), rect.bottom() - 4.0),
            );
            ui.painter().rect_filled(bar, 1.0, color);
        }
        x += SHARE + 6.0 + BAR + NUMBER;
        let number = self.line.to_string();
        let at = pos2(x, rect.center().y);
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, number, font(), palette.weak);
        let ink = match self.text.trim_start().starts_with('#') {
            true => palette.weak,
            false if is_shown => palette.strong,
            false => palette.text,
        };
        let room = Rect::from_min_max(pos2(x + 10.0, rect.top()), rect.max);
        write(ui, room, self.text, ink);
        if samples == 0 {
            return;
        }
        if response.clicked() || response.secondary_clicked() {
            let place = Place {
                file: shown.file.clone(),
                line: self.line,
            };
            choose(state, commands, |choice| choice.line = Some(place));
        }
        show_menu(&response, state, || Some(MenuTarget::Line), commands);
        response.on_hover_text_at_pointer(share_text(profile, samples));
    }
}

fn font() -> FontId {
    mono(size::SMALL)
}

/// Writes a line of code. A line that is too long ends with an ellipsis.
fn write(ui: &Ui, room: Rect, text: &str, ink: Color32) {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font(), ink);
    job.wrap = TextWrapping::truncate_at_width(room.width());
    let galley = ui.painter().layout_job(job);
    let at = pos2(room.left(), room.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, ink);
}
