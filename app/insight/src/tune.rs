//! Which arguments of `DataLoader` are faster in a program: what to try after it was recorded once, what each try took, and what to
//! think of that.
//!
//! Nothing here runs a program. [`choose()`] says what to try, [`Measured`] what a recording of a try tells, [`Table`] holds all of
//! them against each other.

mod choose;
mod measure;
mod overrides;
mod same;
mod table;
mod text;

pub use choose::{Choice, Expected, Try, choose};
pub use measure::{Measured, yielded};
pub use overrides::{overrides, overrides_of_all};
pub use same::{Differs, RunOutput};
pub use table::{Kind, Outcome, Row, Table, Tried};
