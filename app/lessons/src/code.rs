//! Programs of the lessons, and what real PyTorch printed for them.

/// A program and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// The lines to copy.
    pub source: &'a str,
    /// What it printed with PyTorch 2.13.
    pub output: &'a str,
}

/// Knows programs by name.
pub trait Codes {
    /// The program of this name; `None` if there is none.
    fn code(&self, name: &str) -> Option<Code<'_>>;
}

/// Knows none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCodes;

impl Codes for NoCodes {
    fn code(&self, _: &str) -> Option<Code<'_>> {
        None
    }
}
