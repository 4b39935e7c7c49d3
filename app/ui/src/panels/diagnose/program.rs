//! Time of a program with several loaders, as one bar with its parts.

use egui::{Color32, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use loadscope_insight::report::program::{Part, Phase, Program};
use loadscope_model::command::Command;
use loadscope_trace::{Activity, percent};
use loadscope_words::say;

use crate::kit::empty::remark;
use crate::kit::rows::{Cell, Marks, button, row};
use crate::kit::titles::section;
use crate::theme::Palette;

/// Height of the bar, points.
const BAR: f32 = 24.0;
/// Minimum share of a part with its own line.
const LEAST: f64 = 0.005;

/// Shows the time of the program if it has several loaders.
pub fn show(ui: &mut Ui, program: Option<&Program>, commands: &mut Vec<Command>) {
    let Some(program) = program else {
        return;
    };
    section(ui, say!("Time of the program"));
    bar(ui, program);
    for part in program
        .parts
        .iter()
        .filter(|part| program.share(part) >= LEAST)
    {
        line(ui, program, part, commands);
    }
    if let Some(loader) = &program.begin_with {
        remark(
            ui,
            &say!("Start with {loader}, which causes the longest wait"),
        );
    }
}

/// Draws all parts next to each other.
fn bar(ui: &mut Ui, program: &Program) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let palette = Palette::of(ui);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, program.sentence()));
    let pointer = response.hover_pos();
    let mut pointed = None;
    let mut x = rect.left();
    for part in &program.parts {
        let right = x + rect.width() * program.share(part) as f32;
        let piece = Rect::from_min_max(pos2(x, rect.top()), pos2(right, rect.bottom()));
        ui.painter()
            .rect_filled(piece, 0.0, color(palette, part.what));
        // The trainer may wait for two loaders in turn, so a thin gap separates the parts.
        let edge = Rect::from_min_max(pos2(right - 1.0, rect.top()), piece.max);
        if right < rect.right() - 0.5 && piece.width() > 3.0 {
            ui.painter().rect_filled(edge, 0.0, palette.canvas);
        }
        if pointer.is_some_and(|p| piece.contains(p)) {
            pointed = Some(part);
        }
        x = right;
    }
    if let Some(part) = pointed {
        let share = percent(program.share(part));
        response.on_hover_text(format!("{}\n{} · {share}", part.label(), part.time));
    }
}

fn line(ui: &mut Ui, program: &Program, part: &Part, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let name = (ui.available_width() - 150.0).clamp(120.0, 320.0);
    let cells = [
        Cell::word(loadscope_insight::format::capital(&part.label()), name),
        Cell::number(part.time.to_string(), 70.0),
        Cell::number(percent(program.share(part)), 56.0),
    ];
    let marks = Marks {
        dot: Some(color(palette, part.what)),
        bar: None,
    };
    match &part.loader {
        Some((id, name)) => {
            let tip = say!("Shows {name}");
            if button(ui, &cells, marks).on_hover_text(tip).clicked() {
                commands.push(Command::ShowLoader(*id));
            }
        }
        None => {
            row(ui, &cells, marks);
        }
    }
}

fn color(palette: &Palette, what: Phase) -> Color32 {
    match what {
        Phase::Steps => palette.activity(Activity::Training),
        Phase::Waiting => palette.activity(Activity::Waiting),
        Phase::Starting => palette.activity(Activity::Queued),
        Phase::Elsewhere => palette.weak,
    }
}
