//! Datasets of tensors in memory.

use tch::Tensor;

use super::rows::fill_rows;
use super::{Dataset, Gather, SampleClock, SampleError, wrap};
use crate::error::{ExceptionKind, LoaderError};
use crate::value::{DType, Value, dense_bytes, new_tensor};

/// PyTorch's `TensorDataset`: sample i is the tuple of row i of every tensor.
///
/// Rows share the memory of the tensors. As in PyTorch, callers must not change a row in place while another thread reads.
///
/// With a [`GatherFetcher`](super::GatherFetcher), batches are copied from the tensors in one step. The batches equal the
/// `default_collate` of the samples.
pub struct TensorDataset {
    tensors: Vec<Shared>,
    len: usize,
}

/// Read-only tensor that threads share.
struct Shared(Tensor);

#[expect(
    unsafe_code,
    reason = "libtorch's tensors can be read by many threads, which tch does not say"
)]
// SAFETY: libtorch allows many threads to read a tensor and to create views at the same time. Its reference counts are
// atomic. `Tensor` is not `Sync` because it contains a raw pointer. This module only reads, and gives no `&Tensor` to
// callers.
unsafe impl Sync for Shared {}

impl TensorDataset {
    /// Creates a dataset of the rows of `tensors`, each `[len, ...]`.
    ///
    /// # Errors
    /// AssertionError if the first dimensions differ, IndexError for a tensor without dimensions or no tensors at all.
    pub fn new(tensors: Vec<Tensor>) -> Result<Self, LoaderError> {
        let index_error = |text| LoaderError::python(ExceptionKind::INDEX_ERROR, text);
        let mut len = None;
        for tensor in &tensors {
            let size = if tensor.defined() {
                tensor.size()
            } else {
                vec![]
            };
            let Some(&rows) = size.first() else {
                return Err(index_error(
                    "Dimension specified as 0 but tensor has no dimensions",
                ));
            };
            if *len.get_or_insert(rows) != rows {
                return Err(LoaderError::python(
                    ExceptionKind::ASSERTION_ERROR,
                    "Size mismatch between tensors",
                ));
            }
        }
        // PyTorch raises this error at the first call of `len()`.
        let len = len.ok_or_else(|| index_error("tuple index out of range"))?;
        Ok(Self {
            tensors: tensors.into_iter().map(Shared).collect(),
            len: usize::try_from(len).unwrap_or(0),
        })
    }

    fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.tensors.iter().map(|shared| &shared.0)
    }

    fn out_of_bounds(&self, index: impl std::fmt::Display) -> SampleError {
        SampleError::new(
            "IndexError",
            format!(
                "index {index} is out of bounds for dimension 0 with size {}",
                self.len
            ),
        )
    }
}

fn refused(error: tch::TchError) -> SampleError {
    SampleError::new("RuntimeError", error.to_string())
}

impl Dataset for TensorDataset {
    type Sample = Value;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, _clock: &mut SampleClock) -> Result<Value, SampleError> {
        if index >= self.len {
            return Err(self.out_of_bounds(index));
        }
        let rows = self.tensors().map(|tensor| {
            let row = tensor.f_select(0, index as i64).map_err(refused)?;
            Ok(row.into())
        });
        rows.collect::<Result<_, _>>().map(Value::Tuple)
    }

    fn get_at(&self, index: i64, clock: &mut SampleClock) -> Result<Value, SampleError> {
        match wrap(index, self.len) {
            Some(index) => self.get(index, clock),
            None => Err(self.out_of_bounds(index)),
        }
    }
}

impl Gather for TensorDataset {
    type Batch = Value;

    fn gather(&self, indices: &[usize], _clock: &mut SampleClock) -> Result<Value, SampleError> {
        if indices.is_empty() {
            return Err(SampleError::new("IndexError", "list index out of range"));
        }
        if let Some(index) = indices.iter().find(|&&index| index >= self.len) {
            return Err(self.out_of_bounds(index));
        }
        let columns = self
            .tensors()
            .map(|tensor| Ok(rows(tensor, indices)?.into()));
        columns.collect::<Result<_, _>>().map(Value::List)
    }
}

/// Returns `torch.stack([tensor[i] for i in indices])` for valid indices.
fn rows(tensor: &Tensor, indices: &[usize]) -> Result<Tensor, SampleError> {
    let dtype = DType::of(tensor);
    let (Some(dtype), Some(bytes), false) = (dtype, dense_bytes(tensor), tensor.requires_grad())
    else {
        let indices: Vec<i64> = indices.iter().map(|&i| i as i64).collect();
        let indices = Tensor::from_slice(&indices);
        return tensor.f_index_select(0, &indices).map_err(refused);
    };
    let mut size = tensor.size();
    let all = size.first().map_or(0, |&rows| rows as usize);
    if let Some(first) = size.first_mut() {
        *first = indices.len() as i64;
    }
    let width = bytes.len().checked_div(all).unwrap_or(0);
    let copy = |out: &mut [u8]| match width {
        // A row of one number has a constant length, so its copy compiles to a load and a store.
        4 => copy_rows::<4>(bytes, indices, out),
        8 => copy_rows::<8>(bytes, indices, out),
        width => {
            let row = |index| bytes.get(index * width..(index + 1) * width);
            fill_rows(indices, out, width, row, |row, place| {
                place.copy_from_slice(row);
            });
        }
    };
    new_tensor(&size, dtype, copy).map_err(refused)
}

fn copy_rows<const W: usize>(bytes: &[u8], indices: &[usize], out: &mut [u8]) {
    let (source, _) = bytes.as_chunks::<W>();
    let (rows, _) = out.as_chunks_mut::<W>();
    for (row, &index) in rows.iter_mut().zip(indices) {
        if let Some(source) = source.get(index) {
            *row = *source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collate::{CollateSite, default_collate};
    use proptest::prelude::*;
    use tch::{Device, Kind};

    proptest! {
        #[test]
        fn gathered_batches_equal_collated_samples(
            n in 1i64..20,
            widths in prop::collection::vec((0i64..4, 0usize..5, any::<bool>()), 1..4),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        ) {
            let kinds = [Kind::Uint8, Kind::Float, Kind::Int64, Kind::Half, Kind::Bool];
            let tensors = widths.iter().map(|&(width, kind, strided)| {
                let shape: &[i64] = if width == 0 { &[n] } else { &[n, width] };
                let numbers = Tensor::arange(n * width.max(1), (Kind::Int64, Device::Cpu)).reshape(shape);
                let tensor = numbers.remainder(2).to_kind(kinds[kind]);
                if strided { tensor.flip([0]).transpose(0, -1).contiguous().transpose(0, -1) } else { tensor }
            });
            let data = TensorDataset::new(tensors.collect()).unwrap();
            let indices: Vec<usize> = picks.iter().map(|i| i.index(n as usize)).collect();
            let mut clock = SampleClock::off();
            let samples = indices.iter().map(|&i| data.get(i, &mut clock).unwrap()).collect();
            let collated = default_collate(samples, CollateSite::Worker).unwrap();
            let gathered = data.gather(&indices, &mut clock).unwrap();
            prop_assert!(gathered.same(&collated), "{:?} {:?}", gathered, collated);
        }
    }

    #[test]
    fn tensor_dataset_errors_match_pytorch() {
        let zeros = |size: &[i64]| Tensor::zeros(size, (Kind::Float, Device::Cpu));
        let refused = |tensors| TensorDataset::new(tensors).err().unwrap().to_string();
        assert_eq!(
            refused(vec![zeros(&[3]), zeros(&[4, 1])]),
            "AssertionError: Size mismatch between tensors"
        );
        assert!(refused(vec![zeros(&[])]).starts_with("IndexError: Dimension specified as 0"));
        assert!(refused(vec![]).starts_with("IndexError"));
        let data = TensorDataset::new(vec![zeros(&[3])]).unwrap();
        let mut clock = SampleClock::off();
        let message =
            |index, clock: &mut SampleClock| data.get_at(index, clock).unwrap_err().message;
        assert_eq!(
            message(3, &mut clock),
            "index 3 is out of bounds for dimension 0 with size 3"
        );
        assert_eq!(
            message(-4, &mut clock),
            "index -4 is out of bounds for dimension 0 with size 3"
        );
        assert!(data.gather(&[0, 3], &mut clock).is_err());
    }
}
