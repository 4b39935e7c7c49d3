//! Conversion of read data to the value of the Python counterpart.

use loadscope_formats::{Array, Cell, Dtype, FormatError, Picture, PictureMode, Scalar};
use loadscope_words::say;
use tch::{Kind, Tensor};

use super::scale::Frame;
use crate::dataset::{SampleClock, SampleError, picture};
use crate::value::{DType, Key, NumpyScalar, Value, new_tensor};

/// Options for making samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shaping {
    /// Side of the square to which images are resized. `None` keeps their size.
    pub side: Option<u32>,
    /// True if boxes, masks and keypoints belong to the preceding image and are scaled with it.
    pub is_annotated: bool,
}

impl Shaping {
    /// Converts a cell to a sample.
    pub fn sample(&self, cell: Cell, clock: &mut SampleClock) -> Result<Value, SampleError> {
        self.value(cell, None, &mut None, clock)
    }

    /// Converts a cell. `name` is its field, and `frame` is the preceding image.
    fn value(
        &self,
        cell: Cell,
        name: Option<&str>,
        frame: &mut Option<Frame>,
        clock: &mut SampleClock,
    ) -> Result<Value, SampleError> {
        let mut all = |cells: Vec<Cell>| -> Result<Vec<Value>, SampleError> {
            let values = cells
                .into_iter()
                .map(|cell| self.value(cell, None, frame, clock));
            values.collect()
        };
        Ok(match cell {
            Cell::Null => Value::None,
            Cell::Bool(value) => value.into(),
            Cell::Int(value) => value.into(),
            Cell::BigInt(value) => Value::BigInt(value),
            Cell::Float(value) => value.into(),
            Cell::Text(text) => text.to_string().into(),
            Cell::Bytes(bytes) => bytes.to_vec().into(),
            Cell::Picture(picture) => self.picture(&picture, frame, clock)?.into(),
            Cell::Scalar(scalar) => number(&scalar)?,
            Cell::Array(array) => {
                let tensor = tensor(&array)?;
                match (frame.as_ref(), name) {
                    (Some(frame), Some(name)) if self.is_annotated => frame.scaled(name, tensor)?,
                    _ => tensor,
                }
                .into()
            }
            Cell::List(cells) => Value::List(all(cells)?),
            Cell::Tuple(cells) => Value::Tuple(all(cells)?),
            Cell::Map(fields) => {
                let fields = fields.into_iter().map(|(key, cell)| {
                    let value = self.value(cell, Some(&key), frame, clock)?;
                    Ok((Key::Str(key), value))
                });
                Value::dict(fields.collect::<Result<Vec<_>, SampleError>>()?)
            }
        })
    }

    fn picture(
        &self,
        found: &Picture,
        frame: &mut Option<Frame>,
        clock: &mut SampleClock,
    ) -> Result<Tensor, SampleError> {
        match found.mode {
            PictureMode::Color => {
                let decoded = picture::decode_sized(&found.bytes, self.side, clock);
                let (tensor, size) =
                    decoded.map_err(|error| error.into_sample_error(&found.origin))?;
                *frame = self.side.map(|side| Frame { size, side });
                Ok(tensor)
            }
            PictureMode::Classes => {
                let decoded = picture::decode_mask(&found.bytes, clock);
                let tensor = decoded.map_err(|error| error.into_sample_error(&found.origin))?;
                match frame.as_ref() {
                    Some(frame) => frame.scaled("mask", tensor),
                    None => Ok(tensor),
                }
            }
        }
    }
}

fn tensor(array: &Array) -> Result<Tensor, SampleError> {
    let size: Option<Vec<i64>> = (array.shape().iter())
        .map(|size| i64::try_from(*size).ok())
        .collect();
    let size =
        size.ok_or_else(|| SampleError::new("MemoryError", say!("an array is too large")))?;
    let bytes = array.bytes();
    new_tensor(&size, dtype(array.dtype()), |out| {
        if out.len() == bytes.len() {
            out.copy_from_slice(bytes);
        }
    })
    .map_err(|e| SampleError::new("RuntimeError", e.to_string()))
}

/// Makes a NumPy scalar, or a 0-d tensor for a dtype that NumPy does not have.
fn number(scalar: &Scalar) -> Result<Value, SampleError> {
    let bytes = scalar.bytes();
    let tensor = new_tensor(&[], dtype(scalar.dtype()), |out| out.copy_from_slice(bytes))
        .map_err(|e| SampleError::new("RuntimeError", e.to_string()))?;
    Ok(match scalar.dtype() {
        Dtype::BFloat16 | Dtype::Float8E4M3 | Dtype::Float8E5M2 => tensor.into(),
        _ => NumpyScalar::Number(tensor).into(),
    })
}

pub(crate) fn dtype(dtype: Dtype) -> DType {
    DType::Kind(match dtype {
        Dtype::Bool => Kind::Bool,
        Dtype::Int8 => Kind::Int8,
        Dtype::Int16 => Kind::Int16,
        Dtype::Int32 => Kind::Int,
        Dtype::Int64 => Kind::Int64,
        Dtype::UInt8 => Kind::Uint8,
        Dtype::UInt16 => return DType::UInt16,
        Dtype::UInt32 => return DType::UInt32,
        Dtype::UInt64 => return DType::UInt64,
        Dtype::Float16 => Kind::Half,
        Dtype::BFloat16 => Kind::BFloat16,
        Dtype::Float32 => Kind::Float,
        Dtype::Float64 => Kind::Double,
        Dtype::Complex64 => Kind::ComplexFloat,
        Dtype::Complex128 => Kind::ComplexDouble,
        Dtype::Float8E4M3 => Kind::Float8e4m3fn,
        Dtype::Float8E5M2 => Kind::Float8e5m2,
    })
}

/// Converts a format error to the error of a sample.
pub(super) fn sample_error(error: &FormatError) -> SampleError {
    SampleError::new(error.fault.exception(), error.to_string())
}
