//! Reading the elements of a tensor of any dtype as numbers.

use tch::{Kind, Tensor};

use crate::value::{DType, dense_bytes, is_plain};

/// PyTorch's name of a tensor's dtype.
pub(super) fn dtype(tensor: &Tensor) -> &'static str {
    if !tensor.defined() {
        return "undefined";
    }
    DType::of(tensor).map_or("torch.dtype", DType::name)
}

/// Sizes of a tensor; none for an undefined one.
pub(super) fn shape(tensor: &Tensor) -> Vec<i64> {
    if tensor.defined() {
        tensor.size()
    } else {
        Vec::new()
    }
}

/// Smallest, largest and mean finite value and the number of NaNs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stats {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) mean: Option<f64>,
    pub(super) nan: u64,
}

/// The elements of a dense CPU tensor of numbers, in row-major order.
pub(super) struct Elements {
    /// Keeps the memory alive; contiguous and of a kind that [`get`](Self::get) reads.
    tensor: Tensor,
    kind: Kind,
    len: usize,
}

macro_rules! read {
    ($bytes:expr, $type:ty, $i:expr) => {{
        const WIDTH: usize = size_of::<$type>();
        let start = $i * WIDTH;
        match $bytes
            .get(start..start + WIDTH)
            .and_then(|b| b.try_into().ok())
        {
            Some(raw) => <$type>::from_ne_bytes(raw) as f64,
            None => 0.0,
        }
    }};
}

/// Runs `$run` with a closure that reads element `i`, specialised for the dtype.
macro_rules! with_reader {
    ($self:expr, |$read:ident| $run:expr) => {{
        let bytes = $self.bytes();
        match $self.kind {
            Kind::Int8 => {
                let $read = |i: usize| read!(bytes, i8, i);
                $run
            }
            Kind::Int16 => {
                let $read = |i: usize| read!(bytes, i16, i);
                $run
            }
            Kind::Int => {
                let $read = |i: usize| read!(bytes, i32, i);
                $run
            }
            Kind::Int64 => {
                let $read = |i: usize| read!(bytes, i64, i);
                $run
            }
            Kind::Float => {
                let $read = |i: usize| read!(bytes, f32, i);
                $run
            }
            Kind::Double => {
                let $read = |i: usize| read!(bytes, f64, i);
                $run
            }
            // Uint8 and Bool: `of` lets no other kind through.
            _ => {
                let $read = |i: usize| read!(bytes, u8, i);
                $run
            }
        }
    }};
}

impl Elements {
    /// `None` for what has no real numbers in main memory: sparse, complex, quantised, undefined tensors.
    pub(super) fn of(tensor: &Tensor) -> Option<Self> {
        if !is_plain(tensor) {
            return None;
        }
        let as_kind = |kind| tensor.f_detach().ok()?.f_to_kind(kind).ok();
        let kind = match DType::of(tensor)? {
            DType::Kind(kind) => kind,
            DType::UInt16 => Kind::Int,
            DType::UInt32 => Kind::Int64,
            // Beyond 2^53 the last digits are lost, as they are in every number shown.
            DType::UInt64 => Kind::Double,
        };
        let (tensor, kind) = match kind {
            kind @ (Kind::Uint8
            | Kind::Bool
            | Kind::Int8
            | Kind::Int16
            | Kind::Int
            | Kind::Int64
            | Kind::Float
            | Kind::Double) => (as_kind(kind)?, kind),
            Kind::Half
            | Kind::BFloat16
            | Kind::Float8e5m2
            | Kind::Float8e4m3fn
            | Kind::Float8e5m2fnuz
            | Kind::Float8e4m3fnuz => (as_kind(Kind::Float)?, Kind::Float),
            _ => return None,
        };
        let tensor = tensor.f_contiguous().ok()?;
        let len = tensor.numel();
        dense_bytes(&tensor)?;
        Some(Self { tensor, kind, len })
    }

    fn bytes(&self) -> &[u8] {
        dense_bytes(&self.tensor).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Element `i`; 0 beyond the end.
    pub(super) fn get(&self, i: usize) -> f64 {
        with_reader!(self, |read| read(i))
    }

    /// Statistics over at most about `most` elements.
    pub(super) fn stats(&self, most: usize) -> Stats {
        // Odd, so that it does not stay in the same column of every row.
        let step = self.len.div_ceil(most.max(1)).max(1) | 1;
        with_reader!(self, |read| stats((0..self.len).step_by(step).map(read)))
    }

    /// Calls `sink` for every index of `at`, with the element there. One dispatch on the dtype for all of them.
    pub(super) fn for_each(
        &self,
        at: impl Iterator<Item = [usize; 4]>,
        mut sink: impl FnMut([f64; 4]),
    ) {
        with_reader!(self, |read| at.for_each(|four| sink(four.map(read))));
    }
}

fn stats(values: impl Iterator<Item = f64>) -> Stats {
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut sum, mut count, mut nan) = (0.0, 0u64, 0);
    for value in values {
        if value.is_finite() {
            min = min.min(value);
            max = max.max(value);
            sum += value;
            count += 1;
        } else if value.is_nan() {
            nan += 1;
        }
    }
    let any = |value: f64| (count > 0).then_some(value);
    Stats {
        min: any(min),
        max: any(max),
        // The sum of huge numbers may overflow; then there is no mean to show.
        mean: any(sum / count as f64).filter(|mean| mean.is_finite()),
        nan,
    }
}
