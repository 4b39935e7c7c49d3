//! Rows that lie in memory as a loader uses them.

use crate::array::Dtype;

/// Arrays of one dtype and one shape that lie in memory, one behind the other or overlapping: what can be copied side by side into a batch
/// without becoming samples in between.
#[derive(Clone, Debug)]
pub struct InMemory<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
    width: usize,
    stride: usize,
    len: usize,
}

impl<'a> InMemory<'a> {
    /// `len` arrays of `shape`, elements row-major as this host has them, of which each begins `stride` bytes behind the one before it.
    /// `None`: they are not all within `bytes`, or have no elements.
    pub fn new(
        dtype: Dtype,
        shape: Vec<usize>,
        bytes: &'a [u8],
        stride: usize,
        len: usize,
    ) -> Option<Self> {
        let mut sizes = shape.iter();
        let width = sizes.try_fold(dtype.width(), |product, size| product.checked_mul(*size))?;
        let last = len.checked_sub(1)?.checked_mul(stride)?;
        let fits = last.checked_add(width)? <= bytes.len();
        (fits && width > 0).then_some(Self {
            dtype,
            shape,
            bytes,
            width,
            stride,
            len,
        })
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Sizes of each row.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Bytes of each row, at least one.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: what has no rows is not in memory.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of row `index`; `None`: beyond the end.
    pub fn row(&self, index: usize) -> Option<&'a [u8]> {
        if index >= self.len {
            return None;
        }
        let start = index * self.stride;
        self.bytes.get(start..start + self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_may_overlap_and_must_lie_within() {
        let bytes: Vec<u8> = (0..10).collect();
        let rows = InMemory::new(Dtype::UInt8, vec![2, 2], &bytes, 3, 3).expect("10 bytes suffice");
        assert_eq!(rows.row(0), Some(&bytes[0..4]));
        assert_eq!(rows.row(2), Some(&bytes[6..10]));
        assert_eq!(rows.row(3), None);
        assert!(InMemory::new(Dtype::UInt8, vec![2, 2], &bytes, 3, 4).is_none());
        assert!(InMemory::new(Dtype::UInt8, vec![0], &bytes, 3, 3).is_none());
        assert!(InMemory::new(Dtype::UInt8, vec![1], &bytes, 1, 0).is_none());
        assert!(InMemory::new(Dtype::Int64, vec![usize::MAX], &bytes, 1, 1).is_none());
    }
}
