//! Search for faster arguments of a program's `DataLoader`: choice of settings, measured times, and comparison.
//!
//! Nothing here runs a program. [`choose()`] selects settings, [`Measured`] contains the times of one recording,
//! [`Table`] compares all of them.

mod choose;
mod measure;
mod output_difference;
mod overrides;
mod table;
mod text;

pub use choose::{Choice, Expected, Try, choose};
pub use measure::{Measured, yielded};
pub use output_difference::{OutputDifference, RunOutput};
pub use overrides::{overrides, overrides_of_all};
pub use table::{Kind, Outcome, Row, Table, Tried};
