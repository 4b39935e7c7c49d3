//! The program's allocator.
//!
//! Mimalloc also serves the tensors of libtorch. It uses the memory of a large batch for the next one of the same size, where the C
//! library takes new pages, which the system fills with zeros first.
#![allow(unsafe_code, reason = "a function of mimalloc")]

pub use mimalloc::MiMalloc as Allocator;

unsafe extern "C" {
    /// Mimalloc's own: returns free pages to the system, also those of ended threads.
    fn mi_collect(force: bool);
}

/// Returns free memory to the system: reading a large recording leaves about a fifth of the memory that it keeps. Takes milliseconds.
pub fn give_back() {
    // SAFETY: it touches only free memory, and any thread may call it.
    unsafe { mi_collect(true) };
}
