//! How large batches are.

use loadscope_trace::{BatchContent, Nanos, Run};

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
            .map(|content| (Nanos(content.fields.len() as i64), Nanos(bytes_of(content))))
            .unzip();
        (!tensors.is_empty()).then(|| Self {
            tensors: float(median(&mut tensors)),
            bytes: float(median(&mut bytes)),
        })
    }
}

fn bytes_of(content: &BatchContent) -> i64 {
    let of = |dtype: &str, shape: &[i64]| {
        let each = match dtype.trim_start_matches("torch.") {
            "uint8" | "int8" | "bool" => 1,
            "float16" | "bfloat16" | "int16" | "uint16" => 2,
            "float64" | "int64" | "uint64" | "complex64" => 8,
            "complex128" => 16,
            _ => 4i64,
        };
        let mut count = shape.iter().map(|n| (*n).max(0));
        let size = count.try_fold(each, i64::checked_mul);
        size.unwrap_or(i64::MAX / 4)
    };
    let fields = content.fields.iter();
    let sizes = fields.map(|f| of(&f.dtype, &f.shape));
    sizes.fold(0i64, i64::saturating_add)
}
