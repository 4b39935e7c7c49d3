//! CSV tables (RFC 4180), with names in the first line and empty fields for missing values.
//!
//! Spreadsheets evaluate texts that begin like a formula, and names come from the recorded program. Such a text gets a leading apostrophe.
//! A text that begins with an apostrophe also gets one, so that removing one restores every text.

use std::io::Write;

use loadscope_trace::{Run, RunId};

use super::cell::Cell;
use super::cell::Failure;
use super::table::Table;

/// Writes a table.
pub(super) fn write(
    runs: &[(RunId, &Run)],
    names: &[String],
    table: Table,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<(), Failure> {
    let mut lines = csv::Writer::from_writer(out);
    let failed = |e: csv::Error| match e.into_kind() {
        csv::ErrorKind::Io(cause) => Failure::Io(cause),
        other => Failure::Other(format!("{other:?}")),
    };
    let columns = table.columns(runs);
    lines
        .write_record(columns.iter().map(|c| c.name.as_str()))
        .map_err(failed)?;
    let mut text = String::new();
    table.rows(runs, names, progress, &mut |row| {
        use std::fmt::Write as _;
        for cell in row {
            text.clear();
            // Writing to a String cannot fail.
            let _ = match cell {
                Cell::None => Ok(()),
                Cell::Int(n) => write!(text, "{n}"),
                Cell::Unsigned(n) => write!(text, "{n}"),
                Cell::Float(x) => write!(text, "{x}"),
                Cell::Bool(b) => write!(text, "{b}"),
                Cell::Text(t) if is_formula(t) || t.starts_with('\'') => write!(text, "'{t}"),
                Cell::Text(t) => write!(text, "{t}"),
            };
            lines.write_field(&text).map_err(failed)?;
        }
        lines.write_record(None::<&[u8]>).map_err(failed)
    })?;
    Ok(lines.flush()?)
}

/// Returns true if a spreadsheet may evaluate the text as a formula.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}
