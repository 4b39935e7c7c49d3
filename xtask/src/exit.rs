//! How a command ends.

use std::fmt;

/// An end whose reason the user has seen already; carries the exit code.
#[derive(Debug)]
pub struct AlreadySaid(pub u8);

/// What a set-up that failed ends with.
pub const SETUP_FAILED: u8 = 2;

impl fmt::Display for AlreadySaid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ended with code {}", self.0)
    }
}

impl std::error::Error for AlreadySaid {}
