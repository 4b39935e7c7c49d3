//! Reads the size of the batches from their recorded contents.

use loadscope_trace::{Nanos, Run};

use super::delays::median;
use crate::forecast::number::float;

/// Median number of tensors and bytes of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::forecast) struct Size {
    pub tensors: f64,
    pub bytes: f64,
}

impl Size {
    /// Returns the median of the batches whose content was recorded. Returns `None` if no content was recorded.
    pub fn of(run: &Run) -> Option<Self> {
        let contents = (0..run.batches().len()).filter_map(|row| run.content(row));
        let (mut tensors, mut bytes): (Vec<Nanos>, Vec<Nanos>) = contents
            .map(|content| {
                (
                    Nanos(content.fields.len() as i64),
                    Nanos(i64::try_from(content.bytes()).unwrap_or(i64::MAX)),
                )
            })
            .unzip();
        (!tensors.is_empty()).then(|| Self {
            tensors: float(median(&mut tensors)),
            bytes: float(median(&mut bytes)),
        })
    }
}
