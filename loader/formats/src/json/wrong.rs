//! Errors in a JSON text.

use loadscope_words::say;

/// Kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
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
    pub(crate) wrong: Wrong,
    /// Byte offset, from 0.
    pub(crate) at: usize,
}

impl Wrong {
    pub(crate) fn at(self, at: usize) -> JsonError {
        JsonError { wrong: self, at }
    }
}

impl JsonError {
    /// Returns the reason as a clause.
    pub(crate) fn reason(&self) -> String {
        match self.wrong {
            Wrong::Truncated => say!("the JSON ends in the middle of a value"),
            Wrong::Encoding => say!("the JSON is not UTF-8"),
            Wrong::Value => say!("a JSON value is missing"),
            Wrong::Object => say!("the JSON must have an object {{…}} there"),
            Wrong::List => say!("the JSON must have a list […] there"),
            Wrong::Key => say!("the JSON must have a key in double quotes there"),
            Wrong::Colon => say!("the JSON has no colon after a key"),
            Wrong::Comma => say!("the JSON has no comma between two values"),
            Wrong::TrailingComma => say!("the JSON has a comma after the last value"),
            Wrong::Extra => say!("the JSON has another value after its end"),
            Wrong::Quote => say!("the JSON has single quotes"),
            Wrong::Open => say!("the JSON has a string without a closing quote"),
            Wrong::Control => say!("the JSON has a control character in a string"),
            Wrong::Escape => say!("the JSON has an invalid escape in a string"),
            Wrong::Surrogate => {
                say!("the JSON has a lone surrogate, half a character, in a string")
            }
            Wrong::Deep => say!("the JSON is nested more than 128 levels deep"),
            Wrong::Large => say!("the JSON has an integer of more than 128 bits"),
        }
        .to_owned()
    }

    /// Returns the remedy as a sentence without a full stop.
    pub(crate) fn remedy(&self) -> &'static str {
        match self.wrong {
            Wrong::Truncated | Wrong::Open => say!("Copy or write the file again"),
            Wrong::Encoding => say!("Save it in UTF-8"),
            Wrong::Value | Wrong::Object | Wrong::List | Wrong::Key | Wrong::Colon => {
                say!("Correct the JSON there")
            }
            Wrong::Comma => say!("Write a comma there"),
            Wrong::TrailingComma => say!("Remove the comma"),
            Wrong::Extra => say!("Write one value per line, or remove the rest"),
            Wrong::Quote => say!("Write double quotes, for example with json.dump"),
            Wrong::Control | Wrong::Escape => {
                say!("Escape the character, for example with json.dump")
            }
            Wrong::Surrogate => say!("Write the whole character, or remove it"),
            Wrong::Deep => say!("Write fewer lists and objects inside each other"),
            Wrong::Large => say!("Write it as a string"),
        }
    }
}
