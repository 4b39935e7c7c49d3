//! Memory size of records that wait in a queue.

use loadscope_trace::{Field, FieldData};

use super::Record;

impl Record {
    /// Returns the approximate size of the record in memory, bytes.
    pub(crate) fn weight(&self) -> usize {
        let holds = match self {
            Self::Fetch(fetch) => {
                let stages = fetch.stages.iter();
                let stages = stages.map(|(name, walls)| name.len() + 8 * walls.len() + 48);
                8 * (fetch.times.len() + fetch.cpus.len()) + stages.sum::<usize>()
            }
            Self::Content { fields, .. } => fields.iter().map(weight_of).sum(),
            Self::Fact(fact) => fact.weight(),
            _ => 0,
        };
        size_of::<Self>() + holds
    }
}

/// Returns the approximate size of a field of a batch, bytes.
fn weight_of(field: &Field) -> usize {
    let data = match &field.data {
        FieldData::Numbers(numbers) => 8 * numbers.len(),
        FieldData::Text(texts) => texts.iter().map(|text| text.len() + 24).sum(),
        FieldData::Pictures(pictures) => pictures.pixels.len(),
        FieldData::Omitted => 0,
    };
    size_of::<Field>() + field.name.len() + field.dtype.len() + 8 * field.shape.len() + data
}
