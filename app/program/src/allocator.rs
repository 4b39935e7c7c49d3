//! The program's allocator.
//!
//! Mimalloc also allocates the tensors of libtorch. It reuses the memory of a large batch for the next batch of the same size. The C
//! library would request new pages, which the system zeroes first.
#![allow(unsafe_code, reason = "a function of mimalloc")]

pub use mimalloc::MiMalloc as Allocator;

unsafe extern "C" {
    /// Returns free pages to the system, also those of ended threads. Declared by mimalloc.
    fn mi_collect(force: bool);
}

/// Returns free memory to the system. The call takes milliseconds. Reading a large recording leaves free memory: about a fifth of the
/// memory that it keeps.
pub fn release_free_memory() {
    // SAFETY: `mi_collect` changes only free memory, and any thread may call it.
    unsafe { mi_collect(true) };
}
