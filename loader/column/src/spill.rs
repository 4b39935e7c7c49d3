//! Spill of chunks to temporary files.
//!
//! A recording of ten million batches can exceed the available memory. Above a budget, new chunks are in unnamed files that are mapped to
//! memory. The system writes unused pages to the disk and reads them again. The system removes the files at the end of the process, even
//! after a crash.

#[cfg(target_os = "linux")]
pub use files::spill_to;
#[cfg(target_os = "linux")]
pub(crate) use files::{Segment, count, place, uncount};
#[cfg(not(target_os = "linux"))]
pub(crate) use nowhere::{Segment, count, place, uncount};

#[cfg(target_os = "linux")]
mod files;

#[cfg(not(target_os = "linux"))]
mod nowhere {
    use std::ptr::NonNull;
    use std::sync::Arc;

    /// A mapped file. This platform has none.
    pub(crate) enum Segment {}

    pub(crate) fn count(_: usize) {}

    pub(crate) fn uncount(_: usize) {}

    pub(crate) fn place<T>(_: usize) -> Option<(NonNull<T>, Arc<Segment>)> {
        None
    }
}
