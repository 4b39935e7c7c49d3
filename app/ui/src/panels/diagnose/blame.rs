//! Waited time as one bar with its causes.

use egui::{Color32, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use loadscope_diagnose::Cause;
use loadscope_words::say;

use crate::kit::empty::remark;
use crate::kit::rows::{Cell, Marks, button, row};
use crate::kit::titles::section;
use crate::theme::{Palette, sans, size};
use loadscope_insight::diagnose::run_analysis::{Part, RunAnalysis};
use loadscope_model::command::Command;

use super::findings::look_at;

/// Height of the bar, points.
const BAR: f32 = 24.0;

/// Shows the waits by cause.
pub fn show(ui: &mut Ui, look: &RunAnalysis, commands: &mut Vec<Command>) {
    section(ui, say!("Waits by cause"));
    if look.parts.is_empty() {
        remark(ui, say!("The trainer never waited"));
    } else {
        bar(ui, look);
        let explained = room_for_explanations(ui, &look.parts);
        for part in &look.parts {
            line(ui, part, explained, commands);
        }
    }
    if let Some(time) = &look.ready_batches {
        remark(
            ui,
            &say!("Finished batches waited {time} in total in the reorder buffer"),
        );
    }
    if !look.blame.not_measured.is_empty() {
        let names: Vec<&str> = look.blame.not_measured.iter().map(|c| c.label()).collect();
        remark(ui, &say!("Not measured: {}", names.join(say!(", "))));
    }
}

/// Draws the causes next to each other. Together they are the waited time.
fn bar(ui: &mut Ui, look: &RunAnalysis) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let palette = Palette::of(ui);
    let spoken: Vec<String> = look
        .parts
        .iter()
        .map(|p| format!("{} {}", p.cause.label(), p.percent))
        .collect();
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, spoken.join(say!(", "))));
    let mut x = rect.left();
    let pointer = response.hover_pos();
    let mut pointed = None;
    for part in &look.parts {
        let right = x + rect.width() * part.share as f32;
        let piece = Rect::from_min_max(pos2(x, rect.top()), pos2(right, rect.bottom()));
        let color = color(palette, part.cause);
        ui.painter().rect_filled(piece, 0.0, color);
        // Neighbors may have the same color, so a thin gap separates them.
        let edge = Rect::from_min_max(pos2(right - 1.0, rect.top()), piece.max);
        if right < rect.right() - 0.5 && piece.width() > 3.0 {
            ui.painter().rect_filled(edge, 0.0, palette.canvas);
        }
        let font = sans(size::SMALL);
        let text_color = palette.text_on(color);
        let label = format!("{} {}", part.cause.label(), part.percent);
        let galley = ui.painter().layout_no_wrap(label, font, text_color);
        if galley.size().x + 12.0 < piece.width() {
            let at = pos2(piece.left() + 6.0, piece.center().y - galley.size().y / 2.0);
            ui.painter().galley(at, galley, text_color);
        }
        if pointer.is_some_and(|p| piece.contains(p)) {
            pointed = Some(part);
        }
        x = right;
    }
    if let Some(part) = pointed {
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(part.cause.label());
            ui.label(format!("{} · {}", part.time, part.percent));
            ui.label(part.cause.explanation());
        });
    }
}

/// Returns the width of the column of explanations, points. Returns `None` if one of them would be cut off. The tooltips contain them, too.
fn room_for_explanations(ui: &Ui, parts: &[Part]) -> Option<f32> {
    let room = ui.available_width() - 340.0;
    let font = sans(size::BODY);
    let fits = |part: &Part| {
        let text = part.cause.explanation().to_owned();
        let galley = ui
            .painter()
            .layout_no_wrap(text, font.clone(), Color32::WHITE);
        galley.size().x <= room
    };
    parts.iter().all(fits).then_some(room)
}

fn line(ui: &mut Ui, part: &Part, explained: Option<f32>, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let mut cells = vec![
        Cell::word(part.cause.label(), 170.0),
        Cell::number(part.time.as_str(), 70.0),
        Cell::number(part.percent.as_str(), 56.0),
    ];
    if let Some(explained) = explained {
        cells.push(Cell::word(part.cause.explanation(), explained).color(palette.weak));
    }
    let marks = Marks {
        dot: Some(color(palette, part.cause)),
        bar: None,
    };
    match &part.longest {
        Some(wait) => {
            let tip = say!(
                "{}\nSelects {}, the longest wait of this kind",
                part.cause.explanation(),
                wait.id
            );
            if button(ui, &cells, marks).on_hover_text(tip).clicked() {
                look_at(wait.row, wait.end, commands);
            }
        }
        None => {
            row(ui, &cells, marks).on_hover_text(part.cause.explanation());
        }
    }
}

/// Returns the color of a cause, which is the color of its stage.
pub fn color(palette: &Palette, cause: Cause) -> Color32 {
    match cause.activity() {
        Some(activity) => palette.activity(activity),
        None => palette.weak,
    }
}
