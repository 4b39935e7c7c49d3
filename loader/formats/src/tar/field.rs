//! Conversion of a file's bytes to a cell by its extension.

use std::collections::HashMap;
use std::io::Read as _;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

use loadscope_words::say;

use super::group::Sample;
use super::order::Order;
use super::{MOST_BYTES, input};
use crate::buffer::Buffer;
use crate::cell::{Cell, Picture, PictureMode};
use crate::decompress;
use crate::error::{Fault, FormatError, Place};
use crate::file::line_and_column;
use crate::json;
use crate::npy;

/// Decoding of a sample's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decoding {
    /// By extension, like `WebDataset(…).decode("torchrgb8")`: images, numbers, texts, JSON, arrays. Files that only Python can read
    /// (`pkl`, `pth`) stay bytes.
    #[default]
    ByName,
    /// Bytes, as without `decode`.
    Bytes,
}

/// Extensions of images.
const PICTURES: [&str; 17] = [
    "apng", "bmp", "dib", "gif", "jfif", "jpe", "jpeg", "jpg", "pbm", "pgm", "png", "pnm", "ppm",
    "tga", "tif", "tiff", "webp",
];

/// Converts a sample to a `dict` of its key, its archive and its files. With `wanted` files, the result is a `tuple` of them.
pub(crate) fn decode(
    sample: Sample,
    decoding: Decoding,
    wanted: &[String],
) -> Result<Cell, FormatError> {
    let Sample {
        key,
        url,
        fields,
        order,
        ..
    } = sample;
    let one = |name: &str, bytes: Vec<u8>| match decoding {
        // webdataset reserves names that begin with two underscores.
        Decoding::ByName if name.starts_with("__") => Ok(own(bytes)),
        Decoding::ByName => field(name, bytes, &key, &url).map_err(|(fault, reason)| {
            let place = Place::named(&*url).key(format!("{key}.{name}"));
            let remedy = say!("Write the file again, or remove it from fields=");
            FormatError::new(fault, place, reason, remedy)
        }),
        Decoding::Bytes => Ok(Cell::Bytes(bytes.into())),
    };
    if wanted.is_empty() {
        let mut cells: Vec<(Arc<str>, Cell)> = Vec::with_capacity(fields.len() + 2);
        cells.push(("__key__".into(), key.as_str().into()));
        cells.push(("__url__".into(), Cell::Text(Arc::clone(&url))));
        for (name, bytes) in fields {
            let cell = one(&name, bytes)?;
            cells.push((name.into(), cell));
        }
        return Ok(Cell::Map(cells));
    }
    let mut fields: HashMap<String, Vec<u8>> = fields.into_iter().collect();
    let mut cells: Vec<Cell> = Vec::with_capacity(wanted.len());
    for (at, name) in wanted.iter().enumerate() {
        let before = wanted
            .iter()
            .position(|n| n == name)
            .filter(|before| *before < at);
        let cell = match (before.and_then(|before| cells.get(before)), name.as_str()) {
            (Some(cell), _) => cell.clone(),
            (None, "__key__") => key.as_str().into(),
            (None, "__url__") => Cell::Text(Arc::clone(&url)),
            (None, name) => match fields.remove(name) {
                Some(bytes) => one(name, bytes)?,
                None => {
                    let taken = wanted
                        .iter()
                        .take(at)
                        .filter(|name| !name.starts_with("__"));
                    let others = fields.keys().chain(taken).map(String::as_str).collect();
                    return Err(missing(&url, &key, name, others, &order));
                }
            },
        };
        cells.push(cell);
    }
    Ok(Cell::Tuple(cells))
}

fn missing(url: &str, key: &str, name: &str, mut others: Vec<&str>, order: &Order) -> FormatError {
    const MOST: usize = 20;
    others.sort_unstable();
    others.dedup();
    others.truncate(MOST);
    let reason = match others.as_slice() {
        [] => say!("the sample has no such file, or any other").to_owned(),
        others => say!("the sample has no such file; it has {}", others.join(", ")),
    };
    let place = Place::named(url).key(format!("{key}.{name}"));
    match order.split_sample() {
        Some(split) => fault!(Damaged, place,
            say!("{reason}, because the files of a sample ({split}, for example) are apart from each other in the archive");
            say!("Write the archive with tar --sort=name")),
        None => fault!(NoSuchKey, place, reason;
            say!("Name other files in fields=, or skip the sample with --on-error skip")),
    }
}

fn own(bytes: Vec<u8>) -> Cell {
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(e) => Cell::Bytes(e.into_bytes().into()),
    }
}

/// Converts the bytes of a file by its extension, after decompression of `.gz`. The error is a kind and a reason.
fn field(name: &str, bytes: Vec<u8>, key: &str, url: &str) -> Result<Cell, (Fault, String)> {
    let damaged = |reason: String| (Fault::Damaged, reason);
    let mut inner = name;
    let mut bytes = bytes;
    if let Some(rest) = name.strip_suffix(".gz").or((name == "gz").then_some("")) {
        inner = rest;
        bytes = unpack(&bytes)?;
    }
    let extension = inner.rsplit('.').next().unwrap_or_default();
    Ok(match extension {
        "txt" | "text" | "transcript" => match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => return Err(damaged(say!("it is not text in UTF-8").to_owned())),
        },
        "cls" | "cls2" | "index" | "inx" | "id" => {
            let number = number(&bytes).ok_or_else(|| {
                let begin: String = String::from_utf8_lossy(&bytes).chars().take(40).collect();
                damaged(say!("{begin:?} is not an integer of at most 128 bits"))
            })?;
            json::Number::Int(number).into()
        }
        "json" | "jsn" => {
            let text = decompress::utf8(bytes.into(), &Place::default());
            let text = text.map_err(|e| damaged(e.reason))?;
            json::parse(&text).map_err(|e| {
                let (line, column) = line_and_column(&text, e.at);
                damaged(say!("line {line}, column {column}: {}", e.reason()))
            })?
        }
        "npy" => {
            let array = npy::array(&bytes.into(), &Place::default());
            let whole = array
                .map(|array| array.whole())
                .map_err(|e| (e.fault, e.reason));
            whole?.ok_or_else(|| damaged(say!("its elements cannot be read").to_owned()))?
        }
        _ if PICTURES.contains(&extension) => Cell::Picture(Picture {
            bytes: bytes.into(),
            origin: format!("{url}: {key}.{name}").into(),
            mode: PictureMode::Color,
        }),
        _ => Cell::Bytes(Buffer::from(bytes)),
    })
}

/// Parses an integer like Python's `int`.
fn number(bytes: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    // Python accepts single underscores between digits.
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    text.replace('_', "").parse().ok()
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, (Fault, String)> {
    let mut unpacked = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes).take(MOST_BYTES + 1);
    reader
        .read_to_end(&mut unpacked)
        .map_err(|e| input::broken(&e))?;
    if unpacked.len() as u64 > MOST_BYTES {
        return Err((
            Fault::TooLarge,
            say!("it decompresses to more than {MOST_BYTES} bytes"),
        ));
    }
    Ok(unpacked)
}
