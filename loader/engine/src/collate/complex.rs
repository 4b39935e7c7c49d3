//! Complex numbers in batches of numbers.

use loadscope_words::say;
use tch::{Kind, Tensor};

use crate::error::LoaderError;
use crate::value::{DType, Value, new_tensor, torch_error};

/// Makes a tensor of the complex `dtype` from real and imaginary parts.
pub(super) fn tensor(parts: &[[f64; 2]], dtype: DType) -> Result<Tensor, LoaderError> {
    let numbers = new_tensor(&[parts.len() as i64], Kind::ComplexDouble, |bytes| {
        let slots = bytes.chunks_exact_mut(size_of::<f64>());
        for (slot, part) in slots.zip(parts.iter().flatten()) {
            slot.copy_from_slice(&part.to_ne_bytes());
        }
    });
    numbers
        .and_then(|numbers| dtype.convert(&numbers))
        .map_err(|e| torch_error(say!("make a tensor of numbers"), &e))
}

pub(super) fn is_complex(dtype: DType) -> bool {
    matches!(
        dtype,
        DType::Kind(Kind::ComplexHalf | Kind::ComplexFloat | Kind::ComplexDouble)
    )
}

/// Returns both parts of a single-element tensor, or `None` if it is not complex.
pub(super) fn parts(element: &Tensor) -> Result<Option<[f64; 2]>, LoaderError> {
    if !DType::of(element).is_some_and(is_complex) {
        return Ok(None);
    }
    let read = || {
        let number = element.f_detach()?.f_resolve_conj()?;
        let pair = number.f_to_kind(Kind::ComplexDouble)?.f_view_as_real()?;
        Ok(Some([
            pair.f_double_value(&[0])?,
            pair.f_double_value(&[1])?,
        ]))
    };
    read().map_err(|e| torch_error(say!("read a number from a tensor"), &e))
}

/// Returns `float(value)` of a complex number, for a tensor of floats.
///
/// NumPy scalars give their real part (with a warning in NumPy). Tensors do so only if the imaginary part is 0. Arrays never do.
///
/// # Errors
/// RuntimeError for a tensor with an imaginary part, TypeError for an array.
pub(super) fn real_part(value: &Value, [real, imaginary]: [f64; 2]) -> Result<f64, LoaderError> {
    match value {
        Value::Array(_) => Err(LoaderError::type_error(
            "float() argument must be a string or a real number, not 'complex'",
        )),
        Value::Tensor(_) if imaginary != 0.0 => Err(LoaderError::runtime(
            "value cannot be converted to type double without overflow",
        )),
        _ => Ok(real),
    }
}
