//! What is wrong with a file of lessons: where, what, and what to write instead.

/// A mistake in a file, for the person who writes it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}. {remedy}")]
pub struct LessonError {
    /// The file, as it was named to us.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, without a period at its end.
    pub what: String,
    /// What to write instead, as a sentence.
    pub remedy: String,
}

/// What is wrong with one value of a file, before it is known where that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub remedy: String,
}

impl Mistake {
    /// A mistake and its remedy.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// The same with its place.
    pub fn at(self, file: &str, line: usize) -> LessonError {
        LessonError {
            file: file.to_owned(),
            line,
            what: self.what,
            remedy: self.remedy,
        }
    }
}
