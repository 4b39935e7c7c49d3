//! Bytes and texts of a row, and images and sounds in columns of `{bytes, path}`.

use std::path::Path;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, StructArray};
use arrow_schema::DataType;
use loadscope_words::say;

use crate::cell::{Cell, Picture, PictureMode};
use crate::error::{FormatError, Place};

/// Maximum size of such a file, bytes.
const LARGEST: u64 = 1 << 30;

/// Reads an image or a sound from its bytes or from the file in `path`.
pub(super) fn file(
    of: &StructArray,
    row: usize,
    is_sound: bool,
    place: &dyn Fn() -> Place,
) -> Result<Cell, FormatError> {
    let column = |name| {
        of.column_by_name(name)
            .filter(|column| !column.is_null(row))
    };
    let path = column("path").and_then(|path| text(path, row));
    let bytes = column("bytes").and_then(|bytes| binary(bytes, row));
    let bytes = match (bytes, path) {
        (Some(bytes), _) => bytes.to_vec(),
        (None, Some(path)) => read_referenced_file(Path::new(path), place)?,
        (None, None) => return Ok(Cell::Null),
    };
    if is_sound {
        return crate::audio::waveform(bytes, Path::new(path.unwrap_or_default()), &place());
    }
    Ok(picture(bytes, place))
}

pub(super) fn picture(bytes: Vec<u8>, place: &dyn Fn() -> Place) -> Cell {
    Cell::Picture(Picture {
        bytes: bytes.into(),
        origin: place().to_string().into(),
        mode: PictureMode::Color,
    })
}

/// Reads a file that the table names.
fn read_referenced_file(path: &Path, place: &dyn Fn() -> Place) -> Result<Vec<u8>, FormatError> {
    loadscope_files::read_bytes(path, say!("table files"), LARGEST).map_err(|error| {
        let mut found = FormatError::reading(path, &error);
        found.reason = say!("{} (named in {})", found.reason, place());
        found
    })
}

pub(super) fn binary(array: &dyn Array, row: usize) -> Option<&[u8]> {
    match array.data_type() {
        DataType::Binary => array.as_binary_opt::<i32>().map(|a| a.value(row)),
        DataType::LargeBinary => array.as_binary_opt::<i64>().map(|a| a.value(row)),
        DataType::BinaryView => array.as_binary_view_opt().map(|a| a.value(row)),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary_opt().map(|a| a.value(row)),
        _ => None,
    }
}

pub(super) fn text(array: &dyn Array, row: usize) -> Option<&str> {
    match array.data_type() {
        DataType::Utf8 => array.as_string_opt::<i32>().map(|a| a.value(row)),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|a| a.value(row)),
        DataType::Utf8View => array.as_string_view_opt().map(|a| a.value(row)),
        _ => None,
    }
}
