//! Datasets of data as people have them: what `loadscope_formats` reads, as samples.

mod open;
mod rows;
mod sample;
mod scale;
mod stream;

pub use open::StreamPlace;
pub(super) use open::open;
