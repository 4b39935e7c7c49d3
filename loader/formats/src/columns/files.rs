//! Images and sounds in columns of `{bytes, path}`.

use std::path::Path;

use arrow_array::{Array as _, StructArray};
use loadscope_words::say;

use super::bytes::{binary, text};
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
        return sound(bytes, Path::new(path.unwrap_or_default()), place);
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

#[cfg(feature = "audio")]
fn sound(bytes: Vec<u8>, path: &Path, place: &dyn Fn() -> Place) -> Result<Cell, FormatError> {
    crate::audio::waveform(bytes, path, &place())
}

/// Returns the encoded bytes, because the audio feature is disabled.
#[cfg(not(feature = "audio"))]
fn sound(bytes: Vec<u8>, _: &Path, _: &dyn Fn() -> Place) -> Result<Cell, FormatError> {
    Ok(Cell::Bytes(bytes.into()))
}
