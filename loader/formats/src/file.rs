//! Readers of whole files: images, lists, annotations.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use loadscope_files::{ReadError, open_regular};
use loadscope_words::say;

use crate::buffer::Buffer;
use crate::cell::{Picture, PictureMode};
use crate::error::{Fault, FormatError, Place};
use crate::stages::Stages;

/// Maximum size of an image file, bytes.
const MAX_PICTURE: u64 = 1 << 30;

/// Reads a file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FormatError> {
    let failed = |cause| {
        let path = path.to_owned();
        FormatError::reading(
            &path,
            &ReadError::Io {
                path: path.clone(),
                cause,
            },
        )
    };
    let too_large = || {
        fault!(TooLarge, Place::file(path), say!("it has more than {limit} bytes, the limit");
            say!("Choose a smaller file, or remove it from the dataset"))
    };
    let file = open_regular(path).map_err(|e| FormatError::reading(path, &e))?;
    let size = file.metadata().map_err(failed)?.len();
    if size > limit {
        return Err(too_large());
    }
    // The file may grow meanwhile. One byte above the limit shows it.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Reads an image file. `needed_by` describes the reference to it, such as `the annotations of /data/a.xml`.
pub(crate) fn picture(
    path: &Path,
    mode: PictureMode,
    needed_by: impl Fn() -> String,
    stages: &mut dyn Stages,
) -> Result<Picture, FormatError> {
    stages.enter("read");
    let bytes = read(path, MAX_PICTURE).map_err(|error| match error.fault {
        Fault::Missing => fault!(Missing, Place::file(path), say!("{} names this image, but it does not exist", needed_by());
            say!("Copy it there, or remove it from the list")),
        _ => error,
    })?;
    Ok(Picture {
        bytes: Buffer::from(bytes),
        origin: Arc::from(path.display().to_string()),
        mode,
    })
}

/// Returns the line and the column of byte `at` of a text, both from 1.
pub(crate) fn line_and_column(text: &[u8], at: usize) -> (u64, u64) {
    let before = text.get(..at.min(text.len())).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count();
    let begin = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(before.get(begin..).unwrap_or_default());
    (line as u64 + 1, column.chars().count() as u64 + 1)
}
