//! What is asked of a database.

use std::time::Duration;

/// A query, and what its columns are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// A `SELECT`.
    pub text: String,
    /// The column whose values tell the rows apart; `None`: the rows are streamed.
    pub index: Option<String>,
    /// A column of encoded pictures.
    pub image: Option<String>,
    /// A column that is text, whatever its type.
    pub text_column: Option<String>,
    /// A column of classes: whole numbers, or names.
    pub label: Option<String>,
    /// How long an answer, and a database that is locked, are waited for.
    pub timeout: Duration,
}

impl Query {
    /// The longest wait, unless given.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// A query that is streamed, and whose columns are what they are.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            index: None,
            image: None,
            text_column: None,
            label: None,
            timeout: Self::TIMEOUT,
        }
    }

    /// The query without the semicolon that may end it.
    pub(super) fn bare(&self) -> &str {
        self.text.trim().trim_end_matches(';').trim_end()
    }

    /// The query as a table of another one. It stands in lines of its own, since it may end in a comment.
    pub(super) fn as_table(&self) -> String {
        format!("(\n{}\n) AS loadscope_rows", self.bare())
    }
}

/// A name as both databases quote it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
