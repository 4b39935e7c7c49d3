//! Datasets of data as people have them: what `loadscope_formats` reads, as samples.

mod open;
mod rows;
mod sample;
mod scale;
mod stream;

pub(super) use open::open;
pub(crate) use sample::dtype;
pub use stream::StreamPlace;
