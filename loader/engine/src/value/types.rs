//! Values and containers of values.

use std::sync::Arc;

use tch::Tensor;

use super::key::Key;

/// A sample, a part of one, or a collated batch.
#[derive(Debug)]
pub enum Value {
    /// `None`, which cannot be collated but may pass through.
    None,
    /// `bool`
    Bool(bool),
    /// `int` that fits 64 bits.
    Int(i64),
    /// `int` that fits 128 bits but not 64: too large for a tensor of integers.
    BigInt(i128),
    /// `float`
    Float(f64),
    /// `complex`: real and imaginary part.
    Complex(f64, f64),
    /// `str`
    Str(String),
    /// `bytes`
    Bytes(Vec<u8>),
    /// `torch.Tensor`
    Tensor(Tensor),
    /// `numpy.ndarray`
    Array(NdArray),
    /// `numpy.generic`
    Scalar(NumpyScalar),
    /// `list`
    List(Vec<Value>),
    /// `tuple`
    Tuple(Vec<Value>),
    /// Any other sequence: `range`, `deque`.
    Sequence(Sequence),
    /// `dict` or another mapping.
    Map(Mapping),
    /// An instance of a `collections.namedtuple` type.
    NamedTuple(NamedTuple),
    /// Any other object, represented by its `tp_name`: `set`, `datetime.date`.
    Other(Arc<str>),
}

/// A `tuple` subclass with named fields.
#[derive(Debug)]
pub struct NamedTuple {
    /// Name of the type.
    pub name: Arc<str>,
    /// Names of the fields.
    pub fields: Arc<[String]>,
    /// Values of the fields, in the same order.
    pub items: Vec<Value>,
}

/// A sequence that is neither a list nor a tuple.
#[derive(Debug)]
pub struct Sequence {
    /// Name of the type: `range`, `deque`.
    pub name: Arc<str>,
    /// True if a sequence of this type can hold tensors. A collated `deque` stays a `deque`, but a `range` becomes a list.
    pub keeps_type: bool,
    /// Elements in iteration order.
    pub items: Vec<Value>,
}

/// A mapping, in order of insertion.
#[derive(Debug)]
pub struct Mapping {
    /// Name of the type: `dict`, `OrderedDict`. Collating keeps it.
    pub name: Arc<str>,
    /// Keys and values. Keys are unique.
    pub entries: Vec<(Key, Value)>,
}

/// `numpy.ndarray`
#[derive(Debug)]
pub enum NdArray {
    /// An array of numbers or truth values, as the tensor that `torch.as_tensor` returns without a copy.
    ///
    /// NumPy has a dtype of the same name.
    Numbers(Tensor),
    /// An array that no tensor can represent: texts, objects, dates.
    Other {
        /// `str(array.dtype)`: `<U1`, `object`, `datetime64[D]`.
        dtype: Arc<str>,
        /// Size of each axis.
        shape: Vec<i64>,
        /// Elements, row-major.
        items: Vec<Value>,
    },
}

/// A NumPy scalar, `numpy.generic`.
#[derive(Debug)]
pub enum NumpyScalar {
    /// `numpy.float32(1.5)`, as the 0-d tensor that `torch.as_tensor` returns.
    Number(Tensor),
    /// `numpy.str_`
    Str(String),
    /// `numpy.bytes_`
    Bytes(Vec<u8>),
    /// Any other: `numpy.datetime64`, `numpy.void`.
    Other {
        /// `tp_name` of the type: `numpy.datetime64`.
        type_name: Arc<str>,
    },
}
