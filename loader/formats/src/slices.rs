//! Slices of the first axis of an array in memory or in a file.

mod fields;

use loadscope_words::say;

use crate::array::{Array, Dtype};
use crate::buffer::Buffer;
use crate::cell::{Cell, Scalar};
use crate::error::{FormatError, Place};
use crate::in_memory::InMemory;

pub use fields::Fields;
pub(crate) use fields::{Field, LABELS};

/// Order of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row-major: the last axis varies fastest.
    C,
    /// Column-major: the first axis varies fastest.
    Fortran,
}

/// Byte order of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    /// Byte order of this host.
    Native,
    /// Byte order opposite to that of this host.
    Swapped,
}

impl Endian {
    /// Little-endian.
    pub(crate) const LITTLE: Self = if cfg!(target_endian = "little") {
        Self::Native
    } else {
        Self::Swapped
    };
    /// Big-endian.
    pub(crate) const BIG: Self = if cfg!(target_endian = "big") {
        Self::Native
    } else {
        Self::Swapped
    };
}

/// Layout of an array's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) order: Order,
    pub(crate) endian: Endian,
}

impl Layout {
    /// Returns the size of the array, bytes, or `None` if it overflows.
    pub(crate) fn size(&self) -> Option<usize> {
        let width = self.dtype.width();
        (self.shape.iter()).try_fold(width, |product, &size| product.checked_mul(size))
    }
}

/// Array of at least one axis, sliced along the first.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    layout: Layout,
    bytes: Buffer,
}

impl Slices {
    /// Creates slices of an array that fills `bytes`.
    ///
    /// # Errors
    /// If the array has no axis, or its size differs from `bytes`.
    pub(crate) fn new(
        mut layout: Layout,
        bytes: Buffer,
        place: &Place,
    ) -> Result<Self, FormatError> {
        if layout.shape.is_empty() {
            return Err(scalar_error(place));
        }
        if layout.size() != Some(bytes.len()) {
            bail!(Damaged, place.clone(),
                say!("{} elements of {} do not take {} bytes", format_shape(&layout.shape), layout.dtype.name(), bytes.len());
                say!("It is truncated or damaged: copy or save it again"));
        }
        if layout.shape.len() == 1 {
            layout.order = Order::C;
        }
        if layout.dtype.width() == 1 {
            layout.endian = Endian::Native;
        }
        Ok(Self { layout, bytes })
    }

    /// Returns the size of the first axis.
    pub(crate) fn len(&self) -> usize {
        self.layout.shape.first().copied().unwrap_or(0)
    }

    /// Returns `array[index]`, or `None` past the end.
    pub(crate) fn get(&self, index: usize) -> Option<Cell> {
        let bytes = self.region(index, 1)?;
        let shape = self.layout.shape.get(1..)?;
        if shape.is_empty() {
            return Scalar::new(self.layout.dtype, &bytes).map(Cell::Scalar);
        }
        let array = Array::new(self.layout.dtype, shape.to_vec(), bytes);
        array.ok().map(Cell::Array)
    }

    /// Returns `array[start : start + count]`, or `None` past the end.
    pub(crate) fn window(&self, start: usize, count: usize) -> Option<Cell> {
        let bytes = self.region(start, count)?;
        let mut shape = self.layout.shape.clone();
        *shape.first_mut()? = count;
        let array = Array::new(self.layout.dtype, shape, bytes);
        array.ok().map(Cell::Array)
    }

    /// Returns the whole array.
    pub(crate) fn whole(&self) -> Option<Cell> {
        if self.len() > 0 {
            return self.window(0, self.len());
        }
        let shape = self.layout.shape.clone();
        let array = Array::new(self.layout.dtype, shape, Buffer::default());
        array.ok().map(Cell::Array)
    }

    /// Returns `len` rows of `shape`, `stride` entries of the first axis apart. Returns `None` if the file has another element or byte
    /// order than memory.
    pub(crate) fn in_memory(
        &self,
        shape: Vec<usize>,
        stride: usize,
        len: usize,
    ) -> Option<InMemory<'_>> {
        let is_as_used = self.layout.order == Order::C
            && self.layout.endian == Endian::Native
            && self.layout.dtype != Dtype::Bool;
        // A row without an axis is a NumPy scalar, not an array.
        if !is_as_used || shape.is_empty() {
            return None;
        }
        let entry = self.bytes.len().checked_div(self.len())?;
        let stride = stride.checked_mul(entry)?;
        InMemory::new(self.layout.dtype, shape, &self.bytes, stride, len)
    }

    /// Returns the shape of an entry.
    pub(crate) fn entry_shape(&self) -> &[usize] {
        self.layout.shape.get(1..).unwrap_or_default()
    }

    /// Returns `count` entries of the first axis, row-major, in the byte order of this host.
    fn region(&self, start: usize, count: usize) -> Option<Buffer> {
        let entry = self.bytes.len().checked_div(self.len())?;
        let end = start.checked_add(count).filter(|&end| end <= self.len())?;
        let bytes = match self.layout.order {
            Order::C => self.bytes.slice(start * entry..end * entry)?,
            Order::Fortran => self.gather(start, count, entry)?.into(),
        };
        let strange_bool = || self.layout.dtype == Dtype::Bool && bytes.iter().any(|&b| b > 1);
        Some(match self.layout.endian {
            Endian::Swapped => swapped(&bytes, self.layout.dtype).into(),
            Endian::Native if strange_bool() => {
                let truth: Vec<u8> = bytes.iter().map(|&b| u8::from(b != 0)).collect();
                truth.into()
            }
            Endian::Native => bytes,
        })
    }

    /// Works like [`region`](Self::region), but for a column-major array and without a change of the byte order.
    fn gather(&self, start: usize, count: usize, entry: usize) -> Option<Vec<u8>> {
        let width = self.layout.dtype.width();
        let mut sizes = self.layout.shape.clone();
        *sizes.first_mut()? = count;
        // Distance of neighbors along each axis, bytes.
        let mut steps = Vec::with_capacity(sizes.len());
        let mut step = width;
        for &size in &self.layout.shape {
            steps.push(step);
            step *= size;
        }
        let mut out = Vec::with_capacity(entry * count);
        let mut at = vec![0usize; sizes.len()];
        let mut position = start * width;
        for _ in 0..entry * count / width {
            out.extend_from_slice(self.bytes.get(position..position + width)?);
            // The last axis advances first. An axis at its end restarts.
            for ((at, &size), &step) in at.iter_mut().zip(&sizes).zip(&steps).rev() {
                *at += 1;
                if *at < size {
                    position += step;
                    break;
                }
                position -= step * (size - 1);
                *at = 0;
            }
        }
        Some(out)
    }

    /// Returns the integers of an array of one axis as classes. Returns `None` for other arrays or if a number is negative.
    fn classes(&self) -> Option<Vec<u32>> {
        if self.layout.shape.len() != 1 {
            return None;
        }
        let bytes = self.region(0, self.len())?;
        macro_rules! read {
            ($of:ty) => {{
                let (numbers, _) = bytes.as_chunks::<{ size_of::<$of>() }>();
                let numbers = numbers.iter().map(|n| <$of>::from_ne_bytes(*n));
                numbers.map(|n| u32::try_from(n).ok()).collect()
            }};
        }
        match self.layout.dtype {
            Dtype::Int8 => read!(i8),
            Dtype::Int16 => read!(i16),
            Dtype::Int32 => read!(i32),
            Dtype::Int64 => read!(i64),
            Dtype::UInt8 => read!(u8),
            Dtype::UInt16 => read!(u16),
            Dtype::UInt32 => read!(u32),
            Dtype::UInt64 => read!(u64),
            _ => None,
        }
    }
}

/// Returns the error for an array without an axis.
pub(crate) fn scalar_error(place: &Place) -> FormatError {
    fault!(WrongType, place.clone(), say!("it is a scalar: it has no first axis to take samples from");
        say!("Save an array with one entry per sample"))
}

/// Returns the elements with reversed bytes.
fn swapped(bytes: &[u8], dtype: Dtype) -> Vec<u8> {
    // A complex number is two separate numbers.
    let width = match dtype {
        Dtype::Complex64 | Dtype::Complex128 => dtype.width() / 2,
        _ => dtype.width(),
    };
    let mut out = bytes.to_vec();
    out.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    out
}

/// Formats a shape like Python: `(3, 4)`, `(3,)`.
pub(crate) fn format_shape(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    match sizes.as_slice() {
        [one] => format!("({one},)"),
        sizes => format!("({})", sizes.join(", ")),
    }
}

/// Returns the names in `asked`, or all if it is empty, in the order of the file.
///
/// # Errors
/// If a name is missing.
pub(crate) fn chosen<'a>(
    there: impl IntoIterator<Item = &'a str>,
    asked: &[String],
    place: &Place,
) -> Result<Vec<&'a str>, FormatError> {
    let there: Vec<&str> = there.into_iter().collect();
    if let Some(missing) = asked.iter().find(|name| !there.contains(&name.as_str())) {
        bail!(NoSuchKey, place.clone().key(missing.as_str()), say!("there is no such array");
            say!("Available: {}", format_names(&there)));
    }
    let wanted = |name: &&str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    Ok(there.into_iter().filter(wanted).collect())
}

/// Formats the first names of a list in quotes.
pub(crate) fn format_names(names: &[&str]) -> String {
    const MOST: usize = 8;
    let mut said: Vec<String> = names.iter().take(MOST).map(|n| format!("'{n}'")).collect();
    if names.len() > MOST {
        said.push(say!("{} more", names.len() - MOST));
    }
    match said.as_slice() {
        [] => say!("none").to_owned(),
        said => said.join(", "),
    }
}

/// Returns the error for a missing row.
pub(crate) fn out_of_range(place: &Place, index: usize, len: usize) -> FormatError {
    fault!(OutOfRange, place.clone(), say!("row {index} is beyond its {len} rows");
        say!("Rows are counted from 0"))
}

#[cfg(test)]
mod tests;
