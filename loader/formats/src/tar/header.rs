//! Header of a file in an archive.

use loadscope_words::say;
use tar::{EntryType, PaxExtensions};

/// Offset of the file type.
const TYPE: usize = 156;

/// Content after a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    /// Name of the next file.
    LongName,
    /// pax records of the next file.
    Local,
    /// pax records of all following files.
    Global,
    /// File with holes.
    Sparse,
    /// Folder, link or device, which samples ignore.
    Other,
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Size of the content, bytes.
    pub(super) size: u64,
}

impl Header {
    /// Parses a block. The error is a reason.
    pub(super) fn read(block: &[u8; 512]) -> Result<Self, String> {
        let header = tar::Header::from_byte_slice(block);
        let stored = header
            .cksum()
            .map_err(|_| say!("a header is damaged: its checksum is not a number").to_owned())?;
        let (unsigned, signed) = checksums(block);
        if stored != unsigned && i64::from(stored) != signed {
            return Err(say!(
                "a header is damaged: its checksum is {stored}, not {unsigned}"
            ));
        }
        let kind = match header.entry_type() {
            EntryType::Regular | EntryType::Continuous => Kind::File,
            EntryType::GNULongName => Kind::LongName,
            EntryType::XHeader => Kind::Local,
            EntryType::XGlobalHeader => Kind::Global,
            EntryType::GNUSparse => Kind::Sparse,
            _ => Kind::Other,
        };
        // Links, devices and folders have no content, even if the header declares a size.
        let is_empty = matches!(
            header.entry_type(),
            EntryType::Link
                | EntryType::Symlink
                | EntryType::Char
                | EntryType::Block
                | EntryType::Directory
                | EntryType::Fifo
        );
        let size = match is_empty {
            true => 0,
            false => header
                .entry_size()
                .map_err(|_| say!("a header is damaged: its size is not a number").to_owned())?,
        };
        let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
        Ok(Self {
            // In old archives, folders are files without a type whose names end with a slash.
            kind: match kind {
                Kind::File if block.get(TYPE) == Some(&0) && name.ends_with('/') => Kind::Other,
                kind => kind,
            },
            name,
            size,
        })
    }

    /// Applies pax records to the header.
    pub(super) fn with(self, records: Extensions) -> Self {
        Self {
            kind: if records.is_sparse {
                Kind::Sparse
            } else {
                self.kind
            },
            name: records.path.unwrap_or(self.name),
            size: records.size.unwrap_or(self.size),
        }
    }
}

/// Returns the checksum with blanks in its own field. Some old programs use signed bytes, so both sums are returned.
fn checksums(block: &[u8; 512]) -> (u32, i64) {
    const SUM: std::ops::Range<usize> = 148..156;
    let bytes = block.iter().enumerate();
    let bytes = bytes.map(|(at, byte)| if SUM.contains(&at) { b' ' } else { *byte });
    bytes.fold((0, 0), |(unsigned, signed), byte| {
        (unsigned + u32::from(byte), signed + i64::from(byte as i8))
    })
}

/// Extensions of a header from pax records and long names.
#[derive(Clone, Debug, Default)]
pub(super) struct Extensions {
    pub(super) path: Option<String>,
    size: Option<u64>,
    is_sparse: bool,
}

impl Extensions {
    /// Adds pax records, and ignores invalid ones as Python does.
    pub(super) fn records(&mut self, records: &[u8]) {
        for record in PaxExtensions::new(records).flatten() {
            let text = String::from_utf8_lossy(record.value_bytes());
            match record.key_bytes() {
                b"path" => self.path = Some(text.into_owned()),
                b"size" => self.size = text.trim().parse().ok(),
                key => self.is_sparse |= key.starts_with(b"GNU.sparse"),
            }
        }
    }

    /// Combines the extensions with those of `below`, which have lower priority.
    pub(super) fn over(self, below: &Self) -> Self {
        Self {
            path: self.path.or_else(|| below.path.clone()),
            size: self.size.or(below.size),
            is_sparse: self.is_sparse || below.is_sparse,
        }
    }
}
