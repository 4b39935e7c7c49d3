//! NumPy arrays in a zip archive. Samples have a slice of the first axis of each.

use std::io::{Cursor, Read as _};
use std::path::Path;

use loadscope_words::{cause, say};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::buffer::Buffer;
use crate::error::{Fault, FormatError, Place};
use crate::npy;
use crate::slices::{Field, Fields, chosen};

/// Maximum compression ratio of Deflate.
const MOST_PACKED: u64 = 1032;

/// Length of the decompressed start of an array, which contains its header, bytes.
const HEADER: u64 = 64 << 10;

/// Opens the arrays with these names, or all if `names` is empty, with the values of `numpy.load`. Arrays of `numpy.savez` are mapped to
/// memory. Arrays of `numpy.savez_compressed` are decompressed on first access, once for all workers.
///
/// # Errors
/// If the archive cannot be opened or is damaged, a name is missing, an array has other elements than numbers, or the first axes
/// differ.
pub fn open(path: &Path, names: &[String]) -> Result<Fields, FormatError> {
    let place = Place::file(path);
    let file = Buffer::map(path).map_err(|e| FormatError::reading(path, &e))?;
    let mut archive = archive(&file, &place)?;
    let mut arrays = Vec::new();
    let mut others = 0;
    for index in 0..archive.len() {
        let name = archive.name_for_index(index);
        match name.transpose().map_err(|e| damaged(&e, &place))? {
            Some(name) => match name.strip_suffix(".npy") {
                Some(array) => arrays.push((array.to_owned(), index)),
                None => others += 1,
            },
            None => others += 1,
        }
    }
    let wanted = chosen(arrays.iter().map(|(name, _)| name.as_str()), names, &place)?;
    let mut fields = Vec::new();
    for (name, index) in &arrays {
        if wanted.contains(&name.as_str()) {
            fields.push(field(&file, &mut archive, *index, name, &place)?);
        }
    }
    let notes = match others {
        0 => Vec::new(),
        1 => vec![format!(
            "{place}: 1 file in it is no array and is left out."
        )],
        n => vec![format!(
            "{place}: {n} files in it are no arrays and are left out."
        )],
    };
    Fields::new(fields, place, notes)
}

fn archive<'a>(
    file: &'a Buffer,
    place: &Place,
) -> Result<ZipArchive<Cursor<&'a [u8]>>, FormatError> {
    ZipArchive::new(Cursor::new(&**file)).map_err(|e| damaged(&e, place))
}

fn damaged(error: &ZipError, place: &Place) -> FormatError {
    let reason = match error {
        ZipError::UnsupportedArchive(what) => {
            say!("it is a zip archive of an unsupported kind ({what})")
        }
        _ => say!("it is not a complete zip archive").to_owned(),
    };
    fault!(Damaged, place.clone(), reason;
        say!("It is truncated, damaged or not an .npz file: save it again with numpy.savez, or copy it again"))
}

/// Opens the array in member `index`.
fn field(
    file: &Buffer,
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
    name: &str,
    place: &Place,
) -> Result<Field, FormatError> {
    let place = place.clone().key(name);
    let member = archive.by_index(index).map_err(|e| damaged(&e, &place))?;
    let (size, packed) = (member.size(), member.compressed_size());
    match member.compression() {
        CompressionMethod::Stored => {
            let range = member.data_start().and_then(|start| {
                let end = start.checked_add(packed)?;
                Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
            });
            let bytes = range.and_then(|range| file.slice(range)).ok_or_else(|| {
                fault!(Damaged, place.clone(), say!("the archive is truncated inside it");
                    say!("Copy the archive again"))
            })?;
            Ok(Field::ready(name, npy::array(&bytes, &place)?))
        }
        CompressionMethod::Deflated => {
            let too_large = packed
                .checked_mul(MOST_PACKED)
                .is_some_and(|most| size > most);
            if too_large {
                bail!(TooLarge, place, say!("{packed} compressed bytes cannot decompress to the declared {size}");
                    say!("It is damaged: save it again"));
            }
            let mut header = Vec::new();
            let mut begin = member.take(HEADER);
            begin
                .read_to_end(&mut header)
                .map_err(|e| decompression_error(&e, &place))?;
            let (layout, begin) = npy::header::read(&header, &place)?;
            let whole = layout.size().and_then(|bytes| bytes.checked_add(begin));
            if whole.map(|bytes| bytes as u64) != Some(size) {
                return Err(FormatError::new(
                    Fault::Damaged,
                    place,
                    say!(
                        "its header declares {} elements of {}, but it has {size} bytes",
                        crate::slices::format_shape(&layout.shape),
                        layout.dtype.name()
                    ),
                    say!("It is damaged: save it again"),
                ));
            }
            let Some(&len) = layout.shape.first() else {
                return Err(crate::slices::scalar_error(&place));
            };
            let file = file.clone();
            Ok(Field::packed(name, len, move || {
                let bytes = decompress_member(&file, index, size, &place)?;
                npy::array(&bytes, &place)
            }))
        }
        other => {
            bail!(WrongType, place, say!("it is compressed with {other}, which is not supported");
                say!("Save it with numpy.savez or numpy.savez_compressed"))
        }
    }
}

/// Decompresses a whole member and checks its size and CRC.
fn decompress_member(
    file: &Buffer,
    index: usize,
    size: u64,
    place: &Place,
) -> Result<Buffer, FormatError> {
    let mut archive = archive(file, place)?;
    let member = archive.by_index(index).map_err(|e| damaged(&e, place))?;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    let mut member = member.take(size.saturating_add(1));
    let read = member
        .read_to_end(&mut bytes)
        .map_err(|e| decompression_error(&e, place))?;
    if read as u64 == size {
        Ok(bytes.into())
    } else {
        bail!(Damaged, place.clone(), say!("it decompresses to {read} bytes, not the declared {size}");
            say!("It is damaged: save it again"))
    }
}

fn decompression_error(error: &std::io::Error, place: &Place) -> FormatError {
    fault!(Damaged, place.clone(), say!("it cannot be decompressed ({error})", error = cause(error));
        say!("It is damaged: copy or save it again"))
}
