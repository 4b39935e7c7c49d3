//! Samples and batches as Python values.

mod dtype;
mod key;
mod mapping;
#[expect(
    unsafe_code,
    reason = "bytes of tensors, and what tch leaves out of libtorch"
)]
mod memory;
mod numpy;
mod types;

fn all_same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
}

#[cfg(test)]
mod tests;

use tch::Tensor;

use crate::error::LoaderError;

pub use dtype::DType;
pub use key::Key;
pub(crate) use memory::{dense_bytes, is_plain, lazy_dispatch_key, new_tensor, view_dtype};
use memory::{same_tensors, tensor_bytes};
pub use types::{Mapping, NamedTuple, NdArray, NumpyScalar, Sequence, Value};

impl Value {
    /// Creates a `dict`.
    pub fn dict<K: Into<Key>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value));
        Self::Map(Mapping::new("dict", entries.collect()))
    }

    /// Returns `range(start, stop)`.
    pub fn range(start: i64, stop: i64) -> Self {
        Self::Sequence(Sequence {
            name: "range".into(),
            keeps_type: false,
            items: (start..stop).map(Self::Int).collect(),
        })
    }

    /// Returns CPython's `tp_name`, which error messages contain: `Tensor`, `numpy.ndarray`.
    pub fn type_name(&self) -> &str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::BigInt(_) => "int",
            Self::Float(_) => "float",
            Self::Complex(..) => "complex",
            Self::Str(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::Tensor(_) => "Tensor",
            Self::Array(_) => "numpy.ndarray",
            Self::Scalar(scalar) => scalar.type_name(),
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Sequence(sequence) => &sequence.name,
            Self::Map(mapping) => &mapping.name,
            Self::NamedTuple(tuple) => &tuple.name,
            Self::Other(name) => name,
        }
    }

    /// Returns a copy that shares the memory of tensors. All other values are copied.
    pub fn shallow_clone(&self) -> Self {
        let all = |items: &[Self]| items.iter().map(Self::shallow_clone).collect();
        match self {
            Self::None => Self::None,
            Self::Bool(v) => Self::Bool(*v),
            Self::Int(v) => Self::Int(*v),
            Self::BigInt(v) => Self::BigInt(*v),
            Self::Float(v) => Self::Float(*v),
            Self::Complex(re, im) => Self::Complex(*re, *im),
            Self::Str(v) => Self::Str(v.clone()),
            Self::Bytes(v) => Self::Bytes(v.clone()),
            Self::Tensor(v) => Self::Tensor(v.shallow_clone()),
            Self::Array(v) => Self::Array(v.shallow_clone()),
            Self::Scalar(v) => Self::Scalar(v.shallow_clone()),
            Self::List(items) => Self::List(all(items)),
            Self::Tuple(items) => Self::Tuple(all(items)),
            Self::Sequence(sequence) => Self::Sequence(Sequence {
                name: sequence.name.clone(),
                keeps_type: sequence.keeps_type,
                items: all(&sequence.items),
            }),
            Self::Map(mapping) => Self::Map(Mapping {
                name: mapping.name.clone(),
                entries: (mapping.entries.iter())
                    .map(|(key, value)| (key.clone(), value.shallow_clone()))
                    .collect(),
            }),
            Self::NamedTuple(tuple) => Self::NamedTuple(NamedTuple {
                name: tuple.name.clone(),
                fields: tuple.fields.clone(),
                items: all(&tuple.items),
            }),
            Self::Other(name) => Self::Other(name.clone()),
        }
    }

    /// Compares types, shapes, dtypes and bits deeply.
    ///
    /// NaN equals itself, 0.0 differs from -0.0, and 1 from 1.0. Tensors that are not dense CPU tensors and
    /// [objects](Self::Other) are never equal.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::BigInt(a), Self::BigInt(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Complex(a, b), Self::Complex(c, d)) => {
                a.to_bits() == c.to_bits() && b.to_bits() == d.to_bits()
            }
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Tensor(a), Self::Tensor(b)) => same_tensors(a, b),
            (Self::Array(a), Self::Array(b)) => a.same(b),
            (Self::Scalar(a), Self::Scalar(b)) => a.same(b),
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => all_same(a, b),
            (Self::Sequence(a), Self::Sequence(b)) => {
                a.name == b.name && all_same(&a.items, &b.items)
            }
            (Self::Map(a), Self::Map(b)) => {
                let pairs = || a.entries.iter().zip(&b.entries);
                a.name == b.name
                    && a.entries.len() == b.entries.len()
                    && pairs().all(|((k, a), (l, b))| k == l && a.same(b))
            }
            (Self::NamedTuple(a), Self::NamedTuple(b)) => {
                a.name == b.name && a.fields == b.fields && all_same(&a.items, &b.items)
            }
            _ => false,
        }
    }

    /// Returns all tensors inside, in order, without NumPy arrays.
    pub fn tensors(&self) -> Vec<&Tensor> {
        fn walk<'a>(value: &'a Value, found: &mut Vec<&'a Tensor>) {
            match value {
                Value::Tensor(tensor) => found.push(tensor),
                Value::Map(mapping) => mapping.entries.iter().for_each(|(_, v)| walk(v, found)),
                other => other.items().iter().for_each(|v| walk(v, found)),
            }
        }
        let mut found = Vec::new();
        walk(self, &mut found);
        found
    }

    /// Returns all tensors inside, in order, for changes in place.
    pub fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        fn walk<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Tensor>) {
            match value {
                Value::Tensor(tensor) => found.push(tensor),
                Value::List(items)
                | Value::Tuple(items)
                | Value::Sequence(Sequence { items, .. })
                | Value::NamedTuple(NamedTuple { items, .. }) => {
                    items.iter_mut().for_each(|v| walk(v, found));
                }
                Value::Map(mapping) => {
                    let entries = mapping.entries.iter_mut();
                    entries.for_each(|(_, v)| walk(v, found));
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        walk(self, &mut found);
        found
    }

    /// Returns the elements of a sequence of any type, or an empty slice for another value.
    fn items(&self) -> &[Self] {
        match self {
            Self::List(items)
            | Self::Tuple(items)
            | Self::Sequence(Sequence { items, .. })
            | Self::NamedTuple(NamedTuple { items, .. }) => items,
            _ => &[],
        }
    }

    /// Returns the total size of all values inside, bytes: the size of a batch sent to the consumer.
    pub fn nbytes(&self) -> u64 {
        match self {
            Self::None | Self::Other(_) => 0,
            Self::Bool(_) => 1,
            Self::Int(_) | Self::Float(_) => 8,
            Self::BigInt(_) | Self::Complex(..) => 16,
            Self::Str(v) => v.len() as u64,
            Self::Bytes(v) => v.len() as u64,
            Self::Tensor(tensor) => tensor_bytes(tensor),
            Self::Array(array) => array.nbytes(),
            Self::Scalar(scalar) => scalar.nbytes(),
            Self::Map(mapping) => mapping.entries.iter().map(|(_, v)| v.nbytes()).sum(),
            other => other.items().iter().map(Self::nbytes).sum(),
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

from! {
    bool => Bool,
    i64 => Int,
    i32 => Int,
    u32 => Int,
    f64 => Float,
    f32 => Float,
    &str => Str,
    String => Str,
    Vec<u8> => Bytes,
    Tensor => Tensor,
    NdArray => Array,
    NumpyScalar => Scalar,
    Vec<Value> => List,
    Mapping => Map,
    NamedTuple => NamedTuple,
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::None
    }
}

/// Pairs are the samples of most datasets: `(image, label)`.
impl<A: Into<Value>, B: Into<Value>> From<(A, B)> for Value {
    fn from((a, b): (A, B)) -> Self {
        Self::Tuple(vec![a.into(), b.into()])
    }
}

/// Converts an error of libtorch. `doing` completes "could not …".
///
/// Only the first line is kept, because a C++ backtrace may follow.
pub(crate) fn torch_error(doing: impl Into<String>, error: &tch::TchError) -> LoaderError {
    let message = match error {
        tch::TchError::Torch(text) => text.clone(),
        other => other.to_string(),
    };
    LoaderError::Torch {
        doing: doing.into(),
        message: message.lines().next().unwrap_or_default().to_owned(),
    }
}
