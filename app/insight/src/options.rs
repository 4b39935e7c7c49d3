//! Options of a run: differences from another run, invalid options, and an equivalent Python program.

mod problems;
mod python;

pub use problems::{Problem, problems};
pub use python::program;
