//! Samples and batches: the Python values that a data set hands out and a loader puts together.

use std::sync::Arc;

use tch::{Device, Kind, TchError, Tensor};

/// A sample, a part of one, or a collated batch.
#[derive(Debug)]
pub enum Value {
    /// `None`, which cannot be collated but may pass through.
    None,
    /// `bool`
    Bool(bool),
    /// `int`, as far as it fits 64 bits.
    Int(i64),
    /// `float`
    Float(f64),
    /// `str`
    Str(String),
    /// `bytes`
    Bytes(Vec<u8>),
    /// `torch.Tensor`
    Tensor(Tensor),
    /// `list`
    List(Vec<Value>),
    /// `tuple`
    Tuple(Vec<Value>),
    /// `dict` with text keys, in order of insertion.
    Map(Vec<(String, Value)>),
    /// An instance of a `collections.namedtuple` type.
    NamedTuple(NamedTuple),
}

/// A tuple with named fields.
#[derive(Debug)]
pub struct NamedTuple {
    /// Name of the type.
    pub name: Arc<str>,
    /// Names of the fields.
    pub fields: Arc<[String]>,
    /// Values of the fields, in the same order.
    pub items: Vec<Value>,
}

impl Value {
    /// The name of the type as Python's `type(value).__name__` gives it.
    pub fn type_name(&self) -> &str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::Tensor(_) => "Tensor",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Map(_) => "dict",
            Self::NamedTuple(tuple) => &tuple.name,
        }
    }

    /// A copy that shares the memory of tensors; everything else is copied.
    pub fn shallow_clone(&self) -> Self {
        let all = |items: &[Self]| items.iter().map(Self::shallow_clone).collect();
        match self {
            Self::None => Self::None,
            Self::Bool(v) => Self::Bool(*v),
            Self::Int(v) => Self::Int(*v),
            Self::Float(v) => Self::Float(*v),
            Self::Str(v) => Self::Str(v.clone()),
            Self::Bytes(v) => Self::Bytes(v.clone()),
            Self::Tensor(v) => Self::Tensor(v.shallow_clone()),
            Self::List(items) => Self::List(all(items)),
            Self::Tuple(items) => Self::Tuple(all(items)),
            Self::Map(entries) => Self::Map(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), value.shallow_clone()))
                    .collect(),
            ),
            Self::NamedTuple(tuple) => Self::NamedTuple(NamedTuple {
                name: tuple.name.clone(),
                fields: tuple.fields.clone(),
                items: all(&tuple.items),
            }),
        }
    }

    /// Deep equality of types, shapes, dtypes and bits: NaN is the same as itself, 0.0 differs from -0.0, 1 from 1.0.
    /// Tensors that are not dense CPU tensors are never the same.
    pub fn same(&self, other: &Self) -> bool {
        let all =
            |a: &[Self], b: &[Self]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b));
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Tensor(a), Self::Tensor(b)) => same_tensors(a, b),
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => all(a, b),
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && a.same(b))
            }
            (Self::NamedTuple(a), Self::NamedTuple(b)) => {
                a.name == b.name && a.fields == b.fields && all(&a.items, &b.items)
            }
            _ => false,
        }
    }

    /// All tensors inside, in order.
    pub fn tensors(&self) -> Vec<&Tensor> {
        fn walk<'a>(value: &'a Value, found: &mut Vec<&'a Tensor>) {
            match value {
                Value::Tensor(tensor) => found.push(tensor),
                Value::List(items) | Value::Tuple(items) => {
                    items.iter().for_each(|v| walk(v, found));
                }
                Value::Map(entries) => entries.iter().for_each(|(_, v)| walk(v, found)),
                Value::NamedTuple(tuple) => tuple.items.iter().for_each(|v| walk(v, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        walk(self, &mut found);
        found
    }

    /// All tensors inside, in order, to be changed in place.
    pub fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        fn walk<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Tensor>) {
            match value {
                Value::Tensor(tensor) => found.push(tensor),
                Value::List(items) | Value::Tuple(items) => {
                    items.iter_mut().for_each(|v| walk(v, found));
                }
                Value::Map(entries) => entries.iter_mut().for_each(|(_, v)| walk(v, found)),
                Value::NamedTuple(tuple) => tuple.items.iter_mut().for_each(|v| walk(v, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        walk(self, &mut found);
        found
    }

    /// Replaces every tensor inside by what `f` makes of it (a page-locked copy, a copy on a GPU), in order.
    ///
    /// # Errors
    /// The first error of `f`; the tensors before it stay replaced.
    pub fn map_tensors<E>(
        &mut self,
        mut f: impl FnMut(&Tensor) -> Result<Tensor, E>,
    ) -> Result<(), E> {
        for tensor in self.tensors_mut() {
            *tensor = f(tensor)?;
        }
        Ok(())
    }

    /// Bytes of all tensors, texts and byte strings inside: what a batch weighs on its way to the consumer.
    pub fn nbytes(&self) -> u64 {
        let all = |items: &[Self]| items.iter().map(Self::nbytes).sum();
        match self {
            Self::None => 0,
            Self::Bool(_) => 1,
            Self::Int(_) | Self::Float(_) => 8,
            Self::Str(v) => v.len() as u64,
            Self::Bytes(v) => v.len() as u64,
            Self::Tensor(tensor) => {
                let width = tensor.f_kind().map_or(0, |kind| kind.elt_size_in_bytes());
                if tensor.defined() {
                    (tensor.numel() * width) as u64
                } else {
                    0
                }
            }
            Self::List(items) | Self::Tuple(items) => all(items),
            Self::Map(entries) => entries.iter().map(|(_, v)| v.nbytes()).sum(),
            Self::NamedTuple(tuple) => all(&tuple.items),
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
    Vec<Value> => List,
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::None
    }
}

/// Pairs are what most data sets return: `(image, label)`.
impl<A: Into<Value>, B: Into<Value>> From<(A, B)> for Value {
    fn from((a, b): (A, B)) -> Self {
        Self::Tuple(vec![a.into(), b.into()])
    }
}

fn same_tensors(a: &Tensor, b: &Tensor) -> bool {
    if !(is_plain(a) && is_plain(b)) || a.size() != b.size() {
        return false;
    }
    let (Ok(kind_a), Ok(kind_b)) = (a.f_kind(), b.f_kind()) else {
        return false;
    };
    if kind_a != kind_b {
        return false;
    }
    let (Ok(a), Ok(b)) = (a.f_contiguous(), b.f_contiguous()) else {
        return false;
    };
    matches!((dense_bytes(&a), dense_bytes(&b)), (Some(a), Some(b)) if a == b)
}

/// True for a tensor whose elements this process can read: defined, in main memory, neither sparse nor opaque.
pub(crate) fn is_plain(tensor: &Tensor) -> bool {
    tensor.defined() && tensor.device() == Device::Cpu && !tensor.is_sparse() && !tensor.is_mkldnn()
}

/// The bytes of a plain, contiguous tensor, row-major; `None` for any other.
pub(crate) fn dense_bytes(tensor: &Tensor) -> Option<&[u8]> {
    if !is_plain(tensor) || !tensor.is_contiguous() {
        return None;
    }
    let len = tensor.numel() * tensor.f_kind().ok()?.elt_size_in_bytes();
    if len == 0 {
        return Some(&[]);
    }
    let data = tensor.data_ptr().cast::<u8>();
    if data.is_null() {
        return None;
    }
    // SAFETY: a contiguous CPU tensor holds `numel` elements from `data_ptr` on and owns them as long as it lives.
    Some(unsafe { std::slice::from_raw_parts(data, len) })
}

/// A new contiguous CPU tensor, filled by `fill`, which gets its bytes (row-major, at first of arbitrary content).
///
/// # Errors
/// libtorch's, if the size is refused (negative or too large).
pub(crate) fn new_tensor(
    size: &[i64],
    kind: Kind,
    fill: impl FnOnce(&mut [u8]),
) -> Result<Tensor, TchError> {
    let tensor = Tensor::f_empty(size, (kind, Device::Cpu))?;
    let len = tensor.numel() * kind.elt_size_in_bytes();
    let data = tensor.data_ptr().cast::<u8>();
    if len == 0 || data.is_null() {
        fill(&mut []);
        return Ok(tensor);
    }
    // SAFETY: the tensor was made here, so nothing else refers to its `len` bytes. They come from libtorch's allocator,
    // whose inside the compiler does not see, and every bit pattern is a valid u8.
    fill(unsafe { std::slice::from_raw_parts_mut(data, len) });
    Ok(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested() -> Value {
        Value::Map(vec![
            ("image".to_owned(), Tensor::from_slice(&[1u8, 2, 3]).into()),
            (
                "rest".to_owned(),
                Value::List(vec![
                    (Tensor::from_slice(&[1.5f32]), 7i64).into(),
                    "text".into(),
                    Value::None,
                ]),
            ),
        ])
    }

    #[test]
    fn clones_are_the_same_and_share_tensors() {
        let (a, b) = (nested(), nested());
        let clone = a.shallow_clone();
        assert!(a.same(&clone) && a.same(&b));
        let pointers =
            |v: &Value| -> Vec<_> { v.tensors().iter().map(|t| t.data_ptr() as usize).collect() };
        assert_eq!(pointers(&a), pointers(&clone));
        assert_ne!(pointers(&a), pointers(&b));
        assert_eq!(a.nbytes(), 3 + 4 + 8 + 4);
    }

    #[test]
    fn sameness_is_strict() {
        let different: Vec<Value> = vec![
            1i64.into(),
            1.0f64.into(),
            true.into(),
            0.0.into(),
            (-0.0).into(),
            "1".into(),
            Value::None,
            Value::List(vec![]),
            Value::Tuple(vec![]),
            Tensor::from_slice(&[1i64]).into(),
            Tensor::from_slice(&[1i32]).into(),
            Tensor::from_slice(&[1i64, 1]).into(),
            Tensor::from_slice(&[1i64, 1]).reshape([1, 2]).into(),
        ];
        for (i, a) in different.iter().enumerate() {
            for (j, b) in different.iter().enumerate() {
                assert_eq!(a.same(b), i == j, "{a:?} and {b:?}");
            }
        }
        assert!(Value::Float(f64::NAN).same(&Value::Float(f64::NAN)));
        let strided = Tensor::from_slice(&[1u8, 9, 2, 9])
            .reshape([2, 2])
            .select(1, 0);
        assert!(Value::from(strided).same(&Tensor::from_slice(&[1u8, 2]).into()));
    }

    #[test]
    fn tensors_can_be_replaced() {
        let mut value = nested();
        let outcome: Result<(), TchError> = value.map_tensors(|t| t.f_add_scalar(1));
        assert!(outcome.is_ok());
        assert_eq!(Vec::<u8>::try_from(value.tensors()[0]).unwrap(), [2, 3, 4]);
        assert_eq!(Vec::<f32>::try_from(value.tensors()[1]).unwrap(), [2.5]);
        assert!(value.map_tensors(|_| Err("no")).is_err());
    }

    #[test]
    fn tensors_that_cannot_be_read_are_told_apart() {
        assert!(!is_plain(&Tensor::new()));
        assert!(dense_bytes(&Tensor::new()).is_none());
        let sparse = Tensor::eye(2, tch::kind::FLOAT_CPU).to_sparse(None, None::<&[i64]>, None);
        assert!(!is_plain(&sparse));
        assert_eq!(Value::from(Tensor::new()).nbytes(), 0);
    }
}
