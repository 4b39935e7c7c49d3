//! What was waited for longest: batches and samples.

use egui::Ui;
use loadscope_trace::Nanos;

use crate::kit::rows::{Cell, Marks, button, row, section};
use crate::theme::Palette;
use loadscope_insight::diagnose::look::Look;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};

/// Widths of the columns.
const NAME: f32 = 130.0;
const NUMBER: f32 = 64.0;
const CAUSE: f32 = 170.0;

/// Shows both tables. A click selects the batch, which the inspector then shows.
pub fn show(ui: &mut Ui, state: &State, look: &Look, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    if !look.waits.is_empty() {
        section(ui, "Longest waits");
        let head = [
            Cell::head("Batch", NAME, false, palette),
            Cell::head("Because of", CAUSE, false, palette),
            Cell::head("Worker", NUMBER, true, palette),
            Cell::head("Waited", NUMBER, true, palette),
        ];
        row(ui, &head, Marks::default());
        for wait in &look.waits {
            let worker = wait.worker.map_or("—".to_owned(), |w| w.to_string());
            let cells = [
                chosen(
                    Cell::word(wait.id.to_string(), NAME),
                    state,
                    wait.row,
                    palette,
                ),
                Cell::word(wait.cause.label(), CAUSE),
                Cell::number(worker, NUMBER),
                Cell::number(wait.time.as_str(), NUMBER),
            ];
            if button(ui, &cells, Marks::default()).clicked() {
                look_at(wait.row, wait.end, commands);
            }
        }
    }
    if !look.samples.is_empty() {
        section(ui, "Samples that were waited for longest");
        let head = [
            Cell::head("Sample", NAME, false, palette),
            Cell::head("Batch", CAUSE, false, palette),
            Cell::head("Took", NUMBER, true, palette),
            Cell::head("Waited", NUMBER, true, palette),
        ];
        row(ui, &head, Marks::default());
        for sample in &look.samples {
            let cells = [
                chosen(
                    Cell::word(sample.name.as_str(), NAME),
                    state,
                    sample.row,
                    palette,
                ),
                Cell::word(sample.id.to_string(), CAUSE),
                Cell::number(sample.took.as_str(), NUMBER),
                Cell::number(sample.waited.as_str(), NUMBER),
            ];
            if button(ui, &cells, Marks::default()).clicked() {
                look_at(sample.row, sample.until, commands);
            }
        }
    }
}

/// The selected batch stands out.
fn chosen(cell: Cell, state: &State, row: usize, palette: &Palette) -> Cell {
    match state.session.selection {
        Some(Item::Batch(selected)) if selected == row => cell.strong(palette),
        _ => cell,
    }
}

/// Selects a batch as it was when the trainer got it.
pub fn look_at(row: usize, at: Nanos, commands: &mut Vec<Command>) {
    commands.push(Command::Select(Some(Item::Batch(row))));
    commands.push(Command::Cursor(Cursor::At(at)));
}
