//! Query to a database.

use std::time::Duration;

/// A query and the use of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// `SELECT` statement.
    pub text: String,
    /// Column with unique keys, or `None` to stream the rows.
    pub index: Option<String>,
    /// Column of encoded images.
    pub image: Option<String>,
    /// Column to convert to text.
    pub text_column: Option<String>,
    /// Column of classes: integers or names.
    pub label: Option<String>,
    /// Timeout for an answer or a locked database.
    pub timeout: Duration,
}

impl Query {
    /// Default of [`Self::timeout`].
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// Creates a query with streamed rows and plain columns.
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

    /// Returns the query without a final semicolon.
    pub(super) fn bare(&self) -> &str {
        self.text.trim().trim_end_matches(';').trim_end()
    }

    /// Returns the query as a subquery on separate lines, because the query may end in a comment.
    pub(super) fn as_table(&self) -> String {
        format!("(\n{}\n) AS loadscope_rows", self.bare())
    }
}

/// Quotes a name for both databases.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
