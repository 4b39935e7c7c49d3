//! Collation of plain Rust samples, without an intermediate [`Value`](crate::value::Value).

use loadscope_trace::{BatchContent, BatchId};
use loadscope_words::say;
use tch::{Kind, Tensor};

use super::{CollateSite, stack};
use crate::batch::Batch;
use crate::content::{ContentLimits, describe};
use crate::error::LoaderError;
use crate::fetch::Collate;
use crate::pin::{Lease, Pinner};
use crate::value::{Value, new_tensor, torch_error};

/// A sample, or part of one, that can be stacked: numbers, arrays and lists of numbers, tensors, and tuples of these.
///
/// Shapes and dtypes are those of `default_collate`, with one exception. Rust numbers keep their width: an `f32`
/// becomes float32, while Python's only `float` becomes float64.
pub trait Stackable: Send + Sized + 'static {
    /// Batch type: a tensor with a new first dimension, or a tuple of them.
    type Stacked: Tensors + Batch;

    /// Stacks the samples that `part` returns, one per element of `rows`.
    ///
    /// # Errors
    /// RuntimeError if their shapes differ.
    fn stack<'a, R>(
        rows: &'a [R],
        part: impl Fn(&'a R) -> &'a Self + Copy,
        site: CollateSite,
    ) -> Result<Self::Stacked, LoaderError>;
}

/// PyTorch's `default_collate` for plain Rust samples. `(f32, i64)` samples become `(Tensor, Tensor)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct StackCollate;

impl<S: Stackable> Collate<S> for StackCollate {
    type Batch = S::Stacked;

    fn collate(&self, samples: Vec<S>, site: CollateSite) -> Result<S::Stacked, LoaderError> {
        if samples.is_empty() {
            return Err(super::no_samples());
        }
        S::stack(&samples, |sample| sample, site)
    }
}

/// A number type of tensor elements.
pub trait Number: Copy + Send + Sync + 'static {
    /// Dtype of the elements in a tensor.
    const KIND: Kind;

    /// Writes the native-endian bytes to `out`, which has the length of the number.
    fn write(self, out: &mut [u8]);
}

macro_rules! numbers {
    ($($type:ty => $kind:ident),* $(,)?) => {
        $(
            impl Number for $type {
                const KIND: Kind = Kind::$kind;

                #[inline]
                fn write(self, out: &mut [u8]) {
                    if let Some(out) = out.first_chunk_mut() {
                        *out = self.to_ne_bytes();
                    }
                }
            }

            impl Stackable for $type {
                type Stacked = Tensor;

                fn stack<'a, R>(
                    rows: &'a [R],
                    part: impl Fn(&'a R) -> &'a Self + Copy,
                    _site: CollateSite,
                ) -> Result<Tensor, LoaderError> {
                    numbers(rows, &[], move |row| std::slice::from_ref(part(row)))
                }
            }
        )*
    };
}

numbers! {
    u8 => Uint8,
    i8 => Int8,
    i16 => Int16,
    i32 => Int,
    i64 => Int64,
    f32 => Float,
    f64 => Double,
}

impl Number for bool {
    const KIND: Kind = Kind::Bool;

    #[inline]
    fn write(self, out: &mut [u8]) {
        if let Some(out) = out.first_mut() {
            *out = u8::from(self);
        }
    }
}

impl Stackable for bool {
    type Stacked = Tensor;

    fn stack<'a, R>(
        rows: &'a [R],
        part: impl Fn(&'a R) -> &'a Self + Copy,
        _site: CollateSite,
    ) -> Result<Tensor, LoaderError> {
        numbers(rows, &[], move |row| std::slice::from_ref(part(row)))
    }
}

impl<T: Number, const N: usize> Stackable for [T; N] {
    type Stacked = Tensor;

    fn stack<'a, R>(
        rows: &'a [R],
        part: impl Fn(&'a R) -> &'a Self + Copy,
        _site: CollateSite,
    ) -> Result<Tensor, LoaderError> {
        numbers(rows, &[N], move |row| part(row).as_slice())
    }
}

impl<T: Number, const N: usize, const M: usize> Stackable for [[T; M]; N] {
    type Stacked = Tensor;

    fn stack<'a, R>(
        rows: &'a [R],
        part: impl Fn(&'a R) -> &'a Self + Copy,
        _site: CollateSite,
    ) -> Result<Tensor, LoaderError> {
        numbers(rows, &[N, M], move |row| part(row).as_flattened())
    }
}

/// A list of numbers is a tensor with one dimension. All lists of a batch need the same length.
impl<T: Number> Stackable for Vec<T> {
    type Stacked = Tensor;

    fn stack<'a, R>(
        rows: &'a [R],
        part: impl Fn(&'a R) -> &'a Self + Copy,
        _site: CollateSite,
    ) -> Result<Tensor, LoaderError> {
        let width = rows.first().map_or(0, |row| part(row).len());
        let lengths = rows.iter().map(|row| part(row).len()).enumerate();
        if let Some((position, other)) = lengths.into_iter().find(|(_, len)| *len != width) {
            return Err(stack::unequal_sizes(
                &[width as i64],
                position,
                &[other as i64],
            ));
        }
        numbers(rows, &[width], move |row| part(row).as_slice())
    }
}

impl Stackable for Tensor {
    type Stacked = Self;

    fn stack<'a, R>(
        rows: &'a [R],
        part: impl Fn(&'a R) -> &'a Self + Copy,
        site: CollateSite,
    ) -> Result<Self, LoaderError> {
        let items: Vec<&Self> = rows.iter().map(part).collect();
        stack::stack(&items, site)
    }
}

/// Makes a tensor `[rows, size...]`. Each row must have `size.product()` numbers.
fn numbers<'a, R, T: Number>(
    rows: &'a [R],
    size: &[usize],
    part: impl Fn(&'a R) -> &'a [T],
) -> Result<Tensor, LoaderError> {
    let width = size.iter().product::<usize>();
    let shape: Vec<i64> = std::iter::once(rows.len())
        .chain(size.iter().copied())
        .map(|size| size as i64)
        .collect();
    let bytes = width * size_of::<T>();
    new_tensor(&shape, T::KIND, |out| {
        if bytes == 0 {
            return;
        }
        for (out, row) in out.chunks_exact_mut(bytes).zip(rows) {
            let slots = out.chunks_exact_mut(size_of::<T>());
            for (slot, &number) in slots.zip(part(row)) {
                number.write(slot);
            }
        }
    })
    .map_err(|e| torch_error(say!("make a tensor of numbers"), &e))
}

/// Tensors, and tuples of tensors: batches of [`Stackable`] samples.
pub trait Tensors: Send + Sized + 'static {
    /// Returns all tensors, in order.
    fn tensors_mut(&mut self) -> Vec<&mut Tensor>;

    /// Returns the batch as `default_collate` would return it. Shares the tensors.
    fn to_value(&self) -> Value;
}

impl Tensors for Tensor {
    fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        vec![self]
    }

    fn to_value(&self) -> Value {
        self.shallow_clone().into()
    }
}

macro_rules! batch {
    ([$($bounds:tt)*] $type:ty) => {
        impl<$($bounds)*> Batch for $type {
            fn pin(mut self, pinner: &Pinner) -> Result<(Self, Lease), LoaderError> {
                let mut lease = Lease::default();
                for tensor in self.tensors_mut() {
                    *tensor = pinner.pin(tensor, &mut lease)?;
                }
                Ok((self, lease))
            }

            fn describe(&self, id: BatchId) -> Option<BatchContent> {
                Some(describe(id, &self.to_value(), &ContentLimits::default()))
            }
        }
    };
}

batch!([] Tensor);

macro_rules! tuples {
    ($(($($name:ident $at:tt),+))*) => {
        $(
            impl<$($name: Stackable),+> Stackable for ($($name,)+) {
                type Stacked = ($($name::Stacked,)+);

                fn stack<'a, R>(
                    rows: &'a [R],
                    part: impl Fn(&'a R) -> &'a Self + Copy,
                    site: CollateSite,
                ) -> Result<Self::Stacked, LoaderError> {
                    Ok(($($name::stack(rows, move |row| &part(row).$at, site)?,)+))
                }
            }

            impl<$($name: Tensors),+> Tensors for ($($name,)+) {
                fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
                    let mut found = Vec::new();
                    $(found.extend(self.$at.tensors_mut());)+
                    found
                }

                fn to_value(&self) -> Value {
                    Value::List(vec![$(self.$at.to_value()),+])
                }
            }

            batch!([$($name: Tensors),+] ($($name,)+));
        )*
    };
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collate::default_collate;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn typed_batches_equal_batches_of_values(
            samples in prop::collection::vec(
                (any::<f64>(), any::<i64>(), any::<bool>(), [any::<i64>(), any::<i64>()]), 1..20),
        ) {
            let values = samples.iter().map(|&(a, b, c, [d, e])| {
                Value::Tuple(vec![a.into(), b.into(), c.into(), Tensor::from_slice(&[d, e]).into()])
            });
            let values = default_collate(values.collect(), CollateSite::Worker).unwrap();
            let typed = StackCollate.collate(samples, CollateSite::Worker).unwrap();
            prop_assert!(typed.to_value().same(&values));
        }
    }

    #[test]
    fn batch_shapes_follow_the_sample_types() {
        let site = CollateSite::Main;
        let sample = || {
            (
                (1u8, [1.5f32, 2.5]),
                [[1i32, 2, 3], [4, 5, 6]],
                vec![7i64; 4],
            )
        };
        let batch = StackCollate
            .collate(vec![sample(), sample()], site)
            .unwrap();
        let sizes: Vec<Vec<i64>> = batch
            .to_value()
            .tensors()
            .iter()
            .map(|t| t.size())
            .collect();
        assert_eq!(sizes, [vec![2], vec![2, 2], vec![2, 2, 3], vec![2, 4]]);
        assert_eq!(
            Vec::<i32>::try_from(batch.1.reshape([-1])).unwrap()[6..9],
            [1, 2, 3]
        );
        let error = StackCollate
            .collate(vec![vec![1u8], vec![]], site)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "RuntimeError: stack expects each tensor to be equal size, but got [1] at entry 0 and [0] at entry 1"
        );
        assert!(StackCollate.collate(Vec::<u8>::new(), site).is_err());
        let tensors = vec![Tensor::from_slice(&[1u8]), Tensor::from_slice(&[300i64])];
        let kept = StackCollate.collate(tensors, CollateSite::Worker).unwrap();
        assert_eq!(kept.kind(), Kind::Uint8);
    }
}
