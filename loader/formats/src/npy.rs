//! A NumPy array, mapped to memory. Samples are slices of its first axis.

pub(crate) mod header;

use std::path::Path;

use loadscope_words::say;

use crate::buffer::Buffer;
use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};
use crate::in_memory::InMemory;
use crate::rows::Rows;
use crate::slices::{Slices, out_of_range};
use crate::stages::Stages;

/// Windows along the first axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Entries per window.
    pub length: usize,
    /// Distance between the starts of consecutive windows, entries.
    pub stride: usize,
}

/// A NumPy array with the values of `numpy.load(path, mmap_mode="r")`. Sample i is `array[i]`, or with windows
/// `array[i * stride : i * stride + length]`. Samples need no copy if the file has the element order and byte order of memory.
#[derive(Debug)]
pub struct Npy {
    slices: Slices,
    window: Option<Window>,
    place: Place,
    len: usize,
}

impl Npy {
    /// Opens an array of numbers.
    ///
    /// # Errors
    /// If the file cannot be opened, is damaged, has other elements than numbers, or has no axis or no complete window.
    pub fn open(path: &Path, window: Option<Window>) -> Result<Self, FormatError> {
        let place = Place::file(path);
        let file = Buffer::map(path).map_err(|e| FormatError::reading(path, &e))?;
        let slices = array(&file, &place)?;
        let len = match window {
            None => slices.len(),
            Some(window) => windows(slices.len(), window, &place)?,
        };
        Ok(Self {
            slices,
            window,
            place,
            len,
        })
    }
}

/// Reads the array in the bytes of a file.
pub(crate) fn array(file: &Buffer, place: &Place) -> Result<Slices, FormatError> {
    let (layout, begin) = header::read(file, place)?;
    // NumPy also ignores bytes after the array.
    let end = layout.size().and_then(|size| begin.checked_add(size));
    let Some(bytes) = end.and_then(|end| file.slice(begin..end)) else {
        return Err(FormatError::new(
            Fault::Damaged,
            place.clone(),
            say!(
                "its header declares {} elements of {}, but only {} bytes follow",
                crate::slices::format_shape(&layout.shape),
                layout.dtype.name(),
                file.len().saturating_sub(begin)
            ),
            say!("It is truncated or damaged: copy or save it again"),
        ));
    };
    Slices::new(layout, bytes, place)
}

/// Returns the number of windows.
fn windows(entries: usize, window: Window, place: &Place) -> Result<usize, FormatError> {
    let refused = |reason: String, remedy: &str| {
        FormatError::new(Fault::InvalidOption, place.clone(), reason, remedy)
    };
    if window.length == 0 || window.stride == 0 {
        return Err(refused(
            say!("window length and stride must be at least 1").to_owned(),
            say!("Set length and stride to at least 1"),
        ));
    }
    match entries.checked_sub(window.length) {
        Some(room) => Ok(room / window.stride + 1),
        None => Err(refused(
            say!(
                "it has {entries} entries, fewer than a window of {}",
                window.length
            ),
            say!("Choose a smaller window="),
        )),
    }
}

impl Rows for Npy {
    fn len(&self) -> usize {
        self.len
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        let row = match self.window {
            None => self.slices.get(index),
            Some(window) if index < self.len => {
                self.slices.window(index * window.stride, window.length)
            }
            Some(_) => None,
        };
        row.ok_or_else(|| out_of_range(&self.place, index, self.len))
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        let mut shape = self.slices.entry_shape().to_vec();
        let stride = match self.window {
            None => 1,
            Some(window) => {
                shape.insert(0, window.length);
                window.stride
            }
        };
        self.slices.in_memory(shape, stride, self.len)
    }
}
