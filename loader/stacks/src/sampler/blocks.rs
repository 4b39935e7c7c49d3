//! Reads of frames. Those of callers are near, so one system call reads several.

use crate::system::Memory;

/// Number of bytes that are read before a frame. The frames of its callers have lower addresses.
const BEFORE: u16 = 2048;

/// The last two parts of the memory that were read. From Python 3.12 on, frames alternate between two stacks.
#[derive(Default)]
pub struct Blocks([Block; 2]);

#[derive(Default)]
struct Block {
    start: u64,
    bytes: Vec<u8>,
}

impl Block {
    fn get(&self, address: u64, size: usize) -> Option<&[u8]> {
        let at = usize::try_from(address.checked_sub(self.start)?).ok()?;
        self.bytes.get(at..at.checked_add(size)?)
    }

    fn fill(&mut self, memory: &Memory, start: u64, size: usize) -> Option<()> {
        self.start = start;
        self.bytes.resize(size, 0);
        let filled = memory.fill(start, &mut self.bytes);
        if filled.is_none() {
            self.bytes.clear();
        }
        filled
    }
}

impl Blocks {
    /// Discards all bytes.
    pub fn clear(&mut self) {
        for block in &mut self.0 {
            block.bytes.clear();
        }
    }

    /// Returns the bytes of a frame. `are_near` is true if callers are near.
    pub fn frame(
        &mut self,
        memory: &Memory,
        address: u64,
        size: usize,
        are_near: bool,
    ) -> Option<&[u8]> {
        let is_known = |block: &Block| block.get(address, size).is_some();
        if !self.0.iter().any(is_known) {
            let [new, other] = &mut self.0;
            std::mem::swap(new, other);
            let before = if are_near { BEFORE } else { 0 };
            let start = address.saturating_sub(before.into());
            let is_read = new.fill(memory, start, usize::from(before) + size);
            // The bytes before the first frame of a stack can be unmapped.
            is_read.or_else(|| new.fill(memory, address, size))?;
        }
        self.0.iter().find_map(|block| block.get(address, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_memory_whichever_block_has_them() {
        let memory = Memory::open(std::process::id()).expect("its own memory");
        let bytes: Vec<u8> = (0..=255).cycle().take(1 << 16).collect();
        let mut blocks = Blocks::default();
        for at in [60_000, 59_900, 30_000, 59_000, 29_000, 100, 57_000, 0] {
            let address = bytes.as_ptr() as u64 + at;
            let read = blocks.frame(&memory, address, 80, at % 1000 == 0);
            let at = usize::try_from(at).expect("it is small");
            assert_eq!(read, bytes.get(at..at + 80));
        }
        assert_eq!(blocks.frame(&memory, 8, 80, true), None);
        blocks.clear();
        assert_eq!(blocks.frame(&memory, u64::MAX, 80, true), None);
    }
}
