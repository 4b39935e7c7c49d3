//! Widgets that several panels share.

pub mod rows;
pub mod signs;
pub mod strip;
