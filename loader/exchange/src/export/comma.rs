//! Tables as text with commas (RFC 4180): names in the first line, nothing for what is missing.
//!
//! Spreadsheets take a text that begins like a formula for one, and run it. Names are the recorded program's, so such a one
//! gets an apostrophe before it. So does one that begins with an apostrophe: taking one away gives every text back.

use std::io::Write;

use loadscope_trace::{Run, RunId};

use super::cell::Cell;
use super::failure::Failure;
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

/// True of what a spreadsheet may calculate.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}
