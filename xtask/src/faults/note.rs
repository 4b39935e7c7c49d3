//! What is noted of a case: why it was not tried, or what was measured.

use std::cell::RefCell;
use std::fmt;

/// An end whose reason is that something is not at hand here.
#[derive(Debug)]
pub struct NotTried(pub String);

impl fmt::Display for NotTried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotTried {}

/// What was measured in a case.
pub type Note = RefCell<String>;
