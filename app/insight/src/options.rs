//! The options of a run, one by one: what differs from another run, what is wrong with which of them, and how the same is written in
//! Python.

mod field;
mod problems;
mod python;

pub use field::{Field, changed};
pub use problems::{Problem, problems};
pub use python::program;
