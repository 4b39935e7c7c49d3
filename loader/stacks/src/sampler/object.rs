//! Code objects and strings in the memory of a process.

use super::layout::Layout;
use crate::system::Memory;

/// Longest name or path, characters.
const MAX_TEXT: u64 = 4096;

/// Longest line table, bytes.
const MAX_TABLE: u64 = 1 << 20;

/// `PyObject`: its type.
const TYPE: usize = 8;

/// `PyVarObject` and `PyASCIIObject`: the length.
const LENGTH: usize = 16;

/// `PyASCIIObject`: kind, compact and ascii.
const STATE: usize = 32;

/// `PyBytesObject`: the bytes.
const BYTES: u64 = 32;

/// `PyTypeObject`: the name.
const TYPE_NAME: u64 = 24;

/// Number of bytes from the start of a code object to the end of its fields.
const CODE_SIZE: usize = 144;

/// Fields of a code object. Another object at the same address differs in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub object_type: u64,
    pub first_line: u32,
    pub file: u64,
    pub name: u64,
    pub table: u64,
}

/// Returns the number at an offset, or 0.
pub fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    let found = bytes.get(offset..).and_then(|rest| rest.first_chunk());
    found.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// Returns the number at an offset, or 0.
pub fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    let found = bytes.get(offset..).and_then(|rest| rest.first_chunk());
    found.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

/// Reads an address.
pub fn pointer(memory: &Memory, address: u64) -> Option<u64> {
    memory.bytes(address).map(u64::from_ne_bytes)
}

impl Header {
    /// Reads the fields of a code object.
    pub fn read(memory: &Memory, layout: &Layout, address: u64) -> Option<Self> {
        let bytes: [u8; CODE_SIZE] = memory.bytes(address)?;
        Some(Self {
            object_type: u64_at(&bytes, TYPE),
            first_line: u32_at(&bytes, layout.first_line),
            file: u64_at(&bytes, layout.file),
            name: u64_at(&bytes, layout.name),
            table: u64_at(&bytes, layout.table),
        })
    }

    /// Returns true if the type of the object is named `code`.
    pub fn is_code(&self, memory: &Memory) -> bool {
        let name = pointer(memory, self.object_type.wrapping_add(TYPE_NAME));
        name.and_then(|name| memory.bytes(name)) == Some(*b"code\0")
    }
}

/// Reads a `bytes` object.
pub fn table(memory: &Memory, address: u64) -> Option<Vec<u8>> {
    let length = pointer(memory, address.wrapping_add(LENGTH as u64))?;
    let length = usize::try_from(length).ok().filter(|_| length <= MAX_TABLE);
    let mut bytes = vec![0; length?];
    memory.fill(address.wrapping_add(BYTES), &mut bytes)?;
    Some(bytes)
}

/// Reads a `str` object.
pub fn text(memory: &Memory, layout: &Layout, address: u64) -> Option<String> {
    let head: [u8; 40] = memory.bytes(address)?;
    let length = u64_at(&head, LENGTH);
    let state = u32_at(&head, STATE);
    let (width, is_compact, is_ascii) = ((state >> 2) & 7, state & 32 != 0, state & 64 != 0);
    if length > MAX_TEXT {
        return None;
    }
    let start = match (is_compact, is_ascii) {
        (true, true) => address.wrapping_add(layout.ascii as u64),
        (true, false) => address.wrapping_add(layout.compact as u64),
        (false, _) => pointer(memory, address.wrapping_add(layout.compact as u64))?,
    };
    let mut bytes = vec![0; usize::try_from(length * u64::from(width)).ok()?];
    memory.fill(start, &mut bytes)?;
    let characters: Vec<u32> = match width {
        1 => bytes.iter().map(|byte| u32::from(*byte)).collect(),
        2 => (bytes.as_chunks().0.iter())
            .map(|unit| u32::from(u16::from_ne_bytes(*unit)))
            .collect(),
        4 => (bytes.as_chunks().0.iter())
            .map(|unit| u32::from_ne_bytes(*unit))
            .collect(),
        _ => return None,
    };
    let known = |one: u32| char::from_u32(one).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some(characters.into_iter().map(known).collect())
}
