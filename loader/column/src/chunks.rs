//! Full chunks of a list.

use std::sync::Arc;

use crate::chunk::Chunk;

/// Chunks per group. A clone copies at most this number of pointers, and one pointer per full group.
const GROUP: usize = 1 << SHIFT;
const SHIFT: u32 = 9;

/// Full chunks in order, in groups that clones share.
#[derive(Clone)]
pub(crate) struct Chunks<T> {
    groups: Vec<Arc<[Chunk<T>]>>,
    /// Chunks after the last full group.
    rest: Vec<Chunk<T>>,
}

impl<T> Chunks<T> {
    /// Returns the number of chunks.
    #[inline]
    pub fn len(&self) -> usize {
        (self.groups.len() << SHIFT) + self.rest.len()
    }

    /// Returns the chunk at a position.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&Chunk<T>> {
        match self.groups.get(at >> SHIFT) {
            Some(group) => group.get(at & (GROUP - 1)),
            None => self.rest.get(at - (self.groups.len() << SHIFT)),
        }
    }

    /// Returns true if a clone shares chunks.
    pub fn is_shared(&self) -> bool {
        self.get(0).is_some_and(Chunk::is_shared)
            || self.groups.iter().any(|g| Arc::strong_count(g) > 1)
    }

    /// Appends a chunk.
    pub fn push(&mut self, chunk: Chunk<T>) {
        if self.rest.len() == GROUP {
            self.groups.push(self.rest.drain(..).collect());
        }
        self.rest.push(chunk);
    }

    /// Returns the chunk at a position for a change.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut Chunk<T>> {
        let full = self.groups.len() << SHIFT;
        if at >= full {
            return self.rest.get_mut(at - full);
        }
        Arc::make_mut(&mut self.groups[at >> SHIFT]).get_mut(at & (GROUP - 1))
    }

    /// Removes all chunks from position `len` on.
    pub fn truncate(&mut self, len: usize) {
        let full = self.groups.len() << SHIFT;
        if len >= full {
            return self.rest.truncate(len - full);
        }
        let kept = len >> SHIFT;
        self.rest = self.groups[kept][..len & (GROUP - 1)].to_vec();
        self.groups.truncate(kept);
    }
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self {
            groups: Vec::new(),
            rest: Vec::new(),
        }
    }
}
