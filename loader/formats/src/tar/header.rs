//! What stands in front of a file in an archive.

use loadscope_words::say;
use tar::{EntryType, PaxExtensions};

/// Where the type of a file stands.
const TYPE: usize = 156;

/// What a header announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    /// The name of the next file.
    LongName,
    /// pax records of the next file.
    Local,
    /// pax records of all that follow.
    Global,
    /// A file with holes.
    Sparse,
    /// A folder, a link, a device: nothing that samples are made of.
    Other,
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Bytes of its content.
    pub(super) size: u64,
}

impl Header {
    /// Reads a block; or says what is wrong with it.
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
        // Links and the like have no content, whatever the size says.
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
            // Archives of old have folders as files of no type whose names end with a slash.
            kind: match kind {
                Kind::File if block.get(TYPE) == Some(&0) && name.ends_with('/') => Kind::Other,
                kind => kind,
            },
            name,
            size,
        })
    }

    /// The same with what pax records say of it.
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

/// The sum of the bytes, those of the sum itself as blanks; unsigned, and signed as some old programs have it.
fn checksums(block: &[u8; 512]) -> (u32, i64) {
    const SUM: std::ops::Range<usize> = 148..156;
    let bytes = block.iter().enumerate();
    let bytes = bytes.map(|(at, byte)| if SUM.contains(&at) { b' ' } else { *byte });
    bytes.fold((0, 0), |(unsigned, signed), byte| {
        (unsigned + u32::from(byte), signed + i64::from(byte as i8))
    })
}

/// What headers of their own say of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Extensions {
    pub(super) path: Option<String>,
    size: Option<u64>,
    is_sparse: bool,
}

impl Extensions {
    /// Takes pax records in; what cannot be read is passed over, as by Python.
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

    /// These, and where they say nothing those of `below`.
    pub(super) fn over(self, below: &Self) -> Self {
        Self {
            path: self.path.or_else(|| below.path.clone()),
            size: self.size.or(below.size),
            is_sparse: self.is_sparse || below.is_sparse,
        }
    }
}
