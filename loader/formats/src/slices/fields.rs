//! Several arrays of one length.

use std::fmt;
use std::sync::{Arc, OnceLock};

use loadscope_words::say;

use super::{Slices, out_of_range};
use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};
use crate::rows::Rows;
use crate::stages::Stages;

/// Arrays of one length. A sample is a `dict` with an entry of each.
#[derive(Debug)]
pub struct Fields {
    fields: Vec<Field>,
    len: usize,
    place: Place,
    notes: Vec<String>,
}

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
    /// Creates a field of an array that needs no decompression.
    pub(crate) fn ready(name: &str, slices: Slices) -> Self {
        Self {
            name: name.into(),
            len: slices.len(),
            source: Source::Ready(slices),
        }
    }

    /// Creates a field of an array with `len` entries that is decompressed once, on first access.
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

/// Common names of class columns.
pub(crate) const LABELS: [&str; 6] = ["label", "labels", "target", "targets", "class", "y"];

impl Fields {
    /// Combines named arrays.
    ///
    /// # Errors
    /// If `fields` is empty, or the first axes differ.
    pub(crate) fn new(
        fields: Vec<Field>,
        place: Place,
        notes: Vec<String>,
    ) -> Result<Self, FormatError> {
        let Some(first) = fields.first() else {
            bail!(Damaged, place, say!("it contains no arrays");
                say!("Save at least one array with numpy.savez or numpy.save"));
        };
        let len = first.len;
        if let Some(other) = fields.iter().find(|field| field.len != len) {
            return Err(FormatError::new(
                Fault::InvalidOption,
                place,
                say!(
                    "'{}' has {len} entries and '{}' has {}, but all arrays of a dataset must have the same length",
                    first.name,
                    other.name,
                    other.len
                ),
                say!("Choose arrays with the same number of entries"),
            ));
        }
        Ok(Self {
            fields,
            len,
            place,
            notes,
        })
    }

    /// Returns the entry of each array, or `None` past the end.
    ///
    /// # Errors
    /// If an array cannot be decompressed.
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
}

impl Rows for Fields {
    fn len(&self) -> usize {
        self.len
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        let ready = self.fields.iter().all(Field::is_ready);
        stages.enter(if ready { "read" } else { "decode" });
        let row = self.get(index)?;
        row.ok_or_else(|| out_of_range(&self.place, index, self.len))
    }

    /// Returns the classes, if exactly one integer array has a label name.
    fn labels(&self) -> Option<Vec<u32>> {
        let mut named = self.fields.iter().filter(|field| is_label(&field.name));
        let field = named.next()?;
        if named.next().is_some() {
            return None;
        }
        field.slices().ok()?.classes()
    }

    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        let field = self.fields.iter().find(|field| *field.name == *name)?;
        let slices = match field.slices() {
            Ok(slices) => slices,
            Err(error) => return Some(Err(error)),
        };
        (0..slices.len())
            .map(|index| slices.get(index))
            .collect::<Option<_>>()
            .map(Ok)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Returns true for a label name, such as `label`, `train_labels` or `y_train`.
fn is_label(name: &str) -> bool {
    name.split('_').any(|word| LABELS.contains(&word))
}
