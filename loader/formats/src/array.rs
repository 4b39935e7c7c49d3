//! Arrays: dtype, shape and bytes.

use loadscope_words::say;

use crate::buffer::Buffer;

/// Type of an array's elements, by its name in NumPy and PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// `bool`
    Bool,
    /// `int8`
    Int8,
    /// `int16`
    Int16,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// `uint8`
    UInt8,
    /// `uint16`
    UInt16,
    /// `uint32`
    UInt32,
    /// `uint64`
    UInt64,
    /// `float16`
    Float16,
    /// `bfloat16`, which NumPy lacks.
    BFloat16,
    /// `float32`
    Float32,
    /// `float64`
    Float64,
    /// `complex64`
    Complex64,
    /// `complex128`
    Complex128,
    /// `float8_e4m3fn`, which NumPy lacks.
    Float8E4M3,
    /// `float8_e5m2`, which NumPy lacks.
    Float8E5M2,
}

impl Dtype {
    /// Returns the size of an element, bytes.
    pub fn width(self) -> usize {
        match self {
            Self::Bool | Self::Int8 | Self::UInt8 | Self::Float8E4M3 | Self::Float8E5M2 => 1,
            Self::Int16 | Self::UInt16 | Self::Float16 | Self::BFloat16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float32 => 4,
            Self::Int64 | Self::UInt64 | Self::Float64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// Returns the name, such as `float32`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::UInt8 => "uint8",
            Self::UInt16 => "uint16",
            Self::UInt32 => "uint32",
            Self::UInt64 => "uint64",
            Self::Float16 => "float16",
            Self::BFloat16 => "bfloat16",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
            Self::Float8E4M3 => "float8_e4m3fn",
            Self::Float8E5M2 => "float8_e5m2",
        }
    }
}

/// A dense array in row-major (C) order. Its elements have the byte order of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Buffer,
}

/// Shape that does not match the number of bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", say!("{shape:?} elements of {} do not take {bytes} bytes", .dtype.name(), shape = .shape, bytes = .bytes))]
pub struct ArrayError {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: usize,
}

impl Array {
    /// Creates an array.
    ///
    /// # Errors
    /// If the number of bytes does not match the shape.
    pub fn new(dtype: Dtype, shape: Vec<usize>, bytes: Buffer) -> Result<Self, ArrayError> {
        let mut sizes = shape.iter();
        let wanted = sizes.try_fold(dtype.width(), |product, size| product.checked_mul(*size));
        if wanted == Some(bytes.len()) {
            Ok(Self {
                dtype,
                shape,
                bytes,
            })
        } else {
            Err(ArrayError {
                dtype,
                bytes: bytes.len(),
                shape,
            })
        }
    }

    /// Creates an array of one axis.
    pub fn of<T: Element>(values: &[T]) -> Self {
        Self::with_shape(vec![values.len()], values).unwrap_or_else(|_| Self::empty(T::DTYPE))
    }

    /// Creates an array of `shape`.
    ///
    /// # Errors
    /// If the number of values does not match the shape.
    pub fn with_shape<T: Element>(shape: Vec<usize>, values: &[T]) -> Result<Self, ArrayError> {
        let mut bytes = Vec::with_capacity(values.len() * T::DTYPE.width());
        values.iter().for_each(|value| value.put(&mut bytes));
        Self::new(T::DTYPE, shape, bytes.into())
    }

    /// Creates an array of one axis without elements.
    fn empty(dtype: Dtype) -> Self {
        Self {
            dtype,
            shape: vec![0],
            bytes: Buffer::default(),
        }
    }

    /// Returns the type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Returns the shape. A single element without an axis has an empty shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the bytes of the elements.
    pub fn bytes(&self) -> &Buffer {
        &self.bytes
    }

    /// Returns `array[index]`, an element of the first axis, without a copy. Returns `None` if the array has no axis or the axis is
    /// shorter.
    pub fn get(&self, index: usize) -> Option<Self> {
        let (first, rest) = self.shape.split_first()?;
        if index >= *first {
            return None;
        }
        let width = self.bytes.len() / first;
        let start = index * width;
        Some(Self {
            dtype: self.dtype,
            shape: rest.to_vec(),
            bytes: self.bytes.slice(start..start + width)?,
        })
    }
}

/// Rust type of array elements.
pub trait Element: Copy {
    /// The dtype of the type.
    const DTYPE: Dtype;

    /// Appends the bytes of the value in the byte order of this host.
    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! elements {
    ($($of:ty => $dtype:ident),* $(,)?) => {
        $(impl Element for $of {
            const DTYPE: Dtype = Dtype::$dtype;

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }
        })*
    };
}

elements! {
    i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64, u8 => UInt8, u16 => UInt16, u32 => UInt32, u64 => UInt64,
    f32 => Float32, f64 => Float64,
}

impl Element for bool {
    const DTYPE: Dtype = Dtype::Bool;

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexing_an_array_returns_a_slice() {
        let array = Array::with_shape(vec![2, 3], &[1i16, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(array.get(1), Some(Array::of(&[4i16, 5, 6])));
        assert_eq!(array.get(2), None);
        assert_eq!(
            array.get(0).unwrap().get(2).unwrap().shape(),
            [] as [usize; 0]
        );
        assert_eq!(array.get(0).unwrap().get(2).unwrap().get(0), None);
    }

    #[test]
    fn an_array_with_a_wrong_size_is_refused() {
        assert!(Array::with_shape(vec![2, 3], &[1u8; 5]).is_err());
        assert!(Array::new(Dtype::Int64, vec![usize::MAX, 2], Buffer::default()).is_err());
        assert!(Array::new(Dtype::Int64, vec![usize::MAX, 0], Buffer::default()).is_err());
        assert_eq!(Array::of::<f32>(&[]).shape(), [0]);
    }
}
