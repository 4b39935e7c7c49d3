//! Reading the elements of a tensor of any dtype as numbers.

use tch::{Kind, Tensor};

use crate::value::{DType, dense_bytes, is_plain};

/// Returns PyTorch's name of a tensor's dtype.
pub(super) fn dtype(tensor: &Tensor) -> &'static str {
    if !tensor.defined() {
        return "undefined";
    }
    DType::of(tensor).map_or("torch.dtype", DType::name)
}

/// Returns the sizes of a tensor, or an empty list for an undefined one.
pub(super) fn shape(tensor: &Tensor) -> Vec<i64> {
    if tensor.defined() {
        tensor.size()
    } else {
        Vec::new()
    }
}

/// Statistics of a tensor. All but `nan` and `inf` are those of the finite values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stats {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) mean: Option<f64>,
    /// Standard deviation, as `torch.std` computes it.
    pub(super) std: Option<f64>,
    /// Counts in bins of equal width from the smallest value to the largest.
    pub(super) histogram: Vec<u64>,
    pub(super) nan: u64,
    pub(super) inf: u64,
}

/// Maximum number of histogram bins that fit into the inspector.
const BINS: usize = 32;

/// Elements of a dense CPU tensor of numbers, in row-major order.
pub(super) struct Elements {
    /// Owner of the memory, contiguous and of a kind that [`get`](Self::get) reads.
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

/// Runs `$run` with a closure that reads element `i`, specialized for the dtype.
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
            // The remaining kinds are Uint8 and Bool, because `of` accepts no other.
            _ => {
                let $read = |i: usize| read!(bytes, u8, i);
                $run
            }
        }
    }};
}

impl Elements {
    /// Returns `None` for a tensor without real numbers in main memory: sparse, complex, quantized or undefined.
    pub(super) fn of(tensor: &Tensor) -> Option<Self> {
        if !is_plain(tensor) {
            return None;
        }
        let as_kind = |kind| {
            tensor
                .f_detach()
                .ok()?
                .f_resolve_neg()
                .ok()?
                .f_to_kind(kind)
                .ok()
        };
        let kind = match DType::of(tensor)? {
            DType::Kind(kind) => kind,
            DType::UInt16 => Kind::Int,
            DType::UInt32 => Kind::Int64,
            // Integers above 2^53 lose their last digits, as does every number shown.
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

    pub(super) fn bytes(&self) -> &[u8] {
        dense_bytes(&self.tensor).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns element `i`, or 0 beyond the end.
    pub(super) fn get(&self, i: usize) -> f64 {
        with_reader!(self, |read| read(i))
    }

    /// Returns statistics over at most about `most` elements.
    pub(super) fn stats(&self, most: usize) -> Stats {
        // The step is odd, so that it does not stay in the same column of every row.
        let step = self.len.div_ceil(most.max(1)).max(1) | 1;
        if self.kind == Kind::Uint8 {
            return stats_of_bytes(self.bytes().iter().step_by(step));
        }
        let at = || (0..self.len).step_by(step);
        let mut stats = with_reader!(self, |read| stats(at().map(|i| (read(i), 1))));
        let whole = !matches!(self.kind, Kind::Float | Kind::Double);
        if let Some(bins) = Bins::of(&stats, whole) {
            stats.histogram = with_reader!(self, |read| bins.count(at().map(read)));
        }
        stats
    }

    /// Calls `sink` for every four indices of `at` with the elements. Dispatches on the dtype once.
    pub(super) fn for_each(
        &self,
        at: impl Iterator<Item = [usize; 4]>,
        mut sink: impl FnMut([f64; 4]),
    ) {
        with_reader!(self, |read| at.for_each(|four| sink(four.map(read))));
    }
}

/// Computes statistics of values, each with its frequency.
fn stats(values: impl Iterator<Item = (f64, u64)>) -> Stats {
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut sum, mut count, mut nan, mut inf) = (0.0, 0u64, 0, 0);
    // Distances from the first value avoid catastrophic cancellation for large numbers that differ little.
    let (mut origin, mut squares, mut distances) = (None, 0.0, 0.0);
    for (value, often) in values {
        if value.is_finite() {
            let times = often as f64;
            min = min.min(value);
            max = max.max(value);
            sum += value * times;
            count += often;
            let distance = value - *origin.get_or_insert(value);
            distances += distance * times;
            squares += distance * distance * times;
        } else if value.is_nan() {
            nan += often;
        } else {
            inf += often;
        }
    }
    let n = count as f64;
    let any = |value: f64| (count > 0).then_some(value);
    let variance = (squares - distances * distances / n) / (n - 1.0);
    // The sum of huge numbers may overflow. Then the statistic is `None`.
    let finite = |value: f64| Some(value).filter(|v| v.is_finite());
    Stats {
        min: any(min),
        max: any(max),
        mean: any(sum / n).and_then(finite),
        std: (count > 1)
            .then(|| variance.max(0.0).sqrt())
            .and_then(finite),
        histogram: Vec::new(),
        nan,
        inf,
    }
}

/// Computes statistics of bytes, which are read only once.
///
/// Reading is most of the work, because the bytes are far apart in a large tensor.
fn stats_of_bytes<'a>(bytes: impl Iterator<Item = &'a u8>) -> Stats {
    let mut counts = [0u64; 256];
    bytes.for_each(|&byte| counts[usize::from(byte)] += 1);
    let values = (0u8..=255).map(f64::from).zip(counts);
    let values = values.filter(|(_, often)| *often > 0);
    let mut stats = stats(values.clone());
    if let Some(bins) = Bins::of(&stats, true) {
        stats.histogram = vec![0; bins.count];
        values.for_each(|(value, often)| stats.histogram[bins.place(value)] += often);
    }
    stats
}

struct Bins {
    low: f64,
    per_unit: f64,
    count: usize,
}

impl Bins {
    /// Returns bins between the smallest and the largest value. Returns `None` if these are equal or too far apart.
    fn of(stats: &Stats, whole: bool) -> Option<Self> {
        let (low, high) = (stats.min?, stats.max?);
        // Whole numbers are at the lower end of their bins.
        let width = high - low + f64::from(u8::from(whole));
        if high <= low || !width.is_finite() {
            return None;
        }
        let count = match whole {
            true => BINS.min(width as usize),
            false => BINS,
        };
        let per_unit = count as f64 / width;
        per_unit.is_finite().then_some(Self {
            low,
            per_unit,
            count,
        })
    }

    fn count(&self, values: impl Iterator<Item = f64>) -> Vec<u64> {
        let mut counts = vec![0; self.count];
        for value in values.filter(|v| v.is_finite()) {
            counts[self.place(value)] += 1;
        }
        counts
    }

    fn place(&self, value: f64) -> usize {
        let bin = ((value - self.low) * self.per_unit) as usize;
        bin.min(self.count - 1)
    }
}
