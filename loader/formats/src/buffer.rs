//! Owned or memory-mapped bytes.

use std::fmt;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use loadscope_files::{ReadError, open_regular};
use memmap2::Mmap;

/// Shared bytes. A slice needs no copy.
#[derive(Clone)]
pub struct Buffer {
    store: Store,
    range: Range<usize>,
}

#[derive(Clone)]
enum Store {
    Owned(Arc<Vec<u8>>),
    Mapped(Arc<Mmap>),
}

impl Store {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

impl Buffer {
    /// Maps a regular file to memory. The file must not become shorter while it is mapped: the system ends a process that reads past the
    /// end of the file.
    ///
    /// # Errors
    /// If `path` is not a regular file, or cannot be mapped.
    #[expect(unsafe_code, reason = "a file that is mapped to memory")]
    pub fn map(path: &Path) -> Result<Self, ReadError> {
        let file = open_regular(path)?;
        // SAFETY: the map is only read, and only as bytes, for which every bit pattern is valid. The documentation asks the user not to
        // shorten the file.
        let map = unsafe { Mmap::map(&file) }.map_err(|cause| ReadError::Io {
            path: path.to_owned(),
            cause,
        })?;
        let range = 0..map.len();
        Ok(Self {
            store: Store::Mapped(Arc::new(map)),
            range,
        })
    }

    /// Returns a part of the buffer, or `None` if `range` exceeds it.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        if range.start > range.end || range.end > self.range.len() {
            return None;
        }
        let begin = self.range.start + range.start;
        Some(Self {
            store: self.store.clone(),
            range: begin..begin + range.len(),
        })
    }

    /// Returns true if the bytes are in a mapped file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.store, Store::Mapped(_))
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // `slice` checked that the range is inside the store.
        self.store.bytes().get(self.range.clone()).unwrap_or(&[])
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self {
            store: Store::Owned(Arc::new(bytes)),
            range,
        }
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mapped = if self.is_mapped() { ", mapped" } else { "" };
        write!(f, "Buffer({} bytes{mapped})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_slices_have_the_same_bytes() {
        let buffer = Buffer::from(vec![1, 2, 3, 4, 5]);
        let part = buffer.slice(1..4).unwrap();
        assert_eq!(&*part, [2, 3, 4]);
        assert_eq!(&*part.slice(2..3).unwrap(), [4]);
        assert_eq!(part.slice(2..4), None);
        assert_eq!(part.slice(3..3).unwrap(), Buffer::default());
    }

    #[test]
    fn files_are_memory_mapped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        #[allow(clippy::disallowed_methods, reason = "a file of a test")]
        std::fs::write(&path, b"hello").unwrap();
        let buffer = Buffer::map(&path).unwrap();
        assert!(buffer.is_mapped());
        assert_eq!(&*buffer.slice(1..3).unwrap(), b"el");
        assert!(Buffer::map(dir.path()).is_err());
    }
}
