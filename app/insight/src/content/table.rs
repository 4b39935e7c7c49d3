//! Batches of columns as table rows, as loaded from CSV, Parquet, SQL and JSON lines.

use loadscope_trace::{BatchContent, Field, FieldData};

use super::path::Slot;

/// Maximum numbers of shown columns and rows.
const MAX_COLUMNS: usize = 64;
const MAX_ROWS: usize = 1024;

/// Columns of equal length, one row per sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Columns in the order of the batch.
    pub columns: Vec<Column>,
    /// Number of recorded rows.
    pub rows: usize,
}

/// Column of the table, with a value per row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// `age`
    pub name: String,
    /// `int64`, `str`, `float32 [3]`
    pub kind: String,
    /// One value per row.
    pub values: Vec<Value>,
}

/// Value of a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `None` or NaN.
    Null,
    /// Number, from a numeric field.
    Number(f64),
    /// First numbers of a vector.
    Numbers(Vec<f64>),
    /// Text, from a field of strings.
    Text(String),
    /// A value of which only the type was recorded.
    #[default]
    Unknown,
}

impl Column {
    /// Returns the number of rows without a value.
    pub fn nulls(&self) -> usize {
        self.values.iter().filter(|v| **v == Value::Null).count()
    }
}

impl Table {
    /// Returns a table if the batch is a dict of at least two columns with one row per sample.
    pub(super) fn of(content: &BatchContent) -> Option<Self> {
        let mut columns: Vec<Column> = Vec::new();
        for field in &content.fields {
            let slot = Slot::of(&field.name);
            let is_column = slot.depth == 1 && slot.sample.is_none();
            let is_cell = slot.depth == 2 && slot.sample.is_some();
            let name = slot.key.filter(|_| is_column || is_cell);
            let name = name.filter(|_| field.name.starts_with('[') && !field.is_derived())?;
            if is_column {
                columns.push(Column {
                    name: name.to_owned(),
                    kind: kind(field),
                    values: values(field)?,
                });
                continue;
            }
            match columns.last_mut().filter(|last| last.name == name) {
                Some(last) => last.add(field),
                None => {
                    columns.push(Column {
                        name: name.to_owned(),
                        ..Column::default()
                    });
                    columns.last_mut()?.add(field);
                }
            }
        }
        let rows = columns.iter().map(|c| c.values.len()).max()?;
        let is_table = columns.len() >= 2 && columns.len() <= MAX_COLUMNS && rows > 0;
        let is_scalar = |column: &Column| !column.kind.contains('[');
        let are_equal = columns.iter().all(|c| c.values.len() == rows);
        (is_table && are_equal && columns.iter().any(is_scalar)).then_some(Self { columns, rows })
    }
}

impl Column {
    /// Appends a value from a field of its own, for columns that do not stack (for example `None` among texts).
    fn add(&mut self, field: &Field) {
        let value = match &field.data {
            _ if field.dtype == "NoneType" => Value::Null,
            FieldData::Numbers(values) if field.shape.is_empty() => number(values.first().copied()),
            FieldData::Numbers(values) => Value::Numbers(values.iter().take(8).copied().collect()),
            FieldData::Text(texts) => texts.first().cloned().map_or(Value::Unknown, Value::Text),
            FieldData::Omitted | FieldData::Pictures(_) => Value::Unknown,
        };
        if value != Value::Null && !self.kind.contains(&kind(field)) {
            let more = if self.kind.is_empty() { "" } else { ", " };
            self.kind = format!("{}{more}{}", self.kind, kind(field));
        }
        if self.values.len() < MAX_ROWS {
            self.values.push(value);
        }
    }
}

fn number(value: Option<f64>) -> Value {
    match value {
        Some(value) if value.is_nan() => Value::Null,
        Some(value) => Value::Number(value),
        None => Value::Unknown,
    }
}

/// Returns the type of a column's values.
fn kind(field: &Field) -> String {
    let dtype = field.dtype.trim_start_matches("torch.");
    match field.shape.get(1..) {
        Some(rest) if !rest.is_empty() => {
            let sizes: Vec<String> = rest.iter().map(i64::to_string).collect();
            format!("{dtype} [{}]", sizes.join(", "))
        }
        _ => dtype.to_owned(),
    }
}

/// Returns one value per row. `None` means that the field has no rows.
fn values(field: &Field) -> Option<Vec<Value>> {
    let rows = usize::try_from(*field.shape.first()?).ok()?.min(MAX_ROWS);
    let per_row = field.shape.get(1..)?.iter();
    let per_row = per_row
        .map(|size| usize::try_from(*size).unwrap_or(0))
        .fold(1, usize::saturating_mul);
    Some(match &field.data {
        FieldData::Numbers(numbers) if per_row == 1 && field.shape.len() == 1 => (0..rows)
            .map(|row| number(numbers.get(row).copied()))
            .collect(),
        FieldData::Numbers(numbers) => (0..rows)
            .map(|row| {
                let start = row.saturating_mul(per_row).min(numbers.len());
                let end = start.saturating_add(per_row.min(8)).min(numbers.len());
                match numbers.get(start..end) {
                    Some([]) | None => Value::Unknown,
                    Some(some) => Value::Numbers(some.to_vec()),
                }
            })
            .collect(),
        FieldData::Text(texts) => (0..rows)
            .map(|row| texts.get(row).cloned().map_or(Value::Unknown, Value::Text))
            .collect(),
        FieldData::Omitted | FieldData::Pictures(_) => vec![Value::Unknown; rows],
    })
}
