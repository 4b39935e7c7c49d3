//! Items of a full chunk, in memory or in a mapped temporary file.
#![allow(
    unsafe_code,
    reason = "a slice of items in a mapped file, behind one pointer"
)]

use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use crate::spill;

/// Items per chunk. A clone of a list copies at most this number of items.
pub(crate) const CHUNK: usize = 1 << SHIFT;

/// Binary logarithm of [`CHUNK`].
pub(crate) const SHIFT: u32 = 9;

/// [`CHUNK`] items that clones share.
pub(crate) struct Chunk<T> {
    /// First item of the chunk. The pointer is valid as long as `owner` exists.
    items: NonNull<T>,
    owner: Owner<T>,
}

/// Owner of the memory of a chunk.
enum Owner<T> {
    Memory(Arc<Memory<T>>),
    File(Arc<spill::Segment>),
}

/// Items in memory, which count against the budget.
struct Memory<T>(Box<[T]>);

impl<T> Memory<T> {
    fn new(items: Box<[T]>) -> Self {
        spill::add_bytes_in_memory(size_of_val(&*items));
        Self(items)
    }
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        spill::subtract_bytes_in_memory(size_of_val(&*self.0));
    }
}

// SAFETY: a chunk gives out `&T` on any thread, and `&mut T` only to its only owner, as `Arc<[T]>` does.
unsafe impl<T: Send + Sync> Send for Chunk<T> {}
// SAFETY: the reason is the same as for `Send`.
unsafe impl<T: Send + Sync> Sync for Chunk<T> {}

impl<T> Chunk<T> {
    /// Moves the [`CHUNK`] items out of `open`.
    pub fn seal(open: &mut Vec<T>) -> Self {
        assert_eq!(open.len(), CHUNK, "only full chunks are closed");
        if !std::mem::needs_drop::<T>()
            && let Some((place, segment)) = spill::allocate::<T>(CHUNK)
        {
            // SAFETY: the place has room for `CHUNK` items, is aligned and not used elsewhere. `open` forgets the items, so each
            // exists once. They have no destructor, so nothing is lost when the file goes.
            unsafe {
                place.copy_from_nonoverlapping(NonNull::from(&mut open[..]).cast(), CHUNK);
                open.set_len(0);
            }
            let owner = Owner::File(segment);
            return Self {
                items: place,
                owner,
            };
        }
        Self::in_memory(open.drain(..).collect())
    }

    fn in_memory(items: Box<[T]>) -> Self {
        let memory = Arc::new(Memory::new(items));
        let items = NonNull::from(&memory.0[..]).cast();
        let owner = Owner::Memory(memory);
        Self { items, owner }
    }

    /// Returns true if a clone exists. A chunk in the file always counts as shared.
    pub fn is_shared(&self) -> bool {
        match &self.owner {
            Owner::Memory(memory) => Arc::strong_count(memory) > 1,
            Owner::File(_) => true,
        }
    }

    /// Returns the items.
    #[inline]
    pub fn items(&self) -> &[T] {
        // SAFETY: `items` points to `CHUNK` items that live as long as `owner`. No `&mut` to them exists: `items_mut` borrows the chunk
        // and requires a single owner.
        unsafe { slice::from_raw_parts(self.items.as_ptr(), CHUNK) }
    }
}

impl<T: Clone> Chunk<T> {
    /// Returns the items for a change. Copies them first if they are shared or in the file.
    pub fn items_mut(&mut self) -> &mut [T] {
        if self.is_shared() {
            *self = Self::in_memory(self.items().into());
        }
        let Owner::Memory(memory) = &mut self.owner else {
            return &mut [];
        };
        let Some(memory) = Arc::get_mut(memory) else {
            return &mut [];
        };
        let items = &mut memory.0[..];
        self.items = NonNull::from(&mut *items).cast();
        items
    }
}

impl<T> Clone for Chunk<T> {
    fn clone(&self) -> Self {
        let owner = match &self.owner {
            Owner::Memory(memory) => Owner::Memory(Arc::clone(memory)),
            Owner::File(segment) => Owner::File(Arc::clone(segment)),
        };
        Self {
            items: self.items,
            owner,
        }
    }
}
