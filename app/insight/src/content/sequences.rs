//! Waveforms, and sequences of unequal length in one tensor, padded at the end.

use loadscope_trace::{BatchContent, Collate, ENVELOPE, Field, FieldData, RunOptions, SPECTROGRAM};

use super::path::Slot;

/// Integer sequences, one row per sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequences {
    /// Position of the field.
    pub field: usize,
    /// Source of the padding's length.
    pub padding: Padding,
    /// Length of the longest sequence.
    pub width: usize,
    /// Rows that were recorded completely.
    pub rows: Vec<SequenceRow>,
    /// Number of rows in the batch.
    pub of: usize,
}

/// Source of a sequence's length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Padding {
    /// `attention_mask` is 1 for values that are not padding.
    Mask,
    /// `collate=pad` pads with this value.
    Value(f64),
}

/// One sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceRow {
    /// Values, including the padding.
    pub values: Vec<f64>,
    /// True per value that is not padding.
    pub counts: Vec<bool>,
}

impl SequenceRow {
    /// Returns the number of values without the padding.
    pub fn len(&self) -> usize {
        self.counts.iter().filter(|counts| **counts).count()
    }

    /// Returns true if the sequence consists only of padding.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Sequences {
    /// Returns the share of padding among the values of the recorded rows, 0 to 1.
    pub fn padding_share(&self) -> f64 {
        let all: usize = self.rows.iter().map(|row| row.values.len()).sum();
        let count: usize = self.rows.iter().map(SequenceRow::len).sum();
        match all {
            0 => 0.0,
            all => 1.0 - count as f64 / all as f64,
        }
    }

    /// Returns all integer tensors with two axes and known padding.
    pub(super) fn of(content: &BatchContent, options: &RunOptions) -> Vec<Self> {
        let mask = content.fields.iter().find_map(|field| {
            let is_mask = Slot::of(&field.name).is(&["attention_mask"]);
            Some((field, sizes(field)?, numbers(field)?)).filter(|_| is_mask)
        });
        let value = match options.collate.resolve(&options.dataset) {
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

/// Marks the values up to the last one that differs from `padding`. The rest is padding.
fn until_padding(values: &[f64], padding: f64) -> Vec<bool> {
    let end = values.iter().rposition(|v| *v != padding);
    let len = end.map_or(0, |end| end + 1);
    (0..values.len()).map(|k| k < len).collect()
}

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

/// The waveforms of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Waveforms {
    /// The field with the samples of the waveforms.
    pub field: usize,
    /// Per sample and channel, the minimum and maximum of each column.
    pub curves: Vec<Vec<Vec<[f64; 2]>>>,
    /// The field with the spectrograms, one per sample.
    pub spectrograms: Option<usize>,
    /// Frames per waveform, including padding.
    pub frames: u64,
    /// Frames per second of each sample, if the batch contains them.
    pub rates: Vec<f64>,
}

impl Waveforms {
    /// Returns the largest distance from 0 in all curves.
    pub fn peak(&self) -> f64 {
        let all = self.curves.iter().flatten().flatten().flatten();
        all.fold(0.0, |peak, value| value.abs().max(peak))
    }

    pub(super) fn of(content: &BatchContent) -> Vec<Self> {
        let fields = content.fields.iter().enumerate();
        let read = |(_, derived): (usize, &Field)| {
            if derived.dtype != ENVELOPE {
                return None;
            }
            let name = derived.name.strip_suffix(".envelope")?;
            let find = |name: &str, dtype: Option<&str>| {
                content
                    .fields
                    .iter()
                    .position(|f| f.name == name && dtype.is_none_or(|dtype| f.dtype == dtype))
            };
            let field = find(name, None)?;
            let frames = content.fields.get(field)?.shape.last()?;
            let rates = content.fields.iter().find_map(|f| match &f.data {
                FieldData::Numbers(rates) if is_rate(&f.name) => Some(rates.clone()),
                _ => None,
            });
            Some(Self {
                field,
                curves: curves(derived)?,
                spectrograms: find(&format!("{name}.spectrogram"), Some(SPECTROGRAM)),
                frames: u64::try_from(*frames).ok()?,
                rates: rates.unwrap_or_default(),
            })
        };
        fields.filter_map(read).collect()
    }
}

fn is_rate(name: &str) -> bool {
    name.ends_with("rate\"]") || name.ends_with(".rate")
}

fn curves(field: &Field) -> Option<Vec<Vec<Vec<[f64; 2]>>>> {
    let FieldData::Numbers(values) = &field.data else {
        return None;
    };
    let [_, channels, columns, 2] = *field.shape.as_slice() else {
        return None;
    };
    let channels = usize::try_from(channels).ok().filter(|n| *n > 0)?;
    let columns = usize::try_from(columns).ok().filter(|n| *n > 0)?;
    let per_channel = columns.checked_mul(2)?;
    let per_sound = per_channel.checked_mul(channels)?;
    let pairs = |channel: &[f64]| channel.as_chunks::<2>().0.to_vec();
    let sounds = values.chunks_exact(per_sound);
    let all = sounds.map(|sound| sound.chunks_exact(per_channel).map(pairs).collect());
    Some(all.collect())
}
