//! Facts about processes from `/proc` and from their memory.

mod call;
mod descriptor;
mod holders;
mod pool;
mod python;
mod reader;
mod sample;
mod stat;

pub use sample::sample;
pub use stat::process_tree;
