//! Facts about processes from `/proc` and from their memory.

mod call;
mod descriptor;
mod holders;
mod python;
mod sample;
mod stat;

pub use sample::sample;
pub use stat::process_tree;
