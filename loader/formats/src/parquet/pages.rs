//! Checks of the page sizes of a row group. The decoder allocates declared sizes without a check.

use loadscope_words::say;
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;

use crate::error::{Fault, FormatError, Place};

/// Decompressed size up to which a page is accepted at any compression ratio, bytes.
const MAX_UNCHECKED: u64 = 64 << 20;

/// Maximum decompressed size for codecs without a known ratio, bytes.
const MOST: u64 = 1 << 30;

/// Maximum nesting of headers.
const DEEPEST: usize = 16;

/// Checks the headers of all pages.
///
/// # Errors
/// If a page declares more bytes than its compressed bytes can produce.
pub(super) fn check(
    file: &[u8],
    metadata: &ParquetMetaData,
    group: usize,
    place: &Place,
) -> Result<(), FormatError> {
    let columns = metadata
        .row_groups()
        .get(group)
        .map(|group| group.columns());
    for column in columns.into_iter().flatten() {
        let dictionary = column.dictionary_page_offset().filter(|begin| *begin > 0);
        let begin = usize::try_from(dictionary.unwrap_or(column.data_page_offset())).ok();
        let length = usize::try_from(column.compressed_size()).ok();
        let chunk = begin.zip(length).and_then(|(begin, length)| {
            let end = begin.checked_add(length)?;
            file.get(begin..end)
        });
        let wrong = |reason: String| {
            let place = place.clone().key(column.column_path().string());
            let remedy = say!("It is truncated or damaged: copy or save it again");
            FormatError::new(Fault::Damaged, place, reason, remedy)
        };
        let Some(mut rest) = chunk else {
            return Err(wrong(say!(
                "the bytes of row group {group} are beyond the end of the file"
            )));
        };
        while !rest.is_empty() {
            let mut header = Compact { bytes: rest };
            let Some((unpacked, packed)) = header.page() else {
                return Err(wrong(say!("a page of row group {group} has no header")));
            };
            if unpacked > most(column.compression(), packed) {
                return Err(wrong(say!(
                    "a page of row group {group} declares that {packed} bytes decompress to {unpacked}, which is impossible"
                )));
            }
            let after = usize::try_from(packed).ok();
            let Some(after) = after.and_then(|packed| header.bytes.get(packed..)) else {
                return Err(wrong(say!("a page of row group {group} is truncated")));
            };
            rest = after;
        }
    }
    Ok(())
}

/// Returns the maximum decompressed size of `packed` compressed bytes.
fn most(compression: Compression, packed: u64) -> u64 {
    let ratio = match compression {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 64,
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        Compression::GZIP(_) => 1032,
        _ => return MOST,
    };
    packed.saturating_mul(ratio).max(MAX_UNCHECKED)
}

/// Parser of Thrift's compact protocol, sufficient to skip a header.
struct Compact<'a> {
    bytes: &'a [u8],
}

impl Compact<'_> {
    /// Reads the decompressed and the compressed size from a page header. The remaining bytes then start with the page.
    fn page(&mut self) -> Option<(u64, u64)> {
        let (mut unpacked, mut packed) = (None, None);
        let mut id = 0;
        loop {
            let (kind, next) = self.field(id)?;
            id = next;
            match (id, kind) {
                (_, 0) => return unpacked.zip(packed),
                (2, 5) => unpacked = u64::try_from(self.zigzag()?).ok(),
                (3, 5) => packed = u64::try_from(self.zigzag()?).ok(),
                (_, kind) => self.skip(kind, 0)?,
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads the type and number of the next field. Type 0 is the end.
    fn field(&mut self, before: i64) -> Option<(u8, i64)> {
        let head = self.byte()?;
        let kind = head & 0x0f;
        let id = match head >> 4 {
            _ if kind == 0 => before,
            0 => self.zigzag()?,
            more => before.checked_add(i64::from(more))?,
        };
        Some((kind, id))
    }

    fn pass(&mut self, count: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// Skips a value of Thrift type `kind`. Returns `None` if it is invalid, truncated or nested too deeply.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            // The value of a bool is its type.
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => u64::from(count),
                };
                for _ in 0..count {
                    match head & 0x0f {
                        1 | 2 => self.pass(1)?,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
                Some(())
            }
            12 => {
                let mut id = 0;
                loop {
                    let (kind, next) = self.field(id)?;
                    if kind == 0 {
                        return Some(());
                    }
                    id = next;
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_headers_give_sizes_and_are_skipped() {
        // i32 1: 0; i32 2: 300; i32 3: 20; struct 5 { i32 1: 1, list 2 of i32 [1, 2], binary 3 "ab", bool 4 }; stop.
        let bytes = [
            0x15, 0, 0x15, 0xd8, 4, 0x15, 40, 0x2c, 0x15, 2, 0x19, 0x25, 2, 4, 0x18, 2, b'a', b'b',
            0x11, 0, 0, 77,
        ];
        let mut header = Compact { bytes: &bytes };
        assert_eq!(header.page(), Some((300, 20)));
        assert_eq!(header.bytes, [77]);
        for cut in 0..bytes.len() - 1 {
            assert_eq!(
                Compact {
                    bytes: &bytes[..cut]
                }
                .page(),
                None,
                "{cut}"
            );
        }
        let deep = [0x1c; 100];
        assert_eq!(Compact { bytes: &deep }.page(), None);
    }
}
