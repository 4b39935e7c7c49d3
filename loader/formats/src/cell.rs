//! What rows are made of.

use std::sync::Arc;

use crate::array::{Array, Dtype, Element};
use crate::buffer::Buffer;

/// A sample, or a part of one, as the counterpart in Python has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// `None`, a null of a table.
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `int` beyond 64 bits, as far as it fits 128.
    BigInt(i128),
    /// `float`, of double precision.
    Float(f64),
    /// `str`
    Text(Arc<str>),
    /// `bytes`
    Bytes(Buffer),
    /// An encoded picture, which the engine decodes to a tensor uint8 `[3, height, width]`.
    Picture(Picture),
    /// A number of a dtype, such as `numpy.float32(1.5)`: what a single element of a tensor is.
    Scalar(Scalar),
    /// `torch.Tensor`
    Array(Array),
    /// `list`
    List(Vec<Cell>),
    /// `tuple`
    Tuple(Vec<Cell>),
    /// `dict`, with text keys that differ from each other.
    Map(Vec<(Arc<str>, Cell)>),
}

/// The bytes of a picture file, in whatever format they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The encoded bytes.
    pub bytes: Buffer,
    /// Where they are from, for messages: a path, `shard-000.tar: 0012.jpg`, `column image of row 7`.
    pub origin: Arc<str>,
    /// Whether its pixels are colours or numbers of classes.
    pub mode: PictureMode,
}

/// How the pixels of a picture are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureMode {
    /// Colours: uint8 `[3, height, width]`.
    #[default]
    Colour,
    /// Numbers of classes, as in a mask: uint8 `[height, width]`, the indices of a palette or the grey values.
    Classes,
}

/// A number of a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    dtype: Dtype,
    /// Its bytes as this host has them; those beyond the dtype's width are 0.
    bytes: [u8; 16],
}

impl Scalar {
    /// A number whose bytes, as this host has them, are at the begin of `bytes`; `None`: these are fewer than the dtype takes.
    pub fn new(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
        let given = bytes.get(..dtype.width())?;
        let mut bytes = [0; 16];
        bytes.get_mut(..given.len())?.copy_from_slice(given);
        Some(Self { dtype, bytes })
    }

    /// A number of a Rust type.
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

    /// Its dtype.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Its bytes, as many as the dtype takes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.dtype.width()).unwrap_or(&[])
    }
}

/// A `dict` of fields.
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
