//! Spill of chunks to temporary files.
//!
//! A recording of ten million batches can exceed the available memory. Above a budget, new chunks are in unnamed files that are mapped to
//! memory. The system writes unused pages to the disk and reads them again. The system removes the files at the end of the process, even
//! after a crash.

#[cfg(target_os = "linux")]
pub use files::spill_to;
#[cfg(target_os = "linux")]
pub(crate) use files::{Segment, add_bytes_in_memory, allocate, subtract_bytes_in_memory};
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::{Segment, add_bytes_in_memory, allocate, subtract_bytes_in_memory};

#[cfg(target_os = "linux")]
mod files;

#[cfg(not(target_os = "linux"))]
mod unsupported {
    use std::ptr::NonNull;
    use std::sync::Arc;

    /// Mapped file, which this platform does not support.
    pub(crate) enum Segment {}

    pub(crate) fn add_bytes_in_memory(_: usize) {}

    pub(crate) fn subtract_bytes_in_memory(_: usize) {}

    pub(crate) fn allocate<T>(_: usize) -> Option<(NonNull<T>, Arc<Segment>)> {
        None
    }
}
