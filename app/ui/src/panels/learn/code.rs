//! Program of a lesson, with the output of real PyTorch.

use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Label, Layout, Rect, RichText, ScrollArea, Ui, pos2};
use loadscope_lessons::{BuiltInPrograms, ProgramCatalog as _};
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::state::State;

use super::nav::scrolled;
use super::text::show_in;
use super::text::{body, paragraph};
use super::words::Word;
use crate::theme::{Palette, mono, sans, size, space};

/// Shows the program in `room`.
pub fn show(
    ui: &mut Ui,
    state: &State,
    room: Rect,
    says: &str,
    name: &str,
    commands: &mut Vec<Command>,
) {
    let language = state.prefs.learned.language;
    let ink = Palette::of(ui).text;
    let wide = room.width() >= 860.0;
    // The code is next to the text if there is room, and below it otherwise.
    let (text, codes) = match wide {
        true => room.split_left_right_at_x(room.left() + (room.width() * 0.3).clamp(220.0, 360.0)),
        false => room.split_top_bottom_at_y(room.top() + 62.0),
    };
    let mut text = text;
    text.max.x -= if wide { space::GROUP } else { 0.0 };
    scrolled(ui, &format!("code text {name}"), text, |ui| {
        let points = if wide { body(state) } else { size::BODY };
        paragraph(ui, says, points, ink);
    });
    let Some(code) = BuiltInPrograms.code(name) else {
        return;
    };
    let middle = codes.left() + codes.width() * 0.56;
    let (program, printed) = codes.split_left_right_at_x(middle);
    let program = Rect::from_min_max(
        program.min,
        pos2(middle - space::GAP * 2.0, program.bottom()),
    );
    block(
        ui,
        program,
        Word::Program.text(language),
        code.source,
        |ui| {
            let copy = ui.small_button(Word::Copy.text(language));
            if copy.clicked() {
                commands.push(Command::Perform(Effect::Copy(code.source.to_owned())));
            }
        },
    );
    block(
        ui,
        printed,
        Word::Printed.text(language),
        code.output,
        |_| {},
    );
}

/// Shows a heading and lines of text that scroll.
fn block(ui: &mut Ui, room: Rect, title: &str, text: &str, right: impl FnOnce(&mut Ui)) {
    let palette = Palette::of(ui);
    show_in(ui, room, |ui| {
        ui.spacing_mut().item_spacing.y = space::GAP;
        ui.horizontal(|ui| {
            ui.set_height(20.0);
            let title = RichText::new(title).font(sans(size::SMALL));
            ui.add(Label::new(title.color(palette.weak)).truncate());
            ui.with_layout(Layout::right_to_left(Align::Center), right);
        });
        let lines = ui.available_rect_before_wrap();
        ui.painter().rect_filled(lines, 4.0, palette.canvas);
        let inner = lines.shrink(space::GAP * 2.0);
        show_in(ui, inner, |ui| {
            ScrollArea::vertical()
                .id_salt(title)
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    let job = colored(palette, text.trim_end());
                    // Long lines wrap, as in a terminal.
                    ui.add(Label::new(job).wrap().selectable(true));
                });
        });
    });
}

/// Colors a program. Comments are weak.
fn colored(palette: &Palette, text: &str) -> LayoutJob {
    let mut job = LayoutJob::default();
    for (k, line) in text.lines().enumerate() {
        let ink = match line.trim_start().starts_with('#') {
            true => palette.weak,
            false => palette.text,
        };
        let format = TextFormat::simple(mono(size::SMALL + 0.5), ink);
        if k > 0 {
            job.append("\n", 0.0, format.clone());
        }
        job.append(line, 0.0, format);
    }
    job
}
