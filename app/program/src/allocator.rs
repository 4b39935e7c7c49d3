//! Where the program's memory comes from.
#![allow(unsafe_code, reason = "an allocator gives memory as it is")]

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;

mod spill;

pub use spill::use_the_disk;

/// Mimalloc, and for what is very large the system itself.
///
/// A list that doubles is moved: of a run of millions of batches that is hundreds of megabytes, copied while a frame waits. The system
/// moves it by other entries in its tables of pages, without a copy. Mimalloc serves the rest, and all tensors of libtorch: it uses
/// the place of a large batch for the next one of the same size, where the C library would take new pages, which are filled with zeros
/// first. Where the large ones become too many for memory, further ones lie on disk ([`use_the_disk`]).
#[derive(Debug)]
pub struct Allocator;

/// From so many bytes on memory is the system's. A list of this size is moved in a few milliseconds.
const LARGE: usize = 16 << 20;

/// The largest alignment that pages have by themselves.
const PAGE: usize = 4096;

const MIMALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

unsafe extern "C" {
    /// Mimalloc's own: gives pages without anything in them back to the system, also those that ended threads had.
    fn mi_collect(force: bool);
}

/// Gives memory back that was needed for a while: reading a large recording leaves about a fifth of what is kept. Takes milliseconds.
pub fn give_back() {
    // SAFETY: it takes nothing that is in use, and may be called by any thread.
    unsafe { mi_collect(true) };
}

fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE
}

/// Pages, filled with zeros; null if there are none.
fn map(size: usize) -> *mut u8 {
    match spill::fits(size) {
        true => map_memory(size),
        false => match spill::map(size) {
            at if at.is_null() => map_memory(size),
            at => at,
        },
    }
}

/// The same in memory.
fn map_memory(size: usize) -> *mut u8 {
    // SAFETY: new pages at a place that the system chooses; nothing is replaced.
    let at = unsafe {
        libc::mmap(
            null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return null_mut();
    }
    spill::count(size);
    at.cast()
}

/// Gives pages back.
///
/// # Safety
/// They were given by [`map`] or [`remap`] with this size and are not used any more.
unsafe fn unmap(at: *mut u8, size: usize) {
    // SAFETY: by the caller's promise.
    unsafe {
        match spill::has(at) {
            true => spill::unmap(at, size),
            false => {
                libc::munmap(at.cast(), size);
                spill::uncount(size);
            }
        }
    }
}

/// Makes a place longer or shorter; null if there is no room, and then it stays as it is.
///
/// # Safety
/// It was given by [`map`] or this with `before` bytes; of what is returned that is not null, the old place is not used any more.
unsafe fn remap(at: *mut u8, before: usize, size: usize) -> *mut u8 {
    let to = if spill::has(at) {
        // SAFETY: by the caller's promise.
        let moved = unsafe { spill::remap(at, before, size) };
        if !moved.is_null() {
            return moved;
        }
        // The disk is full.
        map_memory(size)
    } else if spill::fits(size.saturating_sub(before)) {
        null_mut()
    } else {
        spill::map(size)
    };
    if to.is_null() {
        // SAFETY: by the caller's promise.
        return unsafe { remap_memory(at, before, size) };
    }
    // SAFETY: both blocks have at least that many bytes and do not overlap. The old one is not used again.
    unsafe {
        at.copy_to_nonoverlapping(to, before.min(size));
        unmap(at, before);
    }
    to
}

/// The same for a place in memory.
///
/// # Safety
/// As for [`remap`].
unsafe fn remap_memory(at: *mut u8, before: usize, size: usize) -> *mut u8 {
    if spill::has(at) {
        return null_mut();
    }
    // SAFETY: these pages were mapped with this size; the caller uses the new place from now on.
    let moved = unsafe { libc::mremap(at.cast(), before, size, libc::MREMAP_MAYMOVE) };
    if moved == libc::MAP_FAILED {
        return null_mut();
    }
    spill::count(size);
    spill::uncount(before);
    moved.cast()
}

// SAFETY: which of both has given a place follows from its layout, which is the same when it is given back.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match is_large(layout) {
            true => map(layout.size()),
            // SAFETY: the caller keeps the same promises.
            false => unsafe { MIMALLOC.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match is_large(layout) {
            true => map(layout.size()),
            // SAFETY: the caller keeps the same promises.
            false => unsafe { MIMALLOC.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match is_large(layout) {
            // SAFETY: these pages were mapped with this size, and nothing refers to them any more.
            true => unsafe { unmap(at, layout.size()) },
            // SAFETY: the caller keeps the same promises.
            false => unsafe { MIMALLOC.dealloc(at, layout) },
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up to the alignment, is no overflow.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_large(layout), is_large(new)) {
            // SAFETY: the caller keeps the same promises.
            (false, false) => unsafe { MIMALLOC.realloc(at, layout, size) },
            // SAFETY: the caller keeps the same promises.
            (true, true) => unsafe { remap(at, layout.size(), size) },
            (true, false) | (false, true) => {
                // SAFETY: a new place of the new size.
                let to = unsafe { self.alloc(new) };
                if !to.is_null() {
                    // SAFETY: both blocks have at least that many bytes and do not overlap. The old one is not used again.
                    unsafe {
                        at.copy_to_nonoverlapping(to, layout.size().min(size));
                        self.dealloc(at, layout);
                    }
                }
                to
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grows and shrinks across the limit, both ways, and keeps what is in it.
    #[test]
    fn what_is_moved_keeps_its_bytes() {
        let sizes = [
            1,
            LARGE - 1,
            LARGE,
            3 * LARGE + 5,
            7 * LARGE,
            LARGE,
            LARGE - 7,
            LARGE + 1,
            10,
        ];
        let align = 16;
        let layout = |size| Layout::from_size_align(size, align).expect("a sound layout");
        // SAFETY: each place is given back with the layout that it has.
        unsafe {
            let mut at = Allocator.alloc(layout(sizes[0]));
            at.write(0);
            for pair in sizes.windows(2) {
                at = Allocator.realloc(at, layout(pair[0]), pair[1]);
                assert!(!at.is_null() && at.addr().is_multiple_of(align));
                let (same, last) = (pair[0].min(pair[1]), pair[1] - 1);
                for k in (0..same).step_by(1 << 20) {
                    assert_eq!(at.add(k).read(), (k >> 20) as u8, "{k} of {pair:?}");
                }
                for k in (0..=last).step_by(1 << 20) {
                    at.add(k).write((k >> 20) as u8);
                }
            }
            Allocator.dealloc(at, layout(10));
            let zeroed = Allocator.alloc_zeroed(layout(2 * LARGE));
            assert_eq!((zeroed.read(), zeroed.add(2 * LARGE - 1).read()), (0, 0));
            Allocator.dealloc(zeroed, layout(2 * LARGE));
        }
    }

    /// The same where there is a disk, far beyond what may lie in memory: several lists grow side by side, and shrink again.
    #[test]
    fn what_lies_on_disk_keeps_its_bytes() {
        use_the_disk();
        let layout = |size| Layout::from_size_align(size, 8).expect("a sound layout");
        let (lists, steps) = (4usize, [1, 2, 4, 8, 3]);
        // SAFETY: each place is given back with the layout that it has.
        unsafe {
            let mut at: Vec<*mut u8> = (0..lists).map(|_| null_mut()).collect();
            let mut before = 0;
            for step in steps {
                let size = step * LARGE + 4096;
                for (list, at) in at.iter_mut().enumerate() {
                    *at = match at.is_null() {
                        true => Allocator.alloc(layout(size)),
                        false => Allocator.realloc(*at, layout(before), size),
                    };
                    assert!(!at.is_null());
                    for k in (0..before.min(size)).step_by(1 << 18) {
                        assert_eq!(at.add(k).read(), ((k >> 18) + list) as u8);
                    }
                    for k in (0..size).step_by(1 << 18) {
                        at.add(k).write(((k >> 18) + list) as u8);
                    }
                }
                before = size;
            }
            for at in at {
                Allocator.dealloc(at, layout(before));
            }
        }
    }

    #[test]
    fn what_is_in_use_is_not_given_back() {
        let layout = Layout::from_size_align(1000, 8).expect("a sound layout");
        // SAFETY: each place is given back with the layout that it has.
        unsafe {
            let places: Vec<*mut u8> = (0..1000).map(|_| Allocator.alloc(layout)).collect();
            for (k, at) in places.iter().enumerate() {
                at.write(k as u8);
            }
            give_back();
            for (k, at) in places.into_iter().enumerate() {
                assert_eq!(at.read(), k as u8);
                Allocator.dealloc(at, layout);
            }
        }
        give_back();
    }

    #[test]
    fn what_cannot_be_had_is_null() {
        let layout = Layout::from_size_align(1 << 62, 8).expect("a sound layout");
        // SAFETY: it is not used.
        assert!(unsafe { Allocator.alloc(layout) }.is_null());
    }
}
