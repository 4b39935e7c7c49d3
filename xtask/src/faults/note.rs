//! Notes about a case: the reason why it was skipped, or its measured values.

use std::cell::RefCell;
use std::fmt;

/// Error for a case that is skipped, because this system lacks something. Contains the reason.
#[derive(Debug)]
pub struct Skipped(pub String);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skipped {}

/// Measured values of a case.
pub type Note = RefCell<String>;
