//! Where the program's memory comes from.
#![allow(unsafe_code, reason = "an allocator gives memory as it is")]

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;

/// Mimalloc, and for what is very large the system itself.
///
/// A list that doubles is moved: of a run of millions of batches that is hundreds of megabytes, copied while a frame waits. The system
/// moves it by other entries in its tables of pages, without a copy. Mimalloc serves the rest, and all tensors of libtorch: it uses
/// the place of a large batch for the next one of the same size, where the C library would take new pages, which are filled with zeros
/// first.
#[derive(Debug)]
pub struct Allocator;

/// From so many bytes on memory is the system's. A list of this size is moved in a few milliseconds.
const LARGE: usize = 32 << 20;

/// The largest alignment that pages have by themselves.
const PAGE: usize = 4096;

const MIMALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE
}

/// Pages, filled with zeros; null if there are none.
fn map(size: usize) -> *mut u8 {
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
    match at == libc::MAP_FAILED {
        true => null_mut(),
        false => at.cast(),
    }
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
            true => _ = unsafe { libc::munmap(at.cast(), layout.size()) },
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
            (true, true) => {
                // SAFETY: these pages were mapped with this size; the caller uses the new place from now on.
                let moved =
                    unsafe { libc::mremap(at.cast(), layout.size(), size, libc::MREMAP_MAYMOVE) };
                match moved == libc::MAP_FAILED {
                    true => null_mut(),
                    false => moved.cast(),
                }
            }
            (true, false) | (false, true) => {
                // SAFETY: a new place of the new size.
                let to = unsafe { self.alloc(new) };
                if !to.is_null() {
                    // SAFETY: both places have at least so many bytes, and they are two. The old one is not used any more.
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

    #[test]
    fn what_cannot_be_had_is_null() {
        let layout = Layout::from_size_align(1 << 62, 8).expect("a sound layout");
        // SAFETY: it is not used.
        assert!(unsafe { Allocator.alloc(layout) }.is_null());
    }
}
