//! How large batches are.

use loadscope_trace::{Nanos, Run};

use super::delays::median;
use crate::forecast::number::float;

/// How large batches are.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::forecast) struct Size {
    pub tensors: f64,
    pub bytes: f64,
}

impl Size {
    /// The middle of the batches of which the content was looked at; `None` if that was done with none.
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
