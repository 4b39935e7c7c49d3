//! Values of samples.

use std::sync::Arc;

use crate::array::{Array, Dtype, Element};
use crate::buffer::Buffer;

/// A sample or an element of it, with the type of the Python counterpart.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// `None`, a null in a table.
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `int` that needs more than 64 bits, but at most 128.
    BigInt(i128),
    /// `float`, in double precision.
    Float(f64),
    /// `str`
    Text(Arc<str>),
    /// `bytes`
    Bytes(Buffer),
    /// Encoded image, which the engine decodes to a uint8 tensor `[3, height, width]`.
    Picture(Picture),
    /// Number with a dtype, such as `numpy.float32(1.5)` or an element of a tensor.
    Scalar(Scalar),
    /// `torch.Tensor`
    Array(Array),
    /// `list`
    List(Vec<Cell>),
    /// `tuple`
    Tuple(Vec<Cell>),
    /// `dict` with distinct text keys.
    Map(Vec<(Arc<str>, Cell)>),
}

/// Bytes of an image file in any format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Content of the image file.
    pub bytes: Buffer,
    /// Source of the image for messages: a path, `shard-000.tar: 0012.jpg`, `column image of row 7`.
    pub origin: Arc<str>,
    /// Meaning of the pixels.
    pub mode: PictureMode,
}

/// Meaning of an image's pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureMode {
    /// Colors: uint8 `[3, height, width]`.
    #[default]
    Color,
    /// Class numbers, as in a mask: uint8 `[height, width]`, palette indices or gray values.
    Classes,
}

/// Number with a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    dtype: Dtype,
    /// Bytes in the byte order of this host. Bytes beyond the dtype's width are 0.
    bytes: [u8; 16],
}

impl Scalar {
    /// Creates a number from the first bytes of `bytes`, in the byte order of this host. Returns `None` if `bytes` is shorter than the
    /// dtype's width.
    pub fn new(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
        let given = bytes.get(..dtype.width())?;
        let mut bytes = [0; 16];
        bytes.get_mut(..given.len())?.copy_from_slice(given);
        Some(Self { dtype, bytes })
    }

    /// Creates a number from a Rust value.
    pub fn of<T: Element>(value: T) -> Self {
        let mut given = Vec::with_capacity(16);
        value.put(&mut given);
        let mut bytes = [0; 16];
        bytes
            .iter_mut()
            .zip(given)
            .for_each(|(to, from)| *to = from);
        Self {
            dtype: T::DTYPE,
            bytes,
        }
    }

    /// Returns the dtype.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Returns the bytes, up to the dtype's width.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.dtype.width()).unwrap_or(&[])
    }
}

/// Creates a `dict` of fields.
pub fn fields<K: Into<Arc<str>>>(fields: impl IntoIterator<Item = (K, Cell)>) -> Cell {
    let fields = fields.into_iter().map(|(key, cell)| (key.into(), cell));
    Cell::Map(fields.collect())
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),* $(,)?) => {
        $(impl From<$from> for Cell {
            fn from(value: $from) -> Self {
                Self::$variant(value)
            }
        })*
    };
}

from! {
    bool => Bool, i64 => Int, f64 => Float, Buffer => Bytes, Picture => Picture, Scalar => Scalar, Array => Array,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_keep_their_bits() {
        let nan = f32::from_bits(0x7fc0_1234);
        let scalar = Scalar::of(nan);
        assert_eq!(scalar.bytes(), nan.to_ne_bytes());
        assert_eq!(Scalar::new(Dtype::Float32, scalar.bytes()), Some(scalar));
        assert_eq!(Scalar::new(Dtype::Float64, scalar.bytes()), None);
    }
}
