//! Conversion of compressed or UTF-16 texts to UTF-8.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use loadscope_words::say;
use lzma_rust2::XzReader;

use crate::buffer::Buffer;
use crate::error::{Fault, FormatError, Place};

/// Maximum size of a decompressed text, bytes.
const MOST_BYTES: u64 = 8 << 30;
/// Memory limit of the xz decoder, KiB.
const MOST_XZ: u32 = 1 << 20;
/// Byte order mark of UTF-8.
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Opens a text as UTF-8, decompressed and without a byte order mark. A plain UTF-8 file stays mapped.
///
/// # Errors
/// If the file cannot be read or decompressed, or is not text.
pub(crate) fn open(path: &Path) -> Result<Buffer, FormatError> {
    let file = Buffer::map(path).map_err(|e| FormatError::reading(path, &e))?;
    let place = Place::file(path);
    utf8(decompressed(file, &place)?, &place)
}

/// Compression of a file by its magic number.
#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
    Xz,
    Refused(&'static str),
}

const MAGIC_NUMBERS: [(&[u8], Compression); 9] = [
    (b"\x1f\x8b", Compression::Gzip),
    (b"\x28\xb5\x2f\xfd", Compression::Zstd),
    (b"\xfd7zXZ\0", Compression::Xz),
    (b"BZh", Compression::Refused("bzip2")),
    (b"\x04\x22\x4d\x18", Compression::Refused("LZ4")),
    (b"PK\x03\x04", Compression::Refused("ZIP")),
    (b"PAR1", Compression::Refused("Parquet")),
    (b"ARROW1", Compression::Refused("Arrow")),
    (b"SQLite format 3\0", Compression::Refused("SQLite")),
];

fn decompressed(file: Buffer, place: &Place) -> Result<Buffer, FormatError> {
    let known = (MAGIC_NUMBERS.iter()).find(|(magic, _)| file.starts_with(magic));
    let Some((_, compression)) = known else {
        return Ok(file);
    };
    let mut text = Vec::new();
    if let Compression::Refused(kind) = compression {
        return Err(refused(kind, place));
    }
    // A panic of a decoder must fail only the file, not the process.
    let read = catch_unwind(AssertUnwindSafe(|| match compression {
        Compression::Gzip => read_limited(MultiGzDecoder::new(&*file), &mut text),
        Compression::Xz => read_limited(XzReader::new_mem_limit(&*file, true, MOST_XZ), &mut text),
        Compression::Zstd => {
            zstd::Decoder::new(&*file).and_then(|from| read_limited(from, &mut text))
        }
        Compression::Refused(_) => Ok(()),
    }));
    if !matches!(read, Ok(Ok(()))) {
        bail!(Damaged, place.clone(), say!("its compressed bytes are damaged");
            say!("Copy or compress it again"));
    }
    if text.len() as u64 > MOST_BYTES {
        bail!(TooLarge, place.clone(), say!("it decompresses to more than {MOST_BYTES} bytes");
            say!("Decompress it, or split it"));
    }
    Ok(text.into())
}

fn read_limited(from: impl Read, to: &mut Vec<u8>) -> std::io::Result<()> {
    from.take(MOST_BYTES + 1).read_to_end(to).map(drop)
}

/// Returns the error for a file that is not text.
fn refused(kind: &str, place: &Place) -> FormatError {
    let (reason, remedy) = match kind {
        "ZIP" => (
            say!("it is a ZIP archive or an Excel workbook, not text").to_owned(),
            say!("Unpack it, or save the table as CSV"),
        ),
        "bzip2" | "LZ4" => (
            say!("it is compressed with {kind}, and only gzip, zstd and xz are supported"),
            say!("Decompress it, or compress it with gzip"),
        ),
        _ => (
            say!("it is a file of {kind}, not text"),
            say!("Choose the dataset for this format"),
        ),
    };
    FormatError::new(Fault::WrongType, place.clone(), reason, remedy)
}

/// Converts UTF-16 to UTF-8 and removes a byte order mark. UTF-16 is detected by its mark or by an ASCII character at the start.
///
/// # Errors
/// If the text is damaged UTF-16, or UTF-32.
pub(crate) fn utf8(text: Buffer, place: &Place) -> Result<Buffer, FormatError> {
    let unit: fn([u8; 2]) -> u16 = match *text {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, _, ..] | [_, 0, 0, 0, ..] => {
            return Err(encoding(place, say!("it is not text in UTF-8")));
        }
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        [first, 0, ..] if first != 0 => u16::from_le_bytes,
        [0, second, ..] if second != 0 => u16::from_be_bytes,
        _ => {
            let marked = text.starts_with(UTF8_MARK);
            let begin = if marked { UTF8_MARK.len() } else { 0 };
            return Ok(text.slice(begin..text.len()).unwrap_or_default());
        }
    };
    let (units, rest) = text.as_chunks::<2>();
    let units = units.iter().map(|pair| unit(*pair));
    let mut decoded = String::with_capacity(text.len() / 2);
    for character in char::decode_utf16(units) {
        match character {
            Ok('\u{feff}') if decoded.is_empty() => {}
            Ok(character) => decoded.push(character),
            Err(_) => return Err(encoding(place, say!("its UTF-16 is damaged"))),
        }
    }
    if !rest.is_empty() {
        return Err(encoding(place, say!("its UTF-16 is damaged")));
    }
    Ok(decoded.into_bytes().into())
}

fn encoding(place: &Place, reason: &str) -> FormatError {
    fault!(Damaged, place.clone(), reason; say!("Save it in UTF-8"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<u8>, FormatError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        #[allow(clippy::disallowed_methods, reason = "a file of a test")]
        std::fs::write(&path, bytes).unwrap();
        open(&path).map(|text| text.to_vec())
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        to.write_all(bytes).unwrap();
        to.finish().unwrap()
    }

    #[test]
    fn gzip_members_are_joined() {
        let both = [gzip(b"a,b\n"), gzip(b"1,2\n")].concat();
        assert_eq!(read(&both).unwrap(), b"a,b\n1,2\n");
        let error = read(&both[..both.len() - 9]).unwrap_err().to_string();
        assert!(
            error.contains("its compressed bytes are damaged"),
            "{error}"
        );
    }

    #[test]
    fn utf16_becomes_utf8() {
        let units: Vec<u16> = "a,ä😀\n".encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for text in [
            little.clone(),
            big.clone(),
            [&[0xff, 0xfe], &*little].concat(),
            [&[0xfe, 0xff], &*big].concat(),
            gzip(&little),
        ] {
            assert_eq!(read(&text).unwrap(), "a,ä😀\n".as_bytes());
        }
        assert_eq!(read(b"\xef\xbb\xbfa").unwrap(), b"a");
        for damaged in [b"\xff\xfea".as_slice(), b"\xff\xfe\0\xd8", b"\xff\xfe\0\0"] {
            let error = read(damaged).unwrap_err().to_string();
            assert!(error.contains("Save it in UTF-8"), "{error}");
        }
    }

    #[test]
    fn other_formats_are_refused_by_name() {
        for (bytes, says) in [
            (b"BZh91AY".as_slice(), "compressed with bzip2"),
            (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
            (b"PAR1\x15\x04", "a file of Parquet, not text"),
        ] {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
