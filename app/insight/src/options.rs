//! Options of a run: differences from another run, invalid options, and an equivalent Python program.

mod field;
mod problems;
mod python;

pub use field::{Field, changed};
pub use problems::{Problem, problems};
pub use python::program;
