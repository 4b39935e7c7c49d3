//! Datasets of user data: samples from the readers of `loadscope_formats`.

mod open;
mod rows;
mod sample;
mod scale;
mod stream;

pub(super) use open::open;
pub(crate) use sample::dtype;
pub use stream::StreamPlace;
