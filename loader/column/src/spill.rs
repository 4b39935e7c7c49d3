//! The temporary file of the chunks that memory has no room for.
//!
//! A recording of ten million batches can be larger than the memory that people have to spare. Above a budget, new chunks are in
//! unnamed files that are mapped to memory: the system writes unused pages to the disk, and reads them again. The files go with the
//! process, however that ends.

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

    /// A mapped file, of which there is none here.
    pub(crate) enum Segment {}

    pub(crate) fn count(_: usize) {}

    pub(crate) fn uncount(_: usize) {}

    pub(crate) fn place<T>(_: usize) -> Option<(NonNull<T>, Arc<Segment>)> {
        None
    }
}
