//! Slices of the first axis of an array that lies in memory or in a file.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::array::{Array, Dtype};
use crate::buffer::Buffer;
use crate::cell::{Cell, Scalar};
use crate::error::{Fault, FormatError, Place};
use crate::stages::Stages;

/// How the elements of an array follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row-major: the last axis varies fastest.
    C,
    /// Column-major: the first axis varies fastest.
    Fortran,
}

/// How the bytes of an element follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    /// As this host has them.
    Native,
    /// The other way round.
    Swapped,
}

impl Endian {
    /// Least significant byte first.
    pub(crate) const LITTLE: Self = if cfg!(target_endian = "little") {
        Self::Native
    } else {
        Self::Swapped
    };
    /// Most significant byte first.
    pub(crate) const BIG: Self = if cfg!(target_endian = "big") {
        Self::Native
    } else {
        Self::Swapped
    };
}

/// What is said of an array in front of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) order: Order,
    pub(crate) endian: Endian,
}

impl Layout {
    /// Bytes of the whole array; `None`: more than can be addressed.
    pub(crate) fn size(&self) -> Option<usize> {
        let width = self.dtype.width();
        (self.shape.iter()).try_fold(width, |product, &size| product.checked_mul(size))
    }
}

/// An array of at least one axis, cut along the first.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    layout: Layout,
    bytes: Buffer,
}

impl Slices {
    /// Cuts an array whose bytes are all of `bytes`.
    ///
    /// # Errors
    /// If it has no axis, or not as many bytes as its sizes say.
    pub(crate) fn new(
        mut layout: Layout,
        bytes: Buffer,
        place: &Place,
    ) -> Result<Self, FormatError> {
        if layout.shape.is_empty() {
            return Err(no_axis(place));
        }
        if layout.size() != Some(bytes.len()) {
            return Err(FormatError::new(
                Fault::Damaged,
                place.clone(),
                format!(
                    "{} elements of {} do not take {} bytes",
                    shown(&layout.shape),
                    layout.dtype.name(),
                    bytes.len()
                ),
                "It is cut off or damaged: copy or save it again",
            ));
        }
        if layout.shape.len() == 1 {
            layout.order = Order::C;
        }
        if layout.dtype.width() == 1 {
            layout.endian = Endian::Native;
        }
        Ok(Self { layout, bytes })
    }

    /// Size of the first axis.
    pub(crate) fn len(&self) -> usize {
        self.layout.shape.first().copied().unwrap_or(0)
    }

    /// `array[index]`; `None`: beyond the end.
    pub(crate) fn get(&self, index: usize) -> Option<Cell> {
        let bytes = self.region(index, 1)?;
        let shape = self.layout.shape.get(1..)?;
        if shape.is_empty() {
            return Scalar::new(self.layout.dtype, &bytes).map(Cell::Scalar);
        }
        let array = Array::new(self.layout.dtype, shape.to_vec(), bytes);
        array.ok().map(Cell::Array)
    }

    /// `array[start : start + count]`; `None`: beyond the end.
    pub(crate) fn window(&self, start: usize, count: usize) -> Option<Cell> {
        let bytes = self.region(start, count)?;
        let mut shape = self.layout.shape.clone();
        *shape.first_mut()? = count;
        let array = Array::new(self.layout.dtype, shape, bytes);
        array.ok().map(Cell::Array)
    }

    /// All of the array.
    pub(crate) fn whole(&self) -> Option<Cell> {
        if self.len() > 0 {
            return self.window(0, self.len());
        }
        let shape = self.layout.shape.clone();
        let array = Array::new(self.layout.dtype, shape, Buffer::default());
        array.ok().map(Cell::Array)
    }

    /// The elements of `count` entries of the first axis, row-major, as this host has them.
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

    /// As [`region`](Self::region), out of an array whose first axis varies fastest.
    fn gather(&self, start: usize, count: usize, entry: usize) -> Option<Vec<u8>> {
        let width = self.layout.dtype.width();
        let mut sizes = self.layout.shape.clone();
        *sizes.first_mut()? = count;
        // How many bytes lie between neighbours along each axis.
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
            // The last axis advances first; one that is through goes back to its begin.
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

    /// The numbers of an array of one axis as classes; `None`: it is something else, or one of them is negative.
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

/// An array that cannot be cut.
pub(crate) fn no_axis(place: &Place) -> FormatError {
    FormatError::new(
        Fault::WrongType,
        place.clone(),
        "it is a single number, not an array: it has no first axis to take samples from",
        "Save an array with one entry a sample",
    )
}

/// The same elements with their bytes the other way round.
fn swapped(bytes: &[u8], dtype: Dtype) -> Vec<u8> {
    // A complex number is two numbers, each for itself.
    let width = match dtype {
        Dtype::Complex64 | Dtype::Complex128 => dtype.width() / 2,
        _ => dtype.width(),
    };
    let mut out = bytes.to_vec();
    out.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    out
}

/// Sizes as Python writes them: `(3, 4)`, `(3,)`.
pub(crate) fn shown(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    match sizes.as_slice() {
        [one] => format!("({one},)"),
        sizes => format!("({})", sizes.join(", ")),
    }
}

/// Several arrays of one length; a sample is a `dict` with an entry of each.
#[derive(Debug)]
pub(crate) struct Fields {
    fields: Vec<Field>,
    len: usize,
}

/// An array with a name.
pub(crate) struct Field {
    name: Arc<str>,
    len: usize,
    source: Source,
}

enum Source {
    Ready(Slices),
    Packed {
        unpack: Box<dyn Fn() -> Result<Slices, FormatError> + Send + Sync>,
        slices: OnceLock<Result<Slices, FormatError>>,
    },
}

impl Field {
    /// An array that can be read.
    pub(crate) fn ready(name: &str, slices: Slices) -> Self {
        Self {
            name: name.into(),
            len: slices.len(),
            source: Source::Ready(slices),
        }
    }

    /// An array of `len` entries that is unpacked when the first of them is asked for, once.
    pub(crate) fn packed(
        name: &str,
        len: usize,
        unpack: impl Fn() -> Result<Slices, FormatError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            len,
            source: Source::Packed {
                unpack: Box::new(unpack),
                slices: OnceLock::new(),
            },
        }
    }

    fn slices(&self) -> Result<&Slices, FormatError> {
        match &self.source {
            Source::Ready(slices) => Ok(slices),
            Source::Packed { unpack, slices } => slices
                .get_or_init(unpack)
                .as_ref()
                .map_err(FormatError::clone),
        }
    }

    fn is_ready(&self) -> bool {
        match &self.source {
            Source::Ready(_) => true,
            Source::Packed { slices, .. } => slices.get().is_some(),
        }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.name, self.len)
    }
}

/// Names under which data usually has its classes.
pub(crate) const LABELS: [&str; 6] = ["label", "labels", "target", "targets", "class", "y"];

impl Fields {
    /// Arrays by name.
    ///
    /// # Errors
    /// If there are none, or their first axes differ.
    pub(crate) fn new(fields: Vec<Field>, place: &Place) -> Result<Self, FormatError> {
        let Some(first) = fields.first() else {
            return Err(FormatError::new(
                Fault::Damaged,
                place.clone(),
                "there are no arrays in it",
                "Save at least one",
            ));
        };
        let len = first.len;
        if let Some(other) = fields.iter().find(|field| field.len != len) {
            return Err(FormatError::new(
                Fault::Asked,
                place.clone(),
                format!(
                    "'{}' has {len} entries and '{}' {}: arrays of one length are samples, these are not",
                    first.name, other.name, other.len
                ),
                "Name those that belong together",
            ));
        }
        Ok(Self { fields, len })
    }

    /// Number of samples.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The entry of each array; `None`: beyond the end.
    ///
    /// # Errors
    /// If an array cannot be unpacked.
    fn get(&self, index: usize) -> Result<Option<Cell>, FormatError> {
        let mut entries = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            match field.slices()?.get(index) {
                Some(cell) => entries.push((Arc::clone(&field.name), cell)),
                None => return Ok(None),
            }
        }
        Ok(Some(Cell::Map(entries)))
    }

    /// The sample of that index.
    ///
    /// # Errors
    /// If there is none, or an array cannot be unpacked.
    pub(crate) fn row(
        &self,
        index: usize,
        place: &Place,
        stages: &mut dyn Stages,
    ) -> Result<Cell, FormatError> {
        let ready = self.fields.iter().all(Field::is_ready);
        stages.enter(if ready { "read" } else { "decode" });
        let row = self.get(index)?;
        row.ok_or_else(|| out_of_range(place, index, self.len))
    }

    /// The classes, if there is one array of whole numbers that is named so.
    pub(crate) fn labels(&self) -> Option<Vec<u32>> {
        let mut named = self.fields.iter().filter(|field| is_label(&field.name));
        let field = named.next()?;
        if named.next().is_some() {
            return None;
        }
        field.slices().ok()?.classes()
    }
}

/// Whether a column of that name has classes: `label`, `train_labels`, `y_train`.
fn is_label(name: &str) -> bool {
    name.split('_').any(|word| LABELS.contains(&word))
}

/// Only the names that were asked for, all if none were, in the order of the file.
///
/// # Errors
/// If one is not there.
pub(crate) fn chosen<'a>(
    there: impl IntoIterator<Item = &'a str>,
    asked: &[String],
    place: &Place,
) -> Result<Vec<&'a str>, FormatError> {
    let there: Vec<&str> = there.into_iter().collect();
    if let Some(missing) = asked.iter().find(|name| !there.contains(&name.as_str())) {
        return Err(FormatError::new(
            Fault::NoSuchKey,
            place.clone().key(missing.as_str()),
            "there is no such array",
            format!("There are {}", listed(&there)),
        ));
    }
    let wanted = |name: &&str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    Ok(there.into_iter().filter(wanted).collect())
}

/// The first names of a list, in quotes.
pub(crate) fn listed(names: &[&str]) -> String {
    const MOST: usize = 8;
    let mut said: Vec<String> = names.iter().take(MOST).map(|n| format!("'{n}'")).collect();
    if names.len() > MOST {
        said.push(format!("{} more", names.len() - MOST));
    }
    match said.as_slice() {
        [] => "none".to_owned(),
        said => said.join(", "),
    }
}

/// No row of that index.
pub(crate) fn out_of_range(place: &Place, index: usize, len: usize) -> FormatError {
    FormatError::new(
        Fault::OutOfRange,
        place.clone(),
        format!("row {index} is beyond its {len} rows"),
        "Ask for rows from 0 on",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place() -> Place {
        Place::named("a.npy")
    }

    proptest! {
        /// Both orders hold the same numbers, whichever way their bytes stand.
        #[test]
        fn orders_and_byte_orders_agree(
            shape in prop::collection::vec(1usize..5, 1..5), start in 0usize..5, count in 0usize..5, big: bool,
        ) {
            let size: usize = shape.iter().product();
            let numbers: Vec<i32> = (0..size as i32).map(|n| n * 70_001).collect();
            // The same array with its first axis fastest: numbers by their position there.
            let mut fortran = vec![0; size];
            for (at, &number) in numbers.iter().enumerate() {
                let (mut rest, mut to, mut step) = (at, 0, 1);
                let mut indices: Vec<usize> = shape.iter().rev().map(|&n| { let i = rest % n; rest /= n; i }).collect();
                indices.reverse();
                for (index, &n) in indices.iter().zip(&shape) { to += index * step; step *= n; }
                fortran[to] = number;
            }
            let bytes = |numbers: &[i32]| -> Vec<u8> {
                numbers.iter().flat_map(|n| if big { n.to_be_bytes() } else { n.to_le_bytes() }).collect()
            };
            let endian = if big { Endian::BIG } else { Endian::LITTLE };
            let layout = |order| Layout { dtype: Dtype::Int32, shape: shape.clone(), order, endian };
            let c = Slices::new(layout(Order::C), bytes(&numbers).into(), &place()).unwrap();
            let f = Slices::new(layout(Order::Fortran), bytes(&fortran).into(), &place()).unwrap();
            let whole = Array::with_shape(shape.clone(), &numbers).unwrap();
            for index in 0..shape[0] {
                let expected = whole.get(index).unwrap();
                let expected = if expected.shape().is_empty() {
                    Cell::Scalar(Scalar::new(Dtype::Int32, expected.bytes()).unwrap())
                } else {
                    Cell::Array(expected)
                };
                prop_assert_eq!(c.get(index), Some(expected.clone()));
                prop_assert_eq!(f.get(index), Some(expected));
            }
            prop_assert_eq!(c.get(shape[0]), None);
            prop_assert_eq!(c.window(start, count), f.window(start, count));
            prop_assert_eq!(c.window(start, count).is_some(), start + count <= shape[0]);
        }
    }

    #[test]
    fn truth_values_are_0_or_1() {
        let layout = Layout {
            dtype: Dtype::Bool,
            shape: vec![1, 3],
            order: Order::C,
            endian: Endian::Native,
        };
        let slices = Slices::new(layout, vec![0, 1, 7].into(), &place()).unwrap();
        assert_eq!(slices.get(0), Some(Array::of(&[false, true, true]).into()));
    }

    #[test]
    fn labels_are_whole_numbers_that_are_named_so() {
        let numbers = |dtype, bytes: Vec<u8>| {
            let layout = Layout {
                dtype,
                shape: vec![2],
                order: Order::C,
                endian: Endian::LITTLE,
            };
            Slices::new(layout, bytes.into(), &place()).unwrap()
        };
        let labels = |name: &str, slices: Slices| {
            Fields::new(vec![Field::ready(name, slices)], &place())
                .unwrap()
                .labels()
        };
        assert_eq!(
            labels("y_train", numbers(Dtype::UInt8, vec![3, 255])),
            Some(vec![3, 255])
        );
        assert_eq!(labels("ys", numbers(Dtype::UInt8, vec![3, 255])), None);
        assert_eq!(labels("label", numbers(Dtype::Int8, vec![3, 255])), None);
        assert_eq!(
            labels("label", numbers(Dtype::Int16, vec![3, 0, 0, 1])),
            Some(vec![3, 256])
        );
    }

    #[test]
    fn arrays_of_different_lengths_are_no_samples() {
        let numbers = |n: usize| {
            let layout = Layout {
                dtype: Dtype::UInt8,
                shape: vec![n],
                order: Order::C,
                endian: Endian::Native,
            };
            Slices::new(layout, vec![0; n].into(), &place()).unwrap()
        };
        let error = Fields::new(
            vec![Field::ready("a", numbers(2)), Field::ready("b", numbers(3))],
            &place(),
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "a.npy: 'a' has 2 entries and 'b' 3: arrays of one length are samples, these are not. Name those that belong together"
        );
        let asked = ["c".to_owned()];
        let error = chosen(["a", "b"], &asked, &place()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.npy, 'c': there is no such array. There are 'a', 'b'"
        );
    }
}
