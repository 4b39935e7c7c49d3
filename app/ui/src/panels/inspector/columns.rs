//! Rows of tabular data, with one column per field.

use egui::{ScrollArea, Ui};
use loadscope_insight::content::{Column, Table, Value};
use loadscope_insight::format;
use loadscope_words::say;

use super::heatmap::number;
use crate::kit::empty::remark;
use crate::kit::rows::{Cell, Marks, ROW, row};
use crate::kit::titles::section_with;
use crate::theme::{Palette, size};

/// Minimum and maximum width of a column, points.
const NARROWEST: f32 = 44.0;
const WIDEST: f32 = 150.0;
/// Approximate width of a character, points.
const CHARACTER: f32 = 7.0;
/// Space between columns, as in `rows`, points.
const GAP: f32 = 8.0;
/// Number of visible rows. The others scroll.
const MAX_VISIBLE: usize = 16;

/// Shows the rows.
pub fn show(ui: &mut Ui, table: &Table, indices: &[u64]) {
    section_with(ui, say!("Rows"), |ui| {
        let text = format!(
            "{}, {}",
            format::plural(table.rows as u64, say!(n: "row"), say!(n: "rows")),
            format::plural(
                table.columns.len() as u64,
                say!(n: "column"),
                say!(n: "columns")
            )
        );
        ui.label(
            egui::RichText::new(text)
                .size(size::SMALL)
                .color(Palette::of(ui.ctx()).weak),
        );
    });
    let palette = Palette::of(ui.ctx());
    let has_words = |k: usize| {
        let column = table.columns.get(k);
        column.is_some_and(|c| {
            c.values
                .iter()
                .any(|v| matches!(v, Value::Text(_) | Value::Numbers(_)))
        })
    };
    let widths: Vec<f32> = table.columns.iter().map(width).collect();
    let index_width = if indices.is_empty() { 0.0 } else { 52.0 };
    let wide = widths.iter().sum::<f32>() + GAP * (widths.len() + 1) as f32 + index_width;
    ScrollArea::horizontal()
        .id_salt("rows of a table")
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.set_width(wide.max(ui.available_width()));
            ui.spacing_mut().item_spacing.y = 0.0;
            let head = |line: fn(&Column) -> String, index: &str| {
                let first =
                    (index_width > 0.0).then(|| Cell::heading(index, index_width, true, palette));
                let columns = table.columns.iter().zip(&widths).enumerate();
                let rest = columns
                    .map(|(k, (c, width))| Cell::heading(&line(c), *width, !has_words(k), palette));
                first.into_iter().chain(rest).collect::<Vec<_>>()
            };
            row(ui, &head(|c| c.name.clone(), "index"), Marks::default());
            row(ui, &head(|c| c.kind.clone(), ""), Marks::default());
            ScrollArea::vertical()
                .id_salt("rows of a table, down")
                .max_height(MAX_VISIBLE as f32 * ROW)
                .auto_shrink([false, true])
                .show_rows(ui, ROW, table.rows, |ui, range| {
                    for at in range {
                        let index = indices.get(at).map_or_else(String::new, u64::to_string);
                        let first = (index_width > 0.0)
                            .then(|| Cell::number(index, index_width).color(palette.weak));
                        let columns = table.columns.iter().zip(&widths).enumerate();
                        let rest = columns.map(|(k, (column, width))| {
                            let value = column.values.get(at).unwrap_or(&Value::Unknown);
                            cell(value, *width, has_words(k), palette)
                        });
                        let cells: Vec<Cell> = first.into_iter().chain(rest).collect();
                        row(ui, &cells, Marks::default());
                    }
                });
        });
    let nulls: Vec<String> = (table.columns.iter())
        .filter(|c| c.nulls() > 0)
        .map(|c| say!("{} in {}", format::count(c.nulls() as u64), c.name))
        .collect();
    if !nulls.is_empty() {
        remark(ui, &say!("Null: {}", nulls.join(say!(", "))));
    }
}

/// Returns the width of a column's longest text, within limits.
fn width(column: &Column) -> f32 {
    let texts = column
        .values
        .iter()
        .take(64)
        .map(|v| text(v).chars().count());
    let heads = [&column.name, &column.kind].map(|head| head.chars().count());
    let longest = texts.chain(heads).max().unwrap_or(0);
    (longest as f32 * CHARACTER + 4.0).clamp(NARROWEST, WIDEST)
}

/// Returns the text of a table cell.
fn text(value: &Value) -> String {
    match value {
        Value::Null => say!("null").to_owned(),
        Value::Unknown => "…".to_owned(),
        Value::Number(v) => number(*v),
        Value::Numbers(values) => {
            let values: Vec<String> = values.iter().map(|v| number(*v)).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Text(text) => text.lines().next().unwrap_or_default().to_owned(),
    }
}

fn cell(value: &Value, width: f32, is_wide: bool, palette: &Palette) -> Cell {
    let cell = match is_wide {
        true => Cell::word(text(value), width),
        false => Cell::number(text(value), width),
    };
    match value {
        Value::Null | Value::Unknown => cell.color(palette.weak),
        Value::Number(_) | Value::Numbers(_) | Value::Text(_) => cell,
    }
}
