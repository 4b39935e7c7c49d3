//! Sequences of unequal length in one tensor, filled up at their ends.

use loadscope_trace::{BatchContent, Collate, Field, FieldData, RunOptions};

use super::path::Slot;

/// Whole numbers, a row a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequences {
    /// Their field.
    pub field: usize,
    /// How the padding is known.
    pub padding: Padding,
    /// The length of the longest.
    pub width: usize,
    /// Rows that were kept whole.
    pub rows: Vec<SequenceRow>,
    /// Rows of the batch.
    pub of: usize,
}

/// How the length of a sequence is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Padding {
    /// `attention_mask` has a 1 for what counts.
    Mask,
    /// `collate=pad` fills up with this value.
    Value(f64),
}

/// One sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceRow {
    /// With the padding.
    pub values: Vec<f64>,
    /// For each value whether it counts.
    pub counts: Vec<bool>,
}

impl SequenceRow {
    /// How many of its values count.
    pub fn len(&self) -> usize {
        self.counts.iter().filter(|counts| **counts).count()
    }

    /// Whether nothing in it counts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Sequences {
    /// The share of the values that are padding, of the rows that were kept.
    pub fn padding_share(&self) -> f64 {
        let all: usize = self.rows.iter().map(|row| row.values.len()).sum();
        let count: usize = self.rows.iter().map(SequenceRow::len).sum();
        match all {
            0 => 0.0,
            all => 1.0 - count as f64 / all as f64,
        }
    }

    /// All tensors of whole numbers with two axes of which the padding is known.
    pub(super) fn of(content: &BatchContent, options: &RunOptions) -> Vec<Self> {
        let mask = content.fields.iter().find_map(|field| {
            let is_mask = Slot::of(&field.name).is(&["attention_mask"]);
            Some((field, sizes(field)?, numbers(field)?)).filter(|_| is_mask)
        });
        let value = match options.collate.in_force(&options.dataset) {
            Collate::Pad(value) => Some(value),
            Collate::Fitting | Collate::Stack | Collate::List | Collate::Concat => None,
        };
        let read = |(at, field): (usize, &Field)| {
            let (rows, width) = sizes(field)?;
            let values = numbers(field)?;
            if field.dtype.contains("float") || Slot::of(&field.name).is(&["attention_mask"]) {
                return None;
            }
            let rows_of = |values: &[f64]| -> Vec<Vec<f64>> {
                let whole = values.chunks_exact(width).take(rows);
                whole.map(<[f64]>::to_vec).collect()
            };
            let mask = mask.filter(|(_, sizes, _)| *sizes == (rows, width));
            let (padding, masks) = match (mask, value) {
                (Some((_, _, mask)), _) => (Padding::Mask, rows_of(mask)),
                (None, Some(value)) => (Padding::Value(value), Vec::new()),
                (None, None) => return None,
            };
            let all = rows_of(values).into_iter().enumerate();
            let kept = all.map(|(k, values)| {
                let counts = match padding {
                    Padding::Mask => masks.get(k)?.iter().map(|v| *v != 0.0).collect(),
                    Padding::Value(value) => until_padding(&values, value),
                };
                Some(SequenceRow { values, counts })
            });
            Some(Self {
                field: at,
                padding,
                width,
                rows: kept.collect::<Option<_>>()?,
                of: rows,
            })
        };
        let found = content.fields.iter().enumerate().filter_map(read);
        found.filter(|all| !all.rows.is_empty()).collect()
    }
}

/// What stands behind the last value that is not the padding is padding.
fn until_padding(values: &[f64], padding: f64) -> Vec<bool> {
    let end = values.iter().rposition(|v| *v != padding);
    let len = end.map_or(0, |end| end + 1);
    (0..values.len()).map(|k| k < len).collect()
}

/// Rows and columns of a tensor of two axes.
fn sizes(field: &Field) -> Option<(usize, usize)> {
    let [rows, width] = *field.shape.as_slice() else {
        return None;
    };
    let size = |size: i64| usize::try_from(size).ok().filter(|size| *size > 0);
    Some((size(rows)?, size(width)?))
}

fn numbers(field: &Field) -> Option<&[f64]> {
    match &field.data {
        FieldData::Numbers(values) => Some(values),
        FieldData::Omitted | FieldData::Text(_) | FieldData::Pictures(_) => None,
    }
}
