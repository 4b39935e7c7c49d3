//! Facts about processes from `/proc` and from their memory.

mod call;
mod descriptor;
mod holders;
mod pool;
mod python;
mod reader;
mod sample;
mod stat;

pub use call::blocking_call;
pub use python::PythonReader;
pub use sample::sample;
pub use stat::{Memory, Stat, process_tree};
