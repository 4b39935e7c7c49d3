//! What is inside a batch: its fields, pictures, numbers and texts.

use eframe::egui::{RichText, Ui};
use loadscope_trace::{BatchContent, Field, FieldData, Run};

use super::pictures::{Captions, PictureCache};
use super::rows::{Cell, Marks, ROW, remark, row, section};
use crate::format;
use crate::theme::{Palette, mono, size};

/// Rows of values that are shown at once.
const MOST: usize = 12;

/// All fields of the content of a batch.
pub fn show(ui: &mut Ui, pictures: &mut PictureCache, run: &Run, at: usize) {
    let Some(content) = run.content(at) else {
        section(ui, "Content");
        remark(ui, why_not(run, at));
        return;
    };
    let captions = captions(run, at, content);
    let looks = |f: &&Field| matches!(f.data, FieldData::Pictures(_));
    for (k, field) in content.fields.iter().enumerate().filter(|(_, f)| looks(f)) {
        if let FieldData::Pictures(data) = &field.data {
            section(ui, "Pictures");
            pictures.grid(ui, (at, k), data, &captions);
        }
    }
    section(ui, "Fields");
    for field in &content.fields {
        describe(ui, field);
        values(ui, field);
        ui.add_space(6.0);
    }
}

fn why_not(run: &Run, at: usize) -> &'static str {
    match run.batches().get(at) {
        Some(b) if b.has_error => "There is no content, because the batch failed",
        Some(b) if !b.stage.has_arrived() => "The content is known once the batch is collated",
        _ => "The content of this batch was not kept",
    }
}

/// What stands below each picture: the name of its class or its label, and its index.
fn captions(run: &Run, at: usize, content: &BatchContent) -> Captions {
    let labels = content.fields.iter().find_map(|f| match &f.data {
        FieldData::Numbers(values) if f.shape.len() == 1 && f.dtype.contains("int") => Some(values),
        _ => None,
    });
    let name = |label: f64| {
        let known = (label >= 0.0)
            .then(|| run.info.classes.get(label as usize))
            .flatten();
        known.cloned().unwrap_or_else(|| label.to_string())
    };
    Captions {
        names: labels
            .map(|l| l.iter().map(|v| name(*v)).collect())
            .unwrap_or_default(),
        indices: run.indices(at).to_vec(),
    }
}

fn describe(ui: &mut Ui, field: &Field) {
    let palette = Palette::of(ui.ctx());
    let sizes: Vec<String> = field.shape.iter().map(i64::to_string).collect();
    let shape = format!("[{}]", sizes.join(", "));
    ui.horizontal_wrapped(|ui| {
        ui.set_min_height(ROW);
        ui.label(
            RichText::new(&field.name)
                .font(mono(size::BODY))
                .color(palette.strong),
        );
        ui.label(
            RichText::new(&field.dtype)
                .font(mono(size::SMALL))
                .color(palette.weak),
        );
        ui.label(
            RichText::new(shape)
                .font(mono(size::SMALL))
                .color(palette.text),
        );
        if field.pinned {
            ui.label(RichText::new("pinned").color(palette.pin));
        }
    });
    if field.min.is_none() && field.max.is_none() && field.nan == 0 {
        return;
    }
    let width = (ui.available_width() - 24.0) / 4.0;
    let heads = ["min", "max", "mean", "NaN"].map(|h| Cell::head(h, width, true, palette));
    row(ui, &heads, Marks::default());
    let value = |v: Option<f64>| Cell::number(v.map_or("—".to_owned(), number), width);
    let nan = Cell::number(format::count(field.nan), width);
    let nan = if field.nan > 0 {
        nan.colour(palette.stall)
    } else {
        nan
    };
    row(
        ui,
        &[value(field.min), value(field.max), value(field.mean), nan],
        Marks::default(),
    );
}

/// A value as people read it: whole numbers without decimals, others with four significant digits.
pub fn number(v: f64) -> String {
    if !v.is_finite() {
        return v.to_string();
    }
    if v == v.trunc() && v.abs() < 1e7 {
        return format!("{v:.0}");
    }
    match v.abs() {
        a if !(1e-3..1e6).contains(&a) => format!("{v:.2e}"),
        a => format!(
            "{v:.*}",
            (3 - a.log10().floor() as i32).clamp(0, 6) as usize
        ),
    }
}

fn values(ui: &mut Ui, field: &Field) {
    match &field.data {
        FieldData::Omitted => remark(ui, "Its values were not kept"),
        FieldData::Pictures(_) => {}
        FieldData::Text(texts) => {
            let width = ui.available_width();
            for text in texts.iter().take(MOST) {
                row(ui, &[Cell::word(text, width)], Marks::default());
            }
            more(ui, texts.len());
        }
        FieldData::Numbers(values) => numbers(ui, field, values),
    }
}

/// One row a sample, the values in columns.
fn numbers(ui: &mut Ui, field: &Field, values: &[f64]) {
    let of_one: i64 = field.shape.iter().skip(1).product();
    let width = ui.available_width();
    let columns = ((width / 44.0) as usize).max(1);
    // A list of scalars fills its rows; of anything else, a row is a sample.
    let is_list = field.shape.len() <= 1;
    let per_row = if is_list {
        columns
    } else {
        of_one.clamp(1, 1 << 20) as usize
    };
    let chunks = values.chunks(per_row);
    let count = chunks.len();
    for chunk in chunks.take(MOST) {
        let shown = if chunk.len() > columns {
            columns - 1
        } else {
            chunk.len()
        };
        let column = width / columns as f32 - 8.0;
        let mut cells: Vec<Cell> = chunk[..shown]
            .iter()
            .map(|v| Cell::number(number(*v), column))
            .collect();
        if shown < chunk.len() {
            cells.push(Cell::number("…", column));
        }
        row(ui, &cells, Marks::default());
    }
    more(ui, count);
}

fn more(ui: &mut Ui, count: usize) {
    if count > MOST {
        let left = (count - MOST) as u64;
        remark(
            ui,
            &format!("and {}", format::plural(left, "row more", "rows more")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn values_read_well() {
        assert_eq!(number(3.0), "3");
        assert_eq!(number(-0.5), "-0.5000");
        assert_eq!(number(4.88421), "4.884");
        assert_eq!(number(123.456), "123.5");
        assert_eq!(number(0.000012), "1.20e-5");
        assert_eq!(number(f64::NAN), "NaN");
    }
}
