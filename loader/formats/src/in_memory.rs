//! Rows in memory that need no decoding.

use crate::array::Dtype;

/// Arrays of one dtype and shape at a fixed stride in memory, which may overlap. A loader copies them into a batch without creating
/// samples.
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
    /// Creates `len` row-major arrays of `shape` in the byte order of this host. `stride` is the distance of their starts, bytes. Returns
    /// `None` if they exceed `bytes`, have no elements, or `len` is 0.
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

    /// Returns the type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Returns the shape of each row.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the size of each row, bytes, at least 1.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns false, because there is at least one row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes of row `index`, or `None` past the end.
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
    fn rows_may_overlap_but_not_exceed_the_bytes() {
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
