//! Batches and samples that caused the longest waits.

use egui::Ui;
use loadscope_trace::Nanos;
use loadscope_words::say;

use crate::kit::rows::Marks;
use crate::kit::table::{Column, Table, Text};
use crate::kit::titles::section;
use crate::theme::Palette;
use loadscope_insight::diagnose::run_analysis::RunAnalysis;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};

/// Widths of the columns, points.
const NAME: f32 = 130.0;
const NUMBER: f32 = 64.0;
const CAUSE: f32 = 170.0;

/// Shows both tables. A click selects the batch for the inspector.
pub fn show(ui: &mut Ui, state: &State, look: &RunAnalysis, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    if !look.waits.is_empty() {
        section(ui, say!("Longest waits"));
        let columns = [
            Column::words(say!("Batch"), NAME),
            Column::words(say!("Cause"), CAUSE),
            Column::numbers(say!("Worker"), NUMBER),
            Column::numbers(say!("Waited"), NUMBER),
        ];
        let table = Table::new(ui, columns);
        for wait in &look.waits {
            let worker = wait.worker.map_or("—".to_owned(), |w| w.to_string());
            let cells = [
                chosen(wait.id.to_string().into(), state, wait.row, palette),
                wait.cause.label().into(),
                worker.into(),
                wait.time.as_str().into(),
            ];
            if table.button(ui, cells, Marks::default()).clicked() {
                look_at(wait.row, wait.end, commands);
            }
        }
    }
    if !look.samples.is_empty() {
        section(ui, say!("Samples that caused the longest waits"));
        let columns = [
            Column::words(say!("Sample"), NAME),
            Column::words(say!("Batch"), CAUSE),
            Column::numbers(say!("Took"), NUMBER),
            Column::numbers(say!("Waited"), NUMBER),
        ];
        let table = Table::new(ui, columns);
        for sample in &look.samples {
            let cells = [
                chosen(sample.name.as_str().into(), state, sample.row, palette),
                sample.id.to_string().into(),
                sample.took.as_str().into(),
                sample.waited.as_str().into(),
            ];
            if table.button(ui, cells, Marks::default()).clicked() {
                look_at(sample.row, sample.until, commands);
            }
        }
    }
}

/// Emphasizes the selected batch.
fn chosen(text: Text, state: &State, row: usize, palette: &Palette) -> Text {
    match state.session.selection {
        Some(Item::Batch(selected)) if selected == row => text.strong(palette),
        _ => text,
    }
}

/// Selects a batch, with the cursor at the instant when the trainer received it.
pub fn look_at(row: usize, at: Nanos, commands: &mut Vec<Command>) {
    commands.push(Command::Select(Some(Item::Batch(row))));
    commands.push(Command::Cursor(Cursor::At(at)));
}
