//! Errors in lesson files: place, problem and remedy.

/// A mistake in a lesson file, for its author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}. {remedy}")]
pub struct LessonError {
    /// Path of the file as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Problem, without a final period.
    pub what: String,
    /// Remedy, as a complete sentence.
    pub remedy: String,
}

/// A mistake in a value of a file, without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Problem, without a final period.
    pub what: String,
    /// Remedy, as a complete sentence.
    pub remedy: String,
}

impl Mistake {
    /// Creates a mistake.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// Adds the place.
    pub fn at(self, file: &str, line: usize) -> LessonError {
        LessonError {
            file: file.to_owned(),
            line,
            what: self.what,
            remedy: self.remedy,
        }
    }
}
