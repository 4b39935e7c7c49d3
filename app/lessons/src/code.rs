//! Programs of the lessons with their output in PyTorch.

/// A program and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// Source code to copy.
    pub source: &'a str,
    /// Output with PyTorch 2.13.
    pub output: &'a str,
}

/// Catalog of programs by name.
pub trait ProgramCatalog {
    /// Returns the program with this name.
    fn code(&self, name: &str) -> Option<Code<'_>>;
}

/// Catalog without programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPrograms;

impl ProgramCatalog for NoPrograms {
    fn code(&self, _: &str) -> Option<Code<'_>> {
        None
    }
}
