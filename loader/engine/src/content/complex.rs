//! Texts of complex numbers, because the display of numbers supports only real ones.

use loadscope_trace::FieldData;
use tch::{Kind, Tensor};

use crate::value::{DType, is_plain};

/// Maximum number of numbers per sample.
const OF_A_SAMPLE: usize = 8;

/// Formats a complex number as Python does, without brackets: `1-2j`.
pub(super) fn text(real: f64, imaginary: f64) -> String {
    format!("{real}{imaginary:+}j")
}

/// Returns one text per sample, with the first numbers of the sample, for the first `most` samples.
///
/// Returns `None` if the tensor is not complex or not in main memory.
pub(super) fn texts(tensor: &Tensor, most: usize) -> Option<FieldData> {
    let is_complex = matches!(
        DType::of(tensor),
        Some(DType::Kind(
            Kind::ComplexHalf | Kind::ComplexFloat | Kind::ComplexDouble
        ))
    );
    if !is_complex || !is_plain(tensor) {
        return None;
    }
    let samples = tensor.size().first().copied().unwrap_or(1);
    let width = tensor.numel().checked_div(usize::try_from(samples).ok()?)?;
    let kept = samples.min(i64::try_from(most).ok()?);
    let rows = tensor.f_detach().ok()?.f_resolve_conj().ok()?;
    let rows = rows.f_reshape([samples, width as i64]).ok()?;
    let rows = rows.f_narrow(0, 0, kept).ok()?;
    let rows = rows.f_narrow(1, 0, width.min(OF_A_SAMPLE) as i64).ok()?;
    let parts = rows.f_to_kind(Kind::ComplexDouble).ok()?;
    let parts = parts.f_view_as_real().ok()?.f_reshape([kept, -1]).ok()?;
    let parts = Vec::<Vec<f64>>::try_from(parts).ok()?;
    let row = |parts: Vec<f64>| {
        let (pairs, _) = parts.as_chunks::<2>();
        let mut texts: Vec<String> = pairs.iter().map(|[re, im]| text(*re, *im)).collect();
        if width > OF_A_SAMPLE {
            texts.push("…".to_owned());
        }
        texts.join(", ")
    };
    Some(FieldData::Text(parts.into_iter().map(row).collect()))
}
