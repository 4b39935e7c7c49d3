//! Errors in a JSON text.

use loadscope_words::say;

/// Kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonErrorKind {
    Truncated,
    Encoding,
    Value,
    Object,
    List,
    Key,
    Colon,
    Comma,
    TrailingComma,
    Extra,
    Quote,
    Open,
    Control,
    Escape,
    Surrogate,
    Deep,
    Large,
}

/// Error and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonError {
    pub(crate) kind: JsonErrorKind,
    /// Byte offset, from 0.
    pub(crate) at: usize,
}

impl JsonErrorKind {
    pub(crate) fn at(self, at: usize) -> JsonError {
        JsonError { kind: self, at }
    }
}

impl JsonError {
    /// Returns the reason as a clause.
    pub(crate) fn reason(&self) -> String {
        match self.kind {
            JsonErrorKind::Truncated => say!("the JSON ends in the middle of a value"),
            JsonErrorKind::Encoding => say!("the JSON is not UTF-8"),
            JsonErrorKind::Value => say!("a JSON value is missing"),
            JsonErrorKind::Object => say!("the JSON must have an object {{…}} there"),
            JsonErrorKind::List => say!("the JSON must have a list […] there"),
            JsonErrorKind::Key => say!("the JSON must have a key in double quotes there"),
            JsonErrorKind::Colon => say!("the JSON has no colon after a key"),
            JsonErrorKind::Comma => say!("the JSON has no comma between two values"),
            JsonErrorKind::TrailingComma => say!("the JSON has a comma after the last value"),
            JsonErrorKind::Extra => say!("the JSON has another value after its end"),
            JsonErrorKind::Quote => say!("the JSON has single quotes"),
            JsonErrorKind::Open => say!("the JSON has a string without a closing quote"),
            JsonErrorKind::Control => say!("the JSON has a control character in a string"),
            JsonErrorKind::Escape => say!("the JSON has an invalid escape in a string"),
            JsonErrorKind::Surrogate => {
                say!("the JSON has a lone surrogate, half a character, in a string")
            }
            JsonErrorKind::Deep => say!("the JSON is nested more than 128 levels deep"),
            JsonErrorKind::Large => say!("the JSON has an integer of more than 128 bits"),
        }
        .to_owned()
    }

    /// Returns the remedy as an instruction without a full stop.
    pub(crate) fn remedy(&self) -> &'static str {
        match self.kind {
            JsonErrorKind::Truncated | JsonErrorKind::Open => say!("Copy or write the file again"),
            JsonErrorKind::Encoding => say!("Save it in UTF-8"),
            JsonErrorKind::Value
            | JsonErrorKind::Object
            | JsonErrorKind::List
            | JsonErrorKind::Key
            | JsonErrorKind::Colon => {
                say!("Correct the JSON there")
            }
            JsonErrorKind::Comma => say!("Write a comma there"),
            JsonErrorKind::TrailingComma => say!("Remove the comma"),
            JsonErrorKind::Extra => say!("Write one value per line, or remove the rest"),
            JsonErrorKind::Quote => say!("Write double quotes, for example with json.dump"),
            JsonErrorKind::Control | JsonErrorKind::Escape => {
                say!("Escape the character, for example with json.dump")
            }
            JsonErrorKind::Surrogate => say!("Write the whole character, or remove it"),
            JsonErrorKind::Deep => say!("Write fewer lists and objects inside each other"),
            JsonErrorKind::Large => say!("Write it as a string"),
        }
    }
}
