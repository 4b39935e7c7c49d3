//! NumPy values, for datasets that come from Python.

use super::memory::{same_tensors, tensor_bytes};
use super::{DType, NdArray, NumpyScalar, Value};

impl NdArray {
    /// Returns `str(array.dtype)`.
    pub fn dtype(&self) -> &str {
        match self {
            Self::Numbers(tensor) => DType::of(tensor).map_or("undefined", DType::numpy_name),
            Self::Other { dtype, .. } => dtype,
        }
    }

    /// Returns `array.shape`, the size of each axis.
    pub fn shape(&self) -> Vec<i64> {
        match self {
            Self::Numbers(tensor) if tensor.defined() => tensor.size(),
            Self::Numbers(_) => Vec::new(),
            Self::Other { shape, .. } => shape.clone(),
        }
    }

    /// Returns true for texts, byte strings and objects, which PyTorch returns unchanged where possible.
    pub(crate) fn is_text_or_object(&self) -> bool {
        match self {
            Self::Numbers(_) => false,
            Self::Other { dtype, .. } => {
                let letter = dtype.trim_start_matches(['<', '>', '|', '=']);
                dtype.as_ref() == "object" || letter.starts_with(['S', 'U', 'a', 'O'])
            }
        }
    }

    pub(super) fn shallow_clone(&self) -> Self {
        match self {
            Self::Numbers(tensor) => Self::Numbers(tensor.shallow_clone()),
            Self::Other {
                dtype,
                shape,
                items,
            } => Self::Other {
                dtype: dtype.clone(),
                shape: shape.clone(),
                items: items.iter().map(Value::shallow_clone).collect(),
            },
        }
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Numbers(a), Self::Numbers(b)) => same_tensors(a, b),
            (
                Self::Other {
                    dtype: dtype_a,
                    shape: shape_a,
                    items: a,
                },
                Self::Other {
                    dtype: dtype_b,
                    shape: shape_b,
                    items: b,
                },
            ) => dtype_a == dtype_b && shape_a == shape_b && super::all_same(a, b),
            _ => false,
        }
    }

    pub(super) fn nbytes(&self) -> u64 {
        match self {
            Self::Numbers(tensor) => tensor_bytes(tensor),
            Self::Other { items, .. } => items.iter().map(Value::nbytes).sum(),
        }
    }
}

impl NumpyScalar {
    /// Returns `str(scalar.dtype)`.
    pub fn dtype(&self) -> String {
        match self {
            Self::Number(tensor) => DType::of(tensor)
                .map_or("undefined", DType::numpy_name)
                .to_owned(),
            Self::Str(text) => format!("<U{}", text.chars().count()),
            Self::Bytes(bytes) => format!("|S{}", bytes.len()),
            Self::Other { type_name } => type_name.as_ref().to_owned(),
        }
    }

    /// Returns the type's name, such as `numpy.float32`.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Number(tensor) => match DType::of(tensor).map(DType::numpy_name) {
                Some("bool") => "numpy.bool",
                Some("uint8") => "numpy.uint8",
                Some("uint16") => "numpy.uint16",
                Some("uint32") => "numpy.uint32",
                Some("uint64") => "numpy.uint64",
                Some("int8") => "numpy.int8",
                Some("int16") => "numpy.int16",
                Some("int32") => "numpy.int32",
                Some("int64") => "numpy.int64",
                Some("float16") => "numpy.float16",
                Some("float32") => "numpy.float32",
                Some("float64") => "numpy.float64",
                Some("complex64") => "numpy.complex64",
                Some("complex128") => "numpy.complex128",
                _ => "numpy.number",
            },
            Self::Str(_) => "numpy.str_",
            Self::Bytes(_) => "numpy.bytes_",
            Self::Other { type_name } => type_name,
        }
    }

    pub(super) fn shallow_clone(&self) -> Self {
        match self {
            Self::Number(tensor) => Self::Number(tensor.shallow_clone()),
            Self::Str(text) => Self::Str(text.clone()),
            Self::Bytes(bytes) => Self::Bytes(bytes.clone()),
            Self::Other { type_name } => Self::Other {
                type_name: type_name.clone(),
            },
        }
    }

    /// Compares scalars. Opaque ones are never equal, because their contents are unknown.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => same_tensors(a, b),
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            _ => false,
        }
    }

    pub(super) fn nbytes(&self) -> u64 {
        match self {
            Self::Number(tensor) => tensor_bytes(tensor),
            Self::Str(text) => text.len() as u64,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Other { .. } => 0,
        }
    }
}
